"""One HTML page that needs nothing else: text, tables, and figures inside it."""

import base64
from collections.abc import Sequence
from html import escape

__all__ = ["figure", "heading", "link", "page", "paragraph", "points"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #ffffff; --faint: #6b6b6b;
  --line: #d9d9d9; --stripe: #f6f6f4; --accent: #b34a00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e3; --paper: #17181a; --faint: #a3a3a0;
  --line: #3a3b3e; --stripe: #1f2023; --accent: #ff9a55; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 6rem; max-width: 68rem; color: var(--ink);
  background: var(--paper); font: 16px/1.55 Georgia, "Times New Roman", serif; }
h1, h2, h3, table, nav, figcaption { font-family: system-ui, "Segoe UI", Helvetica, sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.35rem; margin: 3.2rem 0 .6rem; padding-top: .8rem;
  border-top: 2px solid var(--line); }
h3 { font-size: 1.05rem; margin: 2rem 0 .4rem; }
p, ul { max-width: 46rem; }
a { color: var(--accent); }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; margin: 1.2rem 0; font-size: .92rem; }
.verdict { border-left: 4px solid var(--accent); padding: .2rem 0 .2rem 1rem; }
.scroll { overflow-x: auto; margin: 1rem 0 1.6rem; }
table { border-collapse: collapse; font-size: .84rem; font-variant-numeric: tabular-nums; }
caption { caption-side: bottom; text-align: left; color: var(--faint); padding-top: .5rem;
  max-width: 46rem; }
th, td { padding: .3rem .7rem; text-align: left; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
td { white-space: normal; }
th.n, td.n { text-align: right; white-space: nowrap; }
tbody tr:nth-child(odd) { background: var(--stripe); }
td:first-child { font-weight: 600; white-space: nowrap; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }
figure { margin: 0; background: #ffffff; border: 1px solid var(--line); border-radius: 4px;
  padding: .6rem; max-width: 100%; }
figure img { display: block; max-width: 100%; height: auto; }
figcaption { color: #555; font-size: .8rem; padding-top: .4rem; max-width: 44rem; }
@media print { h2 { break-before: page; } .scroll { overflow: visible; } }
"""


def page(title: str, body: Sequence[str]) -> str:
    """The whole document."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def heading(level: int, text: str, anchor: str = "") -> str:
    """A heading, with an anchor to link to.

    Example:
        >>> heading(2, "Wheels", "wheels")
        '<h2 id="wheels">Wheels</h2>'
    """
    at = f' id="{escape(anchor)}"' if anchor else ""
    return f"<h{level}{at}>{escape(text)}</h{level}>"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text, of a kind that the style sheet knows."""
    return f'<p class="{escape(kind)}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def points(texts: Sequence[str]) -> str:
    """A list with bullets."""
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def link(text: str, anchor: str) -> str:
    """A link within the page."""
    return f'<a href="#{escape(anchor)}">{escape(text)}</a>'


def figure(png: bytes, name: str, caption: str, width: int) -> str:
    """A picture with its caption, ``width`` pixels wide where there is room."""
    data = base64.b64encode(png).decode()
    return (
        f'<figure id="figure-{escape(name)}"><img width="{width}" '
        f'alt="{escape(name)}: {escape(caption)}" src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
