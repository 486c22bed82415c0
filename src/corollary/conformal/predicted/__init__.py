"""Calibration of predictions that are made already, for whoever has them out of fold."""
