"""The mutants, read from catalogue.toml."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CATALOGUE = Path(__file__).with_name("catalogue.toml")


class Unfit(Exception):
    """The mutant no longer fits the code; the message gives its name and the reason."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One guarantee, broken in one place.

    file: the path from the root of the tree. old: a text that occurs exactly once; new: its replacement. tests: the
    pytest node ids to run, one of which must fail. mistake: the number in docs/mistakes.md whose fix this reverts.
    """

    name: str
    promise: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    mistake: int | None = None

    def path(self, root: Path) -> Path:
        """The broken file. Raises Unfit if it is missing."""
        path = root / self.file
        if not path.is_file():
            raise Unfit(f"{self.name}: there is no file {self.file}")
        return path

    def broken(self, text: str) -> str:
        """Return the file's text with the mutation. Raises Unfit if the old text does not occur exactly once."""
        count = text.count(self.old)
        if count != 1:
            raise Unfit(f"{self.name}: {self.file} holds the text to replace {count} times, not once")
        return text.replace(self.old, self.new)


def read_catalogue(path: Path = CATALOGUE) -> list[Mutant]:
    """Return all mutants, in the order of the file. Raises Unfit for a repeated name."""
    mutants = [
        Mutant(**{**entry, "tests": tuple(entry["tests"])})
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    ]
    names = [mutant.name for mutant in mutants]
    if doubled := {name for name in names if names.count(name) > 1}:
        raise Unfit(f"named twice: {', '.join(sorted(doubled))}")
    return mutants


def chosen(mutants: Iterable[Mutant], names: Iterable[str]) -> list[Mutant]:
    """Return the mutants with these names, or all of them without names. Raises Unfit for an unknown name."""
    by_name = {mutant.name: mutant for mutant in mutants}
    if unknown := [name for name in names if name not in by_name]:
        raise Unfit(f"no mutant is called {unknown[0]}; there are: {', '.join(by_name)}")
    return [by_name[name] for name in names] or list(by_name.values())
