"""How the service says no: one line of JSON, and the status that fits."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from windfall.checks import shown
from windfall.errors import InputError, NumericalError
from windfall.study.stores import Conflict, Locked

__all__ = ["Refused", "answer_in_words", "problem"]


class Refused(Exception):  # noqa: N818  an answer, not a fault
    """A request that is answered with a problem.

    Args:
        status: Of the answer.
        text: One line for people.
        headers: Of the answer.
    """

    def __init__(self, status: int, text: str, headers: dict[str, str] | None = None):
        super().__init__(text)
        self.status, self.headers = status, headers


def problem(
    status: int, text: str, kind: str = "InputError", headers: dict[str, str] | None = None
) -> JSONResponse:
    """A problem as JSON: what is wrong, in one line, and which kind of error it would be here."""
    line = " ".join(text.split()).encode(errors="replace").decode()
    return JSONResponse({"error": line, "kind": kind}, status, headers)


def answer_in_words(app: FastAPI) -> None:
    """Answer every error that is not a fault of the service with a problem."""

    def refused(request: Request, error: Any) -> JSONResponse:
        return problem(error.status, str(error), headers=error.headers)

    def http(request: Request, error: Any) -> JSONResponse:
        return problem(error.status_code, str(error.detail), headers=error.headers)

    def malformed(request: Request, error: Any) -> JSONResponse:
        return problem(422, _first(error.errors()))

    def said(status: int, text: str | None = None) -> Any:
        def handler(request: Request, error: Any) -> JSONResponse:
            return problem(status, text or str(error), type(error).__name__)

        return handler

    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(InputError, said(422))
    app.add_exception_handler(NumericalError, said(422))
    app.add_exception_handler(Conflict, said(409, "something else happened first; read it"))
    app.add_exception_handler(Locked, said(423, "somebody has this study to himself; try again"))


def _first(errors: Any) -> str:
    """The first of what is wrong with a request, as windfall says such things."""
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"][1:]) or first["loc"][0]
    if first["type"] == "missing":
        return f"{where} is missing; expected it"
    if first["type"] == "extra_forbidden":
        return f"{where} is unknown; expected nothing else than what the route describes"
    wanted = first["msg"].removeprefix("Input should be ")
    return f"{where} is {shown(first.get('input'), 80)}; expected {wanted}"
