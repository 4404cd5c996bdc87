"""The page in a real browser, on a real server with a real store."""

import base64
import csv
import io
import json
import re
from contextlib import closing
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from browsing import visiting
from laboratory import within

import windfall as wf
from windfall.serve.tokens import Tokens

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "laboratory.md").read_text()
HOSTILE = "<img src=x onerror=alert(1)>"
STUDY = f"alloy {HOSTILE} / \"'& %2F"
#: 5 × 4 arms with names, one of them hostile, and a column that is no feature.
ROWS = [(d, h, f"run {d}-{h}") for h in (20, 40, 60, 80) for d in (0.0, 2.5, 5.0, 7.5, 10.0)]
ROWS[7] = (*ROWS[7][:2], HOSTILE)


@pytest.fixture(scope="module")
def study(laboratory):
    """Twenty arms on a grid, six of them told; and two in the hands of an oven."""
    dose, heat = np.meshgrid(np.linspace(0.0, 10.0, 5), np.linspace(20.0, 80.0, 4))
    arms = np.column_stack([dose.ravel(), heat.ravel()])
    with wf.Study("reactor", arms, "v-ucb", store=laboratory.store, seed=0) as made:
        for arm in (0, 4, 7, 12, 15, 19):
            made.tell(arm, float(np.sin(arm)))
        made.ask(2, worker="oven-3", lease=3600)
        yield made


def table() -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows([(f"dose {HOSTILE}", "heat", "name"), *ROWS])
    return text.getvalue().encode()


def test_from_a_file_to_a_study_that_others_share(page, laboratory):
    page.set_input_files("#file", {"name": "a.csv", "mimeType": "text/csv", "buffer": table()})
    page.get_by_label("Unit of heat").fill("°C")
    page.fill("#new [name=name]", STUDY)
    page.fill("#new [name=budget]", "30")
    page.click("summary >> text=More")
    page.select_option("#new [name=policy]", "v-ucb")
    page.click("#create")
    page.wait_for_selector("h1 >> text=alloy")
    assert page.title() == f"{STUDY} · windfall"
    assert page.inner_text("h1") == STUDY
    page.wait_for_selector("#facts >> text=of 30")
    with wf.Study(STUDY, store=laboratory.store) as study:
        assert study.names == [f"dose {HOSTILE}", "heat (°C)"]
        np.testing.assert_array_equal(study.arms, [row[:2] for row in ROWS])
        assert [study.space.title(arm) for arm in range(20)] == [row[2] for row in ROWS]

        page.fill("#ask [name=n]", "3")
        page.fill("#ask [name=worker]", "oven-3")
        page.click("#ask-button")
        cards = page.locator(".card")
        cards.nth(2).wait_for()
        first, second, third = study.pending
        assert cards.nth(0).locator("h3").inner_text().startswith(ROWS[first.arm][2])
        cards.nth(0).locator("[name=result]").fill("0,5")  # as some keyboards have it
        cards.nth(0).get_by_role("button", name="Tell").click()
        within(20, lambda: len(study.pending) == 2)
        cards.nth(2).wait_for(state="detached")
        cards.nth(0).locator("[name=result]").fill("1 2 4.5")
        assert "mean of 3: 2.5, deviation 1.8" in cards.nth(0).inner_text()
        cards.nth(0).get_by_role("button", name="Tell").click()
        within(20, lambda: len(study.pending) == 1)
        cards.nth(1).wait_for(state="detached")
        cards.nth(0).get_by_role("button", name="Failed").click()
        within(20, lambda: study.failed != [])
        assert study.failed[0].arm == third.arm
        assert study.rewards == [(first.arm, 0.5), (second.arm, 2.5)]
        told = study.history()
        assert told["count"][told["reward"].index(2.5)] == 3
        np.testing.assert_allclose(told["deviation"][-2], np.std([1, 2, 4.5], ddof=1), rtol=1e-15)

        page.locator("#map canvas").wait_for()
        within(30, lambda: "Point at the map" in page.inner_text("#readout"))
        before = pixels(page)
        study.tell(7, 9.0)  # somebody else, elsewhere
        assert within(20, lambda: best(page).startswith(f"9 at {HOSTILE}")) < 2.0
        within(20, lambda: pixels(page) != before)

        page.click("#undo")
        within(20, lambda: len(study.rewards) == 2)
        within(5, lambda: best(page).startswith("2.5 at"))
        page.click("#undo")  # the failure, which came before
        within(20, lambda: study.failed == [])

        page.reload()
        page.fill("#note input", HOSTILE)
        page.click("#note button")
        page.wait_for_selector(f'#notes p:has-text("{HOSTILE}")')
        with page.expect_download() as download:
            page.click("#csv")
        rows = [*csv.DictReader(download.value.path().read_text().splitlines())]
        assert [row["reward"] for row in rows if row["kind"] == "told"] == ["0.5", "2.5", "9.0"]
        with page.expect_download() as download:
            page.click("#rewards-png")
        assert download.value.path().read_bytes().startswith(b"\x89PNG")
    page.goto(laboratory.url)
    page.wait_for_selector("#studies tbody tr")
    assert STUDY in page.inner_text("#studies")
    assert page.evaluate("document.images.length") == 1  # the one in the corner


def test_a_study_with_contexts(page, laboratory):
    known = {"load": (0, 10), "kind": wf.Categorical(["hot", "cold"])}
    arms = np.linspace(0.0, 1.0, 5)[:, None]
    with wf.Study("shift", arms, "v-ucb", store=laboratory.store, context=known) as study:
        page.goto(f"{laboratory.url}/studies/shift")
        page.locator("#ask-context input").fill("2,5")
        page.locator("#ask-context select").select_option(label="cold")
        page.click("#ask-button")
        card = page.locator(".card")
        card.wait_for()
        assert study.pending[0].context == {"load": 2.5, "kind": "cold"}
        assert "cold" in card.inner_text()
        card.locator("[name=result]").fill("1")
        card.get_by_role("button", name="Tell").click()
        within(20, lambda: len(study.rewards) == 1)
        page.wait_for_selector("#map-context >> text=load 2.5, kind cold")
        page.locator("#curve canvas").wait_for()
        page.click("summary >> text=Report")
        page.fill("#tell-other [name=arm]", "3")
        page.locator("#other-context input").fill("7")
        page.fill("#tell-other [name=result]", "0.5")
        page.locator("#tell-other").get_by_role("button", name="Tell").click()
        within(20, lambda: len(study.rewards) == 2)
        page.wait_for_selector("#map-context >> text=load 7, kind hot")
        assert study.history()["load"][-1] == 7.0


def test_a_study_is_created_with_contexts_and_drift(page, laboratory):
    page.set_input_files("#file", {"name": "a.csv", "mimeType": "text/csv", "buffer": table()})
    page.fill("#new [name=name]", "tide")
    page.click("summary >> text=More")
    page.fill("#new [name=context]", "load, wind")
    page.select_option("#new [name=drift]", "auto")
    page.click("#create")
    page.wait_for_selector("h1 >> text=tide")
    page.locator("#ask-context input").nth(1).wait_for()
    with wf.Study("tide", store=laboratory.store) as study:
        assert study.context.names == ("load", "wind")
        assert study.timed


def best(page) -> str:
    return page.inner_text("#facts dl div:nth-child(2) dd")


def pixels(page) -> str:
    return page.evaluate("document.querySelector('#map canvas').toDataURL()")


def test_the_pixels_of_the_map_are_what_explain_says(page, laboratory, study):
    """The colour of a cell's corner, read back through matplotlib's own scale."""
    page.goto(f"{laboratory.url}/studies/reactor")
    believed = study.explain()
    scale = matplotlib.colormaps["viridis"](np.linspace(0, 1, 1001))[:, :3] * 255
    for name, button in (("mean", "mean"), ("std", "uncertainty")):
        page.click(f"#map-controls >> text={button}")
        within(30, lambda: "Point at the map" in page.inner_text("#readout"))
        colours = corners(page)
        distance = np.abs(scale[None] - colours[:, None]).max(axis=2)
        assert distance.min(axis=1).max() < 3.0  # rounding, and 33 stops instead of 256
        share = distance.argmin(axis=1) / 1000
        values = believed[name]
        expected = (values - values.min()) / np.ptp(values)
        # Three levels of a channel that moves by 255 or more in all, over a third of the scale.
        np.testing.assert_allclose(share, expected, atol=0.02)


def corners(page) -> np.ndarray:
    """Colours near a corner of every cell, where no mark is; row by row, as the arms are."""
    frame = json.loads(page.get_attribute("#map canvas", "data-frame"))
    drawn = base64.b64decode(pixels(page).partition(",")[2])
    picture = matplotlib.image.imread(io.BytesIO(drawn))[..., :3] * 255
    x = frame["left"] + (np.arange(5) + 0.1) * frame["width"] / 5
    y = frame["top"] + frame["height"] - (np.arange(4) + 0.1) * frame["height"] / 4
    return picture[np.rint(y).astype(int)[:, None], np.rint(x).astype(int)].reshape(20, 3)


def test_a_server_that_was_killed_is_found_again(page, laboratory, study):
    page.goto(f"{laboratory.url}/studies/reactor")
    page.wait_for_selector("#state[data-state=live]")
    laboratory.kill()
    page.wait_for_selector("#state[data-state=lost]")
    study.note("while nobody served")
    laboratory.start()
    page.wait_for_selector("#notes p:has-text('while nobody served')")
    page.wait_for_selector("#state[data-state=live]")
    # The browser says so itself when an address does not answer.
    page.complaints[:] = [said for said in page.complaints if "net::ERR_" not in said]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_page_is_all_there_and_can_be_used_by_keyboard_and_ear(
    browser, laboratory, study, scheme
):
    with visiting(browser, viewport={"width": 400, "height": 800}, color_scheme=scheme) as page:
        page.goto(laboratory.link)
        page.goto(f"{laboratory.url}/studies/reactor")
        within(30, lambda: "Point at the map" in page.inner_text("#readout"))
        assert page.evaluate("document.documentElement.scrollWidth") == 400
        assert page.evaluate(UNNAMED) == []
        page.focus("#map canvas")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        assert "arm" in page.inner_text("#readout")
        for chart in ("#map canvas", "#rewards"):
            assert re.search("highest at|the best", page.get_attribute(chart, "aria-label"))


#: What Chromium calls its language where it is started without a locale.
NOWHERE = "Object.defineProperty(Navigator.prototype, 'language', {get: () => 'en-US@posix'})"


def test_a_browser_without_a_locale_shows_everything(browser, laboratory, study):
    with visiting(browser) as page:
        page.add_init_script(NOWHERE)
        page.goto(laboratory.link)
        page.goto(f"{laboratory.url}/studies/reactor")
        page.wait_for_selector("#rewards canvas")
        within(30, lambda: "Point at the map" in page.inner_text("#readout"))


#: Controls that a screen reader has no name for.
UNNAMED = """
() => [...document.querySelectorAll("button, input, select, textarea, a, canvas")]
  .filter((e) => e.checkVisibility() && !e.parentElement.closest("[role=img]"))
  .filter((e) => !(e.textContent.trim() || e.ariaLabel || e.labels?.length || e.title))
  .map((e) => e.outerHTML)
"""


def test_what_may_only_read_is_not_offered_more(browser, laboratory, study):
    with closing(Tokens(laboratory.tokens)) as tokens:
        secret = tokens.add("guest", "read")
    with visiting(browser) as page:
        page.goto(f"{laboratory.url}/studies/reactor?token={secret}")
        page.wait_for_selector(".card")
        assert page.url.endswith("/studies/reactor")
        assert page.locator("form:visible").count() == 0
        answer = page.goto(laboratory.url)
        assert page.locator("#new").count() == 0
    assert answer.headers["content-security-policy"].startswith("default-src 'self';")


def test_the_guide_leads_to_a_running_study(page, laboratory, monkeypatch):
    """Its list, dropped on the page, and its program, against this server."""
    (rows,) = re.findall(r"```csv\n(.*?)```", GUIDE, re.DOTALL)
    (program,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    page.set_input_files("#file", {"name": "alloy.csv", "mimeType": "", "buffer": rows.encode()})
    page.get_by_text("12 arms, 4 columns").wait_for()
    page.click("#create")
    page.wait_for_url("**/studies/alloy")
    page.wait_for_selector("#state[data-state=live]")
    monkeypatch.setenv("WINDFALL_TOKEN", laboratory.token)
    assert "http://127.0.0.1:8420" in program
    scope: dict = {}
    exec(program.replace("http://127.0.0.1:8420", laboratory.url), scope)
    scope["study"].close()
    assert within(10, lambda: best(page).startswith("0.83 at")) < 2.0
    page.fill("#arms-filter", "copper > 65, temper <= 80")
    page.get_by_text("6 of 12 arms").wait_for()


def test_a_browser_leaves_nothing_where_it_was_started(page, started_in):
    # Caches of its fonts lay in the checkout, and were committed.
    assert page.inner_text("h1")
    assert list(started_in.iterdir()) == []
