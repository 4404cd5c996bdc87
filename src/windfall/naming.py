"""What functions and columns are called in messages, in tables and in saved studies."""

from typing import Any

__all__ = ["marked", "name_of"]


def name_of(value: object) -> str:
    """A function's qualified name, and any other object as it prints; the same in every process.

    >>> name_of(len), name_of(0.5)
    ('len', '0.5')
    """
    return getattr(value, "__qualname__", None) or repr(value)


def marked(described: dict[str, Any], taken: Any) -> dict[str, Any]:
    """Columns of parameters, those marked whose name another column has.

    >>> marked({"dose": 1, "ratio": 2}, ["mean", "ratio"])
    {'dose': 1, 'ratio (parameter)': 2}
    """
    return {f"{k} (parameter)" if k in taken else k: v for k, v in described.items()}
