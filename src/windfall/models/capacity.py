"""Room for distinct inputs comes in a few sizes: a study of any length compiles once per size."""

__all__ = ["BUCKETS", "bucket"]

BUCKETS = (16, 32, 48, 64, 96, 128, 160, 256, 512, 1024, 2048, 4096)


def bucket(size: int) -> int:
    """The smallest capacity that holds ``size`` distinct inputs.

    Example:
        >>> bucket(16), bucket(17)
        (16, 32)
    """
    return next((c for c in BUCKETS if size <= c), -(-size // BUCKETS[-1]) * BUCKETS[-1])
