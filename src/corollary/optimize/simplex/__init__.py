"""Weights that are not negative and sum to one."""
