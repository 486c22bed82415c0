"""A certificate rests on the split, which is known, and not on a guess about repeated rows."""

import numpy as np
import pandas as pd

from corollary.core.fingerprint import Fingerprint, Overlap
from corollary.reporting import from_memory, measure


def test_a_guess_about_repeated_rows_does_not_overrule_the_split(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 4, 400), "b": rng.integers(0, 3, 400)})
    frame["y"] = np.where(frame.a + rng.normal(size=400) > 1.5, "yes", "no")
    # As the memory of a large table of coarse columns may say of rows that were never trained on.
    monkeypatch.setattr(
        Fingerprint, "overlap", lambda self, X: Overlap(len(X) - 1, len(X), 0.9, 1e-5)
    )
    evidence = measure(from_memory(frame), "y", fast=True)[0]
    assert evidence.certificates
    assert not any("No certificate" in note for note in evidence.notes)
    assumed = [a for c in evidence.certificates for a in c.assumptions if a.about == "rows"]
    assert all(a.checked for a in assumed)
    assert any("kept aside" in str(a) for a in assumed)
