"""A study on disk: a file of JSON lines that is only ever appended to.

The first line says what the study is, every further line is one call of the user's function. A line
is on disk before the next call begins, so that a process that is killed loses at most the call it
was at, and a line cut short by the kill is dropped when the file is opened again.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from windfall.errors import InputError

try:
    import fcntl
except ImportError:  # not POSIX: two processes on one log are the user's to avoid
    fcntl = None

__all__ = ["Call", "StudyLog"]

FORMAT = 1
#: How every log begins.
HEAD = b'{"windfall_study"'


@dataclass(frozen=True)
class Call:
    """One call of the user's function.

    Attributes:
        number: Counted from 1.
        first: The number of the first pull of its batch.
        size: How many pulls its batch has.
        parameters: What the function was called with.
        value: What it returned; None if the pull failed.
        failed: Why it failed; None if it did not.
        seconds: How long it took.
    """

    number: int
    first: int
    size: int
    parameters: dict[str, Any]
    value: float | None
    failed: str | None
    seconds: float


class StudyLog:
    """An open log; a context manager, so that it is closed and free for others afterwards.

    Args:
        path: The file; made if there is none.
        settings: What the study is, as plain values. A log that was begun with other settings is
            refused.
        versions: Of what makes the choices; written, not compared.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "study.jsonl"
        >>> with StudyLog(path, {"seed": 0}) as log:
        ...     log.append(Call(1, 1, 1, {"x": 0.5}, 2.0, None, 0.1))
        >>> with StudyLog(path, {"seed": 0}) as log:
        ...     log.calls[0].parameters
        {'x': 0.5}
        >>> with StudyLog(path, {"seed": 1}) as log:
        ...     pass
        Traceback (most recent call last):
        windfall.errors.InputError: log ... was begun with seed 0, this study has 1; ...
    """

    def __init__(
        self,
        path: Path | str,
        settings: dict[str, Any],
        versions: dict[str, str] | None = None,
    ):
        self.path = Path(path)
        self.calls: list[Call] = []
        try:
            self._file: IO[bytes] = open(self.path, "a+b")  # noqa: SIM115  closed by __exit__
        except OSError as error:
            raise InputError(
                f"log {str(self.path)!r} cannot be written ({error.strerror}); choose another file"
            ) from error
        try:
            self._lock()
            self._begin(settings, versions or {})
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "StudyLog":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def append(self, call: Call) -> None:
        """Put a call on disk, for good once this returns."""
        self._write(asdict(call))
        self.calls.append(call)

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # gone when the process is
        except OSError as error:
            raise InputError(
                f"log {str(self.path)!r} is in use by another process; wait for it or choose"
                " another file"
            ) from error

    def _begin(self, settings: dict[str, Any], versions: dict[str, str]) -> None:
        self._file.seek(0)
        data = self._file.read()
        whole, _, _ = data.rpartition(b"\n")
        lines = whole.split(b"\n") if whole else []
        if lines:
            self._check(self._parse(lines[0], 1), settings)
            self.calls = [self._call(line, n) for n, line in enumerate(lines[1:], 2)]
            self._file.truncate(len(whole) + 1)  # a line cut short, if there is one
        elif not (data.startswith(HEAD) or HEAD.startswith(data)):  # not a header cut short
            raise self._foreign()
        else:
            self._file.truncate(0)
            self._write({"windfall_study": FORMAT, "settings": settings, "versions": versions})

    def _write(self, value: dict[str, Any]) -> None:
        self._file.write(json.dumps(value, allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise self._damaged(number)
        return value

    def _call(self, line: bytes, number: int) -> Call:
        try:
            return Call(**self._parse(line, number))
        except TypeError:
            raise self._damaged(number) from None

    def _damaged(self, number: int) -> InputError:
        return InputError(
            f"log {str(self.path)!r} is damaged in line {number}; mend it or choose another file"
        )

    def _foreign(self) -> InputError:
        return InputError(
            f"log {str(self.path)!r} is no study log of this version; choose another file"
        )

    def _check(self, header: dict[str, Any], settings: dict[str, Any]) -> None:
        if header.get("windfall_study") != FORMAT or "settings" not in header:
            raise self._foreign()
        begun = header["settings"]
        for name in (*settings, *(set(begun) - set(settings))):
            then, now = begun.get(name), json.loads(json.dumps(settings.get(name)))
            if then != now:
                raise InputError(
                    f"log {str(self.path)!r} was begun with {name} {_text(then)}, this study has"
                    f" {_text(now)}; use the same settings or another log"
                )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
