"""How a command ends: errors in one line, never a traceback for what the user can mend."""

import sys
from typing import Any, NoReturn

from typer.core import TyperGroup

from windfall.errors import InputError, NumericalError, WorkerError

__all__ = ["Commands"]

BAD_INPUT = 2


class Commands(TyperGroup):
    """The group of commands, with windfall's way of ending."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run a command and exit: 0, or 2 for bad input."""
        kwargs["standalone_mode"] = False
        try:
            code = super().main(*args, **kwargs)
        except (InputError, NumericalError, WorkerError) as error:
            code = _say(str(error), BAD_INPUT)
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            code = _usage(error)
        sys.exit(code if isinstance(code, int) else 0)


def _usage(error: Any) -> int:
    """Say what is wrong with the command line, and where help is."""
    text = error.format_message().rstrip(".")
    if text:  # there is none where no argument was given: that prints the help
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "windfall"
        _say(f"{text}; see {command} --help", BAD_INPUT)
    return BAD_INPUT


def _say(message: str, code: int) -> int:
    print("windfall:", " ".join(message.split()), file=sys.stderr)
    return code
