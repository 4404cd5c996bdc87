"""How programs are compiled, and where the next process finds them.

The user's own JAX keeps its options and its cache.
"""

import hashlib
import os
import pickle
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jaxlib.version
import platformdirs
from jax.experimental import serialize_executable

from windfall.runtime.execution import on_accelerator
from windfall.runtime.files import write_atomically

__all__ = ["CPU_OPTIONS", "compilation_cache", "compiled", "folder"]


def compiled(lowered: Any, arrays: list[Any], wide: bool) -> Any:
    """A program for such arrays from the disk, or compiled and kept there."""
    place, options = folder(), _options(arrays, wide)
    if place is None:
        return _compile(lowered, options)
    # Of arguments that the program does not use its text says nothing.
    text = f"{lowered.in_avals}\n{lowered.as_text()}\n{options}"
    path = place / hashlib.sha256(text.encode()).hexdigest()[:32]
    with suppress(Exception):  # not there, or not what it should be: compiled anew
        found = serialize_executable.deserialize_and_load(*pickle.loads(path.read_bytes()))
        jax.block_until_ready(found(*arrays))
        return found
    made = _compile(lowered, options)
    with suppress(Exception):  # a folder that cannot be written, a program that cannot be kept
        data = pickle.dumps(serialize_executable.serialize(made))
        place.mkdir(parents=True, exist_ok=True)
        write_atomically(path, data)
    return made


#: On a CPU the older emitters of fused loops compile in half the time, and what they make runs no
#: slower (``benchmarks/README.md``); but not over long lists, whose loops the newer ones vectorise.
#: Code in one piece saves a tenth, where there is one thread to compile pieces (``guard_threads``),
#: and LLVM's first level of optimisation, which vectorises already, a sixth.
CPU_OPTIONS = {
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
    "xla_backend_optimization_level": 1,
}
#: Kernels of many points are exponentials mostly, which take half the time in vectors of eight
#: numbers, where a processor has them; XLA prefers four.
_WIDE = {"xla_cpu_prefer_vector_width": 512}
#: On an accelerator trying out several algorithms for every matrix product takes longer than it
#: ever gives back here.
_ACCELERATOR_OPTIONS = {"xla_gpu_autotune_level": 0}
_MANY_NUMBERS = 2**17


def _options(arrays: list[Any], wide: bool) -> dict[str, Any]:
    """How a program for such arrays is compiled."""
    if on_accelerator():
        return _ACCELERATOR_OPTIONS
    if any(array.size >= _MANY_NUMBERS for array in arrays):
        return {}
    return CPU_OPTIONS | _WIDE if wide else CPU_OPTIONS


def _compile(lowered: Any, options: dict[str, Any]) -> Any:
    try:
        return lowered.compile(compiler_options=options)
    except jax.errors.JaxRuntimeError:  # an XLA that has other options
        return lowered.compile()


_chosen: list[Path] = []


def compilation_cache(folder: Path | str | None = None) -> Path:
    """Choose where compiled programs are kept, so that the next process decides at once.

    They are kept anyway: in ``WINDFALL_CACHE``, else in the user's cache folder; nowhere if
    ``WINDFALL_CACHE`` is empty. Where JAX has a cache of its own, that one serves. Each kind of
    processor and each version of JAX has its own part. A program is written whole or not at all, by
    any number of processes; the folder may be deleted at any time.

    Args:
        folder: Another place, for this process.
    """
    if folder is not None:
        _chosen[:] = [Path(folder)]
    if _chosen:
        return _chosen[0]
    return Path(os.environ.get("WINDFALL_CACHE") or platformdirs.user_cache_path("windfall"))


def folder() -> Path | None:
    """Where this kind of machine keeps its programs; None: nowhere of our own."""
    # What JAX has read from a cache of its own cannot be written a second time: its kernels would
    # be missing. Where there is such a cache, it serves our programs too.
    settings: Any = jax.config
    elsewhere = settings.jax_compilation_cache_dir is not None
    if elsewhere or (not _chosen and os.environ.get("WINDFALL_CACHE") == ""):
        return None
    return compilation_cache() / "programs" / _host()


@cache
def _host() -> str:
    """What a compiled program depends on besides its text."""
    client = jax.devices()[0].client
    kinds = sorted({device.device_kind for device in jax.devices()})
    versions = [jax.__version__, jaxlib.version.__version__]
    parts = [*versions, client.platform, client.platform_version, *kinds]
    parts += [platform.machine(), platform.processor(), os.environ.get("XLA_FLAGS", "")]
    with suppress(OSError), open("/proc/cpuinfo") as about:
        lines = [line.split(":")[1] for line in about if line.startswith(("flags", "Features"))]
        parts += lines[:1]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
