"""The benchmark harness itself: what it measures and how it says so."""

import pytest
from bench import harness
from bench.harness import Contest, Peer, Row, _peak_growth, machine, run, table


class Clock:
    """A clock that moves only when told to, so that no test depends on the machine's speed."""

    now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr(harness, "time", Clock())
    return harness.time


def slow(data):
    harness.time.now += 0.02
    return data


def fast(data):
    harness.time.now += 0.005
    return data


def contest(**changes):
    settings = {
        "name": "sleep",
        "data": lambda: 1.0,
        "ours": fast,
        "peers": [Peer("sleeper", slow, goal=2.0), Peer("ghost", slow, 1.0, requires="no_such")],
        "quality": lambda data, result: result,
        "tolerance": 0.0,
        "cold": False,
        "rounds": 2,
    }
    return Contest(**{**settings, **changes})


def test_a_contest_is_timed_and_absent_peers_are_said_so():
    ours, ghost = run(contest())
    assert ours.ratio == pytest.approx(4.0)
    assert ours.quality_holds
    assert ghost.note == "not installed"
    text = table([ours, ghost])
    assert "2.0: met" in text
    assert "| ghost | not installed |" in text


def test_work_of_minutes_is_done_once():
    calls = []

    def long(data):
        calls.append(1)
        return slow(data)

    (row,) = run(contest(peers=[Peer("sleeper", long, goal=2.0, once=True)]))
    assert len(calls) == 1
    assert row.ratio == pytest.approx(4.0)


def test_worse_quality_is_shown():
    (row,) = run(contest(ours=lambda data: fast(1.1), peers=[Peer("sleeper", slow, goal=2.0)]))
    assert not row.quality_holds
    assert "WORSE" in table([row])


def test_missed_goals_are_shown():
    row = Row("w", "p", 2.0, 1.0, goal=1.5, ours_memory=1.5, peer_memory=1.0, memory_goal=1.2)
    assert "1.5: missed" in table([row])
    assert "(goal 1.2: missed)" in table([row])


def test_peak_memory_counts_what_is_given_back():
    def work():
        bytearray(64 * 2**20)

    assert 60 * 2**20 < _peak_growth(work) < 100 * 2**20


def test_the_machine_is_described_but_not_named():
    import platform

    text = machine()
    assert "cores" in text
    assert platform.node() not in text or len(platform.node()) < 4


@pytest.mark.parametrize("name", ["least_squares"])
def test_contests_are_complete(name):
    import importlib

    module = importlib.import_module(f"bench.{name}")
    assert all(c.peers and c.rounds >= 3 for c in module.CONTESTS)
    assert callable(module.rows)


def test_growth_is_a_slope_and_ends_at_the_cap():
    from bench.growth import MODELS, Series, row, table_of

    ours = Series([10, 100, 1000], [1.0, 2.0, 20.0], 3.0)
    peer = Series([10], [4.0], 1.0)
    assert ours.exponent == pytest.approx(1.0)
    assert ours.expected(10_000) == pytest.approx(200.0)
    assert peer.expected(100) == pytest.approx(40.0)
    assert row("m", [10, 100], [ours, peer]).startswith(
        "| m | 1 / 4 | 2 / – | 1.00 / nan | 3 / 1 |"
    )
    assert all(len(table_of(model, 30, 4, 3)[1]) == 30 for model in MODELS)
