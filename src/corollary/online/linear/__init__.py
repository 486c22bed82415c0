"""Linear rules: perceptron, gradient descent, passive-aggressive; estimators made of them."""
