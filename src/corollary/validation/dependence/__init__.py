"""Rows that depend on each other: which rows came together, and what that is worth to a model.

The parts are exported by :mod:`corollary.validation`; :func:`corollary.validation.find_dependence`
puts them together.
"""
