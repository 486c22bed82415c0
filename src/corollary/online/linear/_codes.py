"""Numbers by which the compiled loop of linear learners knows rules and steps."""

# Rules: follow the slope of the loss, or solve for the step (passive-aggressive).
GRADIENT, PA, PA_I, PA_II, LINEARISED = range(5)

RULES = {"gradient": GRADIENT, "pa": PA, "pa-i": PA_I, "pa-ii": PA_II, "linearised": LINEARISED}

# Steps: constant, falling like one over the root of the round, or one for each weight.
CONSTANT, SQRT, ADAGRAD = range(3)

STEPS = {"constant": CONSTANT, "sqrt": SQRT, "adagrad": ADAGRAD}
