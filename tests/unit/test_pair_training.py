"""What the judge of pairs learns from: which pairs, with which labels, and what it never sees."""

import random

from judge.train.data import is_held_out_group
from judge.train.pair_changes import changed
from judge.train.pair_data import (
    HELD_OUT_DOMAINS,
    apart,
    learned_round,
    of_group,
    pairs_of,
    read_groups,
    read_unlearned,
    statements,
)
from judge.train.pair_real import near_pairs
from judge.train.pairs import Pair, target

GROUP = {
    "domain": "homes",
    "lang": "en",
    "statement": "Maya lives in Porto.",
    "duplicate": ["Maya's home is in Porto.", "It is Porto that Maya lives in."],
    "conflict": ["Maya lives in Oslo.", "Maya has never left Leeds, where she lives."],
    "update": ["Maya has moved away from Porto."],
    "related": ["Maya lives in a flat with two cats.", "Maya likes the bakeries of Porto."],
    "distinct": ["Jonas lives in Porto."],
}
CHAIRS = {
    "domain": "orders",
    "lang": "en",
    "statement": "Ines ordered 14 chairs.",
    "duplicate": ["Ines placed an order of 14 chairs.", "14 chairs were ordered, and Ines did it."],
}


def _label(first: str, second: str) -> str | None:
    pairs = [one for found in of_group(GROUP).values() for one in found]
    labels = [one.label for one in pairs if {one.first, one.second} == {first, second}]
    assert len(labels) <= 1
    return labels[0] if labels else None


def test_what_repeats_a_statement_has_its_relations() -> None:
    again, other = GROUP["duplicate"]
    assert _label(again, other) == "duplicate"
    for conflict in GROUP["conflict"]:
        assert _label(again, conflict) == "conflict"
    assert _label(other, GROUP["update"][0]) == "update"
    assert _label(again, GROUP["related"][1]) == "related"
    assert _label(again, GROUP["distinct"][0]) == "distinct"


def test_pairs_whose_relation_nobody_wrote_are_left_out() -> None:
    assert _label(*GROUP["conflict"]) is None
    assert _label(*GROUP["related"]) is None
    assert _label(GROUP["conflict"][0], GROUP["update"][0]) is None
    assert _label(GROUP["related"][0], GROUP["distinct"][0]) is None


def test_in_the_other_order_an_update_is_updated_and_all_else_stays() -> None:
    labels = {one.label: one.swapped().label for found in of_group(GROUP).values() for one in found}
    assert labels.pop("update") == "updated"
    assert labels == {name: name for name in ("duplicate", "conflict", "related", "distinct")}


def test_nothing_of_a_domain_held_out_is_learned() -> None:
    learned, held_out = apart(read_groups())
    assert {group["domain"] for group in held_out} == HELD_OUT_DOMAINS
    assert 20 * len(held_out) > len(learned)
    said = {group["statement"] for group in held_out}
    pairs = learned_round(learned[:50] + learned[-50:], seed=1)
    assert not HELD_OUT_DOMAINS & {one.group for one in pairs}
    assert not said & {text for one in pairs for text in (one.first, one.second)}


def test_unlearned_groups_share_nothing_with_training() -> None:
    learned, unlearned = read_groups(), read_unlearned()
    assert {len(pairs_of([group])) for group in unlearned} == {30}
    assert not {group["domain"] for group in learned} & {group["domain"] for group in unlearned}
    known = {text for group in learned for text in statements(group)}
    assert not known & {text for group in unlearned for text in statements(group)}


def test_real_pairs_stand_beside_the_rest_of_a_round() -> None:
    real = Pair("Maya lives in Porto.", "Maya works in Porto.", target(related=1.0), 0.5, "real")
    assert real in learned_round([GROUP], 1, [real])
    assert real not in learned_round([GROUP], 1)


def test_the_people_and_dialogues_that_are_held_out() -> None:
    assert is_held_out_group("realmem", "Oliver_Smith")
    assert is_held_out_group("locomo", "conv-48")
    assert not is_held_out_group("realmem", "Maya_Silva")
    assert [n for n in range(20) if is_held_out_group("msc", f"dialogue-{n}")] == [0, 5, 10, 15]


def test_near_memories_share_words_and_are_not_said_to_be_the_same() -> None:
    walks = "Maya walks the dog along the river in Porto every morning."
    drowned = "The river in Porto flooded the path where Maya walks her dog."
    tax = "Invoices above 500 euros need two signatures."
    assert list(near_pairs([walks, tax, drowned, walks])) == [(walks, drowned)]
    assert not list(near_pairs([walks, walks.removesuffix(".")]))


def test_of_many_near_memories_the_nearest_are_taken() -> None:
    rooms = [f"The projector of room {name} needs a new lamp." for name in "Oslo Lima Quito Paris Cairo Delhi".split()]
    rooms += [f"The projector of hall {name} needs a new lamp." for name in "Accra Lagos Turin Porto Milan".split()]
    last = [pair for pair in near_pairs(rooms) if pair[1] == rooms[-1]]
    assert len(last) <= 8
    assert sum("hall" in older for older, _ in last) == 4


def test_a_changed_number_is_a_conflict_and_another_name_is_another_subject() -> None:
    found = {one for seed in range(60) if (one := changed(CHAIRS, random.Random(seed)))}  # noqa: S311 (no secret)
    assert {name for name, *_ in found} == {"conflict", "distinct", "duplicate"}
    for name, first, second in found:
        assert first != second
        assert ("14" in second) == (name != "conflict")
        assert ("ines" in second.lower()) == (name != "distinct")


def test_a_denied_statement_is_a_conflict() -> None:
    said = "The gate is locked at night."
    group = {
        "lang": "en",
        "statement": said,
        "duplicate": ["At night the gate is locked.", "The gate is shut at night."],
    }
    found = {one for seed in range(60) if (one := changed(group, random.Random(seed)))}  # noqa: S311 (no secret)
    assert {name for name, _, second in found if " is not " in second} == {"conflict"}
    assert {name for name, *_ in found} == {"conflict", "duplicate"}
