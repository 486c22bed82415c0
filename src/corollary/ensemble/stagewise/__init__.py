"""One weak learner after the other: stumps, AdaBoost, stagewise descent."""
