"""Compiled programs: in double precision, compiled soon, once, and kept on disk.

The user's own JAX keeps its precision.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Lock, Semaphore, local
from typing import Any, Generic, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from windfall.runtime import cache
from windfall.runtime.beside import beside, closing
from windfall.runtime.collector import uncollected

__all__ = ["Program", "filled", "forget_all", "program", "rehearsing"]

P = ParamSpec("P")
R = TypeVar("R")


class Program(Generic[P, R]):
    """A function of arrays and settings, compiled for each shape of the arrays and each setting.

    Threads that need the same program compile it once. What was compiled is kept on disk, where the
    next process finds it (``windfall.runtime.cache``). Inside another program it is the function.

    What the function hands on as it was given is no part of the program: the answer has the very
    arrays.
    """

    def __init__(self, function: Callable[P, R], *, wide: bool = False):
        """The function; its arguments and its answer are pytrees.

        Args:
            function: What to compile.
            wide: Whether most of it is arithmetic over many points: in the widest vectors, then.
        """
        self.function: Callable[..., Any] = function
        self._wide = wide
        self._traced: dict[Any, _Traced] = {}
        self._locks: dict[Any, Lock] = {}
        _programs.append(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        leaves, tree = jax.tree.flatten((args, kwargs))
        sorts = [_SORTS[type(leaf)] for leaf in leaves]
        if _TRACER in sorts:
            return self.function(*args, **kwargs)
        # Of arrays the shapes, of everything else the values make a program.
        pairs = [*zip(leaves, sorts, strict=True)]
        kinds = tuple([(leaf.shape, leaf.dtype) if sort else leaf for leaf, sort in pairs])
        arrays = [leaf for leaf, sort in pairs if sort]
        key = tree, kinds
        with jax.enable_x64(True):
            traced = self._traced.get(key)
            if traced is None:
                with self._locks.setdefault(key, Lock()):
                    if key not in self._traced:
                        self._traced[key] = self._trace(leaves, tree)
                traced = self._traced[key]
            if _rehearsal.on:
                return traced.rehearse(arrays)
            return traced.answer((traced.compiled or traced.ready())(*arrays), arrays)

    def _trace(self, leaves: list[Any], tree: Any) -> "_Traced":
        settings = [None if _SORTS[type(leaf)] else leaf for leaf in leaves]
        given = [i for i, leaf in enumerate(leaves) if _SORTS[type(leaf)]]
        known = []

        def flat(*arrays):
            args, kwargs = jax.tree.unflatten(tree, filled(settings, given, arrays))
            found, shape = jax.tree.flatten(self.function(*args, **kwargs))
            source = {id(array): number for number, array in enumerate(arrays)}
            handed = {i: source[id(leaf)] for i, leaf in enumerate(found) if id(leaf) in source}
            made = [
                i for i, leaf in enumerate(found) if isinstance(leaf, jax.Array) and i not in handed
            ]
            rest = [None if isinstance(leaf, jax.Array) else leaf for leaf in found]
            known.append((shape, rest, made, handed))
            return [found[i] for i in made]

        flat.__name__ = getattr(self.function, "__name__", "program")
        arrays = [leaves[i] for i in given]
        with uncollected():
            lowered = jax.jit(flat).lower(*arrays)
        shape, rest, made, handed = known[0]
        places = [*made, *handed]

        def answer(out: Any, arrays: list[Any]) -> Any:
            values = [*out, *(arrays[number] for number in handed.values())]
            return jax.tree.unflatten(shape, filled(rest, places, values))

        return _Traced(lowered, arrays, answer, self._wide)

    def forget(self) -> None:
        """Let go of what was compiled."""
        self._traced, self._locks = {}, {}


class _Traced:
    """A program for certain shapes and settings, compiled by the first thread that needs it."""

    def __init__(
        self, lowered: Any, arrays: list[Any], answer: Callable[[Any, list[Any]], Any], wide: bool
    ):
        self.answer, self._shapes = answer, lowered.out_info
        self._source: Any = lowered, arrays, wide
        self.compiled: Any = None
        self._lock = Lock()
        self._rehearsed = False

    def rehearse(self, arrays: list[Any]) -> Any:
        """Compile it beside; meanwhile an answer of zeros."""
        if not self._rehearsed:
            self._rehearsed = True
            beside(self._in_turn, "windfall-compiling")
        return self.answer([_zeros(shape) for shape in self._shapes], arrays)

    def _in_turn(self) -> None:
        with _turns:
            if not closing():
                self.ready()

    def ready(self) -> Any:
        """The compiled program."""
        with self._lock:
            if self.compiled is None:
                with jax.enable_x64(True):
                    self.compiled = cache.compiled(*self._source)
                self._source = None
            return self.compiled


#: As many compile beside one another as there are cores: more would only keep tracing from its own.
_turns = Semaphore(os.cpu_count() or 1)


class _Rehearsal(local):
    on = False


_rehearsal = _Rehearsal()


@contextmanager
def rehearsing() -> Iterator[None]:
    """Inside, programs run in name only: each is traced, compiled beside, and answers with zeros.

    Tracing is Python, one thing at a time; compiling is not. What needs several programs one after
    the other goes through them first in this way, and they are compiled all at once.
    """
    _rehearsal.on = True
    try:
        yield
    finally:
        _rehearsal.on = False


def _zeros(like: Any) -> Any:
    if jnp.issubdtype(like.dtype, jax.dtypes.prng_key):
        data: Any = np.zeros((*like.shape, 2), np.uint32)
        return jax.random.wrap_key_data(data)
    return np.zeros(like.shape, like.dtype)


_programs: list[Program] = []


def program(function: Callable[P, R], *, wide: bool = False) -> Callable[P, R]:
    """Make a function a ``Program``.

    Example:
        >>> @program
        ... def double(x):
        ...     return 2.0 * x
        >>> double(np.ones(2))
        Array([2., 2.], dtype=float64)
    """
    made = Program(function, wide=wide)

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return made(*args, **kwargs)

    return run


def forget_all() -> None:
    """Let go of every compiled program of this process."""
    for one in _programs:
        one.forget()


_SETTING, _ARRAY, _TRACER = range(3)


class _Sorts(dict[type, int]):
    """What a leaf is by its type: to look that up takes a fraction of ``isinstance``."""

    def __missing__(self, kind: type) -> int:
        array = issubclass(kind, (jax.Array, np.ndarray, np.generic))
        self[kind] = _TRACER if issubclass(kind, Tracer) else _ARRAY if array else _SETTING
        return self[kind]


_SORTS = _Sorts()


def filled(row: list[Any], places: list[int], values: Any) -> list[Any]:
    """A row with values in some places."""
    row = list(row)
    for place, value in zip(places, values, strict=True):
        row[place] = value
    return row
