"""
What a Gaussian process knows
=============================

Twenty noisy observations of a function, with a gap in the middle. The inner band says where the
function is, the outer one where a new observation would fall, each with probability 95%. Thin lines
are functions drawn from the posterior: all of them fit the data, and they part where there are
none. The length scale and the noise were learnt by maximising the evidence.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.gp import GaussianProcessDisplay, GaussianProcessRegressor

rng = np.random.default_rng(3)
x = np.sort(np.r_[rng.uniform(0, 4, 11), rng.uniform(6.5, 10, 9)])
y = np.sin(x) + 0.3 * x + 0.2 * rng.standard_normal(len(x))
model = GaussianProcessRegressor(random_state=0).fit(x[:, None], y)

figure, ax = plt.subplots(figsize=(8, 4.2))
display = GaussianProcessDisplay.from_estimator(
    model, x[:, None], y, n_draws=6, random_state=0, ax=ax
)
grid = display.x
ax.plot(grid, np.sin(grid) + 0.3 * grid, color="black", linewidth=1, linestyle=":", label="truth")
ax.margins(x=0)
ax.legend(fontsize="small", ncols=2)
figure.tight_layout()

# %%
# The noise was given a standard deviation of 0.2.
print(f"kernel {model.kernel_}")
print(f"noise, standard deviation: {model.noise_variance_**0.5:.2f}")
