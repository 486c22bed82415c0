"""Our time, memory and quality against the peers', side by side in one run.

``python -m bench`` runs every module of this folder that defines ``rows()`` and writes
``results.md``; ``python -m bench least_squares`` runs one. See :mod:`bench.harness` for how a
contest is held.
"""
