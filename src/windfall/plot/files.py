"""Figures as files."""

import io
from pathlib import Path

from matplotlib.figure import Figure

from windfall.errors import InputError
from windfall.runtime.files import write_atomically

__all__ = ["ENDINGS", "check_path", "save"]

ENDINGS = (".png", ".pdf", ".svg")


def check_path(path: Path | str) -> Path:
    """A path that a figure can be written to: a known ending, in a folder that exists.

    Example:
        >>> check_path("figure.gif")
        Traceback (most recent call last):
        windfall.errors.InputError: plot file is 'figure.gif'; expected a name ending in .png, ...
    """
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise InputError(
            f"plot file is {str(path)!r}; expected a name ending in {', '.join(ENDINGS)}"
        )
    if path.is_dir() or not path.parent.is_dir():
        reason = "is a folder" if path.is_dir() else "is in no existing folder"
        raise InputError(f"plot file {str(path)!r} {reason}; choose another name")
    return path


def save(figure: Figure, path: Path | str) -> Path:
    """Write a figure as PNG, PDF or SVG, by the ending; whole or not at all."""
    path = check_path(path)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix[1:].lower(), dpi=200)
    try:
        write_atomically(path, buffer.getvalue())
    except OSError as error:
        raise InputError(
            f"plot file {str(path)!r} cannot be written ({error.strerror}); choose another name"
        ) from error
    return path
