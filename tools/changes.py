"""Small changes to a file of code, as a mistake or a careless edit would make them.

Nothing is changed in docstrings, annotations, messages, decorators and ``__all__``, nor where a
change would change nothing: ``axis=-1``, the settings of a field, the only row of an array (JAX
reads the last row where there are not as many).
"""

import ast
import copy
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Beside a whole number the border matters; between measured numbers it never shows.
BORDERS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
SWAPS = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.And: ast.Or, ast.Or: ast.And, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
TWINS = {
    "maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max", "any": "all",
    "all": "any", "argmax": "argmin", "argmin": "argmax", "sum": "mean", "mean": "sum",
}  # fmt: skip
#: Whole numbers from here on are sizes of blocks and counts of steps: one more is as good.
LARGE = 10
#: Fields of a node that compute nothing.
IDLE = ("annotation", "returns", "decorator_list", "type_params", "bases")
#: Keywords of a call whose value does not matter, or only to the speed.
IDLE_KEYWORDS = ("axis", "static", "repr", "strict", "keepdims", "dtype", "unroll", "ndmin")


@dataclass(frozen=True)
class Mutant:
    """One change: where, in which function, what it was, what it is, and the whole file with it."""

    path: str
    line: int
    scope: str
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before}  ->  {self.after}"

    def inside(self, function: str) -> bool:
        """Whether a function, by its qualified name, may compute what is changed here."""
        return self.scope in ("", function) or function.startswith(self.scope + ".")


def changed(node: ast.AST) -> ast.AST | None:
    """What could stand in the place of this node."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[op]) if type(op) in SWAPS:
            whole = any(_whole(side) for side in (new.left, *new.comparators))
            new.ops = [(SWAPS | BORDERS if whole else SWAPS)[type(op)]()]
        case ast.BinOp() | ast.BoolOp() if type(new.op) in SWAPS and not _text(new):
            new.op = SWAPS[type(new.op)]()
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub()):
            return new.operand
        case ast.Constant(value=bool()):
            new.value = not new.value
        case ast.Constant(value=int()) if new.value < LARGE:
            new.value += 1
        case ast.Constant(value=float()):
            new.value = _other(new.value)
        case ast.Call(func=ast.Attribute(attr="where"), args=[_, one, other]):
            new.args[1:] = [other, one]
        case ast.Call(func=ast.Attribute(attr=name)) if name in TWINS:
            new.func.attr = TWINS[name]  # type: ignore[attr-defined]
        case ast.IfExp():
            new.body, new.orelse = new.orelse, new.body
        case _:
            return None
    return new


def _whole(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _other(number: float) -> float:
    """Another number: of a guard like 1e-300 another order, as its double guards as well."""
    if number == 0.0:
        return 1.0
    return number * (2.0 if 1e-4 < abs(number) < 1e4 else 1e3)


def _text(node: ast.AST) -> bool:
    """Whether strings are joined here."""
    parts = ast.walk(node)
    return any(
        isinstance(p, ast.JoinedStr) or isinstance(getattr(p, "value", 0), str) for p in parts
    )


def places(tree: ast.AST, scope: str = "") -> Iterator[tuple[ast.AST, str]]:
    """Every node that computes, and the function or class that it is in."""
    for field, value in ast.iter_fields(tree):
        if field in IDLE:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _idle(child) and not _first(tree, field):
                yield child, scope
                yield from places(child, _scope(scope, tree, child))


def _scope(scope: str, parent: ast.AST, node: ast.AST) -> str:
    """The scope inside a node, as ``__qualname__`` writes it."""
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        return scope
    if not scope:
        return node.name
    return f"{scope}{'.' if isinstance(parent, ast.ClassDef) else '.<locals>.'}{node.name}"


def _first(node: ast.AST, field: str) -> bool:
    """Whether this is the 0 of ``rows[0]``; that of a shape counts."""
    match node:
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return False
        case ast.Subscript(slice=ast.Constant(value=0)):
            return field == "slice"
    return False


def _idle(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.Assert() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.keyword(arg=name) if name in IDLE_KEYWORDS:
            return True
    return False


def mutants(path: Path, root: Path) -> Iterator[Mutant]:
    """Every change that this file allows."""
    name, text = str(path.relative_to(root)), path.read_text()
    lines = text.splitlines(keepends=True)
    starts = [0, *itertools.accumulate(len(line.encode()) for line in lines)]
    data = text.encode()
    for node, scope in places(ast.parse(text)):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name | ast.Attribute | ast.Call):
            node, new = node.test, ast.UnaryOp(ast.Not(), copy.deepcopy(node.test))
        elif (new := changed(node)) is None:
            continue
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        written = ast.unparse(ast.fix_missing_locations(new))
        source = data[:begin] + f"({written})".encode() + data[end:]
        before = " ".join(data[begin:end].decode().split())
        yield Mutant(name, node.lineno, scope, before, " ".join(written.split()), source.decode())
