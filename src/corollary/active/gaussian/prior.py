"""What is assumed about an unknown function: a Gaussian process with known hyper-parameters."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from corollary.kernels import Kernel


@dataclass(frozen=True)
class Prior:
    r"""A Gaussian process and the noise of its observations.

    Queries answer :math:`y=f(x)+\epsilon` with f drawn from a Gaussian process of mean ``mean``
    and covariance ``kernel``, and independent normal noise of variance ``noise``.

    Parameters
    ----------
    kernel : Kernel
        Covariance of f, positive semi-definite.
    noise : float
        Noise variance :math:`\rho^2`, positive.
    mean : float, default=0.0
        Prior mean of f.

    Examples
    --------
    >>> from corollary.active import Prior
    >>> from corollary.kernels import RBF
    >>> Prior(2.0 * RBF(0.5), noise=0.01).mean
    0.0
    """

    kernel: Kernel
    noise: float
    mean: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel) or not self.kernel.positive_semidefinite:
            raise ValueError(
                "Prior needs a positive semi-definite Kernel from corollary.kernels. "
                f"Got {self.kernel!r}."
            )
        for name, low in (("noise", 0.0), ("mean", -np.inf)):
            value = getattr(self, name)
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not (number and low < float(value) < np.inf):
                kind = "positive " if name == "noise" else ""
                raise ValueError(
                    f"The '{name}' parameter of Prior must be a finite {kind}float. "
                    f"Got {value!r} instead."
                )

    @classmethod
    def from_regressor(cls, regressor: Any) -> "Prior":
        """Take kernel, noise and mean from a fitted Gaussian process, in units of its target.

        Parameters
        ----------
        regressor : GaussianProcessRegressor
            A fitted model of :mod:`corollary.gp`.

        Returns
        -------
        prior : Prior
            Its hyper-parameters without its data. Guarantees that assume a known prior do not
            hold as stated for hyper-parameters that were learnt.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(regressor)
        kernel = float(regressor.y_scale_**2) * regressor.kernel_
        return cls(kernel, float(regressor.noise_variance_), float(regressor.y_mean_))
