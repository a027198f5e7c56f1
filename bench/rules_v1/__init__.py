"""Version 1 of the rules extractor, frozen: the column "version 1" of `python -m bench extraction`.

A copy of `domain/extraction` and `domain/noise.py` as they were at 5d61d24. It is never fixed: a change here would
change what later versions are compared with. It imports events, dates and redaction from the domain, where a change
does not decide which sentences are kept. Only `bench` may import it; `tests/contracts/test_rules_v1.py` checks that.
"""

from bench.rules_v1.rules import RulesExtractor

__all__ = ["RulesExtractor"]
