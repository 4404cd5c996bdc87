"""Where and when a benchmark ran."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path


def describe() -> dict[str, str]:
    """The machine, the date and the versions that the figures depend on."""
    packages = ("windfall", "jax", "jaxlib", "numpy", "scipy")
    return {
        "machine": f"{_processor()}, {_cores()} cores, {platform.system()} {platform.machine()}",
        "date": datetime.now(UTC).date().isoformat(),
        "load at the start": _load(),
        "versions": ", ".join(
            [
                f"Python {platform.python_version()}",
                *(f"{name} {version(name)}" for name in packages),
            ]
        ),
    }


def _cores() -> int:
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _processor() -> str:
    """The model's name; Linux alone keeps it in a file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown processor")
