"""A context says each thing once: the summary of a day stays whole, memories and raw lines yield to it."""

from datetime import UTC, datetime

from slowwave.recall import Context, Contradiction, Day, DayLine, Hit, Utterance
from slowwave.recall.deduplicate import deduplicate
from slowwave.recall.fitting import fitted
from slowwave.recall.trimming import Budget

AT = datetime(2024, 5, 9, 12, tzinfo=UTC)


def memory(number: int, content: str, *seqs: int, kind: str = "fact") -> Hit:
    sources = tuple(("monday", seq) for seq in seqs)
    return Hit(f"memory-{number}", "memory", content, 1, "active", AT, sources, None, kind)


def line(seq: int, content: str, facet: str = "decided", weight: float = 1.0) -> DayLine:
    return DayLine(facet, content, "Maya", "monday", seq, AT, weight)


def raw(seq: int, content: str) -> Utterance:
    return Utterance("monday", seq, "maya", "Maya", content, AT, None)


def day(*lines: DayLine, unsummarised: tuple[Utterance, ...] = ()) -> Day:
    return Day(AT.date(), "maya", None, 1, final=False, lines=lines, unsummarised=unsummarised)


def test_day_stays_whole_and_its_memories_yield() -> None:
    lines = (line(1, "Maya decided to take the ferry."), line(2, 'The user agreed on "Hotel Mundial".'))
    known = deduplicate(
        Context(
            days=(day(*lines),),
            memories=(memory(1, "Maya decided to take the ferry"), memory(2, "Maya keeps bees.", 7)),
            recent=(memory(3, 'The user agreed on the "Hotel Mundial" today.', 2),),
        )
    )
    assert known.days[0].lines == lines
    assert [hit.id for hit in (*known.memories, *known.recent)] == ["memory-2"]


def test_memory_of_same_event_that_says_more_stays() -> None:
    known = deduplicate(
        Context(
            days=(day(line(1, "Maya decided to take the ferry.")),),
            memories=(
                memory(1, "Maya's mother can't climb stairs and needs an elevator.", 1),
                memory(2, "Maya decided to take the ferry K1NW8N.", 1),
                memory(3, "Maya decided to take the ferry in May.", 2),
            ),
        )
    )
    assert [hit.id for hit in known.memories] == ["memory-1", "memory-2", "memory-3"]


def test_unsummarised_line_yields_to_the_memory_of_its_event() -> None:
    said = (raw(1, "I keep bees in the garden."), raw(2, "I keep bees in the garden, and two goats besides them."))
    known = deduplicate(
        Context(days=(day(unsummarised=said),), memories=(memory(1, "Maya keeps bees in the garden.", 1, 2),))
    )
    assert [one.seq for one in known.days[0].unsummarised] == [2]


def test_side_of_contradiction_is_told_there_alone() -> None:
    one, other = memory(1, "Maya lives in Bonn."), memory(2, "Maya lives in Graz.")
    known = deduplicate(
        Context(
            days=(day(line(1, "Maya lives in Bonn."), line(2, "Maya keeps bees.")),),
            memories=(one, other),
            conflicts=(Contradiction(1, "two values", (one, other)),),
        )
    )
    assert [told.content for told in known.days[0].lines] == ["Maya keeps bees."]
    assert known.memories == ()


def test_memory_comes_back_if_the_line_that_says_it_finds_no_room() -> None:
    # The summary has 40 % of the room: its lightest lines find none, though the memory is short.
    lines = tuple(
        line(n, f"Maya planned part {n} of the long journey to the far north.", weight=9.0) for n in range(40)
    )
    last = line(50, "Maya keeps bees.", weight=-3.0)
    context = Context(days=(day(*lines, last),), memories=(memory(1, "Maya keeps bees.", 50),))
    assert fitted(context, None).memories == ()
    known = fitted(context, Budget(300))
    assert [hit.id for hit in known.memories] == ["memory-1"]
    assert known.tokens is not None
    assert known.tokens <= 300
    assert known.left_out > 0
    assert fitted(context, Budget(5000)).memories == ()
