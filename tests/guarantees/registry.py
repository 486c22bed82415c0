"""The register of simulated claims, and how one is judged."""

import importlib
import math
import pathlib
import pkgutil
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from corollary.core.simulate import LEVEL, assert_bound_holds

# Draws what it needs and returns the bound and the true value that must not exceed it.
Trial = Callable[[np.random.Generator], tuple[float, float]]


@dataclass(frozen=True)
class Guarantee:
    """One claim in one world.

    ``delta`` is the share of repetitions in which the truth may exceed the bound: a probability,
    0 for an inequality that always holds, or None for one about expectations, where the means of
    bounds and truths over the repetitions are compared.
    ``faults`` are trials with a planted error that the simulation must catch.
    """

    theorem: str
    world: str
    delta: float | None
    trial: Trial
    repetitions: int = 400
    verify: int = 10_000
    faults: dict[str, Trial] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.theorem}: {self.world}"


class Outcome(NamedTuple):
    """What a simulation showed."""

    repetitions: int
    violations: int
    tightness: float
    message: str
    #: Whether no repetition could have failed: every bound is infinite, or the largest possible.
    vacuous: bool = False


GUARANTEES: list[Guarantee] = []


def guarantee(
    theorem: str,
    world: str,
    *,
    delta: float | None,
    repetitions: int = 400,
    verify: int = 10_000,
    faults: dict[str, Trial] | None = None,
) -> Callable[[Trial], Trial]:
    """Register a trial as the simulation of a theorem in a world."""

    def register(trial: Trial) -> Trial:
        claim = Guarantee(theorem, world, delta, trial, repetitions, verify, faults or {})
        if any(known.name == claim.name for known in GUARANTEES):
            raise ValueError(f"{claim.name} is registered twice.")
        GUARANTEES.append(claim)
        return trial

    return register


def load() -> list[Guarantee]:
    """Import what registers claims, here or beside the tests of a bound; return them by name."""
    import tests.guarantees as package

    for module in pkgutil.iter_modules(package.__path__):
        if not module.name.startswith(("test_", "_", "registry")):
            importlib.import_module(f"tests.guarantees.{module.name}")
    for file in pathlib.Path(__file__).parents[1].glob("theory/test_*.py"):
        if "from tests.guarantees.registry import guarantee" in file.read_text("utf-8"):
            importlib.import_module(f"tests.theory.{file.stem}")
    return sorted(GUARANTEES, key=lambda claim: claim.name)


def is_caught(claim: Guarantee, fault: str) -> bool:
    """Whether the simulation breaks the claim with a planted fault, at the latest in full."""
    pairs = np.empty((0, 2))
    # Most faults show soon; each look is at the level of the last one.
    for look in [n for n in (25, 100) if n < claim.repetitions] + [claim.repetitions]:
        more = _draw(claim, claim.faults[fault], look)[len(pairs) :]
        pairs = np.concatenate([pairs, [trial() for trial in more]])
        if _judge(claim, pairs).message:
            return True
    return False


def simulate(claim: Guarantee, trial: Trial, repetitions: int) -> Outcome:
    """Run a trial many times; the message is empty if the claim held."""
    return _judge(claim, np.array([draw() for draw in _draw(claim, trial, repetitions)], float))


def _draw(claim: Guarantee, trial: Trial, repetitions: int) -> list[Callable[[], Any]]:
    """Return repetitions of a trial that are yet to run; more of them begin with the same ones."""
    seeds = np.random.SeedSequence(zlib.crc32(claim.name.encode())).spawn(repetitions)
    return [lambda seed=seed: trial(np.random.default_rng(seed)) for seed in seeds]


def _judge(claim: Guarantee, pairs: np.ndarray) -> Outcome:
    """Compare bounds with truths, a row for each repetition."""
    repetitions = len(pairs)
    if np.isnan(pairs).any():
        raise AssertionError(f"{claim.name}: a bound or a truth is not a number.")
    bounds, truths = pairs.T
    # Rounding is not a violation: 1e-9 is far below anything a wrong constant does.
    above = truths > bounds + 1e-9 * np.maximum(1.0, np.abs(bounds))
    message = ""
    if claim.delta is None:
        excess = truths - bounds
        error = float(np.std(excess, ddof=1)) / math.sqrt(repetitions)
        # Normal quantile of one false alarm in a million.
        if np.mean(excess) > 4.76 * error + 1e-12:
            message = f"mean exceeds its bound by {np.mean(excess):.3g} (+- {error:.2g})"
    else:
        try:
            assert_bound_holds(int(above.sum()), repetitions, claim.delta, level=LEVEL)
        except AssertionError as broken:
            message = str(broken)
    vacuous = bool(np.all(np.isinf(bounds) | ((bounds == 1) & (truths < 1))))
    tightness = _tightness(claim, bounds, truths)
    return Outcome(repetitions, int(above.sum()), tightness, message, vacuous)


def _tightness(claim: Guarantee, bounds: np.ndarray, truths: np.ndarray) -> float:
    """Median bound over the smallest number that would have done for this world."""
    if claim.delta is None:
        best = float(np.mean(truths))
    else:
        best = float(np.quantile(truths, 1 - claim.delta, method="higher"))
    typical = float(np.median(bounds))
    return typical / best if best > 0 else math.inf
