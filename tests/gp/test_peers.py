"""Agreement with GPyTorch, where it is installed."""

import numpy as np
import pytest

from corollary.gp import (
    GaussianProcessRegressor,
    WhitenedLaw,
    variational_bound,
)
from corollary.kernels import RBF, Matern

pytestmark = [
    pytest.mark.verify,
    # What the peer's own modules warn of is not ours to repair.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture
def data(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(50, 2))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=50)


def peer_kernel(gpytorch, torch, kind):
    base = (
        gpytorch.kernels.RBFKernel(ard_num_dims=2)
        if kind == "rbf"
        else gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=2)
    )
    kernel = gpytorch.kernels.ScaleKernel(base).double()
    kernel.outputscale = 1.7
    kernel.base_kernel.lengthscale = torch.tensor([[0.8, 1.5]], dtype=torch.float64)
    return kernel


@pytest.mark.parametrize("kind", ["rbf", "matern"])
def test_posterior_and_evidence_equal_gpytorchs(data, kind):
    gpytorch = pytest.importorskip("gpytorch")
    torch = pytest.importorskip("torch")
    X, y = data
    new = np.linspace(-3, 3, 14).reshape(7, 2)
    kernel = 1.7 * (RBF([0.8, 1.5]) if kind == "rbf" else Matern([0.8, 1.5], nu=2.5))
    model = GaussianProcessRegressor(kernel, alpha=0.05, optimizer=None, normalize_y=False)
    model.fit(X, y)

    rows, target, test = (torch.tensor(a, dtype=torch.float64) for a in (X, y, new))

    class Exact(gpytorch.models.ExactGP):
        def __init__(self, likelihood):
            super().__init__(rows, target, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = peer_kernel(gpytorch, torch, kind)

        def forward(self, x):
            law = gpytorch.distributions.MultivariateNormal
            return law(self.mean_module(x), self.covar_module(x))

    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    likelihood.noise = 0.05
    peer = Exact(likelihood).double()
    with gpytorch.settings.fast_computations(False, False, False), torch.no_grad():
        evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, peer)
        peer.train()
        value = len(y) * float(evidence(peer(rows), target))
        peer.eval()
        likelihood.eval()
        law = peer(test)
    assert model.log_marginal_likelihood_value_ == pytest.approx(value, rel=1e-6)
    mean, covariance = model.predict(new, return_cov=True)
    np.testing.assert_allclose(mean, law.mean.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(covariance, law.covariance_matrix.numpy(), rtol=1e-4, atol=1e-6)


def test_variational_bound_equals_gpytorchs(data):
    gpytorch = pytest.importorskip("gpytorch")
    torch = pytest.importorskip("torch")
    X, y = data
    rng = np.random.default_rng(1)
    Z = rng.uniform(-2, 2, size=(6, 2))
    mean = rng.normal(size=6)
    root = np.tril(0.2 * rng.normal(size=(6, 6))) + 0.7 * np.eye(6)

    class Sparse(gpytorch.models.ApproximateGP):
        def __init__(self):
            law = gpytorch.variational.CholeskyVariationalDistribution(6)
            points = torch.tensor(Z, dtype=torch.float64)
            super().__init__(gpytorch.variational.VariationalStrategy(self, points, law))
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = peer_kernel(gpytorch, torch, "rbf")

        def forward(self, x):
            law = gpytorch.distributions.MultivariateNormal
            return law(self.mean_module(x), self.covar_module(x))

    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    likelihood.noise = 0.05
    peer = Sparse().double()
    rows, target = (torch.tensor(a, dtype=torch.float64) for a in (X, y))
    with torch.no_grad(), gpytorch.settings.variational_cholesky_jitter(double_value=1.7e-8):
        peer.train()
        peer(rows)  # the first call sets the law to the prior
        inner = peer.variational_strategy._variational_distribution
        inner.variational_mean.copy_(torch.tensor(mean))
        inner.chol_variational_covar.copy_(torch.tensor(root))
        bound = gpytorch.mlls.VariationalELBO(likelihood, peer, num_data=len(y))
        value = len(y) * float(bound(peer(rows), target))
    found = variational_bound(1.7 * RBF([0.8, 1.5]), 0.05, Z, WhitenedLaw(mean, root), X, y)
    assert found == pytest.approx(value, rel=1e-4)
