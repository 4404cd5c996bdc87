"""A pytest plugin: which functions of windfall each test enters, what that costs, and the reverse.

With ``WINDFALL_ENTERED=FOLDER`` a run of pytest writes, for each file of tests, what its tests
entered. With ``WINDFALL_ORDER=FILE`` it runs the tests that the file names, in that order.
``tools/mutants.py`` uses both: ``-p tools.entered``.
"""

import hashlib
import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = str(ROOT / "src") + os.sep


def digest(path: Path) -> str:
    """The content of a file, in a word."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def kept_at(folder: Path, tests: str) -> Path:
    """Where what a file of tests entered is kept."""
    return folder / f"{tests.replace('/', '.')}.json"


def spent() -> float:
    """CPU seconds of this process and of those that it waited for: what load does not change."""
    return sum(os.times()[:4])


class Recorder:
    """Notes every function of windfall that is called, test by test.

    What was compiled is forgotten between files: a test that runs a program which another file has
    traced enters none of its functions.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.tests: dict[str, dict[str, Any]] = {}
        self.entered: set[tuple[str, str]] = set()

    def entering(self, frame: Any, event: str, argument: Any) -> None:
        """A trace function that asks for no events inside the call."""
        code = frame.f_code
        if code.co_filename.startswith(SOURCE):
            self.entered.add((code.co_filename, code.co_qualname))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Iterator[None]:
        file = _file(item)
        if not self.tests:
            _forget()
        begun, self.entered = spent(), set()
        threading.settrace(self.entering)  # type: ignore[arg-type]
        sys.settrace(self.entering)  # type: ignore[arg-type]
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            functions: dict[str, list[str]] = {}
            for path, name in sorted(self.entered):
                functions.setdefault(path.removeprefix(SOURCE), []).append(name)
            self.tests[item.nodeid] = {"seconds": spent() - begun, "functions": functions}
            if nextitem is None or _file(nextitem) != file:
                whole = {"digest": digest(ROOT / file), "tests": self.tests}
                kept_at(self.folder, file).write_text(json.dumps(whole))
                self.tests = {}


class Order:
    """Runs certain tests only, in a certain order."""

    def __init__(self, names: list[str]):
        self.rank = {name: number for number, name in enumerate(names)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.rank]
        items.sort(key=lambda item: self.rank[item.nodeid])


def pytest_configure(config: pytest.Config) -> None:
    """Switch on what the environment asks for."""
    if folder := os.environ.get("WINDFALL_ENTERED"):
        config.pluginmanager.register(Recorder(Path(folder)))
    if names := os.environ.get("WINDFALL_ORDER"):
        config.pluginmanager.register(Order(Path(names).read_text().splitlines()))


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _forget() -> None:
    import jax

    from windfall.runtime.programs import forget_all

    forget_all()
    jax.clear_caches()
