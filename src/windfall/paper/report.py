"""The report: one HTML page, the figures as files, and the numbers as JSON and Markdown."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from windfall.compare.execute import Outcome
from windfall.compare.experiment import Experiment
from windfall.errors import InputError
from windfall.paper import page, tables
from windfall.paper.figures import CAPTIONS, figures
from windfall.paper.reference import Reference
from windfall.runtime.files import write_atomically

__all__ = ["PAGE", "compose", "write"]

PAGE = "report.html"
_DPI = 200
_SCREEN_DPI = 80

TITLE = "Output-weighted bandits with extreme payoffs, reproduced"
INTRODUCTION = (
    "Every table and figure of Yang, Blanchard, Sapsis and Perdikaris, “Output-Weighted Sampling "
    "for Multi-Armed Bandits with Extreme Payoffs” (2022), computed again from seeds. The curves "
    "are R_t/t, the regret per round: its median over trials with a band of one median absolute "
    "deviation (MAD). The results are those of the computation that the paper describes; where "
    "the authors' own runs departed from it, a variant does as they did, and its effect is shown "
    "apart from the result. The verdicts are composed from the numbers by a program."
)
DEPARTURES = (
    "Rewards standardised over pulls: the mean and the deviation that scale the rewards count an "
    "arm once per pull, here once per arm.",
    "Scaled β: GP-UCB with β_t = 2 log(t²π²/(6δ))/5, without the number of arms |D|; here the "
    "paper's β_t = 2 log(|D| t²π²/(6δ)).",
    "Clipped EI: σφ(λ) + max(μ − y*, 0)Φ(λ), which one deviation below the best is 0.242 σ where "
    "the expected improvement is 0.083 σ.",
    "Quadrant (wheels): the likelihood ratio was estimated over [0, 1]² although the arms lie on "
    "[−1, 1]², so that it only ever saw the quadrant of the jackpot.",
)


def compose(
    experiments: Sequence[Experiment],
    outcomes: Mapping[str, Outcome],
    reference: Reference,
    summary: Mapping[str, Any],
    progress: Callable[[str], object] = lambda name: None,
) -> dict[str, bytes]:
    """The report's files by name, ready to be written.

    Args:
        experiments: What was played.
        outcomes: Its results, by experiment and label.
        reference: The authors' saved runs.
        summary: The numbers, from ``summarise``.
        progress: Called with the name of each experiment before its figures are drawn.
    """
    files: dict[str, bytes] = {
        "summary.json": (json.dumps(summary, indent=1, allow_nan=False) + "\n").encode(),
        "summary.md": markdown(summary).encode(),
    }
    pictures: dict[str, list[str]] = {}
    for experiment in experiments:
        progress(experiment.name)
        pictures[experiment.name] = []
        for kind, drawing in figures(experiment, outcomes[experiment.name], reference).items():
            name = f"{experiment.name}-{kind}"
            png = _rendered(drawing, "png")
            files |= {f"figures/{name}.png": png, f"figures/{name}.pdf": _rendered(drawing, "pdf")}
            width = round(_SCREEN_DPI * drawing.get_size_inches()[0])
            pictures[experiment.name].append(page.figure(png, name, CAPTIONS[kind], width))
    files[PAGE] = html(summary, pictures).encode()
    return files


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write the files, each whole or not at all, the page last; returns its path."""
    try:
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / name, data)
    except OSError as error:
        raise InputError(
            f"report folder {str(folder)!r} cannot be written ({error.strerror}); choose another"
        ) from error
    return folder / PAGE


def html(summary: Mapping[str, Any], pictures: Mapping[str, Sequence[str]]) -> str:
    """The page, with the figures of each experiment."""
    experiments = summary["experiments"]
    sections = [(name, name) for name in experiments]
    sections += [("runtimes", "runtimes"), ("differences", "what the authors' runs did"),
                 ("timings", "timings and machine")]  # fmt: skip
    body = [
        page.heading(1, TITLE),
        page.paragraph(INTRODUCTION),
        *(page.paragraph(note) for note in notes(summary)),
        "<nav>" + " ".join(page.link(text, anchor) for anchor, text in sections) + "</nav>",
        page.heading(2, "All experiments", "overview"),
        tables.overview(experiments).html("all"),
    ]
    for name, facts in experiments.items():
        body += _section(name, facts, pictures[name])
    body += [
        page.heading(2, "Single-round runtimes", "runtimes"),
        tables.runtimes(summary["runtimes"]).html("all")
        if summary["runtimes"]
        else page.paragraph("No synthetic problem was played: nothing was measured."),
        page.heading(2, "What the authors' runs did differently", "differences"),
        page.points(DEPARTURES),
    ]
    for name, facts in experiments.items():
        body += [
            page.heading(3, name),
            tables.variants(facts).html(name),
            page.points(facts["variant_verdicts"]),
        ]
    body += [page.heading(2, "Timings and machine", "timings"), page.points(machine(summary))]
    for name, rows in summary["timings"]["runs"].items():
        body += [page.heading(3, name), tables.timings(rows).html(name)]
    return page.page(TITLE, body)


def markdown(summary: Mapping[str, Any]) -> str:
    """The tables and verdicts; what was measured with a clock comes last, under one heading."""
    experiments = summary["experiments"]
    parts = ["# The paper's experiments, measured", *notes(summary)]
    parts += ["## All experiments", tables.overview(experiments).markdown()]
    for name, facts in experiments.items():
        parts += [f"## {name}", _protocol(facts), facts["verdict"]]
        parts += [t.markdown() for t in _tables(facts)]
        parts += ["### What the authors' runs did differently", tables.variants(facts).markdown()]
        parts += ["\n".join(f"- {sentence}" for sentence in facts["variant_verdicts"])]
    parts += ["## Measured times", "\n".join(f"- {line}" for line in machine(summary))]
    if summary["runtimes"]:
        parts += ["### Single-round runtimes", tables.runtimes(summary["runtimes"]).markdown()]
    for name, rows in summary["timings"]["runs"].items():
        parts += [f"### {name}", tables.timings(rows).markdown()]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def notes(summary: Mapping[str, Any]) -> list[str]:
    """What the reader must know before the first number."""
    said = [f"Preset: {summary['preset']}."]
    shorter = [
        name
        for name, facts in summary["experiments"].items()
        if (facts["trials"], facts["rounds"]) != (facts["paper_trials"], facts["paper_rounds"])
    ]
    if shorter:
        said.append(
            f"Fewer trials or rounds than in the paper: {', '.join(shorter)}. Medians of few "
            "trials scatter."
        )
    if not summary["reference"]["found"]:
        said.append(
            f"The authors' saved runs are not shown: {summary['reference']['note']}. Columns about "
            "them are empty."
        )
    said += [f"{name} was left out: {why}." for name, why in summary["missing"].items()]
    return said


def machine(summary: Mapping[str, Any]) -> list[str]:
    """Where this was computed, and how fast."""
    host, times = summary["machine"], summary["timings"]
    versions = ", ".join(f"{name} {number}" for name, number in host["versions"].items())
    said = [
        f"Report written on {host['system']}, {host['cores']} cores, JAX backend {host['backend']} "
        f"({host['device']}); {versions}.",
        f"{times['trial_rounds']:,} policy rounds; summed over runs {times['compile']:.0f} s "
        f"compiling and {times['run']:.0f} s computing.",
    ]
    if times["elapsed_rounds"]:
        said.append(
            f"The last execution took {times['elapsed']:.0f} s, compiling included, for the "
            f"{times['elapsed_rounds']:,} trial-rounds that were not finished before."
        )
    if times["full_protocol_hours"] is not None:
        said.append(
            "At these rates these experiments with the paper's trials and rounds take "
            f"{times['full_protocol_hours']:.2g} hours of computing, {times['processes']} runs at "
            "a time."
        )
    return said


def _section(name: str, facts: Mapping[str, Any], pictures: Sequence[str]) -> list[str]:
    return [
        page.heading(2, name, name),
        page.paragraph(_protocol(facts)),
        page.paragraph(facts["verdict"], "verdict"),
        '<div class="figures">' + "".join(pictures) + "</div>",
        *(table.html(name) for table in _tables(facts)),
    ]


def _tables(facts: Mapping[str, Any]) -> list[tables.Table]:
    some = [tables.policies(facts), tables.paired(facts)]
    return [*some, tables.sensitivity(facts)] if facts["sensitivity"] else some


def _protocol(facts: Mapping[str, Any]) -> str:
    about = facts["description"].rstrip(".")
    about = f"{about[0].upper()}{about[1:]}. " if about else ""
    return (
        f"{about}{facts['arms']:,} arms with features {', '.join(facts['features'])}; noise "
        f"{facts['noise']:g}; {facts['trials']} trials of {facts['rounds']} rounds from seed "
        f"{facts['seed']}; κ = {facts['kappa']:g}, n_GMM = {facts['components']}."
    )


def _rendered(drawing: Figure, kind: str) -> bytes:
    buffer = io.BytesIO()
    drawing.savefig(buffer, format=kind, dpi=_DPI)
    return buffer.getvalue()
