"""The lock, the version and the manifest agree with one another."""

import importlib.metadata
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from windfall._version import __version__

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements" / "dev.lock").read_text()

PINS = dict(re.findall(r"^([a-z0-9][a-z0-9.-]*)==(\S+)", LOCK, flags=re.MULTILINE))


@pytest.mark.parametrize(
    "line", MANIFEST["project"]["dependencies"] + MANIFEST["dependency-groups"]["dev"]
)
def test_lock_pins_every_requirement(line: str) -> None:
    requirement = Requirement(line)
    pin = PINS.get(canonicalize_name(requirement.name))
    assert pin is not None, f"{requirement.name} is not in the lock: run make lock"
    assert requirement.specifier.contains(pin), f"the lock pins {pin}, not {line}: run make lock"


def test_lock_has_a_hash_for_every_pin_and_names_no_place() -> None:
    entries = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) == len(PINS)
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert re.findall(r"\S*(?://|--index|--find-links)\S*", LOCK) == []


def test_every_peer_is_pinned_once() -> None:
    lines = (ROOT / "benchmarks" / "requirements-peers.txt").read_text().splitlines()
    peers = [Requirement(line) for line in lines if line and not line.startswith("#")]
    names = [canonicalize_name(peer.name) for peer in peers]
    assert names
    assert names == sorted(set(names))
    assert [str(peer) for peer in peers if not str(peer.specifier).startswith("==")] == []


def test_installed_version_is_the_one_in_the_source() -> None:
    assert importlib.metadata.version("windfall") == __version__
