"""Functions to minimise, with what is known about them."""
