"""
A photograph in few colours
===========================

The pixels of a photograph are rows of three numbers. k-means replaces each by the nearest of K
colours, log2(K) bits instead of 24. The distortion, the mean squared error of a pixel, falls with
every doubling of K. Colours that are drawn far from each other (k-means++) are a better start than
pixels drawn at random: large parts of the sky have nearly one colour, and random pixels come from
there too often.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from corollary.cluster import KMeans, VectorQuantizer

photograph = load_sample_image("china.jpg")[::4, ::4] / 255.0
pixels = photograph.reshape(-1, 3)
figure, axes = plt.subplots(2, 2, figsize=(9, 6.4), layout="constrained")
axes[0, 0].imshow(photograph)
axes[0, 0].set_title(f"{len(np.unique(pixels, axis=0)):,} colours")
for ax, n_codes in zip((axes[0, 1], axes[1, 0]), (16, 4)):
    quantizer = VectorQuantizer(n_codes, random_state=0).fit(pixels)
    codes = quantizer.transform(pixels)
    ax.imshow(quantizer.inverse_transform(codes).reshape(photograph.shape).clip(0, 1))
    ax.set_title(f"{n_codes} colours, distortion {quantizer.distortion_:.4f}")
for ax in axes.flat[:3]:
    ax.set_axis_off()

# %%
# Distortion against the number of colours, from both starts, before and after Lloyd's iteration.
sizes = [2, 4, 8, 16, 32, 64]
for init, colour in (("random", "C1"), ("k-means++", "C0")):
    for max_iter, style in ((1, "--"), (50, "-")):
        costs = [
            np.mean(
                [
                    KMeans(k, init=init, n_init=1, max_iter=max_iter, random_state=seed)
                    .fit(pixels)
                    .inertia_
                    / len(pixels)
                    for seed in range(3)
                ]
            )
            for k in sizes
        ]
        steps = "1 step" if max_iter == 1 else "50 steps"
        axes[1, 1].loglog(sizes, costs, style, color=colour, label=f"{init}, {steps}", base=2)
axes[1, 1].set(xlabel="colours", ylabel="distortion")
axes[1, 1].legend()
