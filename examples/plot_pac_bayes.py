"""
A network that proves its own error rate
========================================

A network is trained on digits to minimise a bound on its error rate. No row is kept aside for a
test: the certificate comes from the training rows. We compare it with the error on rows
that were kept aside all the same.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from corollary.neural import PACBayesClassifier

X, y = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)

# %%
# Rows can train the prior, or prove something. A small share gives a poor network that many rows
# speak about, a large one a good network that few rows speak about.
fractions = [0.3, 0.5, 0.7, 0.9]
bounds, errors = [], []
for fraction in fractions:
    model = PACBayesClassifier(
        hidden_layer_sizes=(50,), prior_fraction=fraction, prior_epochs=60, random_state=0
    ).fit(X, y)
    bounds.append(model.certificate_.bound)
    errors.append(np.mean(model.predict_random(X_new, random_state=0) != y_new))
print(model.certificate_)

# %%
# The certificate lies above the error at every fraction.
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.plot(fractions, bounds, "o-", label="certificate at 95%, from training rows")
axes.plot(fractions, errors, "s--", label="error on rows kept aside")
axes.set(xlabel="share of the rows that train the prior", ylabel="error rate", ylim=(0, None))
axes.legend()
