"""Tests of clustering."""
