"""Tables for notebooks."""

import numpy as np
import pytest

from corollary.core.display import html_table


def test_entries_are_escaped_and_numbers_short():
    table = html_table({"<a>": ["<script>", True], "x": np.array([1 / 3, 2.0])})
    assert "<script>" not in table
    assert "<th>&lt;a&gt;</th>" in table
    assert "<td>&lt;script&gt;</td><td>0.3333</td>" in table
    assert "<td>True</td><td>2</td>" in table


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        html_table({"a": [1, 2], "b": [1]})
