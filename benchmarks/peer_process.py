"""A peer in a process of its own environment: a line of JSON in, a line of JSON out."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


class PeerError(Exception):
    """A peer could not say where to go next."""


class PeerProcess:
    """The module that ``python -m MODULE`` runs; it answers {} with its versions."""

    def __init__(self, python: str, module: str):
        self.process = subprocess.Popen(
            [python, "-m", module],
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.versions: dict[str, str] = self.ask({})["versions"]

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the peer ended with status {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()  # its loop ends
        self.process.wait()
