"""Families of densities, and the parameters that fit draws best."""
