"""
The law of a conformal method's coverage
========================================

Split-conformal intervals cover a new row with probability at least the wanted level *on average
over calibration sets*. Given one calibration set of n rows, coverage is random with a known Beta
law.
The histogram repeats the whole procedure; the curve is the theorem. Dashed lines are limits that
hold for 95% of calibration sets.
"""

import numpy as np

from corollary.conformal import CoverageLawDisplay, conformal_quantile

n, alpha, repetitions = 100, 0.1, 4000
random = np.random.default_rng(0)
# With continuous scores the law does not depend on their distribution: take uniform ones, for
# which the coverage of a threshold is the threshold itself.
scores = random.uniform(size=(repetitions, n))
coverage = [conformal_quantile(row, 1 - alpha) for row in scores]

CoverageLawDisplay(n, alpha, coverage=coverage).plot()
