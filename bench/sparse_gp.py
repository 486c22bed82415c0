"""Sparse Gaussian process regression at 100,000 rows, compared at the test log-likelihood."""

from typing import Any, NamedTuple

import numpy as np

from bench.harness import Contest, Peer, Row, run

N_ROWS, N_TEST, N_FEATURES, N_INDUCING = 100_000, 10_000, 8, 256
# GPyTorch is still improving after this many epochs and then below our log-likelihood, so that
# its time to reach it would be longer than what is counted.
EPOCHS, BATCH, RATE = 12, 1024, 0.05


class Data(NamedTuple):
    """Rows to learn from and rows to be judged by."""

    X: np.ndarray
    y: np.ndarray
    test: np.ndarray
    truth: np.ndarray


def make_data() -> Data:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS + N_TEST, N_FEATURES))
    y = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + np.exp(-(X[:, 3] ** 2))
    y += 0.3 * X[:, 4] + 0.3 * np.cos(2 * X[:, 5]) * X[:, 0] + 0.3 * rng.normal(size=len(X))
    y = (y - y[:N_ROWS].mean()) / y[:N_ROWS].std()
    return Data(X[:N_ROWS], y[:N_ROWS], X[N_ROWS:], y[N_ROWS:])


def ours(data: Data) -> tuple[np.ndarray, np.ndarray]:
    from corollary.gp import SparseGaussianProcessRegressor

    model = SparseGaussianProcessRegressor(n_inducing=N_INDUCING, random_state=0)
    return model.fit(data.X, data.y).predict(data.test, return_std=True, noisy=True)


def gpytorch(data: Data) -> tuple[np.ndarray, np.ndarray]:
    import gpytorch
    import torch

    X, y, test = (torch.tensor(a, dtype=torch.float32) for a in (data.X, data.y, data.test))
    torch.manual_seed(0)

    class Sparse(gpytorch.models.ApproximateGP):
        def __init__(self, Z: Any) -> None:
            law = gpytorch.variational.CholeskyVariationalDistribution(len(Z))
            super().__init__(
                gpytorch.variational.VariationalStrategy(
                    self, Z, law, learn_inducing_locations=True
                )
            )
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel(ard_num_dims=N_FEATURES)
            )

        def forward(self, x: Any) -> Any:
            law = gpytorch.distributions.MultivariateNormal
            return law(self.mean_module(x), self.covar_module(x))

    model = Sparse(X[torch.randperm(N_ROWS)[:N_INDUCING]].clone())
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model.covar_module.base_kernel.lengthscale = N_FEATURES**0.5
    likelihood.noise = 0.1
    parameters = [*model.parameters(), *likelihood.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=RATE)
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=N_ROWS)
    model.train()
    likelihood.train()
    for _ in range(EPOCHS):
        order = torch.randperm(N_ROWS)
        for i in range(0, N_ROWS, BATCH):
            rows = order[i : i + BATCH]
            optimizer.zero_grad()
            loss = -bound(model(X[rows]), y[rows])
            loss.backward()
            optimizer.step()
    model.eval()
    likelihood.eval()
    with torch.no_grad():
        law = likelihood(model(test))
        return law.mean.double().numpy(), law.variance.double().sqrt().numpy()


def negative_log_likelihood(data: Data, found: tuple[np.ndarray, np.ndarray]) -> float:
    """Return the mean over the test rows, in nats."""
    from corollary.gp import normal_scores

    return -normal_scores(data.truth, *found).log_density


CONTESTS = [
    Contest(
        name="sparse Gaussian process, 256 inducing points, 100,000 x 8",
        data=make_data,
        ours=ours,
        peers=[Peer("GPyTorch", gpytorch, goal=1.5, requires="gpytorch", once=True)],
        quality=negative_log_likelihood,
        tolerance=0.01,
        cold=False,
        rounds=1,
    )
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
