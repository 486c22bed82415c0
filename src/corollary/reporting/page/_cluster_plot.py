"""The picture of clusters: rows by two columns, each cluster with a letter and a mark."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from corollary.reporting.page._axes import Scale, horizontal_axis, vertical_axis
from corollary.reporting.page._format import label, number
from corollary.reporting.page._plots import RIGHT, WIDTH, _left, _padded
from corollary.reporting.page._svg import Drawing


def clusters(data: Mapping[str, Any], *, name: str, title: str) -> Markup:
    """Draw rows by two columns; the letter of a cluster stands at its medians."""
    picture = Drawing(WIDTH, 404)
    (low_x, high_x), (low_y, high_y) = (
        _padded(min(p[i] for p in data["points"]), max(p[i] for p in data["points"]))
        for i in range(2)
    )
    left = _left(low_y, high_y, 6)
    x, y = Scale(low_x, high_x, left, RIGHT), Scale(low_y, high_y, 360, 28)
    vertical_axis(picture, y, left, title=label(data["columns"][1], 40), grid_right=RIGHT)
    for across, up, k in data["points"]:
        text = f"{data['rows'][k]['label']}: {number(across)}, {number(up)}"
        picture.circle(x(across), y(up), 3.2, f"cluster-{k % 6 + 1}", title=text)
    for row in data["rows"]:
        across, up = row["medians"]
        picture.text(x(across), y(up) + 5, row["label"], "t-strong halo", anchor="middle", size=16)
    horizontal_axis(picture, x, 360, title=label(data["columns"][0], 40), most=6)
    sizes = "; ".join(f"{row['label']}: {row['n']} rows" for row in data["rows"])
    return picture.render(name, title, sizes)
