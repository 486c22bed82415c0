"""Tables whose rows depend on each other."""

import numpy as np
import pandas as pd

from tests.validation.dependence.world import WORLDS, World, days, shuffled, signal, table, world

# -- copies ----------------------------------------------------------------------------------


@world("every row three times", "copies")
def copies(r):
    d = table(r.integers(0, 10, (200, 4)), y=r.permutation([0, 1] * 100))
    return shuffled(pd.concat([d] * 3), r)


@world("a third copied once", "copies")
def third(r):
    X = r.integers(0, 12, (450, 4))
    d = table(X, y=X[:, 0] / 3 + np.sin(X[:, 1]) + 0.7 * r.normal(size=450))
    return shuffled(pd.concat([d, d.iloc[:150]]), r)


@world("rare class copied four times", "copies")
def oversampled(r):
    d = table(r.integers(0, 12, (450, 4)), y=(r.random(450) < 0.15) * 1)
    return shuffled(pd.concat([d] + [d[d.y == 1]] * 4), r)


@world("bootstrap of 300 rows", "copies")
def bootstrapped(r):
    X = r.integers(0, 12, (300, 4))
    d = table(X, y=X[:, 0] / 3 + np.sin(X[:, 1]) + 0.7 * r.normal(size=300))
    return d.iloc[r.integers(0, 300, 600)].reset_index(drop=True)


@world("bootstrap of mixed columns", "copies", fresh=True)
def bootstrapped_mixed(r):
    n = 250
    d = table(
        r.normal(size=(n, 2)).round(1),
        kind=r.choice(list("abcd"), n),
        count=r.poisson(3, n),
        y=r.integers(0, 3, n),
    )
    d.loc[r.random(n) < 0.1, "x0"] = np.nan
    return d.iloc[r.integers(0, n, 500)].reset_index(drop=True)


@world("joined, coin labels", "joined")
def joined(r):
    A, g = r.integers(0, 15, (120, 4)), np.repeat(np.arange(120), 5)
    more = {"v": r.integers(0, 9, 600), "w": r.normal(size=600).round(2)}
    return shuffled(table(A[g], **more, y=r.integers(0, 2, 120)[g]), r)


@world("joined, numbers, 1 to 11 rows", "joined")
def joined_numbers(r):
    g = np.repeat(np.arange(100), r.integers(1, 12, 100))
    A, n = r.normal(size=(100, 4)).round(2), len(g)
    y = signal(A)[g] + r.normal(size=100)[g] + 0.7 * r.normal(size=n)
    return shuffled(table(A[g], item=r.integers(0, 40, n), price=r.normal(size=n), y=y), r)


@world("near copies, coin labels", "near copies")
def near(r):
    A, g = r.normal(size=(200, 6)), np.repeat(np.arange(200), 3)
    return shuffled(table(A[g] + 0.03 * r.normal(size=(600, 6)), y=r.integers(0, 2, 200)[g]), r)


@world("near copies beside categories", "near copies", fresh=True)
def near_mixed(r):
    A, g = r.normal(size=(180, 4)), np.repeat(np.arange(180), 3)
    kind = r.choice(list("abc"), 180)[g]
    noise = 0.02 * r.normal(size=(540, 4))
    return shuffled(table(A[g] + noise, kind=kind, y=r.normal(size=180)[g]), r)


@world("rare class interpolated", "near copies", "copies", weak=True, fresh=True)
def interpolated(r):
    X = r.normal(size=(400, 4))
    y = (X[:, 0] + r.normal(size=400) > 1.6) * 1
    rare = np.flatnonzero(y)
    distance = ((X[rare][:, None] - X[rare][None]) ** 2).sum(2)
    neighbor = distance.argsort(1)[:, 1:6]
    a = r.integers(0, len(rare), 300)
    b = neighbor[a, r.integers(0, min(5, neighbor.shape[1]), 300)]
    new = X[rare[a]] + r.random((300, 1)) * (X[rare[b]] - X[rare[a]])
    return shuffled(table(np.concatenate([X, new]), y=np.r_[y, np.ones(300, int)]), r)


# -- owners ----------------------------------------------------------------------------------


@world("owner in whole numbers", "owner")
def owner(r):
    g, X = np.repeat(np.arange(100), 6), r.normal(size=(600, 4))
    y = signal(X) + r.normal(size=100)[g] + 0.7 * r.normal(size=600)
    return shuffled(table(X, person=r.permutation(900)[:100][g] + 1000, y=y), r)


@world("owner in strings, 1 + Poisson(4) rows", "owner")
def owner_strings(r):
    g = np.repeat(np.arange(120), 1 + r.poisson(4, 120))
    X, names = (
        r.normal(size=(len(g), 4)),
        np.array([f"c{i:05d}" for i in r.permutation(99999)[:120]]),
    )
    y = signal(X) + r.normal(size=120)[g] + 0.7 * r.normal(size=len(g))
    return shuffled(table(X, client=names[g], y=y), r)


@world("owners of 1 to 200 rows", "owner", fresh=True)
def owner_unequal(r):
    size = np.round(np.exp(r.uniform(0, np.log(200), 40))).astype(int)
    g = np.repeat(np.arange(40), size)
    X = r.normal(size=(len(g), 4))
    y = signal(X) + r.normal(size=40)[g] + 0.7 * r.normal(size=len(g))
    return shuffled(table(X, account=r.permutation(9000)[:40][g], y=y), r)


@world("owners with missing ids, classes", "owner", fresh=True)
def owner_missing(r):
    g, X = np.repeat(np.arange(90), 6), r.normal(size=(540, 4))
    score = X[:, 0] + 1.5 * r.normal(size=90)[g] + 0.5 * r.normal(size=540)
    ids = (r.permutation(900)[:90][g] + 100).astype(float)
    ids[r.random(540) < 0.1] = np.nan
    return shuffled(table(X, subject=ids, y=np.where(score > 0, "yes", "no")), r)


@world("pairs of twins", "owner")
def owner_of_two(r):
    g, X = np.repeat(np.arange(300), 2), r.normal(size=(600, 3))
    y = X[:, 0] + 1.5 * r.normal(size=300)[g] + 0.5 * r.normal(size=600)
    return shuffled(table(X, family=r.permutation(9999)[:300][g], y=y), r)


@world("hidden owner", "joined")
def hidden(r):
    g, X = np.repeat(np.arange(100), 6), r.normal(size=(600, 4))
    y = signal(X) + r.normal(size=100)[g] + 0.7 * r.normal(size=600)
    return shuffled(table(np.c_[X, r.normal(size=(100, 2))[g]], y=y), r)


@world("hidden owner, classes", "joined")
def hidden_classes(r):
    g, X = np.repeat(np.arange(100), 6), r.normal(size=(600, 4))
    score = X[:, 0] + 1.5 * r.normal(size=100)[g] + 0.7 * r.normal(size=600)
    y = np.digitize(score, [-0.8, 0.8])
    return shuffled(table(np.c_[X, r.normal(size=(100, 2)).round(2)[g]], y=y), r)


@world("12 clinics with fixed columns", "owner", "joined")
def clinics(r):
    g, X = np.repeat(np.arange(12), 50), r.normal(size=(600, 4))
    y = signal(X) + 1.5 * r.normal(size=12)[g] + 0.7 * r.normal(size=600)
    fixed = r.normal(size=(12, 2)).round(2)[g]
    return shuffled(table(np.c_[X, fixed], clinic=r.permutation(99)[:12][g], y=y), r)


@world("6 hidden owners of 83 rows", "joined")
def few_hidden(r):
    g = np.repeat(np.arange(6), 83)
    X = r.normal(size=(len(g), 4))
    y = signal(X) + 1.5 * r.normal(size=6)[g] + 0.7 * r.normal(size=len(g))
    return shuffled(table(np.c_[X, r.normal(size=(6, 2))[g]], y=y), r)


@world("patients in clinics", "owner", columns=("patient", "clinic"))
def nested(r):
    c, p, X = np.repeat(np.arange(15), 40), np.repeat(np.arange(150), 4), r.normal(size=(600, 4))
    effect = 0.9 * r.normal(size=15)[c] + 0.6 * r.normal(size=150)[p]
    y = X[:, 0] + effect + 0.7 * r.normal(size=600)
    return table(X, clinic=c + 100, patient=r.permutation(999)[:150][p], y=y)


WORLDS["patients in clinics: clinic"] = WORLDS["patients in clinics"]._replace(columns=("clinic",))


@world("pupils in classes in schools: school", "owner", columns=("school",), fresh=True)
def schools(r):
    s, k = np.repeat(np.arange(20), 45), np.repeat(np.arange(180), 5)
    X = r.normal(size=(900, 3))
    effect = 1.0 * r.normal(size=20)[s] + 0.6 * r.normal(size=180)[k]
    names = np.array([f"school {i}" for i in r.permutation(500)[:20]])
    y = X[:, 0] + effect + 0.8 * r.normal(size=900)
    return shuffled(table(X, school=names[s], pupil=r.permutation(5000)[:180][k], y=y), r)


@world("weather stations", "owner", "joined", fresh=True)
def stations(r):
    g, day = np.repeat(np.arange(25), 30), np.tile(np.arange(30), 25)
    place = r.normal(size=(25, 3)).round(3)[g]
    X = r.normal(size=(750, 2))
    y = X[:, 0] + 1.2 * r.normal(size=25)[g] + 0.6 * r.normal(size=750)
    frame = table(X, lat=place[:, 0], lon=place[:, 1], height=place[:, 2], day=days(day), y=y)
    return shuffled(frame, r)


@world("versions of records", "owner", "joined", fresh=True)
def versions(r):
    size = 1 + r.poisson(2.5, 180)
    g = np.repeat(np.arange(180), size)
    version = np.concatenate([np.arange(m) for m in size]) + 1
    A = np.c_[r.integers(0, 30, 180), r.integers(0, 12, 180), r.integers(0, 8, 180)][g]
    y = 0.1 * A[:, 0] + r.normal(size=180)[g] + 0.1 * version + 0.5 * r.normal(size=len(g))
    docs = np.array([f"DOC-{i}" for i in r.permutation(9999)[:180]])[g]
    return shuffled(table(A, version=version, doc=docs, edits=r.poisson(4, len(g)), y=y), r)


# -- time ------------------------------------------------------------------------------------


def walks(r, units, steps, trend):
    u, t = np.repeat(np.arange(units), steps), np.tile(np.arange(steps), units)
    w, n = np.cumsum(r.normal(size=(units, steps)), axis=1), units * steps
    y = 3 * r.normal(size=units)[u] + w[u, t] + trend * t + 0.5 * r.normal(size=n)
    return u, t, y


@world("panel of shops: shop", "owner", columns=("shop",))
def panel(r):
    u, t, y = walks(r, 20, 30, 0.1)
    month = [f"{2015 + k // 12}-{k % 12 + 1:02d}-01" for k in t]
    return pd.DataFrame({"shop": u, "month": month, "promo": r.integers(0, 2, 600), "y": y})


WORLDS["panel of shops: month"] = World(panel, ("time",))


def trend_panel(r, slope):
    u, t = np.repeat(np.arange(30), 20), np.tile(np.arange(20), 30)
    X = r.normal(size=(600, 3))
    y = X[:, 0] + 2 * r.normal(size=30)[u] + slope * t + 0.5 * r.normal(size=600)
    return table(X, unit=r.permutation(900)[:30][u], year=2000 + t, y=y)


@world("panel of units by year, trend: unit", "owner", columns=("unit",))
def year_panel(r):
    return trend_panel(r, 0.12)


WORLDS["panel of units by year, trend: year"] = World(year_panel, ("time",))


@world("linear drift, shuffled", "time")
def drift(r, slope=0.008):
    X = r.normal(size=(600, 4))
    y = signal(X) + slope * np.arange(600) + 0.7 * r.normal(size=600)
    return shuffled(table(X, day=days(np.arange(600)), y=y), r)


@world("drift worth a seventh", "time", weak=True)
def weak_drift(r):
    return drift(r, 0.0033)


@world("drift worth a tenth", "time", weak=True)
def weaker_drift(r):
    return drift(r, 0.0027)


@world("months in blocks of another order", "time")
def blocks(r):
    X, e = r.normal(size=(600, 4)), np.cumsum(r.normal(size=600)) * 0.12
    y = X[:, 0] + e + 0.7 * r.normal(size=600)
    d = table(X, day=days(np.arange(600)), y=y)
    return pd.concat([d.iloc[30 * k : 30 * k + 30] for k in r.permutation(20)], ignore_index=True)


@world("unix seconds, nearly sorted", "time")
def unix(r):
    e, X = np.zeros(600), r.normal(size=(600, 4))
    for i in range(1, 600):
        e[i] = 0.95 * e[i - 1] + 0.35 * r.normal()
    ts = 1_600_000_000 + np.cumsum(r.integers(600, 9000, 600))
    ts[r.integers(0, 600, 20)] = ts[r.integers(0, 600, 20)]
    return table(X, ts=ts, y=X[:, 0] + e + 0.7 * r.normal(size=600))


@world("slow walk, row order only", "order")
def order(r):
    X, z = r.normal(size=(600, 4)), np.cumsum(r.normal(size=(600, 2)), 0) * 0.2
    e = np.cumsum(r.normal(size=600)) * 0.15
    return table(np.c_[X, z], y=X[:, 0] + e + 0.7 * r.normal(size=600))


# No model learns such owners well: new ones cost forests 0 to 7%, boosting 4 to 12%.
@world("hidden owners lying together", "order", "joined", "near copies", "owner", weak=True)
def together(r):
    g, X = np.repeat(np.arange(100), 6), r.normal(size=(600, 4))
    z = r.normal(size=(100, 2))[g] + 0.1 * r.normal(size=(600, 2))
    y = signal(X) + r.normal(size=100)[g] + 0.7 * r.normal(size=600)
    return table(np.c_[X, z], y=y)


@world("sensor whose one feature drifts", "time", fresh=True)
def sensor(r):
    X, t = r.normal(size=(600, 4)), np.arange(600)
    y = X[:, 0] + X[:, 1] + 0.5 * r.normal(size=600)
    X[:, 0] += 0.006 * t  # the reading moves away from what it measures
    return shuffled(table(X, taken=days(t), y=y), r)


# Late rows are nearly all of one class, and easier: headlines hold of them, asked about or not.
@world("classes whose boundary moves", "time", weak=True, fresh=True)
def moving_classes(r):
    X, t = r.normal(size=(700, 3)), np.arange(700) / 700
    y = np.where(X[:, 0] + 0.4 * r.normal(size=700) > 2 * t - 1, "up", "down")
    return shuffled(table(X, when=days(np.arange(700)), y=y), r)


@world("classes whose boundary turns", "time", fresh=True)
def turning_classes(r):
    X, angle = r.normal(size=(700, 3)), np.arange(700) / 700 * 2.5
    score = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1] + 0.3 * r.normal(size=700)
    return shuffled(table(X, when=days(np.arange(700)), y=np.where(score > 0, "up", "down")), r)


# A walk may end where it began, and then nothing is lost on later rows.
@world("classes whose boundary wanders", "time", weak=True, fresh=True)
def wandering_classes(r):
    X, angle = r.normal(size=(600, 3)), np.cumsum(0.08 * r.normal(size=600))
    score = np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1] + 0.3 * r.normal(size=600)
    stamps = 1_650_000_000 + 86_400 * np.arange(600)
    return table(X, stamp=stamps, y=np.where(score > 0, "up", "down"))


@world("slope that turns round", "time", fresh=True)
def turning_slope(r):
    X, t = r.normal(size=(600, 5)), np.arange(600)
    y = np.cos(3 * t / 600) * X[:, 0] + X[:, 1] + 0.5 * r.normal(size=600)
    return shuffled(table(X, day=days(t), y=y), r)
