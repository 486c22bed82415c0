"""Gaussian process regression with a length scale for each feature, hyper-parameters learnt."""

import warnings
from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

N_ROWS, N_FEATURES = 1000, 20
Data = tuple[np.ndarray, np.ndarray]


def make_data() -> Data:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    y = np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.3 * X[:, 3]
    y += 0.1 * rng.normal(size=N_ROWS)
    return X, (y - y.mean()) / y.std()


def ours(data: Data) -> Any:
    from corollary.gp import GaussianProcessRegressor

    return GaussianProcessRegressor(random_state=0).fit(*data)


def scikit_learn(data: Data) -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel() * RBF(np.full(N_FEATURES, N_FEATURES**0.5)) + WhiteKernel(0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GaussianProcessRegressor(kernel).fit(*data)


def gpytorch(data: Data) -> Any:
    import gpytorch
    import torch
    from scipy.optimize import minimize

    X, y = (torch.tensor(a, dtype=torch.float64) for a in data)

    class Exact(gpytorch.models.ExactGP):
        def __init__(self, likelihood: Any) -> None:
            super().__init__(X, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel(ard_num_dims=N_FEATURES)
            )

        def forward(self, x: Any) -> Any:
            law = gpytorch.distributions.MultivariateNormal
            return law(self.mean_module(x), self.covar_module(x))

    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Exact(likelihood).double()
    model.covar_module.base_kernel.lengthscale = N_FEATURES**0.5
    likelihood.noise = 0.1
    model.train()
    likelihood.train()
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    parameters = [*model.parameters()]

    def loss(vector: np.ndarray) -> tuple[float, np.ndarray]:
        torch.nn.utils.vector_to_parameters(torch.tensor(vector), parameters)
        model.zero_grad()
        value = -evidence(model(X), y)
        value.backward()
        gradient = torch.nn.utils.parameters_to_vector([p.grad for p in parameters])
        return N_ROWS * float(value.detach()), N_ROWS * gradient.numpy()

    # SciPy's L-BFGS, as BoTorch does: that of Torch leaves the finite numbers here. Exact linear
    # algebra: the contest is about the same answer.
    start = torch.nn.utils.parameters_to_vector(parameters).detach().numpy()
    with gpytorch.settings.fast_computations(False, False, False):
        found = minimize(
            loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200, "ftol": 1e-7}
        )
    return -float(found.fun)


def gpjax(data: Data) -> Any:
    import jax

    with jax.enable_x64(True):
        import gpjax as gpx
        import jax.numpy as jnp

        X, y = data
        rows = gpx.Dataset(X=jnp.asarray(X), y=jnp.asarray(y)[:, None])
        kernel = gpx.kernels.RBF(lengthscale=jnp.full(N_FEATURES, N_FEATURES**0.5))
        prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=kernel)
        model = prior * gpx.likelihoods.Gaussian(obs_stddev=jnp.sqrt(0.1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _, history = gpx.fit_scipy(
                model=model,
                objective=lambda m, d: -gpx.objectives.conjugate_mll(m, d),
                train_data=rows,
                max_iters=200,
                verbose=False,
            )
        return -float(history[-1])


def negative_log_evidence(data: Data, model: Any) -> float:
    value = model if isinstance(model, float) else model.log_marginal_likelihood_value_
    return -float(value)


CONTESTS = [
    Contest(
        name="Gaussian process, hyper-parameters learnt, 1,000 x 20",
        data=make_data,
        ours=ours,
        peers=[
            Peer("scikit-learn", scikit_learn, goal=50, once=True),
            Peer("GPyTorch", gpytorch, goal=2, requires="gpytorch"),
            Peer("GPJax", gpjax, goal=1.5, requires="gpjax", once=True),
        ],
        quality=negative_log_evidence,
        tolerance=1e-4,
        rounds=1,
    )
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
