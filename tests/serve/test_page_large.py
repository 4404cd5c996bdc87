"""The page with long lists and long studies, and the parts of it that need no server's answer."""

import csv
import io
import json
import statistics
from contextlib import closing

import numpy as np
import pytest
from laboratory import within

from windfall import specs
from windfall.policy import as_policy
from windfall.study.stores import open_store

MANY = 100_000


@pytest.fixture(scope="module")
def long(laboratory):
    """A hundred thousand arms, and as many rewards of some of them."""
    features = np.random.default_rng(0).uniform(size=(MANY, 2)).round(4).tolist()
    space = {"type": "Arms", "features": features, "names": ["dose", "heat"], "box": None}
    policy = specs.to_spec(as_policy("mean"))
    told = [("told", {"point": i % 40, "reward": float(i % 7)}) for i in range(MANY)]
    with closing(open_store(laboratory.store)) as store:
        created = {"space": space, "policy": policy, "seed": 0, "initial": 3}
        store.append(store.create("long", created), told)
    return f"{laboratory.url}/studies/long"


def test_a_long_study_is_on_the_screen_at_once_and_weighs_little(page, long):
    """The first paint within a second; all files of the page below 300 kB."""
    page.goto(long)
    assert page.evaluate(PAINTED) < 1000
    page.wait_for_selector("#state")
    assert 60_000 < page.evaluate(WEIGHT) < 300_000


#: Milliseconds until something was on the screen.
PAINTED = """
() => new Promise((done) => new PerformanceObserver((list) => {
  const paint = list.getEntriesByName("first-contentful-paint")[0];
  if (paint) done(paint.startTime);
}).observe({ type: "paint", buffered: true }))
"""


#: Bytes of all that is not data, before compression.
WEIGHT = """
() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter((entry) => !entry.name.includes("/api/"))
  .reduce((sum, entry) => sum + entry.decodedBodySize, 0)
"""


def test_a_table_of_a_million_rows_shows_each_of_them(page):
    """By scrolling, by dragging the bar, and by keys; with no more rows than fit."""
    page.evaluate(MILLION)
    rows = page.locator("#million .line:not(.heading)")

    def seen(place: int) -> int:
        """The number that the first row shows, or the last."""
        return int(rows.nth(place).locator("div").first.inner_text().replace("…", "-1"))

    def scroll(pixels: float) -> None:
        page.evaluate("(to) => { document.querySelector('#million').scrollTop = to }", pixels)

    within(5, lambda: seen(0) == 0)
    assert rows.count() < 20
    page.locator("#million").hover()
    page.mouse.wheel(0, 300)  # ten rows of thirty pixels
    within(5, lambda: seen(0) == 10)
    scroll(1e9)
    within(5, lambda: seen(-1) == 999_999)
    page.focus("#million")
    before = seen(0)
    page.keyboard.press("ArrowUp")
    within(5, lambda: seen(0) == before - 1)
    page.keyboard.press("Home")
    within(5, lambda: seen(0) == 0)
    scroll(2e6)
    within(5, lambda: abs(seen(0) - 5e5) < 100)
    assert rows.count() < 20
    assert page.evaluate("window.asked") < 12


MILLION = """
async () => {
  const { LongTable } = await import("/static/table.js");
  const host = document.createElement("div");
  host.id = "million";
  host.className = "long";
  document.body.prepend(host);
  window.asked = 0;
  const table = new LongTable(host, {
    label: "rows",
    columns: [{ key: "arm", name: "arm", width: 90, text: (row) => String(row.arm) }],
    mark: () => "",
    chosen: () => {},
    fetchPage: async (offset, limit) => {
      window.asked++;
      const length = Math.min(limit, 1e6 - offset);
      const rows = Array.from({ length }, (_, i) => ({ arm: offset + i }));
      return { total: 1e6, rows };
    },
  });
  await table.refresh();
}
"""


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_files_are_read_as_python_reads_them(page, mark, end):
    rows = [["dose", 'a "quoted" name', ""], ["1", f"two{mark} parts", ""], ["-2.5e3", "a\nb", "é"]]
    text = io.StringIO()
    csv.writer(text, delimiter=mark, lineterminator=end).writerows(rows)
    read = "async (text) => (await import('/static/csv.js')).parse(text)"
    assert page.evaluate(read, text.getvalue()) == rows
    assert page.evaluate(read, text.getvalue().rstrip()) == rows


def test_a_file_that_is_no_table_is_refused_in_words(page):
    read = "async (text) => (await import('/static/csv.js')).table(text)"
    for text, words in (("a,b", "no rows"), ("a,b\n1,2\n3", "row 2 has 1 cells; expected 2")):
        with pytest.raises(Exception, match=words):
            page.evaluate(read, text)


def test_replicates_have_their_mean_and_sample_deviation(page):
    typed = [0.91, 0.88, 0.93, -2.0]
    read = "async (text) => (await import('/static/words.js')).result(text)"
    found = page.evaluate(read, " ".join(map(str, typed)))
    assert found["count"] == 4
    assert found["reward"] == pytest.approx(statistics.mean(typed), rel=1e-14)
    assert found["deviation"] == pytest.approx(statistics.stdev(typed), rel=1e-14)
    assert page.evaluate(read, "1,5") == {"reward": 1.5}
    assert json.dumps([page.evaluate(read, text) for text in ("", "a", "1 b", "1e999")]) == (
        "[null, null, null, null]"
    )
