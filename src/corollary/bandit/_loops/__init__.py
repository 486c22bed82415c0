"""Compiled loops of the bandit game."""
