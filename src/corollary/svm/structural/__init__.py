"""Machines that predict sequences and other structures."""
