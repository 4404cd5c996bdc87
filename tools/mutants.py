"""Do the tests notice? Small changes to the code, one at a time, each run against its tests.

``make mutants N=40`` draws N changes (a comparison turned, a constant doubled, a ``not`` dropped,
the branches of a ``where`` exchanged, …) from the rooms where a wrong number would not crash,
applies each to a temporary copy and runs the tests of that file, then of its folder. What survives
is either a gap in the tests or a change that changes nothing; the report names each with its line.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("models", "attention", "acquisition", "policy", "simulation")
#: Tests of files that have no folder of their own, and those beside a folder's own.
ELSEWHERE = {
    "policy": ["tests/acquisition/test_protocol.py", "tests/study", "tests/simulation"],
    "acquisition/candidates.py": ["tests/study/test_bandit_draws.py", "tests/study"],
}
SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
TWINS = {"maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max", "any": "all",
         "all": "any", "argmax": "argmin", "argmin": "argmax"}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: where, what it was, what it is, and the whole file with it."""

    path: str
    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before}  ->  {self.after}"


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """What could stand in the place of this node."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[op]) if type(op) in SWAPS:
            new.ops = [SWAPS[type(op)]()]
        case ast.BinOp() | ast.BoolOp() if type(new.op) in SWAPS:
            new.op = SWAPS[type(new.op)]()
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub()):
            new = new.operand
        case ast.Constant(value=bool()):
            new.value = not new.value
        case ast.Constant(value=int()):
            new.value += 1
        case ast.Constant(value=float()):
            new.value = 2.0 * new.value if new.value else 1.0
        case ast.Call(func=ast.Attribute(attr="where"), args=[_, one, other]):
            new.args[1:] = [other, one]
        case ast.Attribute(attr=name) if name in TWINS:
            new.attr = TWINS[name]
        case _:
            return
    yield new


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every node that computes, by its parent and field; not annotations, messages and exports."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        entries = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, child in entries:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Raise | ast.JoinedStr):
                continue
            if isinstance(child, ast.Assign) and ast.unparse(child.targets[0]) == "__all__":
                continue
            yield tree, field, index
            yield from places(child)


def mutants(path: Path) -> Iterator[Mutant]:
    """Every change that this file allows."""
    name = str(path.relative_to(ROOT))
    tree = ast.parse(path.read_text())
    for parent, field, index in list(places(tree)):
        held = getattr(parent, field)
        node = held if index is None else held[index]
        for new in changed(node):
            _put(parent, field, index, new)
            source = ast.unparse(ast.fix_missing_locations(tree))
            _put(parent, field, index, node)
            yield Mutant(name, node.lineno, ast.unparse(node), ast.unparse(new), source)


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def tests_of(path: str) -> list[list[str]]:
    """The tests to try, the nearest first; a later group runs only if an earlier one is content."""
    inner = Path(path).relative_to("src/windfall")
    own = Path("tests") / inner.parent / f"test_{inner.name}"
    groups = [[str(own)]] if (ROOT / own).exists() else []
    for place in (inner, inner.parent):
        if str(place) in ELSEWHERE:
            return groups + [[test] for test in ELSEWHERE[str(place)]]
    folder = Path("tests") / inner.parent
    while not (ROOT / folder).is_dir():
        folder = folder.parent
    return [*groups, [str(folder)]]


def verdict(mutant: Mutant, copy_of: Path, limit: float) -> str:
    """Which tests noticed, or "survived"."""
    target = copy_of / mutant.path
    original = target.read_text()
    target.write_text(mutant.source)
    environment = os.environ | {
        "PYTHONPATH": str(copy_of / "src"),
        "WINDFALL_TEST_CACHE": str(ROOT / ".cache"),  # what did not change is compiled already
    }
    try:
        for group in tests_of(mutant.path):
            command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *group]
            try:
                done = subprocess.run(
                    command, cwd=copy_of, env=environment, capture_output=True, timeout=limit
                )
            except subprocess.TimeoutExpired:
                return f"time-out in {group[0]}"
            if done.returncode:
                return f"noticed by {group[0]}"
        return "survived"
    finally:
        target.write_text(original)


def main() -> None:
    """Draw, try, report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=25, help="how many changes to draw")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws others")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for one run of tests")
    parser.add_argument("--only", default="", help="only files whose path contains this")
    options = parser.parse_args()
    rooms = (ROOT / "src" / "windfall" / room for room in ROOMS)
    files = sorted(f for room in rooms for f in room.rglob("*.py"))
    drawn = [m for f in files if options.only in str(f) for m in mutants(f)]
    print(f"{len(drawn)} changes are possible; {min(options.n, len(drawn))} of them are tried")
    drawn = random.Random(options.seed).sample(drawn, min(options.n, len(drawn)))
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "windfall"
        kept = shutil.ignore_patterns(".*", "__pycache__", "out")
        shutil.copytree(ROOT, tree, ignore=kept, symlinks=True)
        for number, mutant in enumerate(drawn, 1):
            begun = time.perf_counter()
            found = verdict(mutant, tree, options.limit)
            survivors += [mutant] if found == "survived" else []
            print(f"{number:3d}  {time.perf_counter() - begun:5.0f} s  {found:40s}  {mutant}")
            sys.stdout.flush()
    if not drawn:
        return
    share = 1.0 - len(survivors) / len(drawn)
    print(f"\n{len(drawn) - len(survivors)} of {len(drawn)} noticed ({share:.0%}); survivors:")
    for mutant in survivors:
        print(f"  {mutant}")


if __name__ == "__main__":
    main()
