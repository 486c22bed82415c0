"""The order in which certificates are listed.

First what calibration rows prove about regions; then, for each kind of rows, the sharpest theorem
that applies to most models. A theorem that is not named here comes after these.
"""

ORDER = (
    "conformal.coverage-law",
    "conformal.cv-plus-given-rows",
    # Rows that the model never saw.
    "theory.clopper-pearson",
    "theory.empirical-bernstein",
    "theory.hoeffding",
    "theory.error-quantile",
    # Such rows while they keep coming.
    "theory.betting-sequence",
    "theory.stitched-sequence",
    # Rows of owners that the model never saw.
    "theory.unit-betting",
    "theory.unit-one-row",
    "theory.unit-error-quantile",
    "theory.unit-median",
    # Rows of a period after the model was fixed.
    "theory.period-betting",
    "theory.period-azuma",
    # Training rows.
    "theory.vc-bound",
    "theory.margin-bound-uniform",
    "theory.pac-bayes-gaussian",
    "theory.pac-bayes-bag",
    "svm.support-vector-bound",
    "theory.ridge-stability",
    "theory.perceptron-compression",
    "theory.online-to-batch",
    "theory.online-to-batch-average",
    "theory.pac-bayes-training",
    "theory.sgd-stability",
)
