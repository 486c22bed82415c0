"""Whether the target looks computed from columns that the model reads."""

import numpy as np

from corollary.reporting._records import Finding, Importance, TestRows

#: Shuffling a column that predicts alone makes errors 1.4 times as large as those of guessing, the
#: distance of two draws; only columns whose difference is the target make them much larger.
FAR_WORSE = 2.5
#: The question is asked of models that leave at most this share of the error of guessing.
GOOD = 0.35


def ask_computed(
    target: str, test: TestRows, importances: tuple[Importance, ...]
) -> tuple[Finding, ...]:
    """Ask whether a number is a difference of columns, by what shuffling one of them costs.

    The importances are rises of the absolute error.
    """
    guess = float(np.mean(np.abs(test.truth - test.baseline)))
    if not importances or float(np.mean(test.errors)) > GOOD * guess:
        return ()
    first = importances[0]
    if first.increase.value < FAR_WORSE * guess:
        return ()
    names = [first.column, *(first.stand_ins or [i.column for i in importances[1:2]])][:2]
    listed = " and ".join(map(repr, names))
    sentence = (
        f"With {first.column!r} shuffled, {target!r} is predicted far worse than by guessing, as "
        f"if it were computed from {listed}. Are they known before the target is? If not, leave "
        "them out."
    )
    return (Finding("computed-target", sentence, columns=tuple(names)),)
