"""The rules of PrecisionMemBench (tenurehq/precisionMemBench, MIT): the content of a context, and the condition of a
pass.

They are the rules of its runner for external systems. The system stores beliefs as text and answers a search with ids.
The runner's own index provides the pinned facts, the open questions and the participants of relations; the system only
provides search. A search uses the first scope of a case, and at most 20 results count; pinned facts among the results
are dropped, and they use places of the budget.

    active passes   passed cases with a precision above 0: search found expected beliefs, and no others
    precision       mean over the cases with returned or expected beliefs
    drift           for session turns: 1 - precision; 0 without returned beliefs
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Belief = Mapping[str, Any]
Search = Callable[[str, str, str], Sequence[str]]
"""Maps user, scope and query to the ids of the found beliefs, best first."""

USER = "test-user"
MOST_BELIEFS, MOST_QUESTIONS = 20, 15
STRUCTURAL = frozenset(
    (
        "Scope disambiguation",
        "Supersession chain exclusion",
        "Type routing and open questions",
        "Budget eviction and capacity",
        "Cross-user isolation",
        "Ranking stability",
        "Persona prelude content",
    )
)


@dataclass(frozen=True, slots=True)
class Built:
    """The ids in a context, in its three tiers."""

    pinned: tuple[str, ...]
    relevant: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one case, or of one turn of a session."""

    name: str
    category: str
    failures: tuple[str, ...]
    precision: float | None
    recall: float | None
    expected: frozenset[str]
    built: Built

    @property
    def kind(self) -> str:
        """The kind of pass; "" if it failed."""
        if self.failures:
            return ""
        if self.precision:
            return "active"
        return "structural" if self.category in STRUCTURAL else "trivially empty"


def belief_text(belief: Belief) -> str:
    """Return the text that the runner gives a system to store."""
    parts = (belief["canonical_name"], *belief["aliases"], belief["content"], belief.get("why_it_matters"))
    return " ".join(part for part in parts if part)


def build(index: Mapping[str, Belief], search: Search, user: str, case: Mapping[str, Any], query: str) -> Built:
    """Return the context of one query."""
    scopes, most = case["scope"], case.get("budget", {}).get("maxBeliefs", MOST_BELIEFS)
    own = [b for b in index.values() if b["user_id"] == user and set(b["scope"]) & set(scopes) and b["pinned"]]
    pinned = [b["_id"] for b in own if b["type"] != "open_question" and not b["superseded_by"] and not b["resolved_at"]]
    questions = [b["_id"] for b in own if b["type"] == "open_question" and not b["resolved_at"]]
    found: list[str] = []
    if query.strip() and most > 0:
        results = dict.fromkeys(search(user, scopes[0], query)[:most])
        found = [name for name in results if name in index and name not in pinned]
    for name in tuple(found):
        for participant in index[name].get("participants") or ():
            other = index.get(participant)
            known = {*pinned, *found}
            if other and participant not in known and other["user_id"] == user and set(other["scope"]) & set(scopes):
                found.append(participant)
    kept = pinned[:most]
    return Built(tuple(kept), tuple(found[: max(0, most - len(kept))]), tuple(questions[:MOST_QUESTIONS]))


def judge_case(case: Mapping[str, Any], built: Built, pinned_in_seed: frozenset[str]) -> Verdict:
    """Judge one of the 77 cases. The prelude is not judged, because the runner makes it itself."""
    wanted = case["expect"].get("relevantBeliefs", {})
    failures = _tiers(case["expect"], built, {*built.pinned, *built.relevant})
    only, found = wanted.get("shouldOnlyInclude"), set(built.relevant)
    if wanted.get("maxCount") is not None and len(found) > wanted["maxCount"]:
        failures.append(f"{len(found)} beliefs, more than {wanted['maxCount']}")
    if wanted.get("minCount") is not None and len(found) < wanted["minCount"]:
        failures.append(f"{len(found)} beliefs, fewer than {wanted['minCount']}")
    for first, second in wanted.get("orderedBefore", ()):
        ranked = [name for name in built.relevant if name in {first, second}]
        if ranked != [first, second]:
            failures.append(f"order: {first} is not before {second}")
    expected = set(only) if only is not None else set(wanted.get("mustInclude", ())) - pinned_in_seed
    hits = len(expected & found)
    precision = hits / len(found) if found else (0.0 if expected else None)
    recall = hits / len(expected) if expected else None
    name, category = case["caseId"], case["category"]
    return Verdict(name, category, tuple(failures), precision, recall, frozenset(expected), built)


def judge_turn(case: str, turn: Mapping[str, Any], built: Built) -> Verdict:
    """Judge one turn of a session."""
    wanted = turn["expect"].get("relevantBeliefs", {})
    shown = {*built.pinned, *built.relevant}
    failures = _tiers(turn["expect"], built, shown)
    for noise in turn["expect"].get("noiseCheck", {}).get("mustNotSurface", ()):
        if noise in shown:
            failures.append(f"noise: {noise}")
    gold = set(wanted.get("shouldOnlyInclude", wanted.get("mustInclude", ())))
    hits = len(gold & shown)
    precision = hits / len(built.relevant) if built.relevant else None
    name = f"{case}, turn {turn['turnIndex']}"
    recall = hits / len(gold) if gold else None
    return Verdict(name, "Session", tuple(failures), precision, recall, frozenset(gold), built)


def drift(verdict: Verdict) -> float:
    """Return the share of the results that do not belong to the turn."""
    return 0.0 if verdict.precision is None else 1 - verdict.precision


def _tiers(expect: Mapping[str, Any], built: Built, shown: set[str]) -> list[str]:
    """Return the failures of the three tiers."""
    failures: list[str] = []
    wanted = expect.get("relevantBeliefs", {})
    failures += [
        f"missing: {n}" for n in (*wanted.get("mustInclude", ()), *wanted.get("shouldInclude", ())) if n not in shown
    ]
    failures += [f"forbidden: {n}" for n in wanted.get("mustExclude", ()) if n in shown]
    if (only := wanted.get("shouldOnlyInclude")) is not None:
        failures += [f"unexpected: {n}" for n in built.relevant if n not in only]
        failures += [f"missing: {n}" for n in only if n not in built.relevant]
    for tier, held in (("pinnedFacts", built.pinned), ("openQuestions", built.questions)):
        of = expect.get(tier, {})
        failures += [f"{tier}, missing: {n}" for n in of.get("mustInclude", ()) if n not in held]
        failures += [f"{tier}, forbidden: {n}" for n in of.get("mustExclude", ()) if n in held]
    return failures
