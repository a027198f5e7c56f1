"""A pass: what is alike becomes one, what changed is superseded by event time, what contradicts stays readable."""

import random
from datetime import timedelta

import pytest
from sqlalchemy import Engine

from slowwave.settings import Consolidation
from slowwave_server.services.consolidation.batches import ALWAYS_ALLOWED
from tests.support.consolidating import NOW, Hearer

pytestmark = pytest.mark.servers


@pytest.fixture
def hearer(engine: Engine) -> Hearer:
    return Hearer(engine)


def test_mistake_22_a_changed_value_ends_the_older_one_and_both_stay_readable(hearer: Hearer) -> None:
    old = hearer.hear("Maya works at Northwind", days_ago=400)
    new = hearer.hear("Maya works at Contoso", days_ago=40)
    hearer.run()
    ended = hearer.memory(old)
    assert ended.superseded_by == new
    assert ended.valid_to == NOW - timedelta(days=40)
    assert ended.status != "archived"
    assert hearer.memory(new).valid_to is None
    assert hearer.links("supersedes") == {(new, old)}
    assert hearer.links("contradicts") == {(new, old)}
    (conflict,) = hearer.sql("SELECT status, resolution FROM slowwave.memory_conflicts")
    assert conflict.status == "resolved"


def test_a_value_that_says_what_changed_ends_the_older_one_once(hearer: Hearer) -> None:
    old = hearer.hear("Maya lives in Porto.", days_ago=400)
    hearer.hear("Maya lives in Bergen now.", days_ago=40)
    hearer.run()
    (change,) = hearer.sql(
        f"SELECT reason FROM slowwave.memory_changes WHERE memory_id = '{old}' AND action = 'superseded'"
    )
    assert change.reason == "said later: another value of lives_in of Maya"


def test_mistake_18_a_backfilled_older_fact_does_not_switch_off_the_newer_one(hearer: Hearer) -> None:
    new = hearer.hear("Maya works at Contoso", days_ago=40)
    hearer.run()
    old = hearer.hear("Maya works at Northwind", days_ago=400)
    hearer.run()
    assert hearer.memory(new).superseded_by is None
    assert hearer.memory(old).superseded_by == new


def test_a_value_that_is_said_again_later_holds_again(hearer: Hearer) -> None:
    first = hearer.hear("Maya works at Northwind", days_ago=400)
    between = hearer.hear("Maya works at Contoso", days_ago=200)
    hearer.run()
    assert hearer.memory(first).superseded_by == between
    hearer.hear("Maya works at Northwind", days_ago=20, session="later")
    hearer.run()
    assert hearer.memory(first).superseded_by is None
    assert hearer.memory(between).superseded_by == first


def test_mistake_19_a_merge_keeps_the_oldest_event_time_and_all_sources(hearer: Hearer) -> None:
    one = hearer.hear("Maya adopted a dog called Bruno.", days_ago=300, trust="assistant", session="a")
    two = hearer.hear("Maya adopted the dog called Bruno", days_ago=20, session="b")
    three = hearer.hear("Maya has adopted a dog called Bruno", days_ago=20, session="c")
    hearer.run()
    (kept,) = [m for m in (one, two, three) if hearer.memory(m).status != "archived"]
    memory = hearer.memory(kept)
    assert memory.valid_from == NOW - timedelta(days=300)
    sources = hearer.sql("SELECT seq, via FROM slowwave.memory_sources WHERE memory_id = :m ORDER BY seq", m=kept)
    assert [row.seq for row in sources] == [1, 2, 3]
    for part in {one, two, three} - {kept}:
        assert hearer.memory(part).archive_reason == "merged"
        assert hearer.memory(part).merged_into == kept
        assert (part, kept) in hearer.links("merged_into")


def test_a_statement_said_again_in_the_words_of_a_merged_part_is_evidence_for_the_survivor(hearer: Hearer) -> None:
    one = hearer.hear("Maya adopted a dog called Bruno", days_ago=300, session="a")
    same = hearer.hear("Maya has adopted a dog called Bruno", days_ago=200, session="b")
    hearer.run()
    kept, part = (one, same) if hearer.memory(same).status == "archived" else (same, one)
    before = hearer.memory(kept).confidence
    assert hearer.hear(hearer.memory(part).content, days_ago=10, session="c") == part
    assert hearer.memory(part).status == "archived"
    assert hearer.memory(kept).confidence > before


def test_i9_an_older_statement_that_comes_late_takes_over_a_survivor_with_its_parts(hearer: Hearer) -> None:
    survivor = hearer.hear("Maya is learning the cello", days_ago=300, session="a")
    part = hearer.hear("Maya is now learning the cello", days_ago=200, session="b")
    hearer.run()
    assert hearer.memory(part).merged_into == survivor
    late = hearer.hear("Maya has been learning the cello", days_ago=400, session="c")
    report = hearer.run()
    assert (report.failed, report.counts["merged"], report.counts["moved"]) == (0, 1, 1)
    assert {hearer.memory(memory).merged_into for memory in (survivor, part)} == {late}
    assert hearer.links("merged_into") == {(survivor, late), (part, late)}
    sources = hearer.sql("SELECT via FROM slowwave.memory_sources WHERE memory_id = :m ORDER BY seq", m=late)
    assert [row.via for row in sources] == [survivor, part, None]
    assert not hearer.sql("SELECT 1 FROM slowwave.memory_sources WHERE memory_id = :m AND via IS NOT NULL", m=survivor)


def test_promotion_needs_independent_sessions_not_repetition(hearer: Hearer) -> None:
    for _ in range(6):
        hearer.hear("Maya likes green tea", session="same")
    hearer.hear("Jonas collects stamps", session="one")
    hearer.hear("Jonas collects stamps", session="two")
    hearer.run()
    assert hearer.active() == {"Jonas collects stamps"}


def test_a_claim_against_a_persons_words_waits_in_review_and_both_rows_stay(hearer: Hearer) -> None:
    said = hearer.hear("Maya works at Northwind", days_ago=100)
    claim = hearer.hear("Maya works at Contoso", days_ago=20, trust="assistant")
    hearer.run()
    assert hearer.memory(said).superseded_by is None
    assert hearer.memory(claim).status == "review"
    assert len(hearer.sql("SELECT 1 FROM slowwave.review_items WHERE state = 'open'")) == 1


def test_an_agents_paraphrase_takes_nothing_from_a_persons_words(hearer: Hearer) -> None:
    plays = hearer.hear("Maya plays the flute", days_ago=100, session="a")
    stopped = hearer.hear("Maya does not play the flute", days_ago=50, session="b")
    noted = hearer.hear("Maya does not play the flute any more", days_ago=49, session="c", trust="assistant")
    hearer.run()
    assert hearer.memory(noted).merged_into == stopped
    assert (hearer.memory(stopped).trust, hearer.memory(stopped).status) == ("user", "active")
    assert hearer.memory(plays).status == "inbox"


def test_a_persons_words_replace_an_agents_paraphrase(hearer: Hearer) -> None:
    noted = hearer.hear("Maya has adopted a dog called Bruno", days_ago=40, trust="assistant", session="a")
    hearer.run()
    said = hearer.hear("Maya adopted a dog called Bruno", days_ago=20, session="b")
    hearer.run()
    assert (hearer.memory(noted).merged_into, hearer.memory(said).trust) == (said, "user")


def test_young_memories_wait_if_a_setting_says_so(hearer: Hearer) -> None:
    hearer.settings = Consolidation(min_age_days=7)
    hearer.hear("Maya works at Northwind", days_ago=30)
    hearer.now -= timedelta(days=25)
    assert hearer.run().state == "nothing"


def test_an_imported_memory_is_as_old_as_its_event(hearer: Hearer) -> None:
    hearer.settings = Consolidation(min_age_days=7)
    hearer.hear("Maya works at Northwind", days_ago=400)
    hearer.now -= timedelta(days=30)  # the moment at which the import recorded the event
    assert hearer.run().checked == 1


def test_mistake_37_a_runaway_pass_stops_and_says_what_would_allow_it(hearer: Hearer) -> None:
    for number in range(ALWAYS_ALLOWED + 2):
        hearer.hear(f"Jonas{number} bought a red kayak", session=f"k{number}")
        hearer.hear(f"Jonas{number} has bought a red kayak", session=f"k{number}")
    hearer.settings = Consolidation(max_archived_share=0.01)
    report = hearer.run()
    assert report.state == "stopped"
    assert "--allow-archive" in report.summary
    archived = hearer.sql("SELECT count(*) AS n FROM slowwave.memories WHERE status = 'archived'")[0].n
    assert archived <= ALWAYS_ALLOWED
    assert hearer.run("deep", allow_archive=True).state == "completed"


def test_a_dry_run_shows_the_diff_and_changes_nothing(hearer: Hearer) -> None:
    hearer.hear("Maya works at Northwind", days_ago=400)
    hearer.hear("Maya works at Contoso", days_ago=40)
    before = hearer.sql("SELECT * FROM slowwave.memories ORDER BY id")
    report = hearer.run(dry_run=True)
    assert "superseded" in {change.action for change in report.changes}
    assert hearer.sql("SELECT * FROM slowwave.memories ORDER BY id") == before
    for table in ("maintenance_runs", "memory_links", "memory_conflicts", "memory_blocks"):
        assert not hearer.sql(f"SELECT 1 FROM slowwave.{table}"), table
    hearer.run()
    made = hearer.sql("SELECT action FROM slowwave.memory_changes WHERE run_id IS NOT NULL ORDER BY id")
    assert [row.action for row in made] == [change.action for change in report.changes]


STATEMENTS = [
    ("Maya works at Northwind", 900, "user"),
    ("Maya works at Contoso", 500, "user"),
    ("Maya is working at Contoso", 480, "user"),
    ("Maya works at Fabrikam", 100, "user"),
    ("Maya works at Northwind", 60, "user"),
    ("Maya lives in Oslo", 300, "user"),
    ("Maya lives in Bergen", 20, "user"),
    ("Maya adopted a dog called Bruno", 250, "user"),
    ("Maya has adopted a dog called Bruno", 240, "assistant"),
    ("Maya adopted a small dog called Bruno", 230, "user"),
    ("Maya likes green tea", 90, "user"),
    ("Maya likes green tea", 30, "user"),
    ("Maya does not like green tea", 10, "user"),
    ("Jonas plays the cello on Sundays", 70, "user"),
    ("Jonas is playing the cello on Sundays", 50, "user"),
    ("Priya is allergic to peanuts", 365, "user"),
    ("Priya is not allergic to peanuts", 12, "user"),
]


@pytest.mark.long
def test_i9_twenty_random_arrival_orders_end_in_the_same_set(engine: Engine) -> None:
    outcomes = []
    for seed in range(20):
        dice = random.Random(seed)  # noqa: S311 (a shuffle that can be had again)
        order = list(enumerate(STATEMENTS))
        dice.shuffle(order)
        hearer = Hearer(engine, agent=f"maya-{seed}")
        for place, (number, (content, days_ago, trust)) in enumerate(order):
            hearer.hear(content, days_ago=days_ago, trust=trust, session=f"s{number}")
            if dice.random() < 0.4 or place == len(order) - 1:
                hearer.run("light" if dice.random() < 0.7 else "deep")
        outcomes.append(hearer.standing())
    assert outcomes[0]
    for seed, outcome in enumerate(outcomes):
        assert outcome == outcomes[0], f"seed {seed}: {outcome ^ outcomes[0]}"


def test_a_pass_with_nothing_to_do_says_what_waits(hearer: Hearer) -> None:
    assert hearer.run().summary == "no memory is due"
    hearer.settings = Consolidation(min_age_days=7)
    hearer.hear("Maya works at Northwind")
    hearer.now -= timedelta(days=25)
    assert hearer.run().summary == "no memory is due; 1 memory waits to be 7 days old"


def test_an_assistant_that_repeats_what_a_person_said_takes_nothing_from_it(hearer: Hearer) -> None:
    hearer.hear("Maya works at Contoso", days_ago=100)
    now = hearer.hear("Maya works at Northwind", days_ago=50)
    assert hearer.hear("Maya works at Northwind", days_ago=49, trust="assistant", session="echo") == now
    hearer.run()
    assert hearer.memory(now).trust == "user"
    assert hearer.memory(now).status != "review"
    assert hearer.memory(now).superseded_by is None
    claim = hearer.hear("Maya likes opera", days_ago=60, trust="assistant")
    assert hearer.memory(claim).trust == "assistant"
    hearer.hear("Maya likes opera", days_ago=20, session="herself")
    assert hearer.memory(claim).trust == "user"


@pytest.mark.parametrize("judge", [True, False])
def test_a_pass_asks_the_model_of_pairs_if_settings_allow(hearer: Hearer, judge: bool) -> None:
    hearer.settings = Consolidation(judge=judge)
    hearer.hear("Deploys need two approvals.", days_ago=60, session="a")
    hearer.hear("Deploys go out without any approval.", days_ago=40, session="b")
    hearer.run()
    found = hearer.sql("SELECT status FROM slowwave.memory_conflicts")
    assert [row.status for row in found] == (["open"] if judge else [])


def test_a_pass_merges_what_the_model_of_pairs_finds_the_same(hearer: Hearer) -> None:
    first = hearer.hear("Tomasz is the owner of the billing service.", days_ago=60, session="a")
    second = hearer.hear("The billing service is owned by Tomasz.", days_ago=40, session="b")
    hearer.run()
    assert {hearer.memory(one).merged_into for one in (first, second)} - {None} <= {first, second}
    assert any(hearer.memory(one).merged_into for one in (first, second))


@pytest.mark.parametrize(
    ("type_", "trust", "contested"),
    [("fact", "user", True), ("result", "user", False), ("fact", "assistant", False), ("fact", "task", False)],
)
def test_reports_of_what_happened_and_words_of_agents_do_not_contradict_each_other(
    hearer: Hearer, type_: str, trust: str, *, contested: bool
) -> None:
    for content in ("The ferry to Bergen is open.", "The ferry to Bergen is not open."):
        hearer.hear(content, type=type_, trust=trust)
    hearer.run()
    assert bool(hearer.links("contradicts")) is contested


@pytest.mark.parametrize(("trust", "ended"), [("user", True), ("assistant", False)])
def test_the_words_of_an_agent_end_nothing(hearer: Hearer, trust: str, *, ended: bool) -> None:
    old = hearer.hear("The harbour bot runs on Node 18.", trust=trust, days_ago=40)
    hearer.hear("The harbour bot was upgraded to Node 20.", trust=trust, days_ago=20)
    hearer.run()
    assert (hearer.memory(old).valid_to is not None) is ended
