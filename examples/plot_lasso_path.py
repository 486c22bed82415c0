"""
Coefficients along the lasso path
=================================

How the ten coefficients of the diabetes data grow as the penalty falls from left to right. At the
largest penalty all are zero; then they leave zero one after another, the most useful first. Where
features repeat each other the path shows it: the blood measurement s3 comes in early, and returns
to zero when the correlated s1 and s2 take over, which then grow against each other. The dashed line
is the penalty that cross-validation chooses.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from corollary.linear import CoefficientPathDisplay, LassoCV

X, y = load_diabetes(return_X_y=True, as_frame=True)
X = X / X.std()
model = LassoCV(cv=5).fit(X, y)

figure, ax = plt.subplots(figsize=(8, 4.4))
CoefficientPathDisplay.from_estimator(model, X, y, n_labels=10, ax=ax)
ax.set_ylabel("coefficient (standardised features)")
ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
figure.tight_layout()

# %%
# What is left of ten features at the chosen penalty:
for name, value in zip(X.columns, model.coef_):
    if value:
        print(f"{name:4} {value:7.2f}")
