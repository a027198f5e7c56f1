"""A pass proves on replayed questions that it helped; what loses evidence is rolled back and told."""

from datetime import timedelta
from random import Random
from uuid import UUID

import pytest
from sqlalchemy import Engine

from slowwave.settings import Consolidation
from slowwave_server.services.consolidation.asking import ModelUse
from slowwave_server.services.reports.check import Check
from slowwave_server.services.reports.doctor import check_passes
from slowwave_server.services.reports.runs import read_run
from slowwave_server.services.undo.undo import undo
from tests.support.answering import Oracle
from tests.support.consolidating import APART, NOW, Hearer, merges_all
from tests.support.roles import deployed

pytestmark = pytest.mark.servers

STORIES = [
    (APART[0], "We got Kiwi from a shelter. Maya keeps a parrot called Kiwi, noisy at dawn."),
    (APART[1], "Slugs again. Maya grows tomatoes on her balcony in clay pots from Siena."),
    (APART[2], "Maya repairs old radios at night with a soldering iron from her uncle."),
    (APART[3], "Maya teaches chess to children on Saturdays in the library of Drammen."),
]


class Talker(Hearer):
    """A hearer whose memories rest on events that can be read, as those of a flush do."""

    def tell(self, content: str, said: str, *, days_ago: float = 30, session: str = "s", trust: str = "user") -> UUID:
        memory = self.hear(content, days_ago=days_ago, session=session, trust=trust)
        self.sql(
            "INSERT INTO slowwave.events (session_id, seq, turn, kind, role, content, happened_at, recorded_at, day)"
            " VALUES (:session, :seq, 1, 'user', 'user', :said, :at, :at, CAST(:at AS date))",
            session=self.session(session),
            seq=self._seq,
            said=said,
            at=NOW - timedelta(days=days_ago),
        )
        return memory


@pytest.fixture
def talker(engine: Engine) -> Talker:
    return Talker(engine)


def tell_stories(talker: Talker) -> set[UUID]:
    return {talker.tell(content, said, session=f"s{n}") for n, (content, said) in enumerate(STORIES)}


def standing(talker: Talker) -> list[tuple[object, ...]]:
    rows = talker.sql("SELECT id, content, status, merged_into, valid_to, revision FROM slowwave.memories ORDER BY id")
    return [tuple(row) for row in rows]


def doctor(talker: Talker) -> Check:
    with talker.engine.connect() as connection:
        return check_passes(connection, now=talker.now)


def test_harmful_pass_is_rolled_back_and_kept_as_a_run(talker: Talker) -> None:
    told = tell_stories(talker)
    before = standing(talker)
    report = talker.run(meaning=merges_all)
    assert (report.state, report.counts) == ("rolled_back", {"rolled_back": 4})
    assert standing(talker) == before
    assert not talker.sql("SELECT 1 FROM slowwave.memory_changes WHERE run_id = :run", run=report.run)
    with talker.engine.connect() as connection:
        story = read_run(connection, "default", report.run or 0)
    assert story.run.status == "rolled_back"
    assert story.run.stats["rolled_back_evidence_after"] < story.run.stats["rolled_back_evidence_before"] == 1
    assert "answers would have held" in (story.run.summary or "")
    assert set(story.lost) <= told
    assert set(story.lost.values()) <= {content for content, _ in STORIES}
    assert story.lost


def test_memories_that_were_rolled_back_wait_for_a_change(talker: Talker) -> None:
    tell_stories(talker)
    talker.run(meaning=merges_all)
    assert talker.run(meaning=merges_all).state == "nothing"
    talker.tell("Maya feeds a parrot called Kiwi", "Maya feeds a parrot called Kiwi with seeds", session="later")
    again = talker.run()
    assert (again.state, again.checked) == ("completed", 1)


def test_doctor_tells_of_a_pass_until_a_deep_pass_does_no_harm(talker: Talker) -> None:
    assert doctor(talker).verdict == "ok"
    tell_stories(talker)
    report = talker.run(meaning=merges_all)
    check = doctor(talker)
    assert (check.verdict, check.issue) == ("problem", "passes-rolled-back")
    assert f"run {report.run}" in check.finding
    talker.run("deep")
    assert doctor(talker).verdict == "ok"


def test_only_the_memories_that_do_harm_are_left_out(talker: Talker) -> None:
    tell_stories(talker)
    one = talker.tell("Jonas bought a red kayak", "Jonas bought a red kayak in Bergen", session="a")
    two = talker.tell("Jonas has bought a red kayak", "Jonas has bought a red kayak, he says", session="b")
    report = talker.run(meaning=lambda a, b: merges_all(a, b) if "Maya" in a else None)
    assert report.counts["rolled_back"] == 4
    assert report.counts["merged"] == 1
    assert {talker.memory(memory).status for memory in (one, two)} >= {"archived"}
    assert report.replayed["evidence_after"] == 1
    assert report.state == "rolled_back"
    undo(talker.engine, "default", report.run or 0, by="priya", now=talker.now)
    assert {talker.memory(memory).status for memory in (one, two)} == {"inbox"}


def test_pass_that_loses_no_evidence_commits_and_tells_its_cost(talker: Talker) -> None:
    for session in ("a", "b"):
        talker.tell("Jonas bought a red kayak", "Jonas bought a red kayak in Bergen", session=session)
    talker.tell("Jonas has bought a red kayak", "Jonas has bought a red kayak, he says", session="c")
    report = talker.run()
    assert (report.state, report.counts["merged"]) == ("completed", 1)
    (run,) = talker.sql("SELECT status, stats, summary FROM slowwave.maintenance_runs")
    assert run.status == "completed"
    assert (run.stats["evidence_before"], run.stats["evidence_after"]) == (1, 1)
    assert run.stats["replayed"] > 0
    assert run.stats["replay_ms"] >= 0
    assert "replayed in" in run.summary


SAID_IN_ANY_ORDER = [
    ("Jonas bought a red kayak", "Jonas bought a red kayak in Bergen", 90),
    ("Jonas has bought a red kayak", "Jonas has bought a red kayak, he says", 60),
    ("Jonas works at Northwind", "Since spring Jonas works at Northwind", 80),
    ("Jonas works at Contoso", "By the way, Jonas works at Contoso now", 30),
    *((content, said, 40) for content, said in STORIES),
]


@pytest.mark.parametrize("seed", range(4))
def test_i9_replays_decide_the_same_in_any_order_of_arrival(engine: Engine, seed: int) -> None:
    ends = []
    for agent, order in (("as-told", SAID_IN_ANY_ORDER), ("shuffled", Random(seed).sample(SAID_IN_ANY_ORDER, 8))):  # noqa: S311
        talker = Talker(engine, agent)
        for content, said, days_ago in order:
            talker.tell(content, said, days_ago=days_ago, session=content)
            assert talker.run().state == "completed"
        ends.append(talker.standing())
    assert ends[0] == ends[1]


def test_a_dry_run_tells_of_a_rollback_and_stores_nothing(talker: Talker) -> None:
    tell_stories(talker)
    report = talker.run(meaning=merges_all, dry_run=True)
    assert (report.state, report.changes) == ("rolled_back", ())
    assert not talker.sql("SELECT 1 FROM slowwave.maintenance_runs")
    assert {row.checked_at for row in talker.sql("SELECT checked_at FROM slowwave.memories")} == {None}


@pytest.mark.parametrize(("most", "replayed"), [(3, 3), (0, 0)])
def test_a_pass_replays_no_more_questions_than_the_settings_allow(talker: Talker, most: int, replayed: int) -> None:
    talker.settings = Consolidation(replay_questions=most)
    tell_stories(talker)
    report = talker.run(meaning=merges_all)
    assert report.replayed.get("replayed", 0) == replayed
    assert report.state == ("rolled_back" if most else "completed")


def test_a_prompt_whose_reply_used_a_memory_is_replayed(talker: Talker) -> None:
    memory = talker.tell("Maya keeps a parrot called Kiwi", "We have a new flatmate", session="a", trust="assistant")
    talker.tell("Maya grows tomatoes on her balcony", "Slugs are everywhere", session="b")
    talker.tell("Maya asked about pets", "What is the name of the parrot Maya keeps?", session="asked", days_ago=2)
    talker.sql(
        "INSERT INTO slowwave.memory_uses (memory_id, session_id, last_used_at) VALUES (:m, :s, :at)",
        m=memory,
        s=talker.session("asked"),
        at=NOW - timedelta(days=1),
    )
    report = talker.run(meaning=lambda a, b: None if "pets" in a + b else merges_all(a, b))
    assert report.state == "rolled_back"
    assert report.replayed["lost"] == [str(memory)]


def test_login_of_a_worker_may_replay_questions(database_url: str) -> None:
    with deployed(database_url) as deployment:
        talker = Talker(deployment.engine("worker"))
        tell_stories(talker)
        assert talker.run(meaning=merges_all).state == "rolled_back"


def test_a_models_sentence_is_measured_before_it_is_kept(talker: Talker) -> None:
    talker.tell("Maya likes green tea in the morning", "Maya likes green tea in the morning", days_ago=90)
    talker.tell("Maya likes green tea in the morning with honey", "Kyoto: green tea, Maya likes it", session="b")
    model = ModelUse(Oracle(lambda _prompt: "Maya likes green tea with honey in the morning"))
    report = talker.run("deep", model=model)
    assert report.counts["synthesised"] == 1
    assert report.replayed["replayed"] == 2
