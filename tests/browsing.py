"""A real browser for tests of the page: one for all of them, and pages that may not complain."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from tools import browser as fetched

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def program() -> tuple[str, dict[str, str]]:
    """A Chromium, and what it has to be started with."""
    given = os.environ.get("WINDFALL_CHROMIUM")
    if given:
        return given, {}
    if fetched.PROGRAM.exists():
        return str(fetched.PROGRAM), fetched.environment()
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found:
        return found, {}
    missing = "no Chromium: `make browser` fetches one, or name one in WINDFALL_CHROMIUM"
    if os.environ.get("CI") == "true":
        pytest.fail(missing)
    pytest.skip(missing)


@contextmanager
def started() -> Iterator[Browser]:
    """A browser that runs."""
    path, environment = program()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=FLAGS, env={**os.environ, **environment}
        )
        yield browser
        browser.close()


@contextmanager
def visiting(browser: Browser, **options) -> Iterator[Page]:
    """A page in a fresh profile; that it complains of anything is an error."""
    context = browser.new_context(**options)
    context.set_default_timeout(20_000)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on(
        "console",
        lambda said: said.type in ("error", "warning") and complaints.append(said.text),
    )
    page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
    page.complaints = complaints  # for tests in which some are expected
    yield page
    context.close()
    assert not complaints, complaints
