"""Axioms of metrics, scalar products and topologies, checked on finite data."""
