"""Hostile tables, hostile arrays and forged model files, each made from a seed.

A case ends well if there is a finite answer, or a refusal in a sentence. Tracebacks from the
depths, hangs, and numbers that are silently none are faults. ``make test`` runs a few hundred,
``python -m tests.fuzz --cases 10000`` as many as one likes, and ``python -m tests.fuzz arrays 17``
one of them, with its traceback.
"""
