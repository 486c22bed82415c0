r"""What the least value would be if constraints were looser or tighter.

Let :math:`p(u)` be the least value when the slack of each constraint grows by :math:`u_c`, as
:math:`f_i(x)\le u_i` or :math:`Ax=b+u`. The multipliers of the program prove

.. math:: p(u)\ge g(z)-\sum_cz_c^\top u_c\qquad\text{for all }u,

and where p is differentiable :math:`z=-\nabla p(0)`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from corollary.core.display import Tabular
from corollary.optimize.program._cones import Origin
from corollary.optimize.program.duality import dual_function
from corollary.optimize.program.optimality_conditions import repair_dual
from corollary.optimize.program.program import Program


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivities(Tabular):
    """Prices of the constraints; :class:`SensitivityDisplay` draws them.

    Parameters
    ----------
    program : Program
        The program.
    dual : mapping of str to ndarray
        Repaired multipliers.
    prices : mapping of str to float
        For each inequality, norm or matrix, how much the least value rises when it is tightened
        by one unit, and for each equation, how much it falls when the right-hand side grows by
        one; by labels such as "cap[2]". True for small changes where the multipliers are unique.

    Examples
    --------
    >>> from corollary.optimize import Program, linear_inequality, sensitivities, solve
    >>> program = Program([1.0], [linear_inequality([-1.0], -2.0, name="floor")])  # x >= 2
    >>> table = sensitivities(program, solve(program).dual)
    >>> round(table.bound({"floor": -3.0}), 6)  # x >= 5: the least value is at least 5
    5.0
    """

    program: Program
    dual: Mapping[str, np.ndarray]
    prices: Mapping[str, float]

    def bound(self, changes: Mapping[str, Any]) -> float:
        r"""Return :math:`g(z)-\sum_cz_c^\top u_c`, a lower bound after changes u of any size.

        Parameters
        ----------
        changes : mapping of str to array-like
            What is added to the slack of constraints, by their names: positive numbers loosen
            inequalities; 0 for those that are missing.
        """
        pairs = zip(self.program.pack(self.dual), self.program.pack(changes))
        return dual_function(self.program, self.dual) - sum(float(z @ u) for z, u in pairs)

    def __str__(self) -> str:
        largest = sorted(self.prices.items(), key=lambda item: -abs(item[1]))[:3]
        told = ", ".join(f"{name} {price:.3g}" for name, price in largest)
        return f"Tightening by one unit raises the least value most for: {told}."

    def _columns(self) -> dict[str, list[Any]]:
        return {"constraint": list(self.prices), "price": list(self.prices.values())}


def sensitivities(program: Program, dual: Mapping[str, Any]) -> Sensitivities:
    """Read multipliers as prices of constraints.

    For a norm the bound of it is tightened, for a matrix its least eigenvalue. Prices are
    derivatives where the multipliers are unique. Where several constraints hold with equality by
    accident they are not, and one price holds for tightening, another for loosening;
    :meth:`Sensitivities.bound` holds in any case.

    See :class:`Program`, with a quadratic or linear objective and linear constraints in cones;
    ``dual`` is such as ``solution.dual``, and is repaired.

    Examples
    --------
    >>> from corollary.optimize import Program, Quadratic, linear_equality, sensitivities
    >>> program = Program(Quadratic([[2.0]]), [linear_equality([1.0], 3.0, name="target")])
    >>> sensitivities(program, {"target": -6.0}).prices  # x^2 at x = 3 rises by 6 per unit
    {'target': -6.0}
    """
    if not program.is_conic:
        raise ValueError(
            "sensitivities needs a quadratic objective and linear constraints in cones, whose dual "
            "function has a closed form."
        )
    dual = repair_dual(program, dual)
    prices: dict[str, float] = {}
    for constraint, z in zip(program.constraints, program.pack(dual)):
        labels, centre = constraint.labels(), constraint.cone.centre()
        single = len(labels) < len(z) and not isinstance(constraint.cone, Origin)
        entries = [float(z @ centre)] if single else [float(price) for price in z]
        prices |= dict(zip(labels, entries))
    return Sensitivities(program, dual, prices)
