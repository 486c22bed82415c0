"""Estimators that are functions of support vectors."""
