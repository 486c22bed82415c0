"""Disciplined programs: the same verdicts as CVXPY, the place of each fault, and cone programs."""

import builtins

import numpy as np
import pytest

from corollary.optimize import BrokenRule, check_discipline, conic_program, solve

cvxpy = pytest.importorskip("cvxpy")


@pytest.fixture
def variables():
    x, y = cvxpy.Variable(name="x"), cvxpy.Variable(name="y")
    return x, y, cvxpy.Variable(nonneg=True, name="z")


def test_verdicts_are_those_of_cvxpy_for_all_compositions(variables):
    x, y, z = variables
    leaves = [x, z, cvxpy.square(x), cvxpy.sqrt(y), 3.0 + 0 * x]
    outer = [
        cvxpy.exp, cvxpy.log, cvxpy.square, cvxpy.sqrt, cvxpy.abs, cvxpy.inv_pos, cvxpy.entr,
        lambda u: -u, lambda u: 2 * u - 1, lambda u: cvxpy.maximum(u, z),
        lambda u: cvxpy.minimum(u, y), lambda u: u * y, lambda u: u + cvxpy.sqrt(x),
        lambda u: cvxpy.quad_over_lin(x, u), lambda u: cvxpy.norm(cvxpy.hstack([1.0, u])),
    ]  # fmt: skip
    followed = 0
    expressions = [f(leaf) for f in outer for leaf in leaves]
    expressions += [f(g(leaf)) for f in outer for g in outer for leaf in leaves[:3]]
    for expression in expressions:
        verdict = check_discipline(expression)
        assert verdict.followed == expression.is_dcp(), str(expression)
        followed += verdict.followed
    assert 0.3 < followed / len(expressions) < 0.7


def test_the_broken_rule_and_its_place(variables):
    x, y, _ = variables

    def broken(problem):
        return [(b.where, b.rule, b.argument, b.got, b.needed) for b in
                check_discipline(problem).broken]  # fmt: skip

    # Convex, but not by the rules: the square root rises, and is concave.
    hidden = cvxpy.sqrt(1 + cvxpy.square(x))
    inner = str(1 + cvxpy.square(x))
    assert broken(hidden) == [("expression", "composition", inner, "convex", "concave or affine")]
    assert check_discipline(cvxpy.norm(cvxpy.hstack([1.0, x]))).followed
    assert broken(cvxpy.exp(cvxpy.log(x))) == [
        ("expression", "composition", "log(x)", "concave", "convex or affine")
    ]
    assert broken(cvxpy.inv_pos(cvxpy.exp(x))) == [
        ("expression", "composition", "exp(x)", "convex", "concave or affine")
    ]
    assert broken(cvxpy.abs(cvxpy.exp(x) - 1)) == [
        ("expression", "composition", "exp(x) + -1.0", "convex", "affine")
    ]
    # What lies above a fault is not blamed for it.
    assert broken(cvxpy.exp(x * y) + x) == [
        ("expression", "atom", "", "neither convex nor concave", "convex")
    ]
    # Sums that are convex in one term and concave in another.
    assert broken(cvxpy.exp(x) + cvxpy.log(y)) == [
        ("expression", "composition", "log(y)", "concave", "convex or affine")
    ]
    w = cvxpy.Variable(2, name="w")
    matrix = cvxpy.Variable((2, 2), symmetric=True)
    problem = cvxpy.Problem(
        cvxpy.Maximize(cvxpy.exp(x)),
        [
            cvxpy.abs(x) == 1,
            cvxpy.log(x) <= 1,
            cvxpy.exp(y) >= 1,
            cvxpy.SOC(cvxpy.log(x), w),
            matrix >> 0,
            cvxpy.exp(x) <= cvxpy.log(y),
        ],
    )
    assert broken(problem) == [
        ("objective", "objective", "", "convex", "concave or affine"),
        ("constraint 0", "equation", "", "convex", "affine"),
        ("constraint 1", "inequality", "", "concave", "convex or affine"),
        ("constraint 2", "inequality", "", "convex", "concave or affine"),
        ("constraint 3", "cone", "", "concave", "affine"),
    ]
    assert broken(problem.constraints[1])[0][0] == "constraint"
    frame = check_discipline(problem).to_frame()
    assert list(frame["rule"])[:2] == ["objective", "equation"]
    good = cvxpy.Problem(cvxpy.Maximize(cvxpy.log(x)), [cvxpy.exp(x) <= cvxpy.log(y), x == 2 * y])
    assert check_discipline(good).followed


def test_sentences_say_what_is_wrong():
    names = {"where": "objective", "expression": "f(g)", "got": "convex", "needed": "affine"}
    assert str(BrokenRule(**names, rule="objective")) == (
        "objective: f(g) is convex and must be affine."
    )
    assert str(BrokenRule(**names, rule="composition", argument="g")) == (
        "objective: in f(g) the argument g is convex and must be affine."
    )
    assert str(BrokenRule(**names, rule="atom")) == (
        "objective: f(g) is convex, whatever its arguments are."
    )
    x = cvxpy.Variable(name="x")
    assert str(check_discipline(x * x - x)).startswith("The rules do not prove")
    assert str(check_discipline(x)) == "The rules prove that this is convex."


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_cone_programs_have_the_value_of_cvxpy():
    w, t = cvxpy.Variable(3), cvxpy.Variable()
    A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])
    X = cvxpy.Variable((3, 3), symmetric=True)
    problems = [
        # |w - 1|^2 + 5 over the plane sum(w) = 0: 3 + 5.
        (cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(w - 1) + 5), [cvxpy.sum(w) == 0]), 8.0),
        # w'Aw / 2 over sum(w) = 1 with a cap and a norm that do not bind: 1 / (2 * 1'A^-1 1).
        (
            cvxpy.Problem(
                cvxpy.Minimize(cvxpy.quad_form(w, A) / 2),
                [cvxpy.sum(w) == 1, w <= 5, cvxpy.norm(w) <= 9],
            ),
            0.5 / float(np.linalg.inv(A).sum()),
        ),
        (cvxpy.Problem(cvxpy.Maximize(3 - cvxpy.norm(w, 1)), [w[0] >= 1]), -2.0),
        (cvxpy.Problem(cvxpy.Minimize(cvxpy.norm(w)), [cvxpy.sum(w) == 3]), 3**0.5),
        (
            cvxpy.Problem(cvxpy.Minimize(t), [t * np.eye(3) >> A]),
            float(np.linalg.eigvalsh(A)[-1]),
        ),
        (
            cvxpy.Problem(cvxpy.Minimize(cvxpy.trace(A @ X)), [X >> 0, cvxpy.trace(X) == 2]),
            2 * float(np.linalg.eigvalsh(A)[0]),
        ),
    ]
    for problem, value in problems:
        solution = solve(conic_program(problem))
        assert solution.status == "optimal"
        assert solution.value == pytest.approx(value, abs=2e-6)
    names = [c.name for c in conic_program(problems[3][0]).constraints]
    assert names == ["equations", "norm 0"]
    assert [c.name for c in conic_program(problems[5][0]).constraints][-1] == "matrix 0"


def test_bad_input_is_refused(monkeypatch):
    x = cvxpy.Variable(name="x")
    with pytest.raises(TypeError, match=r"Got float\."):
        check_discipline(1.0)
    with pytest.raises(ValueError, match="must be convex or affine"):
        conic_program(cvxpy.Problem(cvxpy.Minimize(cvxpy.log(x))))
    with pytest.raises(ValueError, match="exponentials"):
        conic_program(cvxpy.Problem(cvxpy.Minimize(cvxpy.exp(x))))
    load = builtins.__import__

    def without(name, *rest, **more):
        if name == "cvxpy":
            raise ImportError(name)
        return load(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"corollary\[program\]"):
        check_discipline(x)
