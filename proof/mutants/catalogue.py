"""What a mutant is, and the list of them, read from catalogue.toml.

Must not know: how a copy is made, how tests are run.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CATALOGUE = Path(__file__).with_name("catalogue.toml")


class Unfit(Exception):
    """A mutant that does not fit the code any more; the message says which, and why."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One promise, broken in one place.

    file: from the root of the tree; `name_*.sql` is the newest of its numbers that holds the text. old: the text that
    stands there exactly once, new: what replaces it. tests: what is run (node ids of pytest); one of them must notice.
    mistake: the number in docs/mistakes.md whose fix this reverts, or None.
    """

    name: str
    promise: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    mistake: int | None = None

    def path(self, root: Path) -> Path:
        """The file that is broken. Raises Unfit where there is none."""
        if "*" not in self.file:
            return root / self.file
        found = sorted(root.glob(self.file), key=_number, reverse=True)
        if not found:
            raise Unfit(f"{self.name}: no file is called {self.file}")
        # A newer file may hold other functions alone. One that was replaced since changes nothing, and would survive.
        return next((path for path in found if self.old in path.read_text(encoding="utf-8")), found[0])

    def broken(self, text: str) -> str:
        """The file's text with the promise broken. Raises Unfit where the old text is not there exactly once."""
        count = text.count(self.old)
        if count != 1:
            raise Unfit(f"{self.name}: {self.file} holds the text to replace {count} times, not once")
        return text.replace(self.old, self.new)


def read_catalogue(path: Path = CATALOGUE) -> list[Mutant]:
    """All mutants, in the order of the file. Raises Unfit for a name that is there twice."""
    mutants = [
        Mutant(**{**entry, "tests": tuple(entry["tests"])})
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    ]
    names = [mutant.name for mutant in mutants]
    if doubled := {name for name in names if names.count(name) > 1}:
        raise Unfit(f"named twice: {', '.join(sorted(doubled))}")
    return mutants


def chosen(mutants: Iterable[Mutant], names: Iterable[str]) -> list[Mutant]:
    """Those with these names; all of them without any. Raises Unfit for a name that nothing has."""
    by_name = {mutant.name: mutant for mutant in mutants}
    if unknown := [name for name in names if name not in by_name]:
        raise Unfit(f"no mutant is called {unknown[0]}; there are: {', '.join(by_name)}")
    return [by_name[name] for name in names] or list(by_name.values())


def _number(path: Path) -> int:
    """The version at the end of a file's name: 3 of capture_3.sql."""
    found = re.search(r"_(\d+)$", path.stem)
    return int(found[1]) if found else 0
