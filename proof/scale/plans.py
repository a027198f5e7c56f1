"""EXPLAIN (ANALYZE, BUFFERS) of every statement that an operation sends, and of those in the functions that it calls.

A statement is explained on its own connection just before it runs, in a savepoint that is rolled back, so it meets the
rows that it is about to meet. Meanwhile its functions are replaced by copies that explain each of their statements
first. The Postgres that is embedded here has no auto_explain.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.rows import TupleRow
from sqlalchemy import Connection, event

from proof.scale.measuring import Operation
from proof.scale.place import Place

EXPLAIN = "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) "
LONGEST = 9_000
_MARK = "explained"
_READS_OR_WRITES = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", re.IGNORECASE)
_CALLED = re.compile(r"slowwave\.(\w+)\(")
_SOURCE = (
    "SELECT pg_get_functiondef(p.oid), p.prosrc FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang"
    " WHERE p.pronamespace = 'slowwave'::regnamespace AND p.proname = %s AND l.lanname = 'plpgsql'"
    " AND p.prorettype <> 'trigger'::regtype"
)
_BEGINS = re.compile(
    r"(?:;|\bTHEN|\bELSE|\bLOOP|\bBEGIN)(?P<gap>(?:\s|--[^\n]*\n)+)"
    r"(?P<head>RETURN QUERY\s+|PERFORM\s+|FOR \w+ IN\s+(?=SELECT\b)|(?=SELECT\b|INSERT\b|UPDATE\b|DELETE\b|WITH\b))"
)
_INTO = re.compile(r"\bINTO (?:STRICT )?(?!slowwave\.)[a-z_., \n]+?(?=\s+FROM\b|\s*$)", re.DOTALL)
_PROMISES = re.compile(r"\b(STABLE|IMMUTABLE)\b")
_WORDS = re.compile(r"'(?:[^'\n]|'')*'")
_LONGEST_WORD = 30


@dataclass(frozen=True, slots=True)
class Plan:
    """One statement's plan. of: the function that it is in; "" for what the operation itself sent."""

    of: str
    text: str


@dataclass(slots=True)
class Explainer:
    """Explains each statement that is sent while it is active."""

    place: Place
    plans: list[Plan] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    inside: bool = False

    def explain(self, connection: "psycopg.Connection[TupleRow]", statement: str, values: Any) -> None:
        """Explain a statement that is about to run, unless one with the same text was."""
        if self.inside or statement in self.seen or not _READS_OR_WRITES.match(statement):
            return
        self.seen.add(statement)
        self.inside = True
        notices: list[str] = []

        def listen(notice: psycopg.errors.Diagnostic) -> None:
            notices.append(notice.message_primary or "")

        connection.add_notice_handler(listen)
        try:
            with connection.transaction(force_rollback=True):
                self._replace_functions(connection, statement)
                rows = connection.execute((EXPLAIN + statement).encode(), values).fetchall()
        finally:
            connection.remove_notice_handler(listen)
            self.inside = False
        self.plans.append(Plan("", _without_words("\n".join(row[0] for row in rows))))
        for notice in notices:
            mark, _, rest = notice.partition("|")
            name, _, plan = rest.partition("|")
            if mark == _MARK:
                self.plans.append(Plan(name, _without_words(plan)))

    def _replace_functions(self, connection: "psycopg.Connection[TupleRow]", statement: str) -> None:
        waiting, done = _CALLED.findall(statement), set[str]()
        while waiting:
            name = waiting.pop()
            if name in done:
                continue
            done.add(name)
            for definition, source in connection.execute(_SOURCE, (name,)).fetchall():
                waiting += _CALLED.findall(source)
                # Only a volatile function may explain.
                copied = _PROMISES.sub("", definition.removesuffix(f"{source}$function$\n"))
                connection.execute(f"{copied}{explaining(name, source)}$function$".encode())


def explaining(name: str, source: str) -> str:
    """The body of a PL/pgSQL function in which every statement is explained before it runs."""
    parts, place = [], 0
    for begin in _BEGINS.finditer(source):
        if begin.start("gap") < place:
            continue
        first = begin.end("head")
        last = _end(source, first, loop=begin["head"].startswith("FOR"))
        asked = _INTO.sub("", source[first:last])
        if begin["head"].startswith("PERFORM"):
            asked = f"SELECT {asked}"
        parts += [source[place : begin.end("gap")], _explained(name, asked)]
        place = begin.end("gap")
    body = "".join([*parts, source[place:]])
    declared = "    explained_line record; explained_text text;\n"
    if "DECLARE" in source:
        return body.replace("DECLARE\n", "DECLARE\n" + declared, 1)
    return body.replace("BEGIN\n", "DECLARE\n" + declared + "BEGIN\n", 1)


def _explained(name: str, statement: str) -> str:
    """It is rolled back at once, so that the statement itself finds unchanged data."""
    return (
        f"BEGIN explained_text := ''; FOR explained_line IN {EXPLAIN}{statement} LOOP"
        ' explained_text := explained_text || explained_line."QUERY PLAN" || chr(10); END LOOP;'
        " RAISE EXCEPTION USING ERRCODE = 'SWEXP';"
        f" EXCEPTION WHEN SQLSTATE 'SWEXP' THEN RAISE NOTICE '{_MARK}|{name}|%', explained_text;"
        " WHEN OTHERS THEN NULL; END;\n    "
    )


def _end(source: str, place: int, *, loop: bool) -> int:
    """Where the statement that begins at `place` ends: at its semicolon, or where the body of its loop begins."""
    depth, quoted = 0, False
    while place < len(source):
        sign = source[place]
        if source.startswith("--", place) and not quoted:
            place = source.index("\n", place)
        quoted ^= sign == "'"
        depth += 0 if quoted else (sign == "(") - (sign == ")")
        if not quoted and not depth and (sign == ";" or (loop and source.startswith("LOOP", place))):
            return place
        place += 1
    raise ValueError("a statement without an end")


def _without_words(plan: str) -> str:
    """Without texts of statements and questions."""
    return _WORDS.sub(lambda found: found[0] if len(found[0]) < _LONGEST_WORD else "'…'", plan).strip()[:LONGEST]


def explain(operation: Operation, place: Place) -> list[Plan]:
    """Run an operation once and answer the plans of its statements."""
    explainer = Explainer(place)
    given = operation.prepare(place, 0)
    with _listening(explainer):
        (operation.plan_as or operation.run)(place, 1, given)
    operation.undo(place, 1)
    return explainer.plans


@contextmanager
def _listening(explainer: Explainer) -> Iterator[None]:
    def before(connection: Connection, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        raw = connection.connection.driver_connection
        if isinstance(raw, psycopg.Connection):
            explainer.explain(raw, statement, parameters or None)

    class Listening(psycopg.Cursor[TupleRow]):
        def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
            text = query if isinstance(query, str) else query.decode() if isinstance(query, bytes) else ""
            explainer.explain(self.connection, text, params)
            return super().execute(query, params, **options)

    engines = (explainer.place.engine, explainer.place.flusher.engine)
    was = explainer.place.connection.cursor_factory
    explainer.place.connection.cursor_factory = Listening
    for engine in engines:
        event.listen(engine, "before_cursor_execute", before)
    try:
        yield
    finally:
        explainer.place.connection.cursor_factory = was
        for engine in engines:
            event.remove(engine, "before_cursor_execute", before)
