"""Advice of experts: halving, weighted majority, averages, Hedge."""
