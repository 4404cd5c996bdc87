"""Gaussian mixtures fitted to weighted points by expectation–maximisation.

A full-covariance Gaussian is an exponential family in φ(x) = (1, x, vec xxᵀ): log N(x) is linear in
φ(x). Both halves of EM are then one matrix product with the same table of φ, whatever the
dimension. Tables have a row for each feature or component and a column for each point: loops over
many points are what processors do fast.

Every point is smeared by a Gaussian of variance ``SMEAR``: component k sees
E log N(x + ε) = log N(x; m, S) − ½ SMEAR tr S⁻¹. Covariances therefore stay regular when points
coincide, and EM remains exact for the smeared likelihood, which never decreases.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Bool, Float, Int, PRNGKeyArray

from windfall.runtime.arrays import Array
from windfall.runtime.modules import Module

__all__ = ["Mixture", "MixtureInfo", "fit_mixture"]

SMEAR = 1e-6
_ALIVE = 1e-8


class Mixture(Module):
    """Σ_k weight_k N(x; mean_k, covariance_k)."""

    weights: Float[Array, " k"]
    means: Float[Array, "k d"]
    covariances: Float[Array, "k d d"]

    def __call__(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """The density at each point."""
        return _over(jnp.add, jnp.exp(_coefficients(self, 0.0) @ _features(x)))


class MixtureInfo(Module):
    """How the fit ended.

    ``log_likelihood`` is the weighted mean over the smeared points, before the last EM step: the
    mixture returned is at least as likely.
    """

    log_likelihood: Float[Array, ""]
    iterations: Int[Array, ""]
    converged: Bool[Array, ""]


def fit_mixture(
    key: PRNGKeyArray,
    points: Float[Array, "n d"],
    weights: Float[Array, " n"],
    components: int,
    *,
    iterations: int | Int[Array, ""] = 50,
    tolerance: float | Float[Array, ""] = 1e-3,
) -> tuple[Mixture, MixtureInfo]:
    """Maximise Σ_i weights_i log q(points_i) over mixtures q.

    Components start from the points around a few that are drawn far apart in proportion to their
    weight. One that loses all its points keeps its shape with weight 0 and takes no further part.

    Args:
        key: Randomness of the start.
        points: In a box of about unit size.
        weights: Non-negative, not necessarily normalised.
        components: Number of Gaussians.
        iterations: The most EM steps.
        tolerance: Converged when a step improves the mean log likelihood by less.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> points = jnp.array([[0.1], [0.1], [0.9], [0.9]])
        >>> mixture, info = fit_mixture(jax.random.key(0), points, jnp.ones(4), 2)
        >>> sorted(round(float(m), 2) for m in mixture.means[:, 0])
        [0.1, 0.9]
    """
    weights = weights / jnp.sum(weights)
    # Centred points keep E[xxᵀ] − mmᵀ accurate.
    centre = weights @ points
    table = _features(points - centre)

    def improve(carry):
        mixture, previous, _, steps = carry
        joint = _coefficients(mixture, SMEAR) @ table
        highest = _over(jnp.maximum, joint)
        shares = jnp.exp(joint - highest)
        total = _over(jnp.add, shares)
        responsibility = shares * (weights / total)
        return (
            _maximise(responsibility @ table.T, mixture),
            weights @ (highest + jnp.log(total)),
            previous,
            steps + 1,
        )

    def unfinished(carry):
        _, current, previous, steps = carry
        # Until two likelihoods are known their difference is nan, which is not "settled".
        return ~(current - previous < tolerance) & (steps < iterations)

    start = _begin(key, points - centre, table, weights, components)
    unknown = jnp.asarray(-jnp.inf, points.dtype)
    mixture, current, previous, steps = jax.lax.while_loop(
        unfinished, improve, (start, unknown, unknown, jnp.zeros((), jnp.int32))
    )
    centred = Mixture(mixture.weights, mixture.means + centre, mixture.covariances)
    return centred, MixtureInfo(current, steps, current - previous < tolerance)


def _begin(key, points, table, weights, components) -> Mixture:
    """One component for the points nearest to each of a few that lie far apart (k-means++).

    Starting from parts of the points, and not from one broad shape for all, is what keeps EM from
    local maxima when there are more than two or three dimensions.
    """
    x, dimension = points.T, points.shape[1]
    tiny = jnp.finfo(x.dtype).tiny
    keys = jax.vmap(lambda k: jax.random.fold_in(key, k))(jnp.arange(components))
    luck = jax.vmap(lambda k: jax.random.uniform(k, weights.shape, x.dtype, tiny, 1.0))(keys)

    def part(k, carry):
        distance, label = carry
        score = weights * distance
        # All mass on chosen points already: any point will do, the component gets no points.
        score = jnp.where(jnp.any(score > 0), score, 1.0)
        # Of independent waiting times with rates ∝ score, the shortest: a draw ∝ score.
        chosen = x[:, jnp.argmin(-jnp.log(luck[k]) / score)]
        square = _over(jnp.add, (x - chosen[:, None]) ** 2)
        closer = (square < distance) | (k == 0)
        return jnp.where(closer, square, distance), jnp.where(closer, k, label)

    nothing = (jnp.ones_like(weights), jnp.zeros(weights.shape, jnp.int32))
    _, label = jax.lax.fori_loop(0, components, part, nothing)
    shares = jnp.where(label == jnp.arange(components)[:, None], weights, 0.0)
    smear = SMEAR * jnp.eye(dimension, dtype=x.dtype)
    covariance = (x * weights) @ x.T + smear
    everything = Mixture(
        jnp.full(components, 1.0 / components, x.dtype),
        jnp.zeros((components, dimension), x.dtype),
        jnp.broadcast_to(covariance, (components, dimension, dimension)),
    )
    return _maximise(shares @ table.T, everything)


def _features(x: Float[Array, "n d"]) -> Float[Array, "features n"]:
    """φ(x) = (1, x, vec xxᵀ)."""
    columns = x.T
    ones = jnp.ones((1, x.shape[0]), x.dtype)
    return jnp.concatenate([ones, columns, *(column * columns for column in columns)])


def _over(operation, rows: Float[Array, "k n"]) -> Float[Array, " n"]:
    """All rows combined, by halves: a compiler's reduction would go point by point."""
    while (count := rows.shape[0]) > 1:
        half = count // 2
        pairs = operation(rows[:half], rows[half : 2 * half])
        rows = pairs if count % 2 == 0 else jnp.concatenate([pairs, rows[-1:]])
    return rows[0]


def _coefficients(mixture: Mixture, smear: float) -> Float[Array, "k features"]:
    """log(weight_k N(x; m_k, S_k)) − ½ smear tr S_k⁻¹ as a linear function of φ(x)."""
    whitener, log_determinant = _whiten(mixture.covariances)
    precision = jnp.einsum("kij,kil->kjl", whitener, whitener)
    linear = jnp.einsum("kij,kj->ki", precision, mixture.means)
    dimension = mixture.means.shape[1]
    constant = (
        jnp.log(jnp.maximum(mixture.weights, 1e-300))
        - 0.5 * dimension * jnp.log(2.0 * jnp.pi)
        - 0.5 * log_determinant
        - 0.5 * jnp.sum(mixture.means * linear, axis=1)
        - 0.5 * smear * jnp.trace(precision, axis1=1, axis2=2)
    )
    flat = precision.reshape(precision.shape[0], -1)
    return jnp.concatenate([constant[:, None], linear, -0.5 * flat], axis=1)


def _maximise(statistics: Float[Array, "k features"], previous: Mixture) -> Mixture:
    """Weights, means and covariances from Σ r φ(x); a component without points stays as it was."""
    dimension = previous.means.shape[1]
    mass = statistics[:, 0]
    alive = mass > _ALIVE
    safe = jnp.where(alive, mass, 1.0)[:, None]
    means = statistics[:, 1 : 1 + dimension] / safe
    seconds = (statistics[:, 1 + dimension :] / safe).reshape(-1, dimension, dimension)
    covariances = seconds - means[:, :, None] * means[:, None, :]
    covariances = covariances + SMEAR * jnp.eye(dimension, dtype=means.dtype)
    weights = jnp.where(alive, mass, 0.0)
    return Mixture(
        weights / jnp.sum(weights),
        jnp.where(alive[:, None], means, previous.means),
        jnp.where(alive[:, None, None], covariances, previous.covariances),
    )


def _whiten(matrices: Float[Array, "k d d"]) -> tuple[Float[Array, "k d d"], Float[Array, " k"]]:
    """L⁻¹ and log|LLᵀ| of small matrices by elimination, all components at once.

    Column by column in plain array operations: for d of a few this is faster than a batched
    LAPACK call, and it keeps batched linear algebra out of loops on a CPU.
    """
    dimension = matrices.shape[-1]
    rest = matrices
    inverse = jnp.broadcast_to(jnp.eye(dimension, dtype=matrices.dtype), matrices.shape)
    log_determinant = jnp.zeros(matrices.shape[:-2], matrices.dtype)
    for j in range(dimension):
        pivot = jnp.sqrt(rest[:, j, j])
        below = jnp.arange(dimension) > j
        row = inverse[:, j, :] / pivot[:, None]
        column = jnp.where(below, rest[:, :, j], 0.0) / pivot[:, None]
        inverse = inverse.at[:, j, :].set(row) - column[:, :, None] * row[:, None, :]
        rest = rest - column[:, :, None] * column[:, None, :]
        log_determinant = log_determinant + 2.0 * jnp.log(pivot)
    return inverse, log_determinant
