"""Numbers that the documents quote, and the files that they come from.

A number with a marker right behind it, ``0.227<!--measured:cosine/lw-ucb-->``, is bound to a
record:

- ``PROBLEM/LABEL`` is a median in ``docs/paper/summary.json``, the full reproduction of the paper;
  ``…/authors`` and ``…/authors-mad`` are the authors' median and deviation, ``policy-rounds`` is
  how many rounds its policies played;
- every other name stands in ``docs/measured.json``, with unit, how it was measured, and when.

``python docs/quoted.py`` writes the recorded values into the documents, with as many decimals as
are there; ``tests/test_documents.py`` fails while they differ. Sentences stay yours to check.
"""

import json
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGES = (
    DOCS.parent / "README.md",
    DOCS / "policies.md",
    DOCS / "reproduction.md",
    DOCS.parent / "benchmarks" / "README.md",
    *sorted((DOCS / "decisions").glob("*.md")),
)
#: A number, what may stand between it and its marker, and the name.
BOUND = re.compile(r"(\d[\d,]*(?:\.\d+)?)((?:\*\*| ?%| s)*)<!--measured:([^>]*)-->")
MARKER = re.compile(r"<!--measured:")


def recorded() -> dict[str, float]:
    """Every recorded value by name."""
    own = json.loads((DOCS / "measured.json").read_text())
    paper = _paper(json.loads((DOCS / "paper" / "summary.json").read_text()))
    twice = own.keys() & paper.keys()
    if twice:
        raise ValueError(f"measured.json has {sorted(twice)}, which summary.json says already")
    return paper | {name: record["value"] for name, record in own.items()}


def _paper(summary: dict) -> dict[str, float]:
    runs = summary["timings"]["runs"].values()
    played = (run for experiment in runs for run in experiment if run["backend"] == "gpu")
    values = {"policy-rounds": sum(run["trial_rounds"] for run in played)}
    for problem, experiment in summary["experiments"].items():
        for kind in ("variants", "sensitivity", "policies"):
            for run in experiment[kind]:
                name = f"{problem}/{run['label']}"
                values[name] = run["median"]
                if run["authors"]:
                    values[f"{name}/authors"] = run["authors"]["median"]
                    values[f"{name}/authors-mad"] = run["authors"]["mad"]
    return values


def written(value: float, like: str) -> str:
    """The value with as many decimals as a text has.

    >>> written(681900, like="690,000"), written(0.38649, like="0.387")
    ('681,900', '0.386')
    """
    decimals = len(like.partition(".")[2])
    return f"{value:{',' if ',' in like or value >= 10_000 else ''}.{decimals}f}"


def update(text: str, values: dict[str, float]) -> str:
    """A page with the recorded values in place of the bound numbers."""
    return BOUND.sub(
        lambda m: f"{written(values[m[3]], like=m[1])}{m[2]}<!--measured:{m[3]}-->", text
    )


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(update(page.read_text(), recorded()))
