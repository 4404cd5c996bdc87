"""Where data files are looked for, and the errors when they are not there."""

import os
from pathlib import Path

from platformdirs import user_data_path

from windfall.errors import InputError

__all__ = ["VARIABLE", "cannot_read", "data_folder", "missing_data"]

VARIABLE = "WINDFALL_DATA"


def data_folder(data_dir: str | os.PathLike[str] | None = None) -> Path:
    """The explicit folder, else ``$WINDFALL_DATA``, else a per-user data folder.

    >>> data_folder("my/data").as_posix()
    'my/data'
    """
    chosen = data_dir or os.environ.get(VARIABLE)
    return Path(chosen).expanduser() if chosen else user_data_path("windfall", appauthor=False)


def missing_data(problem: str, wanted: str, folder: Path) -> InputError:
    """The error of a problem whose data are in no form in the folder."""
    return InputError(
        f"problem {problem!r} needs data that are not in {folder}: put {wanted} there,"
        f" or name another folder with data_dir or {VARIABLE}"
    )


def cannot_read(path: Path, error: Exception) -> InputError:
    """The error of a file that is not there or cannot be opened."""
    reason = getattr(error, "strerror", None) or error
    return InputError(f"cannot read {path}: {reason}; put the file there or make it readable")
