"""Cones, solvers for programs over them, proofs that there is no solution, and applications."""
