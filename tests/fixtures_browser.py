"""A real browser for the tests of pages, and axe, which says what is not accessible in one."""

import shutil
from contextlib import contextmanager
from importlib import resources

import pytest


@pytest.fixture(scope="session")
def browser():
    """Opens a page in Chromium on a desktop, offline; the tab keeps what went wrong and what was asked for."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if chromium is None:
        pytest.skip("there is no Chromium on this machine")

    with sync.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])

        @contextmanager
        def opened(page, **settings):
            """A tab with a file's page or an address; ``settings`` are those of Playwright's browser context."""
            defaults = {"viewport": {"width": 1200, "height": 900}, "offline": True}
            context = started.new_context(**{**defaults, **settings})
            tab = context.new_page()
            tab.wrong, tab.asked = [], []
            tab.on("pageerror", lambda error: tab.wrong.append(str(error)))
            tab.on("console", lambda line: tab.wrong.append(line.text) if line.type == "error" else None)
            tab.on("request", lambda request: tab.asked.append(request.url))
            tab.goto(page if isinstance(page, str) else page.as_uri())
            yield tab
            context.close()

        yield opened
        started.close()


@pytest.fixture(scope="session")
def axe():
    """Gives the violations of axe's rules in a tab, rule and markup. The tab was opened with ``bypass_csp``."""
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    script = (resources.files(package) / "axe.min.js").read_text(encoding="utf-8")

    def violations(tab):
        tab.evaluate(script)
        result = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert len(result["passes"]) > 10, "axe has looked at the page"
        return [(one["id"], node["html"]) for one in result["violations"] for node in one["nodes"]]

    return violations


@pytest.fixture(scope="session")
def on_paper():
    """Gives what of a tab is dark or cut when an A4 page is printed from it, dark as the tab may be."""

    def problems(tab):
        tab.evaluate("document.documentElement.dataset.theme = 'dark'")
        tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        tab.set_viewport_size({"width": 688, "height": 972})
        tab.emulate_media(media="print")
        return tab.evaluate(
            """() => {
              const body = getComputedStyle(document.body).backgroundColor;
              const cut = [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility() &&
                (one.getBoundingClientRect().right > innerWidth + 1 ||
                  (getComputedStyle(one).overflowY !== "visible" && one.scrollHeight > one.clientHeight + 1)));
              const dark = body === "rgb(255, 255, 255)" ? [] : [body];
              return [...dark, ...cut.map((one) => one.outerHTML.slice(0, 200))];
            }"""
        )

    return problems
