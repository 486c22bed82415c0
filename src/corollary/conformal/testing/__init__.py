"""Tests of exchangeability, and p-values that follow from it."""
