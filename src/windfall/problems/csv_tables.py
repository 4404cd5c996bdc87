"""Reading small text tables so that every complaint names the file and the line."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from windfall.errors import InputError
from windfall.problems.datafolder import cannot_read

__all__ = ["Row", "numbers", "parse_number", "read_rows", "read_text"]


@dataclass(frozen=True)
class Row:
    """The cells of one line, and where it stands."""

    path: Path
    line: int
    cells: list[str]
    decimal_comma: bool

    def error(self, complaint: str) -> InputError:
        """The error to raise about this line."""
        return InputError(f"{self.path}:{self.line}: {complaint}")

    def is_number(self, column: int) -> bool:
        """Whether a column (counted from 0) holds a finite number."""
        return self._parse(column) is not None

    def number(self, column: int) -> float:
        """The finite number in a column."""
        value = self._parse(column)
        if value is None:
            text = self.cells[column][:40]
            raise self.error(f"column {column + 1} is {text!r}; expected a finite number")
        return value

    def _parse(self, column: int) -> float | None:
        text = self.cells[column]
        return parse_number(text.replace(",", ".") if self.decimal_comma else text)

    def integer(self, column: int) -> int:
        """The whole number in a column."""
        value = self.number(column)
        if value != int(value):
            raise self.error(f"column {column + 1} is {value}; expected a whole number")
        return int(value)

    def expect(self, count: int) -> None:
        """Raise unless the line has this many cells."""
        if len(self.cells) != count:
            raise self.error(f"{len(self.cells)} columns; expected {count}")


def parse_number(text: str) -> float | None:
    """The finite number that the text spells, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None  # also None for nan


def read_text(path: Path) -> str:
    """The file's text: UTF-8 with or without a byte-order mark, else Latin-1."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise cannot_read(path, error) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def read_rows(path: Path) -> list[Row]:
    """All lines that are not blank.

    Cells are parted by ``;`` if the first line has one, and numbers may then have a decimal comma;
    otherwise by ``,``.
    """
    text = read_text(path)
    semicolons = ";" in text.lstrip().partition("\n")[0]
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=";" if semicolons else ",", strict=True
    )
    rows = []
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if any(cells):
                rows.append(Row(path, reader.line_num, cells, semicolons))
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: {error}; repair that line") from error
    if not rows:
        raise InputError(f"{path}:1: the file is empty; expected a table")
    return rows


def numbers(rows: list[Row], start: int, width: int) -> np.ndarray:
    """The cells from column ``start`` on, in lines of ``width`` cells each."""
    for row in rows:
        row.expect(width)
    return np.array([[row.number(column) for column in range(start, width)] for row in rows])
