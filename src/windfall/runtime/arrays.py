"""The array type of every annotation: JAX arrays inside compiled code, NumPy arrays on the host.

Shapes and types are checked when the tests run; a static checker cannot tell the two apart and sees
no more than "an array".
"""

from typing import TYPE_CHECKING, Any

__all__ = ["Array"]

if TYPE_CHECKING:
    Array = Any
else:
    import jax
    import numpy as np

    Array = jax.Array | np.ndarray | np.generic
