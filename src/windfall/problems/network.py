"""What every kind of sensor data is read into."""

from dataclasses import dataclass

import numpy as np

__all__ = ["Network"]


@dataclass(frozen=True, eq=False)
class Network:
    """Where the sensors stand, what they read, and what was done to the readings.

    ``locations`` is (M, d), ``readings`` (S, M) with one row per snapshot and nothing missing.
    """

    locations: np.ndarray
    readings: np.ndarray
    note: str = ""
