"""`python -m docs_reference.screenshots`: pictures of the console and of Flower, as docs/images/*.png.

It starts a whole stack, records and consolidates a story of a few days, and opens the pages with Debian's Chromium:
wide, 400 pixels wide, and in dark mode. Pages show the time, so pictures differ from one run to the next.
"""

import math
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright
from sqlalchemy import Engine, insert, select

from docs_reference.screenshots_story import WAITING, story
from proof.servers import until
from slowwave import Memory
from slowwave.coordination.broker import connect_broker
from slowwave.settings import Consolidation, Days, Settings
from slowwave_server.models import Scope, StatusSample
from slowwave_server.models.engine import make_engine
from slowwave_server.services.access.console_users import Passwords, add_user
from slowwave_server.services.consolidation.scope_pass import Order, consolidate
from slowwave_server.services.days.book import find_days
from slowwave_server.services.days.summarize import summarize_day
from slowwave_server.services.dead_letters.store import store_dead_letter
from slowwave_server.workers.console.app import make_app
from slowwave_server.workers.listening_sockets import listen_on
from slowwave_server.workers.stack.stack import Stack, StackOptions

IMAGES = Path(__file__).parent.parent / "docs" / "images"
USER, PASSWORD = "priya", "pictures of pages"
FLOWER_USER, FLOWER_PASSWORD = "slowwave", "pictures"
WIDE, NARROW = 1280, 400
DEADLINE_SECONDS = 120.0
Scheme = Literal["light", "dark"]


class Shot(NamedTuple):
    """One picture. path: a page; of a link's text, the page that it leads to from there."""

    name: str
    path: str
    follow: str | None = None
    width: int = WIDE
    scheme: Scheme = "light"
    whole: bool = False


SHOTS = (
    Shot("overview", "/", whole=True),
    Shot("inbox", "/inbox"),
    Shot("item", "/inbox", follow="main li a[href^='/inbox/']", whole=True),
    Shot("transcript", "/session?agent=concierge&session=home"),
    Shot("agent", "/agent?agent=concierge"),
    Shot("memory", "/memories?agent=concierge&words=oslo", follow="main li a[href^='/memories/']", whole=True),
    Shot("recall", "/recall?agent=concierge&query=Where+does+Maya+live"),
    Shot("graph", "/graph?agent=concierge", whole=True),
    Shot("timeline", "/timeline?agent=concierge", follow="main td a"),
    Shot("run", "/runs/1"),
    Shot("narrow", "/session?agent=concierge&session=home", width=NARROW),
    Shot("dark", "/inbox", follow="main li a[href^='/inbox/']", scheme="dark"),
)


def main() -> int:
    """Take all pictures; answer 0."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.stderr.write("no chromium on this machine: apt install chromium\n")
        return 1
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="slowwave-pictures-") as folder:
        options = StackOptions(
            data=Path(folder) / "data", concurrency=1, flower_auth=f"{FLOWER_USER}:{FLOWER_PASSWORD}"
        )
        with Stack(options, lambda _part, _line: None, {}) as stack, sync_playwright() as playwright:
            settings = stack.settings.model_copy(update={"spool": Path(folder) / "spool"})
            settings = settings.model_copy(
                update={"console": settings.console.model_copy(update={"flower_url": stack.flower_url or ""})}
            )
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            with told(settings) as address:
                for shot in SHOTS:
                    _keep(f"console-{shot.name}", *_console(browser, address, shot))
            if stack.flower_url:
                _flower(browser, stack.flower_url)
            browser.close()
    return 0


@contextmanager
def told(settings: Settings) -> Iterator[str]:
    """A console over servers that have heard the story; answers its address."""
    engine, redis = make_engine(settings.database_url, pool_size=5), connect_broker(settings)
    with Memory(settings, raise_errors=True) as memory, listen_on("127.0.0.1", 0) as listening:
        _tell(memory, engine)
        with engine.begin() as connection:
            add_user(connection, USER, "operator", ["*"], PASSWORD, passwords=Passwords())
        app = make_app(settings, engine, redis, lambda: datetime.now(UTC), memory)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join()
    redis.close()
    engine.dispose()


def _tell(memory: Memory, engine: Engine) -> None:
    now = datetime.now(UTC)
    for turn in story(now):
        said = {"role": "user", "name": turn.name, "content": turn.said, "at": turn.at}
        reply = {"role": "assistant", "content": turn.answered, "at": turn.at}
        memory.turn_completed(turn.agent, turn.session, [said, reply])
        memory.session_idle(turn.agent, turn.session)
    until(lambda: memory.status().dirty_sessions == 0, DEADLINE_SECONDS, "everything is flushed", poll=0.1)
    with engine.connect() as connection:
        scopes = list(connection.execute(select(Scope.id).order_by(Scope.id)).scalars())
    for scope in scopes:
        for mode in ("light", "deep"):
            rules = Consolidation(min_age_days=0)
            consolidate(engine, Order(scope, mode, USER), settings=rules, clock=lambda: datetime.now(UTC))
    for days in (3, 2, 1):
        day = (now - timedelta(days=days)).date()
        with engine.connect() as connection:
            refs = find_days(connection, memory.tenant, "concierge", day, scope="agent")
        for ref in refs:
            summarize_day(engine, ref, settings=Days(), now=now, final=True)
    with engine.begin() as connection:
        payload = {"agent": "concierge", "session": "trip", "messages": "none"}
        store_dead_letter(
            connection,
            task="slowwave.capture",
            tenant=memory.tenant,
            payload=payload,
            error="messages: a list is meant, not str",
            now=now,
        )
        connection.execute(insert(StatusSample), list(_day_of_samples(memory.tenant, now)))
    agent, session, name, said_last = WAITING
    memory.turn_completed(agent, session, [{"role": "user", "name": name, "content": said_last}])


def _day_of_samples(tenant: str, now: datetime) -> Iterator[dict[str, object]]:
    """Figures of a day for the charts of Home, made up: the story itself lasts some seconds."""
    for step in range(1, 288):
        busy = (1 - math.cos(2 * math.pi * step / 288)) / 2
        events = round(40 * busy) + step * 7 % 5
        yield {
            "tenant": tenant,
            "taken_at": now.replace(second=0, microsecond=0) - timedelta(minutes=5 * step),
            "seconds": 300,
            "sessions_waiting": events // 6,
            "events_waiting": events * (step % 4) // 4,
            "inbox_open": 1 + step // 96,
            "lag_p50_seconds": 1.2 + busy,
            "lag_p95_seconds": 2.5 + 3 * busy + step * 11 % 7 / 5,
            "events": events,
            "decisions": int(step % 96 == 0),
            "tokens": 120 * events,
            "failures": int(step % 130 == 0),
        }


def _console(browser: Browser, address: str, shot: Shot) -> tuple[Page, Shot]:
    context = browser.new_context(
        base_url=address, color_scheme=shot.scheme, viewport={"width": shot.width, "height": 900}, device_scale_factor=1
    )
    page = context.new_page()
    page.goto("/login")
    page.get_by_label("Name").fill(USER)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/")
    page.goto(shot.path)
    if shot.follow is not None:
        page.locator(shot.follow).first.click()
        page.wait_for_load_state()
    return page, shot


def _flower(browser: Browser, url: str) -> None:
    context = browser.new_context(
        viewport={"width": WIDE, "height": 700},
        http_credentials={"username": FLOWER_USER, "password": FLOWER_PASSWORD},
    )
    page = context.new_page()
    page.goto(f"{url.rstrip('/')}/tasks")
    page.locator("tbody tr").first.wait_for()
    _keep("flower-tasks", page, Shot("flower", "/tasks"))


def _keep(name: str, page: Page, shot: Shot) -> None:
    file = IMAGES / f"{name}.png"
    page.screenshot(path=file, full_page=shot.whole)
    page.context.close()
    sys.stdout.write(f"{file} written, {file.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    raise SystemExit(main())
