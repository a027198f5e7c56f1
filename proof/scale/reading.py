"""Reading operations: contexts, searches, reports."""

import random
from typing import Any

from proof.scale.measuring import Operation
from proof.scale.place import Place
from proof.scale.world import TEAM, TENANT
from slowwave.recall import context, search
from slowwave.recall_requests import ContextRequest, SearchRequest
from slowwave_server.services.reports.doctor import check_maintenance
from slowwave_server.services.reports.servers import check_postgres
from slowwave_server.services.reports.status import read_status
from slowwave_server.services.reports.sweeping import check_backlog, check_stranded
from slowwave_server.services.reports.waiting_for_people import (
    check_budget,
    check_decisions,
    check_letters,
    check_quarantine,
)
from slowwave_server.services.reports.why import why_waiting

SCOPES = (f"team:{TEAM}",)
COMMON = ("Maya", "painted", "borrowed", "teapot")


def plain_context(place: Place, number: int, _: Any) -> None:
    """Read the context that an agent requests before its first word."""
    ref = place.team_member(number)
    context(place.connection, TENANT, ContextRequest(agent=ref.agent, scopes=SCOPES, now=place.now()))


def asked_context(place: Place, number: int, _: Any) -> None:
    """Read the same with a question."""
    ref = place.team_member(number)
    question = f"What about {several(place, number)}?"
    request = ContextRequest(agent=ref.agent, query=question, scopes=SCOPES, now=place.now())
    context(place.connection, TENANT, request)


def several(place: Place, number: int) -> str:
    """Return four words of a memory."""
    words = place.statements[number % len(place.statements)].split()
    return " ".join(random.Random(number).sample(words, k=min(4, len(words))))


def search_rare(place: Place, number: int, _: Any) -> None:
    """Search for one word that occurs once."""
    _search(place, number, place.rare[number % len(place.rare)])


def search_common(place: Place, number: int, _: Any) -> None:
    """Search for one word that a tenth, or a hundredth, of all documents contain."""
    _search(place, number, COMMON[number % len(COMMON)])


def search_several(place: Place, number: int, _: Any) -> None:
    """Search for four words of a memory."""
    _search(place, number, several(place, number))


def _search(place: Place, number: int, question: str) -> None:
    request = SearchRequest(agent=place.team_member(number).agent, query=question, scopes=SCOPES, order="relevance")
    search(place.connection, TENANT, request)


def status(place: Place, _number: int, _: Any) -> None:
    """`slowwave status`."""
    with place.engine.connect() as connection:
        read_status(connection, place.queue, TENANT, place.now())


def doctor(place: Place, _number: int, _: Any) -> None:
    """Run the queries of `slowwave doctor` to Postgres."""
    memory = place.settings.memory
    list(check_postgres(place.engine))
    with place.engine.connect() as connection:
        check_stranded(connection, memory.auto_flush, now=place.now())
        check_maintenance(connection, memory.maintenance, now=place.now())
        list(check_backlog(connection, memory.auto_flush, now=place.now()))
        check_quarantine(connection)
        check_letters(connection)
        list(check_decisions(connection, now=place.now()))
        check_budget(connection, memory.llm, now=place.now())


def why(place: Place, number: int, _: Any) -> None:
    """Run `slowwave session why` for a conversation."""
    with place.engine.connect() as connection:
        ref = place.own[number % len(place.own)]
        why_waiting(connection, place.queue, ref, place.settings.memory.auto_flush, now=place.now())


def tidy(place: Place, number: int) -> None:
    """Vacuum rows that earlier sweeps rewrote repeatedly, as autovacuum does."""
    if number == 0:
        place.run("VACUUM slowwave.sessions")


OPERATIONS = (
    Operation("context", plain_context),
    Operation("context with a question", asked_context),
    Operation("search, a rare word", search_rare),
    Operation("search, a common word", search_common),
    Operation("search, four words", search_several),
    Operation("status", status, tidy),
    Operation("doctor", doctor),
    Operation("why", why),
)
