"""Sphinx configuration."""

import re
import sys
from pathlib import Path

import corollary

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "corollary"
copyright = "2026, the corollary developers"
release = version = corollary.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autosummary",
    "mathml",
    "sphinx_gallery.gen_gallery",
]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
autodoc_typehints = "none"  # parameters are listed with their types
autosummary_generate = True
autosummary_imported_members = True
templates_path = ["_templates"]
numpydoc_show_class_members = False
exclude_patterns = ["_build", "_templates", "gallery/*.ipynb"]
html_theme = "pydata_sphinx_theme"
html_title = "corollary"
html_theme_options = {"show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "download_all_examples": False,
    "show_memory": False,
    "capture_repr": (),  # what a cell prints is meant to be seen; the last value is not
}
suppress_warnings = ["config.cache"]


def _is_foreign(app, what, name, thing, skip, options):
    """Leave out what is imported from or inherited of Python, not of scikit-learn."""
    home = getattr(getattr(thing, "fget", thing), "__module__", None)
    builtin = isinstance(thing, type(str.join) | type(int.from_bytes) | type(int.__dict__["real"]))
    return True if builtin or (home and not home.startswith(("corollary", "sklearn"))) else None


def _without_references(app, what, name, thing, options, lines):
    """Take references into scikit-learn's own pages out of what is inherited from it."""
    if (getattr(thing, "__module__", None) or "").startswith("sklearn"):
        lines[:] = [re.sub(r":\w+:`([^`<]+?)( <[^`]*>)?`", r"\1", line) for line in lines]


def setup(app):
    """Connect the choice of members and the words of inherited ones."""
    app.connect("autodoc-skip-member", _is_foreign)
    app.connect("autodoc-process-docstring", _without_references, priority=999)
