"""What ``windfall optimize`` has found: a table or JSON, and a figure."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from windfall.cli.report import print_json, wide_console

if TYPE_CHECKING:
    from windfall.study.function_study import Call, FunctionStudy

__all__ = ["Found"]


class Found:
    """What was found, printed and drawn once: at the end, or when the user stops the study."""

    def __init__(
        self, study: "FunctionStudy", function: str, seed: int, plot: Path | None, json: bool
    ):
        self.study, self.function, self.seed = study, function, seed
        self.plot, self.json = plot, json
        self.written = False

    def standing(self) -> str:
        """A few words for the progress bar."""
        best = self.study.best
        return "none yet" if best is None else f"best {best.value:.4g}"

    def write(self) -> None:
        """Write the figure and print a table, or one JSON object; nothing the second time."""
        if self.written:  # the user stopped the study while its end was being written
            return
        self.written = True
        files, facts = self._draw(), self._facts()
        if self.json:
            print_json(facts | {"files": files})
            return
        failed = f", {facts['failed']} failed" if facts["failed"] else ""
        typer.echo(f"{self.function}: {facts['pulls']} pulls, seed {self.seed}{failed}")
        for reason, count in facts["failures"].items():
            typer.echo(f"failed {count}×: {reason}")
        if facts["best"] is not None:
            wide_console().print(_table(facts))
        for file in files:
            typer.echo(f"wrote {file}")

    def _facts(self) -> dict[str, Any]:
        study = self.study
        return {
            "function": self.function,
            "minimize": study.minimize,
            "seed": self.seed,
            "policy": repr(study.study.policy),
            "pulls": len(study.pulls),
            "failed": sum(pull.value is None for pull in study.pulls),
            "failures": dict(Counter(p.failed for p in study.pulls if p.failed)),
            "best": None if study.best is None else _plain(study.best),
            "improvements": [_plain(pull) for pull in study.improvements],
        }

    def _draw(self) -> list[str]:
        if self.plot is None or not self.study.pulls:
            return []
        import windfall as wf

        figure = wf.plot.progress(
            [pull.value for pull in self.study.pulls],
            minimize=self.study.minimize,
            initial=self.study.study.initial,
            title=self.function,
        )
        return [str(wf.plot.save(figure, self.plot))]


def _table(facts: dict[str, Any]) -> Table:
    table = Table(caption="the best so far, pull by pull", caption_justify="left")
    table.add_column("pull", justify="right")
    table.add_column("value", justify="right", style="bold")
    names = list(facts["best"]["parameters"])
    for name in names:
        table.add_column(name, justify="right")
    for better in facts["improvements"]:
        cells = (better["parameters"][name] for name in names)
        table.add_row(str(better["pull"]), _short(better["value"]), *map(_short, cells))
    return table


def _plain(pull: "Call") -> dict[str, Any]:
    return {"pull": pull.number, "value": pull.value, "parameters": pull.parameters}


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
