"""The prompt texts for models: one file each, NAME_N.txt, never changed after a release."""

from functools import cache
from importlib import resources


@cache
def prompt_text(name: str) -> str:
    """Return the text of one prompt.

    name: "NAME/NUMBER", as in Prompt.version and in ledgers ("extract/2" is extract_2.txt). Raises FileNotFoundError if
    no prompt has this name.
    """
    return resources.files(__package__).joinpath(name.replace("/", "_") + ".txt").read_text(encoding="utf-8").strip()
