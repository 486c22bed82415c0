"""Formulas as MathML, which browsers draw by themselves: no network, no script."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def _render(display: str) -> Any:
    def visit(writer: Any, node: nodes.Element) -> None:
        formula = convert(node.astext(), display=display)
        writer.body.append(formula if display == "inline" else f"<div>{formula}</div>")
        raise nodes.SkipNode

    return visit, None


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer the renderer under the name "mathml"."""
    app.add_html_math_renderer("mathml", _render("inline"), _render("block"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
