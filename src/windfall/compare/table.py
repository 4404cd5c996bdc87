"""A table of text that can be printed as Markdown or as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Table"]


@dataclass(frozen=True)
class Table:
    """Cells of text under headings; the first column names the row, the others are aligned right.

    Attributes:
        name: What it is, in one word; the HTML table's ``id`` ends with it.
        caption: One or two sentences on how to read it.
        columns: The headings.
        rows: The cells.
        words: Columns of words, aligned left like the first.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: frozenset[str] = frozenset()

    def markdown(self) -> str:
        """The table for a Markdown file."""
        left = [i == 0 or c in self.words for i, c in enumerate(self.columns)]
        lines = [self.columns, [":--" if at_left else "--:" for at_left in left], *self.rows]
        body = "\n".join("| " + " | ".join(c.replace("|", "\\|") for c in r) + " |" for r in lines)
        return f"{body}\n\n{self.caption}\n"

    def html(self, prefix: str) -> str:
        """The table for a page on which ``prefix`` makes its id unique."""
        kinds = ["" if i == 0 or c in self.words else ' class="n"'
                 for i, c in enumerate(self.columns)]  # fmt: skip

        def line(tag: str, cells: Sequence[str]) -> str:
            pairs = zip(kinds, cells, strict=True)
            return "<tr>" + "".join(f"<{tag}{k}>{escape(c)}</{tag}>" for k, c in pairs) + "</tr>"

        head, body = line("th", self.columns), "".join(line("td", row) for row in self.rows)
        return (
            f'<div class="scroll"><table id="table-{escape(prefix)}-{self.name}">'
            f"<caption>{escape(self.caption)}</caption>"
            f"<thead>{head}</thead><tbody>{body}</tbody></table></div>"
        )
