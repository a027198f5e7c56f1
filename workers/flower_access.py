"""Require a password for Flower: `celery -A slowwave_server flower` refuses to start without one.

Its dashboard shows every task and its API starts any task, so a person who reaches it may write into every memory. By
default, Flower opens the dashboard to everybody, on all addresses of the machine. With this module it needs
`FLOWER_BASIC_AUTH` (or a login by OAuth), and listens on the loopback address unless another one is set.
"""

import logging
import sys
from typing import Any, Protocol

import click
from celery.signals import import_modules

LOOPBACK = "127.0.0.1"

log = logging.getLogger(__name__)


class FlowerOptions(Protocol):
    """The relevant options of Flower, from all sources: environment, command line, its own file."""

    auth: str
    basic_auth: list[str] | None
    address: str
    unix_socket: str


def why_refused(options: FlowerOptions) -> str | None:
    """Return the error for a Flower without a safe login, or None."""
    if options.auth:
        return None
    if not options.basic_auth:
        return (
            "Flower's dashboard and API can start any task, so it does not start without a password: set"
            " FLOWER_BASIC_AUTH=USER:PASSWORD (or Flower's options for a login by OAuth)"
        )
    for one in options.basic_auth:
        user, _, password = one.partition(":")
        if not user or not password:
            # For Flower, a comma begins the next user, so a password with a comma would be cut without a message.
            return (
                "FLOWER_BASIC_AUTH must be USER:PASSWORD, several of them with commas between; one of them lacks its"
                " user or its password (a password can't hold a comma)"
            )
    return None


def started_options() -> Any:
    """Return Flower's options if this process is `celery flower`, else None."""
    context = click.get_current_context(silent=True)
    if context is None or context.info_name != "flower" or "flower.options" not in sys.modules:
        return None
    return sys.modules["flower.options"].options


def guard_flower() -> None:
    """Check Flower's options when it loads the tasks: after it has read them, before it opens its port."""
    import_modules.connect(let_nobody_in_without_a_password)


def let_nobody_in_without_a_password(sender: Any = None, **_: Any) -> None:
    """Raise SystemExit with a sentence if this process is Flower and has no login. sender: the app."""
    options = started_options()
    if options is None:
        return
    if sender is not None:
        # Flower uses the transport as a worker does, but must not return workers' messages (workers/transport.py).
        sender.conf.broker_transport_options = {**sender.conf.broker_transport_options, "restores": False}
    if (why := why_refused(options)) is not None:
        raise SystemExit(f"slowwave: {why}")
    if not options.address and not options.unix_socket:
        log.info("Flower listens on %s; --address=0.0.0.0 makes it listen on all", LOOPBACK)
        options.address = LOOPBACK
