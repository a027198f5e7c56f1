"""The report in Markdown: written from the results, ratios first, and by nobody's hand.

Must not know: how results come about.
"""

from collections.abc import Mapping
from typing import Any

from proof.load.figures import Bounds
from proof.load.markdown import count, seconds, table, times

_ASKED = {
    "turns": "its turns reached the threshold",
    "end": "the host said that it ended",
    "prompt": "a prompt arrived for its agent elsewhere",
    "quiet": "it was quiet, and a sweep found it",
    "age": "it was dirty for long, and a sweep found it",
    "none": "nothing that is known",
}

_INTRODUCTION = """# Load

Written by `python -m proof.load --write`, which runs everything that stands here. Servers and workers are started as
`slowwave up` starts them; producers are processes of their own and call the hooks that a host calls: a prompt, then the
completed turn, at last the session's end, where the host tells of it. The plan of calls is fixed before: a call that
begins late, since the one before it took long, is counted from when it should have begun.

A turn is **said** when its hook should begin, **due** when a flush that covers it is first asked for (or when its
session has been quiet or dirty for long enough), and **memory** when that flush is committed, by Postgres' own clock of
commits. What it waits until it is due is the policy's; what it waits after that is the system's.
"""


def render(results: Mapping[str, Any], pictures: Mapping[str, str]) -> str:
    """Answer the report of what there are results for; a part that failed says so."""
    parts = {"lag": _lag, "fairness": _fairness, "recovery": _recovery, "memory": _memory}
    lines = [_INTRODUCTION, *_summary(results)]
    for part, writing in parts.items():
        result = results.get(part)
        if result is None:
            continue
        lines += ["", f"## {_TITLES[part]}", ""]
        if "error" in result:
            lines += [f"**Not measured: {result['error']}**", ""]
            continue
        lines += [f"**Incomplete: {result['cut']}.**", ""] if "cut" in result else []
        lines += [f"{_machine(result)}", "", *writing(result)]
        if part in pictures:
            lines += ["", f"![{_TITLES[part]}]({pictures[part]})"]
    return "\n".join(lines).rstrip() + "\n"


_TITLES = {
    "lag": "Lag against load",
    "fairness": "One agent with a hundred times the traffic",
    "recovery": "An hour without workers",
    "memory": "Memory of each process",
}


def _machine(result: Mapping[str, Any]) -> str:
    machine = result.get("machine", {})
    quick = " **Quick form: too short to be quoted.**" if result.get("quick") else ""
    changed = result.get("changed") or {}
    settings = ", ".join(f"`{key}` = {value}" for key, value in changed.items())
    set_so = f" Settings other than the defaults: {settings}." if settings else " All settings are the defaults."
    return f"Measured {result.get('at', '')} on {machine.get('text', 'a machine that was not named')}.{quick}{set_so}"


def _summary(results: Mapping[str, Any]) -> list[str]:
    rows: list[tuple[str, str, str, str]] = []
    found = {part: result for part, result in results.items() if "error" not in result}
    if "lag" in found and found["lag"].get("at_80"):
        lag, at_80 = found["lag"], found["lag"]["at_80"]
        lowest = min(lag["steps"], key=lambda step: float(step["offered"]))
        told, least = at_80["told"]["p95"], lowest["told"]["p95"]
        rate = told / least if told and least else None
        what = f"p95 lag at 80 % of saturation, beside that at {lowest['offered']:.0f} turns/s (asked for)"
        rows.append((what, times(rate), f"{seconds(told)} / {seconds(least)}", ""))
        rows.append(("highest load carried", "", f"{lag['saturation']:.0f} turns/s", ""))
    if "fairness" in found and "compared" in found["fairness"]:
        bound = found["fairness"]["bound"]
        for what, name in (("told", "what was asked for"), ("all", "all turns")):
            ratio = found["fairness"]["compared"][what]
            values = f"{seconds(ratio['with'])} / {seconds(ratio['without'])}"
            holds = "too few turns to say" if ratio["ratio"] is None else _holds(ratio["ratio"] <= bound)
            title = f"p95 of the others with a loud agent, beside without ({name})"
            rows.append((title, times(ratio["ratio"]), values, f"at most {bound}: {holds}"))
            values = f"{seconds(ratio['with'])} / {seconds(ratio['as_much'])}"
            title = f"the same, beside as much traffic of all alike ({name})"
            rows.append((title, times(ratio["to_as_much"]), values, ""))
    if "recovery" in found and found["recovery"].get("drained_after"):
        recovery = found["recovery"]
        rate = recovery["drained_after"] / recovery["hour"]
        rows.append(("time to work off an hour, beside the hour", times(rate), seconds(recovery["drained_after"]), ""))
    if "memory" in found:
        judged = [process for process in found["memory"]["processes"] if process["flat"] is not None]
        flat = sum(process["flat"] for process in judged)
        bound = f"rise of at most {found['memory']['bound']:g} MB in 10 minutes: {_holds(flat == len(judged))}"
        rows.append(("processes whose memory is flat", f"{flat} of {len(judged)}", "", bound))
    return ["", *table(("what", "ratio", "figures", "bound"), rows), ""] if rows else []


def _holds(whether: bool) -> str:
    return "holds" if whether else "**does not hold**"


def _lag(result: Mapping[str, Any]) -> list[str]:
    steps = [*sorted(result["steps"], key=lambda step: float(step["offered"]))]
    at_80 = result.get("at_80")
    full = [step for step in steps if step["why"]] or steps
    first = min(full, key=lambda step: float(step["offered"]))
    head = (
        "turns/s",
        "carried",
        "from due p50 / p95 / p99",
        "asked for p95",
        "from said p50 / p95 / p99",
        "hook p50 / p95",
    )
    rows = [_step(f"{step['offered']:.0f}", step) for step in steps]
    lines = [_criterion(result), ""]
    if at_80:
        rows.append(_step(f"{at_80['offered']:.0f} (80 %)", at_80))
    lines += table(head, rows)
    if at_80:
        lines += ["", f"At 80 % of saturation ({at_80['offered']:.0f} turns/s), what a turn waits for:", ""]
        lines += table(("part", "p50", "p95", "p99"), _parts(at_80))
        lines += ["", "and by what made it due:", "", *table(("why it was due", "turns", "p50", "p95"), _asked(at_80))]
    which = "the first load not carried" if first["why"] else "the highest"
    limit = f"At {first['offered']:.0f} turns/s, {which}, the limit is {first['bottleneck']}."
    seen = f"What Postgres' sessions were seen at: {_waits(first)}. Producers and workers share the machine."
    return [*lines, "", f"{limit} {seen}"]


def _criterion(result: Mapping[str, Any]) -> str:
    bounds = Bounds()
    return (
        f"{result['agents']} agents; steps of {result['seconds']:g} s. A load is carried if the number of due,"
        f" unflushed sessions rises by less than {bounds.growth:.0%} of the offered turns (Theil-Sen over the last"
        f" two thirds; {bounds.least:g} a second in any case), 95 % of all turns are memory within"
        f" {bounds.p95_due:g} s of being due, 95 % of the hooks begin within {bounds.p95_late:g} s of their time,"
        " and nothing is left."
    )


def _step(load: str, step: Mapping[str, Any]) -> tuple[str, ...]:
    due, said, hook = (step["parts"][what] for what in ("from_due", "from_said", "hook_turn"))
    return (
        load,
        "no: " + "; ".join(step["why"]) if step["why"] else "yes",
        _three(due),
        seconds(step["told"]["p95"]),
        _three(said),
        f"{seconds(hook['p50'])} / {seconds(hook['p95'])}",
    )


def _three(values: Mapping[str, float | None]) -> str:
    return " / ".join(seconds(values[name]) for name in ("p50", "p95", "p99"))


def _parts(step: Mapping[str, Any]) -> list[tuple[str, ...]]:
    names = {
        "hook_turn": "hook: from when the call should begin to its return",
        "policy": "policy: recorded, not due yet",
        "queue": "queue: due, no flush of it has begun",
        "work": "work: its flush, commit included",
    }
    shown = ("p50", "p95", "p99")
    return [(title, *(seconds(step["parts"][part][name]) for name in shown)) for part, title in names.items()]


def _asked(step: Mapping[str, Any]) -> list[tuple[object, ...]]:
    return [(_ASKED[why], v["turns"], seconds(v["p50"]), seconds(v["p95"])) for why, v in step["asked"].items()]


def _waits(step: Mapping[str, Any]) -> str:
    total = sum(step["waits"].values()) or 1
    return ", ".join(f"{name} {count / total:.0%}" for name, count in step["waits"].items()) or "nothing"


STRETCHES = {"alike": "all alike", "loud": "one is loud", "as much": "as much, alike"}
_COMPARED = ((times, "ratio"), (times, "to_as_much"), (seconds, "with"), (seconds, "without"), (seconds, "as_much"))


def _fairness(result: Mapping[str, Any]) -> list[str]:
    compared = result.get("compared", {})
    shown = ("turns in all", "p95 asked for", "p95 all", "p95 hook", "between p50 / p95", "all flushed", "machine busy")
    names = {"told": "due to memory, asked for", "all": "due to memory, all turns", "hook": "the hook"}
    rows = [
        (title, *(show(compared[what][name]) for show, name in _COMPARED))
        for what, title in names.items()
        if what in compared
    ]
    stretches = [
        (
            STRETCHES[stretch["kind"]],
            stretch["turns"],
            seconds(stretch["others"]["p95_told"]),
            seconds(stretch["others"]["p95_all"]),
            seconds(stretch["others"]["p95_hook"]),
            f"{count(stretch['others'].get('p50_between'))} / {count(stretch['others'].get('p95_between'))}",
            "yes" if stretch["settled"] else "**no**",
            f"{stretch['cores']['busy']:.0%}",
        )
        for stretch in result.get("stretches", [])
    ]
    return [
        (
            f"{result['agents']} agents together say {result['load']:.0f} turns a second, a quarter of the highest load"
            f" carried; then one of them has {result['times']:g} times its traffic. It offers a half of that load then,"
            " and its flushes may take one process: beside the base, that fits. At last all of them together say as"
            " much, alike. In turns, in one run. p95 of the turns"
            f" of the other {result['agents'] - 1}:"
        ),
        "",
        *table(("p95 of", "loud : without", "loud : as much", "loud", "without", "as much of all"), rows),
        "",
        *table(("stretch", *shown), stretches),
        "",
        (
            "*Between*: flushes of the loud agent that begin after a turn of another one is asked for and before its"
            " own flush does. A slow machine does not raise this number."
        ),
    ]


def _recovery(result: Mapping[str, Any]) -> list[str]:
    order = result["order"]
    rows = [
        (name, values["turns"], seconds(values["p50"]), seconds(values["p95"]))
        for name, values in result["meanwhile"].items()
    ]
    hour = "an hour" if result["hour"] == 3600 else seconds(result["hour"])
    return [
        (
            f"{result['recorded']:,} turns of {hour} ({result['load']:.0f} a second, {result['sessions']:,} sessions,"
            f" {result['windows']:,} windows) wait in Postgres when the workers start, and as many new turns a second"
            f" go on coming. All of the hour is memory after **{seconds(result['drained_after'])}**, the workers' own"
            " start included."
        ),
        "",
        "New turns meanwhile, from due to memory:",
        "",
        *table(("due by", "turns", "p50", "p95"), rows),
        "",
        (
            "Order: when half of it was worked off, the agents of equal share stood at an evenness of"
            f" {times(order['evenness_at_half'])} (Jain's index of the share that was done: 1 is all alike). They were"
            f" done after {seconds(order['others_done_after'])}, the agent with twenty times their sessions after"
            f" {seconds(order['busy_done_after'])}."
        ),
    ]


def _memory(result: Mapping[str, Any]) -> list[str]:
    judged = [process for process in result["processes"] if process["flat"] is not None]
    rows = [
        (
            " ".join(process["name"].split("/")[:2]),
            f"{process['rise']['own']:+.2f}",
            "yes" if process["flat"] else "**no**",
            f"{process['first']['own']:.1f}",
            f"{process['last']['own']:.1f}",
            f"{process['last']['pss']:.1f}",
            f"{process['last']['rss']:.1f}",
        )
        for process in judged
    ]
    others = result["others"]
    last = others["series"][-1] if others["series"] else {}
    names = {"connections": "connections of Postgres", "files": "open files", "valkey_mb": "Valkey, MB", "keys": "keys"}
    rest = [(title, f"{others['rise'][what]:+.2f}", last.get(what, "-")) for what, title in names.items()]
    gone = sum(not process["whole"] for process in result["processes"])
    return [
        (
            f"{result['load']:g} turns a second for {result['minutes']:g} minutes ({result['turns']:,} turns), Flower"
            " included; every process looked at every 10 s. *Its own* is memory that is of no file (PSS of anonymous"
            " pages: what is shared counts for each with its part). Flat: by Theil-Sen over the last two thirds it"
            f" rises by less than {result['bound']:g} MB in 10 minutes. {gone} processes came or went meanwhile."
        ),
        "",
        *table(("process", "MB in 10 min", "flat", "own at first", "own at last", "PSS", "RSS"), rows),
        "",
        *table(("what", "in 10 min", "at last"), rest),
    ]
