"""The Gaussian process for many rewards, by name."""

import equinox as eqx

from windfall.checks import whole_number
from windfall.errors import InputError
from windfall.models.gp.fit import Fit
from windfall.models.gp.model import GP
from windfall.models.gp.room import Sparsity

__all__ = ["SparseGP"]


class SparseGP(GP):
    """A Gaussian process that ``inducing`` of its inputs carry: see ``windfall.models.gp.sparse``.

    ``GP`` turns into this with 640 of them beyond 1,024 distinct inputs. By name it can be had
    sooner, with fewer of them, or later: up to ``inducing`` inputs it is the exact model. What is
    lost stands in ``why``: the share of the payoffs' prior variance that they leave open at the
    inputs tried. Hyper-parameters are those of highest evidence on 768 of the inputs.

    Attributes:
        inducing: How many inputs carry the model; up to a fifth are the latest, the others are
            chosen by every search, most of them near what is expected to pay most. With n distinct
            inputs a round costs O(inducing²), and O(n · inducing²) after a search and with every
            64th reward.

    Example:
        >>> SparseGP(inducing=256, ard=False)
        SparseGP(kernel=SquaredExponential(lengthscale=0.3, variance=1.0), noise=0.0001,
                 fit=Fit(restarts=3, iterations=50, prior=None), refit_every=1, ard=False,
                 inducing=256)
    """

    inducing: int = eqx.field(static=True, converter=whole_number("inducing", 4, 4096), default=640)

    def __check_init__(self):
        if not isinstance(self.fit, Fit):
            raise InputError(f"fit is {self.fit!r}; expected Fit(...): a sparse model samples none")

    def __repr__(self) -> str:
        """Everything that decides, as text that is the same in every process."""
        return f"{super().__repr__()[:-1]}, inducing={self.inducing})"

    @property
    def sparsity(self) -> Sparsity:
        """As soon as there are more inputs than carry it."""
        return Sparsity(self.inducing, self.inducing)
