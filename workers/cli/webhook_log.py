"""`slowwave webhook deliveries | replay`: the delivery log of a webhook."""

from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer

from slowwave_server.workers.cli.options import Json, Limit
from slowwave_server.workers.cli.output import console, one_line, print_json, print_rows, styled
from slowwave_server.workers.cli.state import shell_of
from slowwave_server.workers.cli.webhooks import Webhook, find_webhook

if TYPE_CHECKING:
    from sqlalchemy import Row


def deliveries(
    context: typer.Context,
    webhook: Webhook,
    *,
    state: Annotated[
        Literal["pending", "delivered", "skipped", "dead"] | None,
        typer.Option(help="Only deliveries in this state; dead: all attempts failed."),
    ] = None,
    limit: Limit = 50,
    as_json: Json = False,
) -> None:
    """List the deliveries of a webhook, the newest first."""
    from slowwave_server.services.webhooks.endpoints import list_deliveries

    shell = shell_of(context)
    with shell.connection() as connection:
        find_webhook(connection, shell, webhook)
        rows = list_deliveries(connection, webhook, state=state, before=None, limit=limit)
        found = [_document(row) for row in rows]
    if as_json:
        print_json(found)
    elif found:
        shown = [_row(one) for one in found]
        print_rows(console(), [("delivery", "created", "change", "state", "attempts", "answer"), *shown])
        if len(found) == limit:
            console(stderr=True).print(f"These are the newest {limit}; --limit shows more.")
    else:
        console().print("No delivery matches." if state else "There are no deliveries yet.")


def replay(
    context: typer.Context,
    webhook: Webhook,
    delivery: Annotated[UUID, typer.Argument(metavar="DELIVERY", help="The delivery's id.", show_default=False)],
    *,
    as_json: Json = False,
) -> None:
    """Send a delivery again, whatever its state. Its id stays the same, so that receivers can deduplicate."""
    from slowwave_server.services.lookup import UnknownName
    from slowwave_server.services.webhooks.endpoints import replay as send_again

    shell = shell_of(context)
    with shell.connection() as connection:
        find_webhook(connection, shell, webhook)
        row = send_again(connection, webhook, delivery, now=shell.now())
        if row is None:
            raise UnknownName(f"webhook {webhook} has no delivery {delivery}; `slowwave webhook deliveries` lists them")
        found = _document(row)
        connection.commit()
    if as_json:
        print_json(found)
    else:
        console().print(styled(f"Delivery {delivery} is queued again."), soft_wrap=True)


def _document(row: "Row[Any]") -> dict[str, Any]:
    waits = row.next_attempt_at if row.state == "pending" else None
    same = ("id", "change_id", "state", "attempts", "created_at", "finished_at", "response_status", "error")
    named = {"type": row.change_type, "memory": row.memory_id, "next_attempt_at": waits}
    return {name: getattr(row, name) for name in same} | named


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    answer = one["error"] or ("" if one["response_status"] is None else str(one["response_status"]))
    created = f"{one['created_at']:%Y-%m-%d %H:%M:%S}"
    return (str(one["id"]), created, one["type"], one["state"], str(one["attempts"]), one_line(answer, 100))
