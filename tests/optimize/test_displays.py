"""Pictures of paths, gaps and prices."""

import numpy as np
import pytest

from corollary.optimize import (
    L1,
    DescentPathDisplay,
    Function,
    GapDisplay,
    GradientDescent,
    Nesterov,
    Program,
    Quadratic,
    SensitivityDisplay,
    first_order_bound,
    linear_inequality,
    newton,
    plan_steps,
    proximal_gradient,
    sensitivities,
    solve,
    trace_points,
)

BOWL = Quadratic(np.diag([1.0, 4.0]), [0.0, 0.0], 3.0)


def test_paths_values_and_rates_are_drawn():
    start, methods = [2.0, 1.0], {"plain": GradientDescent(BOWL), "fast": Nesterov(BOWL)}
    plans = {"plain": plan_steps("gradient descent", BOWL, start)}
    display = DescentPathDisplay.from_methods(BOWL, start, methods, n_steps=6, plans=plans)
    points = trace_points(methods["plain"], start, 6)
    np.testing.assert_allclose(display.paths_["plain"].get_xydata(), points)
    excess = display.excess_["plain"].get_ydata()
    np.testing.assert_allclose(excess, [BOWL.value(x) - 3.0 for x in points])
    promised = display.rates_["plain"].get_ydata()
    expected = first_order_bound("gradient descent", 4, **plans["plain"].constants)
    assert promised[4] == pytest.approx(expected)
    assert np.isnan(promised[0])
    assert (excess[1:] <= promised[1:]).all()
    assert list(display.rates_) == ["plain"]
    assert display.rates_["plain"].get_color() == display.paths_["plain"].get_color()
    assert (display.rate_ax_.get_yscale(), display.rate_ax_.get_xlabel()) == ("log", "step")
    labels = [text.get_text() for text in display.rate_ax_.get_legend().get_texts()]
    assert labels == ["plain", "plain, rate", "fast"]
    assert display.figure_ is display.ax_.figure


def test_the_least_value_is_asked_for_or_seen():
    unknown = Function(lambda x: float(x @ x), lambda x: 2 * x)
    path = np.array([[1.0, 0.0], [0.5, 0.0]])
    seen = DescentPathDisplay(unknown, {"path": path}).plot()
    np.testing.assert_allclose(seen.excess_["path"].get_ydata(), [0.75, 0.0])
    told = DescentPathDisplay(unknown, {"path": path}, least=0.0).plot(
        axes=(seen.ax_, seen.rate_ax_)
    )
    np.testing.assert_allclose(told.excess_["path"].get_ydata(), [1.0, 0.25])
    assert told.ax_ is seen.ax_
    for paths in ({}, {"path": np.zeros((3, 1))}):
        with pytest.raises(ValueError, match="points with two coordinates"):
            DescentPathDisplay(unknown, paths).plot()


def test_gaps_are_drawn_where_they_were_computed():
    f = Quadratic(np.diag([1.0, 50.0]), [1.0, 2.0])
    solution = proximal_gradient(f, [9.0, 9.0], L1(0.1), tol=1e-9)
    plan = plan_steps("fista", f, [9.0, 9.0], L1(0.1))
    display = GapDisplay({"fista": solution}, plans={"fista": plan}).plot()
    x, y = display.lines_["fista"].get_data()
    assert x[:2].tolist() == [10, 20]
    np.testing.assert_array_equal(y, solution.history.gap[x.astype(int) - 1])
    assert display.rates_["fista"].get_ydata()[4] == pytest.approx(plan.bound(5))
    assert display.ax_.get_yscale() == "log"
    timed = GapDisplay.from_solution(solution, against="seconds", ax=display.ax_)
    seconds = timed.lines_["gap"].get_xdata()
    assert (np.diff(seconds) >= 0).all()
    np.testing.assert_array_equal(seconds, solution.history.seconds[x.astype(int) - 1])
    assert timed.rates_ == {}
    assert (timed.ax_.get_xlabel(), timed.figure_) == ("seconds", timed.ax_.figure)


def test_gaps_that_nobody_computed_are_not_drawn():
    unknown = newton(Function(lambda x: x @ x), [1.0])
    conic = solve(Program(Quadratic([[1.0]])))
    for solutions in ({}, {"unknown": unknown}, {"conic": conic}):
        with pytest.raises(ValueError, match="a history of finite gaps"):
            GapDisplay(solutions).plot()
    with pytest.raises(ValueError, match="'against' parameter of GapDisplay"):
        GapDisplay({"conic": conic}, against="hours").plot()


def test_prices_are_drawn_largest_on_top():
    program = Program(
        [3.0, 1.0], [linear_inequality([[-1.0, -1.0], [-1.0, 0.0]], [-4.0, -1.0], name="need")]
    )
    display = SensitivityDisplay.from_solution(program, solve(program))
    widths = [bar.get_width() for bar in display.bars_.values()]
    assert list(display.bars_) == ["need[0]", "need[1]"]
    assert widths == pytest.approx([1.0, 2.0])
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == ["need[0]", "need[1]"]  # bars are drawn from below
    one = SensitivityDisplay(sensitivities(program, solve(program).dual), most=1).plot(display.ax_)
    assert list(one.bars_) == ["need[1]"]
    assert one.figure_ is display.figure_
