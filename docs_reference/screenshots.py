"""`python -m docs_reference.screenshots`: pictures of the console and of Flower, as docs/images/*.png.

It starts a whole stack, records and consolidates a story of a few days, and opens the pages with Debian's Chromium:
wide, 400 pixels wide, and in dark mode. Pages show the time, so pictures differ from one run to the next.
"""

import math
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

from docs_reference.story_console import log_in, open_story
from slowwave import Memory
from slowwave.settings import Settings
from slowwave_server.workers.stack.stack import Stack, StackOptions

IMAGES = Path(__file__).parent.parent / "docs" / "images"
FLOWER_USER, FLOWER_PASSWORD = "slowwave", "pictures"
WIDE, NARROW = 1280, 400
TALK_SECONDS = 600.0
"""How long agents talk before the pictures are taken, so that the charts of Home show figures of this stack."""
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
    Shot("overview", "/?range=hour", whole=True),
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
            with open_story(settings) as address:
                _talk(settings)
                for shot in SHOTS:
                    _keep(f"console-{shot.name}", *_console(browser, address, shot))
            if stack.flower_url:
                _flower(browser, stack.flower_url)
            browser.close()
    return 0


def _talk(settings: Settings) -> None:
    """Let visitors talk to a shop for some minutes, now more of them, now fewer. The stack takes its own samples."""
    with Memory(settings, raise_errors=True) as memory:
        began, visitors = time.monotonic(), 0
        while (passed := time.monotonic() - began) < TALK_SECONDS:
            for _ in range(round(1 - math.cos(2 * math.pi * passed / 240))):
                visitors += 1
                session = f"visitor-{visitors}"
                said = f"I wear size {36 + visitors % 9}, and I live in house {visitors}."
                memory.turn_completed("shop", session, [{"role": "user", "name": "Visitor", "content": said}])
                memory.session_idle("shop", session)
            time.sleep(1)


def _console(browser: Browser, address: str, shot: Shot) -> tuple[Page, Shot]:
    context = browser.new_context(
        base_url=address, color_scheme=shot.scheme, viewport={"width": shot.width, "height": 900}, device_scale_factor=1
    )
    page = context.new_page()
    log_in(page)
    page.goto(shot.path)
    page.locator("#count-inbox span").first.wait_for(state="attached")
    if shot.follow is not None:
        page.locator(shot.follow).first.click()
        page.wait_for_load_state()
        page.locator("#count-inbox span").first.wait_for(state="attached")
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
