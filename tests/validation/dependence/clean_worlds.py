"""Tables whose rows are drawn alike, or nearly so."""

import numpy as np

from tests.validation.dependence.world import days, shuffled, signal, table, world

# -- clean -----------------------------------------------------------------------------------


@world("smooth function")
def smooth(r):
    X = r.normal(size=(600, 5))
    return table(X, y=signal(X) + 0.5 * r.normal(size=600))


@world("rough in two dimensions")
def rough(r):
    X = r.uniform(0, 6, (600, 2))
    return table(X, y=np.sin(4 * X[:, 0]) * np.sin(4 * X[:, 1]) + 0.1 * r.normal(size=600))


@world("coin labels")
def coins(r):
    return table(r.normal(size=(400, 5)), y=r.integers(0, 2, 400))


@world("coarse columns that repeat")
def coarse(r):
    X = r.integers(0, [3, 4, 2, 5, 3], (800, 5))
    return table(X, y=X[:, 0] + (X[:, 1] == 2) + 0.8 * r.normal(size=800))


@world("108 cells with interaction")
def cells(r):
    X, b = r.integers(0, [3, 3, 3, 4], (700, 4)), r.normal(size=(3, 3, 3, 4))
    return table(X, y=b[tuple(X.T)] + 0.7 * r.normal(size=700))


@world("correlated whole numbers")
def correlated(r):
    z = r.normal(size=(700, 1))
    X = np.round(2 * (0.9 * z + 0.45 * r.normal(size=(700, 4)))).astype(int)
    return table(X, y=z[:, 0] + 0.7 * r.normal(size=700))


@world("columns of one decimal")
def decimals(r):
    X = r.normal(size=(600, 3)).round(1)
    return table(X, y=signal(X) + 0.5 * r.normal(size=600))


def state_rows(r):
    names = np.array([f"{a}{b}land" for a in "NSEWC" for b in ["or", "al", "er", "um", "ti"]])
    share = 1 / np.arange(1, 26) ** 0.7
    s, X = r.choice(25, 700, p=share / share.sum()), r.normal(size=(700, 3))
    return table(X, state=names[s], y=X[:, 0] + r.normal(size=25)[s] + 0.7 * r.normal(size=700))


@world("25 states with effect")
def states(r):
    return state_rows(r)


@world("25 states, file sorted")
def states_sorted(r):
    return state_rows(r).sort_values("state", kind="stable", ignore_index=True)


@world("category of 7")
def category(r):
    k, X = r.integers(0, 7, 600), r.normal(size=(600, 3))
    y = X[:, 0] + r.normal(size=7)[k] + 0.6 * r.normal(size=600)
    return table(X, kind=np.array(list("abcdefg"))[k], y=y)


@world("file sorted by a feature")
def sorted_feature(r):
    X = r.normal(size=(600, 4))
    X = X[np.argsort(X[:, 0])]
    return table(X, y=2 * X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * r.normal(size=600))


@world("file sorted by the target")
def sorted_target(r):
    X = r.normal(size=(600, 4))
    frame = table(X, y=2 * X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * r.normal(size=600))
    return frame.sort_values("y", ignore_index=True)


@world("dates sorted, no effect")
def dates(r):
    X = r.normal(size=(600, 4))
    return table(X, day=days(np.arange(600)), y=signal(X) + 0.7 * r.normal(size=600))


@world("ages, curved")
def ages(r):
    a, X = r.integers(18, 80, 700), r.normal(size=(700, 3))
    y = np.sin(a / 9) + 0.002 * (a - 50) ** 2 + X[:, 0] + 0.7 * r.normal(size=700)
    return table(X, age=a, y=y)


@world("year built, slope")
def built(r):
    year, X = r.integers(1900, 2011, 700), r.normal(size=(700, 3))
    return table(X, built=year, y=0.03 * year + X[:, 0] + 0.7 * r.normal(size=700))


@world("id without effect")
def empty_id(r):
    g, X = np.repeat(np.arange(100), 6), r.normal(size=(600, 4))
    y = signal(X) + 0.7 * r.normal(size=600)
    return shuffled(table(X, person=r.permutation(900)[:100][g], y=y), r)


@world("id and fixed columns without effect")
def empty_fixed(r):
    g, X = np.repeat(np.arange(100), 6), r.normal(size=(600, 4))
    y, F = signal(X) + 0.7 * r.normal(size=600), r.normal(size=(100, 2))[g]
    return shuffled(table(np.c_[X, F], person=r.permutation(900)[:100][g], y=y), r)


@world("factorial design")
def factorial(r):
    X = np.array(np.meshgrid(range(3), range(4), range(5), range(8))).reshape(4, -1).T
    return table(X, y=X[:, 0] + np.sin(X[:, 3]) + 0.5 * r.normal(size=480))


@world("deterministic coarse columns")
def deterministic(r):
    X = r.integers(0, 4, (600, 5))
    return table(X, y=X[:, 0] * X[:, 1] + (X[:, 2] == X[:, 3]))


@world("120 rows")
def small(r):
    X = r.normal(size=(120, 4))
    return table(X, y=signal(X) + 0.5 * r.normal(size=120))


@world("heavy tails, 30 columns")
def heavy(r):
    X = r.standard_t(2, (500, 30))
    return table(X, y=X[:, 0] + r.standard_t(2, 500))


@world("owners with days without effect: day", wrong=("time", "order"))
def idle_days(r):
    g, X = np.repeat(np.arange(40), 15), r.normal(size=(600, 3))
    y = X[:, 0] + r.normal(size=40)[g] + 0.7 * r.normal(size=600)
    return table(
        X, client=r.permutation(900)[:40][g], day=days(np.tile(np.arange(15) * 20, 40)), y=y
    )


@world("owner effect worth 3%", weak=True)
def weak_owner(r):
    g, X = np.repeat(np.arange(100), 6), r.normal(size=(600, 4))
    y = signal(X) + 0.28 * r.normal(size=100)[g] + 0.7 * r.normal(size=600)
    return shuffled(table(X, person=r.permutation(900)[:100][g], y=y), r)


# -- clean, and of no part in the thresholds --------------------------------------------------


@world("quantised measurements", fresh=True)
def quantised(r):
    z = r.normal(size=(700, 2))
    X = np.c_[z, z @ r.normal(size=(2, 3))] + 0.2 * r.normal(size=(700, 5))
    X = np.round(X * 2) / 2
    return table(X, y=z[:, 0] + 0.5 * r.normal(size=700))


@world("ordinal survey, straight answers", fresh=True)
def survey(r):
    z, n = r.normal(size=(700, 1)), 700
    X = np.clip(np.round(3 + z + 0.7 * r.normal(size=(n, 8))), 1, 5).astype(int)
    lazy = r.random(n) < 0.12
    X[lazy] = r.choice([1, 2, 3, 4, 5], lazy.sum(), p=[0.1, 0.15, 0.4, 0.2, 0.15])[:, None]
    return table(X, y=X.mean(1) + 0.5 * r.normal(size=n))


@world("counts", fresh=True)
def counts(r):
    rate = np.exp(0.5 * r.normal(size=(700, 1)))
    X = r.poisson(rate * [0.5, 1, 2, 3], (700, 4))
    return table(X, y=r.poisson(rate[:, 0] * 3))


@world("one-hot category of 12", fresh=True)
def one_hot(r):
    k = r.integers(0, 12, 600)
    return table(np.eye(12, dtype=int)[k], y=r.normal(size=12)[k] + 0.5 * r.normal(size=600))


@world("one-hot, two categories and a flag", fresh=True)
def one_hots(r):
    a, b, flag = r.integers(0, 9, 700), r.integers(0, 6, 700), r.integers(0, 2, 700)
    X = np.c_[np.eye(9, dtype=int)[a], np.eye(6, dtype=int)[b], flag]
    y = r.normal(size=9)[a] + r.normal(size=6)[b] + 0.6 * r.normal(size=700)
    return table(X, y=y)


@world("coarse columns and their sum", fresh=True)
def summed(r):
    X = r.integers(0, 6, (600, 3))
    return table(X, total=X.sum(1), half=X[:, 0] // 2, y=X[:, 0] - X[:, 1] + r.normal(size=600))


@world("sparse texts", fresh=True)
def sparse_texts(r):
    words = np.array([f"w{a}{b}" for a in "abcdefgh" for b in "klmnopqr"])
    share = 1 / np.arange(1, 65)
    k, X = r.choice(64, 700, p=share / share.sum()), r.normal(size=(700, 3))
    y = X[:, 0] + 0.7 * r.normal(size=700)
    return table(X, word=words[k], y=y)


@world("coordinates, smooth map", fresh=True)
def coordinates(r):
    X = r.uniform(0, 10, (700, 2)).round(3)
    y = np.sin(X[:, 0]) + np.cos(X[:, 1] / 2) + 0.4 * r.normal(size=700)
    return table(X, rooms=r.integers(1, 6, 700), y=y)


@world("rows sorted by two features", fresh=True)
def sorted_twice(r):
    d = table(np.c_[r.integers(0, 12, 700), r.normal(size=(700, 3))])
    d["y"] = 0.3 * d.x0 + np.sin(2 * d.x1) + 0.5 * r.normal(size=700)
    return d.sort_values(["x0", "x1"], ignore_index=True)


@world("trend that a feature explains", fresh=True)
def explained(r):
    t, X = np.arange(600), r.normal(size=(600, 4))
    X[:, 0] += 0.002 * t
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.7 * r.normal(size=600)
    return shuffled(table(X, day=days(t), y=y), r)


@world("season that a feature explains", fresh=True)
def season(r):
    t, X = np.arange(720), r.normal(size=(720, 3))
    month = t // 30 % 12 + 1
    y = np.sin(month / 2) + X[:, 0] + 0.6 * r.normal(size=720)
    return table(X, month=month, date=days(t), y=y)


@world("timestamps at random, classes", fresh=True)
def timestamps(r):
    X, ts = r.normal(size=(600, 4)), 1_500_000_000 + np.sort(r.integers(0, 9_000_000, 600))
    return table(X, ts=ts, y=np.where(X[:, 0] + r.normal(size=600) > 0, "a", "b"))


@world("missing values in blocks", fresh=True)
def missing(r):
    X = r.normal(size=(600, 5)).round(1)
    X[r.random(600) < 0.3, 1:4] = np.nan
    return table(X, y=X[:, 0] + 0.7 * r.normal(size=600))


@world("mixture of tight clusters", fresh=True)
def clusters(r):
    k = r.integers(0, 15, 600)
    X = 4 * r.normal(size=(15, 5))[k] + r.gamma(1, 0.4, 15)[k][:, None] * r.normal(size=(600, 5))
    return table(X, y=r.normal(size=15)[k] + X[:, 0] / 4 + 0.5 * r.normal(size=600))


@world("scores in percent", fresh=True)
def percent(r):
    p, X = r.binomial(100, 0.6, 700), r.normal(size=(700, 3))
    return table(X, score=p, y=0.05 * p + X[:, 0] + 0.7 * r.normal(size=700))


@world("columns that wander, noise that grows", fresh=True)
def restless(r):
    X, t = r.normal(size=(600, 4)), np.arange(600)
    for i in range(1, 600):  # they come back, so that later rows are like earlier ones
        X[i, :2] = 0.95 * X[i - 1, :2] + 0.3 * r.normal(size=2)
    y = X[:, 0] + np.sin(X[:, 1]) + (0.3 + t / 600) * r.normal(size=600)
    return table(X, day=days(t), y=y)
