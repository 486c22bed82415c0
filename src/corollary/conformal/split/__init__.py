"""Split conformal prediction: wrappers that keep rows aside, and what their calibration holds."""
