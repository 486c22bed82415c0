"""Convex programs: constraints, Lagrangian, duality, optimality conditions, sensitivities."""
