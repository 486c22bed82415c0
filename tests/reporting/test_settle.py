"""Which unit bears the headline: who judges, and what their word is worth."""

from types import SimpleNamespace

import numpy as np
import pytest

from corollary.reporting import _settle
from corollary.reporting._settings import Settings
from corollary.reporting.models._familiar import Familiarity
from corollary.validation import Dependence, Unit

HARDER = Familiarity(seen=0.1, unseen=0.2, excess=1.0, p_value=1e-4, shared=0.0)
ALIKE = Familiarity(seen=0.1, unseen=0.1, excess=-0.01, p_value=0.9, shared=0.5)
NOTHING = Familiarity(seen=0.1, unseen=0.1, excess=0.0, p_value=0.5, shared=0.0)


def _unit(kind, *, told=False):
    return Unit(kind, (), np.array([0, 0, 1, 1]), told=told, matters=True)


def _settle_with(monkeypatch, units, verdicts, **options):
    """Settle a table where models say what ``verdicts`` says, one after the other."""
    heard, verdicts = [], iter(verdicts)

    def scout(examined, unit, scouts, settings, clock):
        assert scouts == "plain, by scouts"
        heard.append((unit.kind, True))
        return next(verdicts)

    def judge(examined, unit, settings, clock):
        heard.append((unit.kind, False))
        return _settle.Settled("subject", "split", "comparison", unit, next(verdicts))

    monkeypatch.setattr(_settle, "_scout", scout)
    monkeypatch.setattr(_settle, "_judge", judge)
    monkeypatch.setattr(_settle, "_compare", lambda *_: "plain, by scouts")
    monkeypatch.setattr(_settle, "complete", lambda scouts, y, clock: "plain")
    monkeypatch.setattr(_settle, "_attempt", lambda *_: _settle.Settled("", "", "plain"))
    subject = SimpleNamespace(target=SimpleNamespace(values=np.zeros(4)))
    dependence, alike = Dependence(tuple(units), np.arange(4)), SimpleNamespace(train=np.arange(4))
    examined = SimpleNamespace(dependence=dependence, subject=subject, alike=alike)
    return _settle.settle(examined, Settings(**options), None), heard


@pytest.mark.parametrize(
    ("verdicts", "heard", "borne"),
    [
        ([NOTHING], [True], False),
        ([ALIKE], [True], False),  # errors alike count only if later rows are harder
        ([HARDER, NOTHING], [True, False], False),
        ([HARDER, HARDER], [True, False], True),
    ],
)
def test_the_order_of_a_file_is_judged_by_scouts_first(monkeypatch, verdicts, heard, borne):
    settled, calls = _settle_with(monkeypatch, [_unit("order")], verdicts)
    assert calls == [("order", scouts) for scouts in heard]
    assert (settled.unit is not None) == borne
    assert borne or settled.comparison == "plain"


def test_owners_and_what_is_told_are_judged_by_all_models(monkeypatch):
    settled, calls = _settle_with(monkeypatch, [_unit("owner")], [ALIKE])
    assert calls == [("owner", False)]
    assert settled.unit.kind == "owner"
    settled, calls = _settle_with(monkeypatch, [_unit("order", told=True)], [NOTHING])
    assert calls == [("order", False)]
    assert settled.unit.told
    assert _settle_with(monkeypatch, [_unit("order")], [HARDER], fast=True)[1] == [("order", False)]


def test_the_next_unit_is_tried_when_one_is_worth_nothing(monkeypatch):
    units = [_unit("owner"), _unit("order")]
    settled, calls = _settle_with(monkeypatch, units, [NOTHING, NOTHING])
    assert calls == [("owner", False), ("order", True)]
    assert settled.comparison == "plain"
