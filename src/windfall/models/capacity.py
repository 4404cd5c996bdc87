"""Room for distinct inputs comes in a few sizes: a study of any length compiles once per size.

The smallest room for a list is small, since its rounds take a millisecond or two there; a search of
a region takes more in any room, and would spend more on compiling for a size than it saves.
"""

__all__ = ["BUCKETS", "REGION_BUCKETS", "bucket"]

BUCKETS = (16, 32, 48, 64, 96, 128, 160, 256, 512, 1024, 2048, 4096)
REGION_BUCKETS = (64, 128, 256, 512, 1024, 2048, 4096)


def bucket(size: int, buckets: tuple[int, ...] = BUCKETS) -> int:
    """The smallest capacity that holds ``size`` distinct inputs.

    Example:
        >>> bucket(16), bucket(17), bucket(17, REGION_BUCKETS)
        (16, 32, 64)
    """
    return next((c for c in buckets if size <= c), -(-size // buckets[-1]) * buckets[-1])
