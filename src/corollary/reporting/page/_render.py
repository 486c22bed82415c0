"""From evidence to one dictionary, and from the dictionary to JSON and to one HTML file.

Both are pure: the same evidence gives the same bytes. The page loads nothing: its style and its
script stand in the file, and a Content-Security-Policy allows these two by their hashes and
forbids everything else, so that nothing hidden in the data can run even if an escape failed.
"""

import base64
import functools
import hashlib
import json
import pathlib
import re
from typing import Any

import jinja2
from markupsafe import Markup, escape

from corollary.reporting._records import Evidence
from corollary.reporting.page import _cluster_plot as cluster_plot
from corollary.reporting.page import _forest_plots as intervals
from corollary.reporting.page import _format as formats
from corollary.reporting.page import _plots as plots
from corollary.reporting.page._schema import SCHEMA_VERSION
from corollary.reporting.page.sections import SECTIONS
from corollary.reporting.page.sections import _limits as limits
from corollary.reporting.page.verdict import _verdict as verdict

TEMPLATES = pathlib.Path(__file__).parent / "templates"
WIDTH, NARROW_WIDTH = 880, 350
#: Options of the command, and calls of the library with at most one call among their arguments.
_CODE = re.compile(r"--[a-z]+|corollary\.\w+\((?:[^()]|\([^()]*\))*\)")


def to_dict(evidence: Evidence) -> dict[str, Any]:
    """Turn evidence into the report's dictionary."""
    sections: dict[str, Any] = {}
    for name, section in SECTIONS.items():
        content = section.build(evidence)
        if content is not None:
            sections[name] = {"heading": section.heading, **content}
    return {
        "schema_version": SCHEMA_VERSION,
        "data": evidence.data_name,
        "target": evidence.target,
        "date": evidence.date,
        "task": evidence.task,
        "classes": [str(c) for c in evidence.classes],
        "confidence": float(evidence.confidence),
        "coverage": float(evidence.coverage),
        "seed": int(evidence.seed),
        "loss": evidence.loss.label,
        "rows": {
            "all": int(evidence.profile.n_rows),
            "train": int(evidence.n_train),
            "calibration": int(evidence.n_calibration),
            "test": int(evidence.n_test),
        },
        "n_columns": len(evidence.profile.columns),
        **_population(evidence),
        **({"unsaved": limits.unsaved_words(evidence)} if evidence.unsaved else {}),
        "verdict": verdict.build(evidence),
        "sections": sections,
    }


def _population(evidence: Evidence) -> dict[str, Any]:
    """Say of which rows the report speaks, unless it is of rows drawn like these."""
    about = evidence.population
    if about.kind == "alike":
        return {}
    words = {**about.to_dict(), "pieces": about.pieces, "n": evidence.n_pieces}
    return {"population": words}


def render_data(report: dict[str, Any]) -> str:
    """Write a report's dictionary as JSON."""
    return json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def render_page(report: dict[str, Any]) -> str:
    """Write a report's dictionary as HTML."""
    style, script = _asset("style.css"), _asset("script.js")
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            style=Markup(style),
            script=Markup(script),
            style_hash=content_hash(style),
            script_hash=content_hash(script),
        )
    )


def content_hash(text: str) -> str:
    """Hash a style or script as a Content-Security-Policy wants it."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


@functools.cache
def _asset(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _finalize(value: Any) -> Any:
    """Make invisible characters of plain texts visible; markup of ours passes."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return formats.clean(value)
    return value


def _with_code(sentence: str) -> Markup:
    """Set options of the command and calls of the library apart from the words."""
    return Markup(_CODE.sub(r"<code>\g<0></code>", str(escape(formats.clean(sentence)))))


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(
        number=formats.number,
        percent=formats.percent,
        count=formats.count,
        plural=formats.plural,
        label=formats.label,
        listing=formats.listing,
        code=_with_code,
    )
    environment.globals.update(
        percent_triple=formats.percent_triple,
        percent_decimals=formats.percent_decimals,
        triple=formats.triple,
        plots=plots,
        clusters=cluster_plot.clusters,
        forest=intervals.forest,
        strip=intervals.strip,
        WIDTH=WIDTH,
        NARROW_WIDTH=NARROW_WIDTH,
    )
    return environment
