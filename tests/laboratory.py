"""``windfall serve`` as a process of its own, for tests of the page."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path


class Laboratory:
    """A server on a store, which can be killed and started again on the same port.

    Attributes:
        store: The file that studies are kept in.
        tokens: The file of tokens.
        link: The address that opens the page.
    """

    def __init__(self, folder: Path):
        self.store, self.link = folder / "lab.db", ""
        self.tokens = folder / "tokens"
        self._port, self._log = 0, folder / "log"
        self.start()

    @property
    def url(self) -> str:
        return self.link.partition("/?")[0]

    @property
    def token(self) -> str:
        return self.link.rpartition("token=")[2]

    def start(self) -> None:
        files = ["--store", str(self.store), "--tokens", str(self.tokens)]
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "windfall", "serve", *files, "--port", str(self._port)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        watchdog = threading.Timer(60.0, self._process.kill)
        watchdog.start()
        assert self._process.stdout is not None
        found = next(filter(None, (re.search(r"http\S+", s) for s in self._process.stdout)), None)
        watchdog.cancel()
        assert found, self._log.read_text()
        self.link = found.group()
        self._port = int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        with self._process:
            self._process.kill()


def within(seconds: float, good) -> float:
    """Wait until something is so; after how many seconds it was."""
    start = time.monotonic()
    while not good():
        assert time.monotonic() < start + seconds, f"not within {seconds} s"
        time.sleep(0.05)
    return time.monotonic() - start
