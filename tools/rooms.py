"""Draws the rooms of the package from their imports: ``python tools/rooms.py`` writes the picture.

Rooms stand in the order of the floors in ``pyproject.toml``. A dot says that the room of its row
imports from the room of its column; since imports point one way, all dots lie on one side.
"""

import ast
import tomllib
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "windfall"
PICTURE = ROOT / "docs" / "architecture.svg"
#: Not drawn: where Python starts, and a number.
_LEFT_OUT = ("__main__", "_version")
_ROW, _TOP, _DOTS, _WORDS = 26, 96, 590, 114
_JAX, _PLAIN = "#f3dcc2", "#d5e5f2"


def rooms() -> list[str]:
    """All rooms, from the top floor down."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(c["layers"] for c in settings["contracts"] if c["type"] == "layers")
    names = [name.strip(" ()") for layer in layers for name in layer.split("|")]
    return [name for name in names if name not in _LEFT_OUT and _home(name).exists()]


def imports() -> set[tuple[str, str]]:
    """Which room imports from which, inside functions included; other packages count as rooms."""
    graph = grimp.build_graph(
        "windfall",
        include_external_packages=True,
        exclude_type_checking_imports=True,
        cache_dir=None,
    )
    return {
        (_room(module), _room(imported))
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
    }


def picture() -> str:
    """The drawing as SVG."""
    names, edges = rooms(), imports()
    width, height = _DOTS + _ROW * len(names) + 60, _TOP + _ROW * len(names) + 16
    edge = _DOTS + _ROW * len(names)
    place = {name: i for i, name in enumerate(names)}
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" fill="#222">',
        "<title>The rooms of windfall and what they import</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        _text(12, 28, "A dot: the room of this row imports from the room of this column.", ""),
        f'<rect x="12" y="42" width="14" height="14" rx="3" fill="{_JAX}"/>',
        _text(32, 54, "imports JAX itself, in some module or function", ""),
        f'<rect x="12" y="62" width="14" height="14" rx="3" fill="{_PLAIN}"/>',
        _text(32, 74, "does not", ""),
    ]
    for name, i in place.items():
        y, x = _TOP + _ROW * i, _DOTS + _ROW * (i + 0.5)
        fill = _JAX if {(name, "jax"), (name, "equinox")} & edges else _PLAIN
        lines += [
            f'<rect x="12" y="{y + 3}" width="94" height="20" rx="4" fill="{fill}"/>',
            _text(18, y + 17, name, 'font-weight="bold"'),
            _text(_WORDS, y + 17, _sentence(name), 'font-size="11"'),
            f'<line x1="{_WORDS}" y1="{y + _ROW}" x2="{edge}" y2="{y + _ROW}" stroke="#eee"/>',
            f'<line x1="{x}" y1="{_TOP}" x2="{x}" y2="{height - 16}" stroke="#f3f3f3"/>',
            _text(x, _TOP - 6, name, f'font-size="11" transform="rotate(-50 {x} {_TOP - 6})"'),
        ]
    for importer, imported in sorted(edges):
        if importer in place and imported in place and importer != imported:
            x, y = _DOTS + _ROW * (place[imported] + 0.5), _TOP + _ROW * (place[importer] + 0.5)
            lines.append(f'<circle cx="{x}" cy="{y}" r="5" fill="#3b6ea5"/>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _room(module: str) -> str:
    """The room of a module; of one that is not windfall's, the package."""
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] if package == "windfall" else package


def _home(room: str) -> Path:
    folder = PACKAGE / room
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def _sentence(room: str) -> str:
    """What a room says of itself first, up to the first stop."""
    words = ast.get_docstring(ast.parse(_home(room).read_text())) or ""
    return words.split("\n")[0].split(". ")[0].rstrip(".")


def _text(x: float, y: float, words: str, style: str) -> str:
    return f'<text x="{x}" y="{y}" {style}>{escape(words, quote=False)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(picture())
