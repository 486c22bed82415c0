import sys

import matplotlib as mpl
import pytest

from corollary.core.display import axes_for

mpl.use("Agg")


def test_the_users_axes_are_kept_and_others_made():
    ax = axes_for(figsize=(2, 1))
    assert ax.figure.get_size_inches().tolist() == [2, 1]
    assert axes_for(ax) is ax


def test_without_matplotlib_the_repair_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'corollary\[plot\]'"):
        axes_for()
