"""PAC-Bayes training against the same training in a plain PyTorch loop."""

from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

Data = tuple[np.ndarray, np.ndarray]
HIDDEN, PRIOR_STD, PRIOR_EPOCHS, EPOCHS = 100, 0.05, 150, 100


def make_digits() -> Data:
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


def ours(data: Data) -> float:
    from corollary.neural import PACBayesClassifier

    model = PACBayesClassifier(
        hidden_layer_sizes=(HIDDEN,),
        prior_std=PRIOR_STD,
        prior_epochs=PRIOR_EPOCHS,
        max_iter=EPOCHS,
        random_state=0,
    )
    return model.fit(*data).certificate_.bound


def torch_loop(data: Data) -> float:
    """Run the loop on one thread: batches of 32 rows are too small to share, and two are slower."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return train_and_certify(data)
    finally:
        torch.set_num_threads(threads)


def train_and_certify(data: Data) -> float:
    """Train prior and posterior with the same losses, steps and batches, and certify."""
    import torch

    from corollary.theory import kl_confidence_limit, pac_bayes_kl_bound

    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    X, y = data
    order = np.random.RandomState(0).permutation(len(X))
    m = round(0.7 * len(X))
    first, rest = order[:m], order[m:]
    scale = np.where(X[first].std(axis=0) > 0, X[first].std(axis=0), 1.0)
    inputs = torch.tensor((X - X[first].mean(axis=0)) / scale, dtype=torch.float32)
    targets = torch.tensor(y)
    shapes = [(64, HIDDEN), (HIDDEN,), (HIDDEN, 10), (10,)]
    limits = [(6 / 64) ** 0.5, 0.0, (6 / (HIDDEN + 10)) ** 0.5, 0.0]
    means = [
        torch.empty(shape).uniform_(-limit, limit).requires_grad_()
        for shape, limit in zip(shapes, limits)
    ]
    ratios = [torch.zeros(shape, requires_grad=True) for shape in shapes]

    def outputs(z: Any, stds: list[Any]) -> Any:
        for layer in (0, 2):
            spread = (z**2 @ stds[layer] ** 2 + stds[layer + 1] ** 2).sqrt()
            z = z @ means[layer] + means[layer + 1] + spread * torch.randn_like(spread)
            z = torch.relu(z) if layer == 0 else z
        return z

    fixed = [torch.full(shape, PRIOR_STD) for shape in shapes]
    steps = torch.optim.Adam(means, lr=0.003)
    for _ in range(PRIOR_EPOCHS):
        for rows in torch.tensor(rng.permutation(first)).split(32):
            steps.zero_grad()
            loss = torch.nn.functional.cross_entropy(outputs(inputs[rows], fixed), targets[rows])
            loss.backward()
            steps.step()
    prior = [mean.detach().clone() for mean in means]
    n = len(rest)

    def divergence() -> Any:
        parts = [
            (((mean - center) / PRIOR_STD) ** 2 + (2 * r).exp() - 1 - 2 * r).sum()
            for mean, center, r in zip(means, prior, ratios)
        ]
        return torch.stack(parts).sum() / 2

    steps = torch.optim.Adam([*means, *ratios], lr=0.0003)
    held = torch.tensor(rest)
    for _ in range(EPOCHS):
        steps.zero_grad()
        z = outputs(inputs[held], [PRIOR_STD * r.exp() for r in ratios])
        chance = torch.softmax(z, dim=1).gather(1, targets[held][:, None])
        c = (divergence() + np.log(2 * np.sqrt(n) / 0.05)) / (2 * n)
        (((1 - chance).mean() + c).sqrt() + c.sqrt()).square().backward()
        steps.step()
    with torch.no_grad():
        stds = [PRIOR_STD * r.exp() for r in ratios]
        wrong = [
            float((outputs(inputs[held], stds).argmax(dim=1) != targets[held]).float().mean())
            for _ in range(200)
        ]
        drawn = kl_confidence_limit(float(np.mean(wrong)), n_samples=200 * n, delta=0.005)
        return pac_bayes_kl_bound(drawn, divergence=float(divergence()), n_samples=n, delta=0.045)


def certificate(data: Data, bound: float) -> float:
    return bound


CONTESTS = [
    Contest(
        name="PACBayesClassifier, digits, 64-100-10",
        data=make_digits,
        ours=ours,
        peers=[Peer("PyTorch loop", torch_loop, goal=2.0, requires="torch")],
        quality=certificate,
        tolerance=0.25,
        cold=False,
        rounds=2,
    ),
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
