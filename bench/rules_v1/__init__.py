"""Version 1 of the rules extractor, frozen: the column "version 1" of `python -m bench extraction`.

A copy of `domain/extraction` and `domain/noise.py` at 5d61d24. Its code is never fixed: a change would shift the
baseline of later versions. It imports events, dates and redaction from the domain; a change of these modules does
not decide which sentences are kept. Only `bench` may import it; `tests/contracts/test_rules_v1.py` checks that.
"""

from bench.rules_v1.rules import RulesExtractor

__all__ = ["RulesExtractor"]
