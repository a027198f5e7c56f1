"""The texts that models are asked with: one file each, NAME_N.txt, never changed once released.

Must not know: who asks, with which data, and which model answers.
"""

from functools import cache
from importlib import resources


@cache
def prompt_text(name: str) -> str:
    """The text of one prompt. name: "NAME/NUMBER", as in Prompt.version and in ledgers ("extract/2" is extract_2.txt).

    Raises FileNotFoundError for a name that there is no text of.
    """
    return resources.files(__package__).joinpath(name.replace("/", "_") + ".txt").read_text(encoding="utf-8").strip()
