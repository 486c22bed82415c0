"""Every probabilistic claim of the library, simulated where the truth is known.

A module of this package holds the claims of one family. Each is a trial: draw from a world, compute
the bound as a user would, and return it with the true value it must not fall below. `make test`
runs a few hundred repetitions of each, `make verify` many thousand and writes the table in
``docs/guarantees.md``.
"""
