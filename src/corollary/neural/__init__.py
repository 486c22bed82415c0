"""Neural networks, learned by gradient.

:class:`MLPClassifier` and :class:`MLPRegressor` are feed-forward networks for tables: inputs are
standardised inside, several networks are trained on different parts of the rows, each stops when
the rows it did not see say so, and predictions are averaged.

:class:`PACBayesClassifier` is a network with noisy weights that is trained to minimise a bound on
its error rate, and carries the certificate.

The mathematics is a handful of pure functions of a list of arrays: :func:`init_mlp` draws
parameters, :func:`apply_mlp` evaluates a network, :class:`MLPLoss` is what training minimises.
Training runs on JAX (see ``corollary.core.training``); predicting needs NumPy only. JAX runs with
one thread, so that a network has the same bits on any number of cores, unless the program has used
JAX before, or set ``NPROC``.
"""

from corollary.neural._pac_bayes_loss import noisy_outputs as noisy_outputs
from corollary.neural.classifier import MLPClassifier as MLPClassifier
from corollary.neural.mlp import MLPLoss as MLPLoss
from corollary.neural.mlp import apply_mlp as apply_mlp
from corollary.neural.mlp import flatten as flatten
from corollary.neural.mlp import init_mlp as init_mlp
from corollary.neural.mlp import unflatten as unflatten
from corollary.neural.pac_bayes import PACBayesClassifier as PACBayesClassifier
from corollary.neural.regressor import MLPRegressor as MLPRegressor
