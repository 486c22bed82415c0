"""What can be trusted: calibration, held-out rows, certificates, explanations."""
