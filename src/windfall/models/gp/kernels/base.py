"""What a kernel is, and how kernels, numbers and functions combine into new ones."""

import inspect
from collections.abc import Callable
from numbers import Real
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from windfall.checks import is_traced
from windfall.errors import InputError
from windfall.models.gp.kernels.parameter import parameter, positive
from windfall.naming import name_of
from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module
from windfall.specs import by_name

__all__ = [
    "Constant",
    "Custom",
    "Features",
    "Kernel",
    "Product",
    "Sum",
    "as_kernel",
]

Point = Float[Array, " d"]
Points = Float[Array, "n d"]
Features = Callable[[Points], Float[Array, "n count"]]


class Kernel(Module):
    """A covariance function; subclass it with ``__call__`` to make another.

    Example:
        >>> from windfall.models.gp.kernels import SquaredExponential, White
        >>> SquaredExponential(lengthscale=0.2) + White(variance=0.1)
        SquaredExponential(lengthscale=0.2, variance=1.0) + White(variance=0.1)
    """

    def __call__(self, x1: Point, x2: Point) -> Float[Array, ""]:
        """The covariance of the payoffs at two points."""
        raise TypeError(f"{type(self).__name__} does not define __call__(x1, x2)")

    def gram(self, x1: Float[Array, "n d"], x2: Float[Array, "m d"]) -> Float[Array, "n m"]:
        """All pairwise covariances."""
        return jax.vmap(lambda a: jax.vmap(lambda b: self(a, b))(x2))(x1)

    def diagonal(self, x: Points) -> Float[Array, " n"]:
        """The prior variances k(x, x)."""
        return jax.vmap(lambda a: self(a, a))(x)

    def random_features(self, key: PRNGKeyArray, count: int, anchors: Points) -> Features:
        """Nyström features on the anchors: exact there, an approximation between them.

        This default serves kernels without a known spectrum, such as a user's function.
        """
        gram = self.gram(anchors, anchors)
        values, vectors = jnp.linalg.eigh(0.5 * (gram + gram.T))
        # Directions that rounding made (near-)null carry no variance: leave them out.
        kept = values > values[-1] * 1e-12
        whiten = jnp.where(kept, vectors / jnp.sqrt(jnp.where(kept, values, 1.0)), 0.0)
        mix = jax.random.normal(key, (anchors.shape[0], count), anchors.dtype)
        return lambda x: self.gram(x, anchors) @ whiten @ mix

    def expanded(self, dimension: int) -> "Kernel":
        """The same kernel with one lengthscale per feature (ARD)."""
        del dimension
        return self

    def stretched(self, factors: Any) -> "Kernel":
        """The same covariances where a length of 1 in each column has become ``factors``.

        As it is where there is no length scale for each column.
        """
        del factors
        return self

    def choosing(self, choices: tuple[tuple[int, ...], ...]) -> "Kernel":
        """The same kernel where these groups of columns are the options of choices."""
        del choices
        return self

    def together(self) -> "Kernel":
        """The same kernel without what it says of features one by one."""
        return self

    def __add__(self, other: Any) -> "Kernel":
        """The sum of two independent functions."""
        return Sum(self, as_kernel(other))

    def __radd__(self, other: Any) -> "Kernel":
        return Sum(as_kernel(other), self)

    def __mul__(self, other: Any) -> "Kernel":
        """The product of two independent functions."""
        return Product(self, as_kernel(other))

    def __rmul__(self, other: Any) -> "Kernel":
        return Product(as_kernel(other), self)

    def __repr__(self) -> str:
        """The expression that makes this kernel again."""
        fields = ", ".join(f"{k}={_plain(v)}" for k, v in vars(self).items())
        return f"{type(self).__name__}({fields})"


def _plain(value: Any) -> str:
    """A parameter as a user would type it."""
    if is_traced(value) or not hasattr(value, "tolist"):
        return repr(value)
    return repr(value.tolist())


class Sum(Kernel):
    """k₁ + k₂."""

    left: Kernel = eqx.field(converter=lambda k: as_kernel(k))
    right: Kernel = eqx.field(converter=lambda k: as_kernel(k))

    def __call__(self, x1, x2):
        return self.left(x1, x2) + self.right(x1, x2)

    def gram(self, x1, x2):
        return self.left.gram(x1, x2) + self.right.gram(x1, x2)

    def diagonal(self, x):
        return self.left.diagonal(x) + self.right.diagonal(x)

    def random_features(self, key, count, anchors):
        left_key, right_key = jax.random.split(key)
        left = self.left.random_features(left_key, count, anchors)
        right = self.right.random_features(right_key, count, anchors)
        # Independent and with mean 0: the cross terms vanish.
        return lambda x: left(x) + right(x)

    def expanded(self, dimension):
        return Sum(self.left.expanded(dimension), self.right.expanded(dimension))

    def stretched(self, factors):
        return Sum(self.left.stretched(factors), self.right.stretched(factors))

    def choosing(self, choices):
        return Sum(self.left.choosing(choices), self.right.choosing(choices))

    def together(self):
        return Sum(self.left.together(), self.right.together())

    def __repr__(self):
        return f"{self.left!r} + {_bracketed(self.right, Sum)}"


class Product(Kernel):
    """k₁ · k₂."""

    left: Kernel = eqx.field(converter=lambda k: as_kernel(k))
    right: Kernel = eqx.field(converter=lambda k: as_kernel(k))

    def __call__(self, x1, x2):
        return self.left(x1, x2) * self.right(x1, x2)

    def gram(self, x1, x2):
        return self.left.gram(x1, x2) * self.right.gram(x1, x2)

    def diagonal(self, x):
        return self.left.diagonal(x) * self.right.diagonal(x)

    def random_features(self, key, count, anchors):
        left_key, right_key = jax.random.split(key)
        left = self.left.random_features(left_key, count, anchors)
        right = self.right.random_features(right_key, count, anchors)
        return lambda x: left(x) * right(x)

    def expanded(self, dimension):
        return Product(self.left.expanded(dimension), self.right.expanded(dimension))

    def stretched(self, factors):
        return Product(self.left.stretched(factors), self.right.stretched(factors))

    def choosing(self, choices):
        return Product(self.left.choosing(choices), self.right.choosing(choices))

    def together(self):
        return Product(self.left.together(), self.right.together())

    def __repr__(self):
        return f"{_bracketed(self.left, Sum)} * {_bracketed(self.right, (Sum, Product))}"


def _bracketed(kernel: Kernel, kinds: Any) -> str:
    """In brackets where Python would otherwise group the expression in another way."""
    return f"({kernel!r})" if isinstance(kernel, kinds) else repr(kernel)


class Constant(Kernel):
    """k = variance: an unknown offset."""

    variance: Float[Array, ""] = parameter("variance")

    def __call__(self, x1, x2):
        return self.variance

    def random_features(self, key, count, anchors):
        signs = jax.random.rademacher(key, (count,), anchors.dtype)
        return lambda x: jnp.sqrt(self.variance) * jnp.broadcast_to(signs, (x.shape[0], count))


class Custom(Kernel):
    """A user's function ``k(x1, x2)``, or ``k(x1, x2, **parameters)`` with positive parameters.

    The parameters, given by name or as a dictionary, are fitted. Those called lengthscale,
    variance, noise, alpha or period keep to the range that windfall's own parameters of that name
    have, all others to 0.001 … 1000: choose their units accordingly.

    Example:
        >>> import jax.numpy as jnp
        >>> kernel = Custom(lambda a, b, slope: slope * jnp.minimum(a[0], b[0]), slope=2.0)
        >>> float(kernel(jnp.array([0.5]), jnp.array([0.25])))
        0.5
    """

    function: Any = eqx.field(static=True)
    parameters: dict[str, Any]

    def __init__(self, function: Any, parameters: dict[str, Any] | None = None, /, **named: Any):
        """The function, and first guesses of its parameters."""
        if not callable(function):
            raise InputError(f"kernel is {function!r}; expected a function k(x1, x2)")
        self.function = function
        self.parameters = {
            name: positive(name, value, per_feature=True)
            for name, value in {**(parameters or {}), **named}.items()
        }
        try:
            signature = inspect.signature(function)
        except ValueError:  # some callables made elsewhere have none
            return
        try:
            signature.bind(None, None, **self.parameters)
        except TypeError as error:
            raise InputError(
                f"kernel {self._name} has parameters {sorted(self.parameters)}; expected those of "
                f"its signature {signature}: {error}"
            ) from None

    def __call__(self, x1, x2):
        value = jnp.asarray(self.function(x1, x2, **self.parameters), x1.dtype)
        if value.ndim > 0:
            raise InputError(
                f"kernel {self._name} returned an array of shape {value.shape}; expected k(x1, x2) "
                "to return one number for two points"
            )
        return value

    def spec_arguments(self) -> dict[str, Any]:
        """For specs: not the constructor's arguments, since those have the user's names."""
        return {"function": self.function, "parameters": self.parameters}

    @classmethod
    def from_spec_arguments(cls, function: Any, parameters: Any = ()) -> "Custom":
        return cls(function, by_name("parameters", parameters))

    @property
    def _name(self) -> str:
        return name_of(self.function)

    def __repr__(self):
        values = ", ".join(f"{k!r}: {_plain(v)}" for k, v in self.parameters.items())
        return f"Custom({self._name}, {{{values}}})" if values else f"Custom({self._name})"


def as_kernel(kernel: Any) -> Kernel:
    """A kernel as it is; a positive number as a constant; a function as a custom kernel.

    Example:
        >>> as_kernel(2)
        Constant(variance=2.0)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, Real | np.ndarray | jax.Array):
        return Constant(kernel)
    if callable(kernel) and not isinstance(kernel, type):  # a class is a forgotten pair of brackets
        return Custom(kernel)
    raise InputError(
        f"kernel is {kernel!r}; expected a windfall kernel, a function k(x1, x2) or a number"
    )
