"""Sphinx configuration."""

import corollary

project = "corollary"
copyright = "2026, the corollary developers"
release = version = corollary.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
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
}
suppress_warnings = ["config.cache"]
