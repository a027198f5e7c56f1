"""In a real browser: every page is for everybody, whatever they see with and point with."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.console.conftest import PASSWORD, Console, log_in, on_a_port
from tests.console.walking import GUARDED, MARKUP, WORDS, paths_of
from tests.support.midday import TODAY

pytestmark = [pytest.mark.servers, pytest.mark.long]

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@pytest.fixture(scope="module")
def open_pages(filled: Console) -> Iterator[str]:
    with on_a_port(filled) as address:
        yield address


FEW = ("/", "/memories", "/memories/{memory:uuid}", "/inbox", "/inbox/{item}", "/session", "/runs/{run:int}", "/recall")


def everything(console: Console, *, few: bool = False) -> list[str]:
    """An address of every page with something on it, and one where there is none."""
    query = f"agent=atlas&session={quote(WORDS['acme'][0] + MARKUP)}-talk&query=boat&day={TODAY}"
    shown = [page for page in GUARDED if page.method == "GET" and not page.path.endswith("/download")]
    shown = [page for page in shown if not page.path.startswith("/live/")]  # parts of other pages, seen within these
    wanted = [page for page in shown if not few or page.path in FEW]
    paths = [(paths_of(console, page, "acme")[0], "" if "{" in page.path else query) for page in wanted]
    return [*(f"{path}?{asked}" for path, asked in paths), "/nowhere"]


def faults(page: Page) -> list[str]:
    """What the checker finds, by rule and element."""
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{fault['id']}: {node['html'][:120]}" for fault in found for node in fault["nodes"][:3]]


@pytest.mark.drill
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_passes_an_accessibility_checker(
    filled: Console, open_pages: str, browser: Browser, scheme: str, width: int
) -> None:
    assert found_on(everything(filled), open_pages, browser, scheme, width) == {}


def test_pages_of_each_kind_pass_an_accessibility_checker(filled: Console, open_pages: str, browser: Browser) -> None:
    assert found_on(everything(filled, few=True), open_pages, browser, "dark", 400) == {}


def found_on(wanted: list[str], open_pages: str, browser: Browser, scheme: str, width: int) -> dict[str, list[str]]:
    """Faults by address, of the login page too."""
    context = browser.new_context(
        base_url=open_pages, color_scheme=scheme, viewport={"width": width, "height": 900}, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto("/login")
    found = {"/login": wrong} if (wrong := faults(page)) else {}
    log_in(page, "operator")
    for address in wanted:
        page.goto(address)
        if wrong := faults(page):
            found[address] = wrong
    context.close()
    return found


def test_every_page_fits_a_window_of_400_pixels_and_complains_of_nothing(
    filled: Console, open_pages: str, browser: Browser
) -> None:
    context = browser.new_context(base_url=open_pages, viewport={"width": 400, "height": 900}, color_scheme="dark")
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(f"{page.url}: {said.text}") if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    page.on("dialog", lambda dialog: (complaints.append(f"{page.url}: {dialog.message}"), dialog.dismiss()))
    log_in(page, "operator")
    wide = {}
    for address in everything(filled):
        page.goto(address)
        if (width := page.evaluate("document.documentElement.scrollWidth")) > 400:
            wide[address] = width
    context.close()
    assert wide == {}
    assert [said for said in complaints if "a status of 40" not in said] == []


def test_a_person_without_a_mouse_logs_in_skips_to_the_content_and_sends_a_form(
    filled: Console, open_pages: str, browser: Browser
) -> None:
    context = browser.new_context(base_url=open_pages, java_script_enabled=False)
    page = context.new_page()
    page.goto("/session?agent=boreas&session=Nobody")
    assert "/login" in page.url
    page.locator("input[name=name]:focus").wait_for()  # the field takes the focus when drawn: after the page is loaded
    page.keyboard.type("operator")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Not Found").wait_for()
    page.goto("/agents")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the content"
    assert page.locator(":focus").bounding_box()["x"] >= 0, "it is seen while it has the focus"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "atlas"
    outline = page.locator(":focus").evaluate("e => getComputedStyle(e).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="atlas", exact=True).wait_for()
    tab_to(page, "Sessions")
    page.keyboard.press("Enter")
    page.wait_for_url("**tab=sessions")
    tab_to(page, "Flush all")
    page.keyboard.press("Enter")
    page.get_by_role("status").wait_for()
    assert "asked for" in page.get_by_role("status").inner_text()
    context.close()


def tab_to(page: Page, words: str) -> None:
    """Press Tab until the element with these words has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText").startswith(words):
            return
    pytest.fail(f"no key leads to {words!r}")
