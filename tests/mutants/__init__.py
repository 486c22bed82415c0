"""Mutation testing of the ledger: a wrong constant must not pass the tests that a row names.

Each row of ``coverage.toml`` names objects and tests. The code of the objects is changed, one small
fault at a time, and the named tests are run: they must fail. ``faults`` makes the faults of one
function, ``rows`` says which functions and tests belong to a row, ``run`` tries the faults in
forked processes, ``kept`` remembers what became of them, ``equivalent`` lists the changes that
change nothing.

``python -m tests.mutants`` (part of ``make verify``) tries all rows and writes the survivors into
``docs/guarantees.md``; with the beginnings of rows' names it tries these and only prints.
"""
