"""Compiled neighbour searches."""
