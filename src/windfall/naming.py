"""What functions are called in messages and in saved studies."""

__all__ = ["name_of"]


def name_of(value: object) -> str:
    """A function's qualified name, and any other object as it prints; the same in every process.

    >>> name_of(len), name_of(0.5)
    ('len', '0.5')
    """
    return getattr(value, "__qualname__", None) or repr(value)
