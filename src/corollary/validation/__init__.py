"""How good a model is: estimates of its risk and tests that compare models."""
