"""What the parts of the benchmark share: each is a process that prints one JSON object."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Where ``rounds`` leaves its trials for the peer, in the scratch folder.
TRIALS_FILE = "trials.npz"
#: Where ``maximiser`` leaves its observations for the peer.
MAXIMISER_FILE = "maximiser.npz"
#: ``measure(folder, quick)``: a scratch folder that all parts share, and whether tiny sizes do.
Measure = Callable[[Path, bool], dict[str, Any]]


def main(measure: Measure) -> None:
    """Parse the command line of a part, measure, print the numbers as one line of JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, help="scratch folder, shared by all parts")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run at all?")
    given = parser.parse_args()
    print(json.dumps(measure(given.folder, given.quick)))
