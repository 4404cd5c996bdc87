"""The promises of docs/architecture.md: its picture, its walks, and what it says about adding."""

import ast
import functools
import importlib
import importlib.util
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import windfall as wf

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = os.path.dirname(wf.__file__) + os.sep
ARMS = np.random.default_rng(0).uniform(size=(40, 2))


@pytest.mark.skipif(importlib.util.find_spec("grimp") is None, reason="grimp is not installed")
def test_the_picture_is_that_of_todays_imports():
    """If not, ``python tools/rooms.py`` draws it anew; look at it then."""
    spec = importlib.util.spec_from_file_location("rooms", ROOT / "tools" / "rooms.py")
    assert spec is not None
    assert spec.loader is not None
    rooms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rooms)
    assert rooms.PICTURE.read_text() == rooms.picture()
    assert {"study", "policy", "models", "acquisition", "space"} <= set(rooms.rooms())
    assert {("study", "policy"), ("policy", "acquisition")} <= rooms.imports()


def test_no_file_is_longer_than_300_lines():
    lengths = {path: path.read_text().count("\n") for path in Path(PACKAGE).rglob("*.py")}
    assert len(lengths) > 200
    assert {path.name: lines for path, lines in lengths.items() if lines > 300} == {}


#: What a user calls, by file, and what may be anything there: what JSON holds, what a class takes.
CALLED = {
    "study/bandit.py": {"state"}, "study/session.py": set(), "study/study.py": set(),
    "study/kept.py": {"about"}, "study/reading.py": set(), "simulation/runner.py": set(),
    "evaluation/evaluate.py": {"history"}, "compare/suite.py": set(), "policy/policy.py": set(),
    "policy/names.py": {"settings"}, "space/box.py": set(), "plot/maps.py": set(),
}  # fmt: skip


@pytest.mark.parametrize("file", CALLED)
def test_arguments_that_users_give_have_types(file):
    tree = ast.parse((Path(PACKAGE) / file).read_text())
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    public = [f for f in functions if f.name == "__init__" or not f.name.startswith("_")]
    given = [argument for f in public for argument in _arguments(f)]
    assert given
    assert {a.arg for a in given if a.annotation and ast.unparse(a.annotation) == "Any"} == CALLED[
        file
    ]


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    """All but what ``specs`` give, which is as plain as JSON."""
    if function.name == "from_spec_arguments":
        return []
    a = function.args
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]


def test_the_page_names_only_what_exists():
    """Files (those of the package without src/windfall), and functions in their files."""
    text = PAGE.read_text()
    folders = (ROOT, ROOT / "src" / "windfall")
    files = set(re.findall(r"`([\w/.-]+\.(?:py|md|svg|toml))`", text))
    assert len(files) > 30
    assert [f for f in files if not any((folder / f).exists() for folder in folders)] == []
    walked = re.findall(r"^\| `([\w/]+)\.py` \| (.*?) \|", text, flags=re.MULTILINE)
    assert len(walked) > 20
    for module, functions in walked:
        for name in re.findall(r"`([\w.]+)`", functions):
            value = importlib.import_module(f"windfall.{module.replace('/', '.')}")
            for part in name.split("."):
                value = getattr(value, part)


def test_what_the_page_adds_works():
    """A model, an acquisition and a problem of one's own, by doing what the page says."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    assert len(blocks) >= 3
    assert all("assert " in block for block in blocks)
    exec("\n".join(blocks), {"__name__": "page"})


def test_a_name_for_a_policy_needs_the_registry_and_nothing_else(tmp_path, monkeypatch):
    """In a process of its own: names are read when windfall is imported."""
    (tmp_path / "greedy.py").write_text(
        "from windfall.acquisition.base import Acquisition\n"
        "from windfall.acquisition.ucb import UpperBound\n"
        "class Greedy(Acquisition):\n"
        "    def focus(self, key, belief, situation, setup):\n"
        "        return UpperBound(belief, 0.1)\n"
    )
    program = """
import windfall.registry as registry
for table in (registry.SPEC_TYPES, registry.TYPES):
    table["Greedy"] = "greedy:Greedy"
registry.POLICIES["greedy"] = "Greedy"
import numpy as np
import windfall as wf
from windfall.policy import NAMES
bandit = wf.Bandit(np.linspace(0.0, 1.0, 12)[:, None], "greedy", initial=2)
for _ in range(3):
    choice = bandit.ask()
    bandit.tell(choice, choice.features[0])
again = wf.Bandit.from_state_dict(bandit.state_dict())
assert again.ask() == bandit.ask()
assert again.policy.acquisition.__class__.__name__ == "Greedy"
print("greedy" in NAMES, bandit.state_dict()["events"][0]["policy"]["acquisition"])
"""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    assert printed(program) == "True {'type': 'Greedy'}"


def printed(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_record_side_of_a_study_leaves_jax_alone():
    program = """
import sys
import windfall.study
import windfall as wf
wf.Bandit([[0.0], [1.0]], goal="best", budget=9, repeats=False).ask()
wf.Bandit(kernel_matrix=[[1.0, 0.2], [0.2, 1.0]], goal="reward").tell(1, 0.5)
bandit = wf.Bandit([[0.0], [0.5], [1.0], [1.5], [2.0]], "lw-ucb", seed=1, initial=4)
first, second, third = bandit.ask(3)
bandit.tell(first, 1.0)
bandit.tell(4, 2.0, noise=0.1)
bandit.fail(second)
bandit.forget(third)
assert bandit.pending == [] and len(bandit.rewards) == 2 and len(bandit.failed) == 1
assert bandit.best.arm == 4 and bandit.pulls.sum() == 2
print([name for name in ("jax", "equinox") if name in sys.modules])
"""
    assert printed(program) == "[]"


class Walk:
    """The functions of the package that a call enters, by module and name.

    Attributes:
        entered: How often each.
        callers: Those that enter others.
    """

    def __init__(self, call):
        self.entered: Counter[tuple[str, str]] = Counter()
        self.callers: set[tuple[str, str]] = set()
        sys.setprofile(self._note)
        try:
            call()
        finally:
            sys.setprofile(None)

    def _note(self, frame, event, _):
        if event != "call" or (name := _ours(frame)) is None:
            return
        self.entered[name] += 1
        outer = frame.f_back
        while outer is not None and _ours(outer) is None:
            outer = outer.f_back
        if outer is not None:
            self.callers.add(_ours(outer))

    @property
    def steps(self) -> dict[tuple[str, str], int]:
        """Functions with work of their own to hand on, and how often each was entered.

        Not counted are helpers that enter nothing else of the package, what belongs to another
        function (comprehensions, lambdas, the wrapper of a compiled program), properties, and the
        checks of single values.
        """
        return {
            (module, name): times
            for (module, name), times in self.entered.items()
            if (module, name) in self.callers
            and "<" not in name
            and not module.endswith(".checks")
            and name != "Program.__call__"
            and not _is_property(module, name)
        }


def _ours(frame) -> tuple[str, str] | None:
    """Module and name of a function that is written in the package, not generated."""
    if not frame.f_code.co_filename.startswith(PACKAGE):
        return None
    return frame.f_globals["__name__"], frame.f_code.co_qualname


def _is_property(module: str, name: str) -> bool:
    value = sys.modules[module]
    for part in name.split("."):
        value = vars(value).get(part)
        if not isinstance(value, type):
            break
    return isinstance(value, property | functools.cached_property)


def test_an_ask_touches_few_files_and_takes_every_step_once():
    """The default policy on a list, with everything compiled: a new reward, then the next ask."""
    bandit = wf.Bandit(ARMS, seed=0)
    for _ in range(8):
        choice = bandit.ask()
        bandit.tell(choice, float(np.sin(5.0 * choice.features[0]) + choice.features[1]))
    walk = Walk(bandit.ask)
    files = {module for module, _ in walk.entered}
    assert len(files) <= 15, sorted(files)
    steps = walk.steps
    assert {name for _, name in steps} >= {"Bandit.ask", "Decider.choose", "Record.fold"}
    assert [step for step, times in steps.items() if times > 1] == []
    # The same walk stands on the page, file by file.
    text = PAGE.read_text()
    names = [module.removeprefix("windfall.").replace(".", "/") for module in files]
    assert [name for name in names if f"`{name}.py`" not in text] == []
