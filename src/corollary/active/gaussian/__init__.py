"""Learners that know a function by a Gaussian process, and ask for information about it."""
