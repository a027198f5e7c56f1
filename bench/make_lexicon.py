"""Write domain/similarity/wordnet.tsv: the part of WordNet 3.0 that the similarity needs, as one compact table.

Run: python -m bench.make_lexicon FOLDER, with FOLDER the `dict` folder of WordNet (Debian's package wordnet-base has it
as /usr/share/wordnet). The table takes only single words that occur in WordNet's tagged texts or in its definitions,
and their opposites.
"""

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TARGET = Path(__file__).parent.parent / "domain" / "similarity" / "wordnet.tsv"
PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
WORD = re.compile(r"[a-z][a-z'-]*\Z")
TOO_WIDE = frozenset(
    "entity object whole abstraction attribute matter thing unit artifact instrumentality act event group state cause "
    "relation measure content cognition process phenomenon communication organism physical_entity living_thing "
    "psychological_feature causal_agent".split()
)
SENSES = 3
DEPTH = 6
MENTIONS = 3
"""How often a word without a tagged text must occur in definitions."""
NOTICE = """# WordNet 3.0 Copyright 2006 by Princeton University. All rights reserved. THIS SOFTWARE AND DATABASE IS
# PROVIDED "AS IS" AND PRINCETON UNIVERSITY MAKES NO REPRESENTATIONS OR WARRANTIES, EXPRESS OR IMPLIED. The full licence
# stands in wordnet-LICENSE.txt. Extracted by bench/make_lexicon.py: word, parts of speech by frequency (p: a proper
# noun), synonyms, wider words (the nearest first), opposites; then irregular forms as "form = word"."""


@dataclass(slots=True)
class Entry:
    """The kept data of one word."""

    uses: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    same: set[str] = field(default_factory=set)
    wider: dict[str, None] = field(default_factory=dict)
    opposite: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Synset:
    """One sense: its words, its pointers (sign, offset, part, source and target word numbers in hexadecimal)."""

    words: tuple[str, ...]
    pointers: tuple[tuple[str, str, str, str], ...]


class WordNet:
    """The files of one WordNet folder."""

    def __init__(self, folder: Path) -> None:
        self.synsets = {key: value for part in PARTS for key, value in _synsets(folder, part)}
        self.senses = {(part, word): offsets for part in PARTS for word, offsets in _index(folder, part)}
        self.capital = {word for part in PARTS for word in _capitals(folder, part)}
        self.mentions = Counter(word for part in PARTS for word in _definitions(folder, part))
        self.uses: dict[tuple[str, str], int] = defaultdict(int)
        for line in (folder / "cntlist.rev").read_text("ascii").splitlines():
            key, _, count = line.split()
            word, _, rest = key.partition("%")
            self.uses[("nvara"[int(rest[0]) - 1], word.lower())] += int(count)
        self.irregular = [
            (form, words[0])
            for part in ("adj", "noun", "verb")
            for form, *words in map(str.split, (folder / f"{part}.exc").read_text("ascii").splitlines())
        ]

    def opposites(self) -> set[tuple[str, str]]:
        """Return pairs that are marked as antonyms, and pairs of words whose nearest adjectives are antonyms."""
        found = set()
        for (part, _), synset in self.synsets.items():
            for sign, offset, other, words in synset.pointers:
                if sign == "!":
                    target = self.synsets[other, offset]
                    here, there = bytes.fromhex(words)
                    found.add((synset.words[here - 1], target.words[there - 1]))
                    if part == "a":
                        found |= {(near, far) for near in self._near(synset) for far in target.words[:1]}
        return {pair for pair in found if pair[0] != pair[1]}

    def _near(self, synset: Synset) -> set[str]:
        near = {self.synsets[part, offset].words[0] for sign, offset, part, _ in synset.pointers if sign == "&"}
        first = {
            word for word in near if self.senses["a", word][0] in {o for s, o, _, _ in synset.pointers if s == "&"}
        }
        return {word for word in first if self.uses["a", word] >= 3}

    def wider(self, part: str, offset: str, depth: int) -> list[str]:
        """Return the words of the wider senses, the nearest first, without those that apply to nearly everything."""
        found: dict[str, None] = {}
        level = [offset]
        for _ in range(depth):
            above = [
                other
                for one in level
                for sign, other, kind, _ in self.synsets[part, one].pointers
                if sign in {"@", "@i"} and kind == part
            ]
            level = [one for one in above if self.synsets[part, one].words[0] not in TOO_WIDE]
            found |= dict.fromkeys(word for one in level for word in self.synsets[part, one].words[:3])
        return list(found)

    def knows(self, part: str, word: str) -> bool:
        """Return True if a word is common enough."""
        return self.uses[part, word] > 0 or self.mentions[word] >= MENTIONS


def _synsets(folder: Path, part: str) -> list[tuple[tuple[str, str], Synset]]:
    found = []
    for line in (folder / f"data.{PARTS[part]}").read_text("ascii").splitlines():
        if line.startswith("  "):
            continue
        cells = line.split("|")[0].split()
        count = int(cells[3], 16)
        words = tuple(cells[4 + 2 * number].split("(")[0].lower() for number in range(count))
        start = 5 + 2 * count
        pointers = tuple(
            (cells[at], cells[at + 1], cells[at + 2], cells[at + 3])
            for at in range(start, start + 4 * int(cells[start - 1]), 4)
        )
        found.append(((part, cells[0]), Synset(words, pointers)))
    return found


def _capitals(folder: Path, part: str) -> Iterator[str]:
    """Return words, in lower case, that WordNet writes with a capital in one sense and never without."""
    found: dict[str, bool] = {}
    for line in (folder / f"data.{PARTS[part]}").read_text("ascii").splitlines():
        if not line.startswith("  "):
            cells = line.split("|")[0].split()
            for word in cells[4 : 4 + 2 * int(cells[3], 16) : 2]:
                found[word.lower()] = found.get(word.lower(), True) and word[0].isupper()
    return (word for word, always in found.items() if always)


def _definitions(folder: Path, part: str) -> Iterator[str]:
    for line in (folder / f"data.{PARTS[part]}").read_text("ascii").splitlines():
        yield from re.findall(r"[a-z][a-z-]+", line.partition("|")[2])


def _index(folder: Path, part: str) -> list[tuple[str, list[str]]]:
    lines = (folder / f"index.{PARTS[part]}").read_text("ascii").splitlines()
    cells = [line.split() for line in lines if not line.startswith("  ")]
    return [(row[0], row[-int(row[2]) :]) for row in cells]


def entries(wordnet: WordNet) -> dict[str, Entry]:
    """Yield every kept word with its data."""
    kept: dict[str, Entry] = defaultdict(Entry)
    for (part, word), offsets in wordnet.senses.items():
        if not WORD.match(word) or not wordnet.knows(part, word):
            continue
        entry = kept[word]
        entry.uses["p" if part == "n" and word in wordnet.capital else part] = wordnet.uses[part, word]
        for offset in offsets[:SENSES]:
            entry.same |= {other for other in wordnet.synsets[part, offset].words if wordnet.knows(part, other)}
            if part == "v" or offset == offsets[0]:
                entry.wider |= dict.fromkeys(wordnet.wider(part, offset, DEPTH if part == "n" else 1))
    for one, other in wordnet.opposites():
        if WORD.match(one) and WORD.match(other) and (one in kept or other in kept):
            kept[one].opposite.add(other)
            kept[other].opposite.add(one)
    return kept


def _stands_for(wordnet: WordNet, kept: dict[str, Entry], form: str, word: str) -> bool:
    """Return True if `form` is more often a form of `word` than a word by itself ("rent" is not a form of "rend")."""
    own, its = (sum(wordnet.uses[part, one] for part in PARTS) for one in (form, word))
    return word in kept and WORD.match(form) is not None and its >= own


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    wordnet = WordNet(parser.parse_args().folder)
    kept = entries(wordnet)
    lines = [NOTICE]
    for word, entry in sorted(kept.items()):
        parts = "".join(sorted(entry.uses, key=entry.uses.__getitem__, reverse=True))
        cells = (sorted(entry.same), entry.wider, sorted(entry.opposite))
        lines.append(
            "\t".join([word, parts, *(" ".join(one for one in c if WORD.match(one) and one != word) for c in cells)])
        )
    lines += sorted({f"{form} = {word}" for form, word in wordnet.irregular if _stands_for(wordnet, kept, form, word)})
    TARGET.write_text("\n".join(lines) + "\n", encoding="ascii")
    print(f"{len(kept)} words, {TARGET.stat().st_size} bytes in {TARGET}")


if __name__ == "__main__":
    main()
