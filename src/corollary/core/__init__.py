"""Contracts and machinery shared by every family.

Each module holds one idea and is imported by name (``from corollary.core.summary import reduce``),
so that using one of them does not pay for the others.
"""
