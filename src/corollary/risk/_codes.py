"""Numbers by which compiled loops know losses."""

(
    HINGE,
    SQUARED_HINGE,
    LOGISTIC,
    EXPONENTIAL,
    PERCEPTRON,
    RAMP,
    SQUARE_MARGIN,
    SQUARE,
    ABSOLUTE,
    PINBALL,
    EPSILON_INSENSITIVE,
    POISSON,
) = range(12)
