"""Numbers by which the compiled loop of linear learners knows losses, rules and steps."""

# Losses whose slope the loop follows.
HINGE, LOGISTIC, SQUARE, PERCEPTRON, SQUARED_HINGE, EPSILON, PINBALL = range(7)

LOSSES = {
    "hinge": HINGE,
    "logistic": LOGISTIC,
    "square": SQUARE,
    "perceptron": PERCEPTRON,
    "squared_hinge": SQUARED_HINGE,
    "absolute": EPSILON,
    "epsilon_insensitive": EPSILON,
    "pinball": PINBALL,
}

# Rules: follow the slope of the loss, or solve for the step (passive-aggressive).
GRADIENT, PA, PA_I, PA_II, LINEARISED = range(5)

AGGRESSIVE = {"pa": PA, "pa-i": PA_I, "pa-ii": PA_II, "linearised": LINEARISED}

# Steps: constant, falling like one over the root of the round, or one for each weight.
CONSTANT, SQRT, ADAGRAD = range(3)

STEPS = {"constant": CONSTANT, "sqrt": SQRT, "adagrad": ADAGRAD}
