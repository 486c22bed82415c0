"""The door to JAX, whose programs run in one thread here.

XLA shares sums and products out among as many threads as there are cores, which rounds them
differently on another machine, and on tables mostly waits for them. Its number of threads is fixed
when a process first asks for a device: it is one if this module is imported before that, unless the
environment says ``NPROC``, and otherwise what the program has chosen that came first.
"""

import os

import jax
import jax.numpy as jnp

__all__ = ["jax", "jnp"]

if "NPROC" not in os.environ:
    os.environ["NPROC"] = "1"
    try:
        jax.devices()
    finally:
        del os.environ["NPROC"]
