"""Certificates: what is proved about rows not yet seen, and under which assumptions."""

import math
from typing import Any

from corollary.certificates import theorems
from corollary.core.certificate import format_share
from corollary.reporting._records import Evidence, Population
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import count, number, opening, percent, plural, thousands
from corollary.reporting.page._model_content import CertificateSection
from corollary.reporting.page.sections import _facts as facts

HEADING, CONTENT = "Certificate", CertificateSection

_UNITS = (
    "Theorems about training rows hold for all planes at once, so choosing the plane after a look "
    "costs nothing. Units set by the same rows would void some of them; the plane was therefore "
    "written in the centres and spreads of the calibration rows."
)


def build(evidence: Evidence) -> dict[str, Any] | None:
    """List the certificates, their gaps and their assumptions."""
    if not evidence.certificates:
        return None
    found = [_certificate(*pair) for pair in zip(evidence.certificates, evidence.rows_to_halve)]
    return {
        "finding": _finding(evidence, found) + population.note(evidence),
        "certificates": found,
        "forests": _forests(evidence, found),
        "assumptions": _assumptions(evidence.certificates),
        "training": _training(evidence),
        "all_vacuous": all(c["vacuous"] for c in found),
        "method": [
            "Each certificate is valid on its own at the stated confidence: over the draw of the "
            f"{population.tested_pieces(evidence)}, the claim is false with at most the remaining "
            "probability. Choosing the smallest after a look costs extra confidence, unless the "
            "choice was fixed before.",
            "The rows needed to halve the gap between bound and observation suppose that the "
            "observed value stays the same; a bound is vacuous when it says no more than the "
            "range of the quantity.",
            *([_UNITS] if evidence.training_certificates else []),
        ],
    }


def _certificate(c: Any, rows_to_halve: int | None) -> dict[str, Any]:
    share = c.quantity.kind == "share"
    theorem = next((one for one in theorems() if one.name == c.theorem), None)
    bound, empirical = facts.plain(float(c.bound)), facts.plain(float(c.empirical))
    upper = getattr(c, "direction", "upper") == "upper"
    known = bound is not None and empirical is not None
    gap = abs(bound - empirical) if known and bound is not None else None
    return {
        "claim": c.claim,
        "sentence": _sentence(c),
        "quantity": c.quantity.name,
        "percent": share,
        "empirical": empirical,
        "bound": bound,
        "bound_words": "vacuous"
        if c.vacuous
        else _bound_words(bound, share, upper)
        if bound is not None
        else "unbounded",
        "observed_words": number(c.empirical)
        if c.quantity.kind == "quantile"
        else thousands(c.observed),
        "gap": gap,
        "gap_words": _gap_words(gap, share) if gap is not None and not c.vacuous else "",
        "direction": "upper" if upper else "lower",
        "confidence": float(c.confidence),
        "theorem": c.theorem,
        "theorem_label": (theorem and theorem.title) or _prettify(c.theorem),
        "idea": theorem.idea if theorem else "",
        "page": str(getattr(c, "page", "")),
        "n": int(c.n_samples),
        "vacuous": bool(c.vacuous),
        "rows_missing": facts.plain(float(c.rows_missing)),
        "rows_to_halve": rows_to_halve,
        "assumptions": [str(a) for a in c.assumptions],
    }


def _bound_words(bound: float, share: bool, upper: bool) -> str:
    if share:
        return format_share(bound, "upper" if upper else "lower")
    return number(bound, direction="up" if upper else "down")


def _gap_words(gap: float, share: bool) -> str:
    return f"{number(100 * gap, 2)} points" if share else number(gap)


def _prettify(theorem: str) -> str:
    return theorem.rpartition(".")[2].replace("-", " ").capitalize()


def _sentence(c: Any) -> str:
    """Say the claim without its assumptions, which have a list of their own."""
    opening = f"With {100 * c.confidence:.6g}% confidence, "
    observed = thousands(c.observed)
    if not c.vacuous and c.quantity.kind == "quantile":
        share = f"{100 * c.quantity.level:.6g}%"
        return (
            f"{opening}at least {share} of {_whose(c)} are predicted within "
            f"{number(c.bound, direction='up')}{_of_unit(c)}; observed {number(c.empirical)} on "
            f"{c.population.count(c.n_samples)}."
        )
    if not c.vacuous:
        return f"{opening}{c.claim}; observed {observed}."
    text = f"{opening}nothing is proved about the {c.quantity}: the bound is vacuous"
    if math.isinf(c.rows_missing):
        pieces = c.population.pieces
        return f"{text}; observed {observed}. More {pieces} alone would not change that."
    rows = max(int(c.rows_missing), 1)
    verb = "is" if rows == 1 else "are"
    return f"{text}; observed {observed}. At least {_more(c.population, rows)} {verb} needed."


def _more(about: Population, n: int) -> str:
    return f"{count(n)} more {about.piece if n == 1 else about.pieces}"


def _whose(c: Any) -> str:
    return f"new {c.population.pieces}" if c.quantity.per_unit else c.population.rows


def _of_unit(c: Any) -> str:
    return " in the median of their rows" if c.quantity.per_unit else ""


def _forests(evidence: Evidence, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    forests = []
    for share in (True, False):
        drawn = [c for c in found if c["percent"] is share and c["bound"] is not None]
        rows = [
            {
                "label": c["theorem_label"]
                if len({d["quantity"] for d in drawn}) == 1
                else c["quantity"],
                "value": c["empirical"],
                "low": c["empirical"],
                "high": c["bound"],
                "text": f"at most {c['bound_words']}" if not c["vacuous"] else "vacuous",
                "note": "",
                "muted": c["vacuous"],
            }
            for c in drawn
            if c["direction"] == "upper"
        ]
        if rows:
            base, words = _guess(evidence, share, drawn)
            forests.append(
                {
                    "rows": rows,
                    "reference": base,
                    "reference_label": words,
                    "axis": "observed (dot) and proved bound (end of the line)",
                    "percent": share,
                    "domain": _domain(rows, base),
                }
            )
    return forests


def _domain(rows: list[dict[str, Any]], base: float | None) -> list[float]:
    return [0.0, 1.06 * max([base or 0.0, *(r["high"] for r in rows)]) or 1.0]


def _guess(
    evidence: Evidence, share: bool, drawn: list[dict[str, Any]]
) -> tuple[float | None, str]:
    """Find what guessing achieves, where it is the same quantity."""
    quantities = {c["quantity"] for c in drawn}
    if share and evidence.task == "classification" and quantities == {"error rate"}:
        base = evidence.error_rate.baseline
        return base, f"guessing {percent(base)}"
    return None, ""


def _training(evidence: Evidence) -> dict[str, Any]:
    """Say what the training rows prove by themselves, beside what the test rows prove."""
    halving = zip(evidence.training_certificates, evidence.training_rows_to_halve)
    found = [_certificate(*pair) for pair in halving]
    model = facts.model_words(facts.chosen(evidence))
    if not found:
        sentence = (
            f"Some models can be certified without test rows. For {model} no theorem does that "
            "here, so the bounds rest on the test rows alone."
        )
        return {"sentence": sentence, "certificates": [], "assumptions": []}
    best = next((c for c in found if c["quantity"] == "error rate" and not c["vacuous"]), None)
    tested = evidence.certificates[0]
    sentence = (
        f"{opening(model)} draws a plane between two classes. About planes there are theorems that "
        "need no test rows"
    )
    if best is None:
        sentence += "; from so few training rows they prove nothing."
    else:
        verb = "less" if best["bound"] > tested.bound else "more"
        sentence += (
            f": the best of them proves an error rate of at most {best['bound_words']} from "
            f"{plural(best['n'], 'training row')}. That is {verb} than the test rows prove."
        )
    return {
        "sentence": sentence,
        "certificates": found,
        "assumptions": _assumptions(evidence.training_certificates),
    }


def _assumptions(certificates: tuple[Any, ...]) -> list[dict[str, Any]]:
    """List every assumption once, with who vouches for it."""
    lines = dict.fromkeys(str(a) for c in certificates for a in c.assumptions)
    checked = {str(a) for c in certificates for a in c.checked}
    return [{"text": thousands(text), "kept": text in checked} for text in lines]


def _finding(evidence: Evidence, found: list[dict[str, Any]]) -> str:
    levels = [c.quantity.level for c in evidence.certificates]
    about = evidence.certificates[0].population
    if all(c["vacuous"] for c in found):
        missing = [c["rows_missing"] for c in found if c["rows_missing"]]
        few = population.tested_pieces(evidence)
        text = f"Nothing can be certified from so few {few}: every bound is vacuous."
        if missing:
            text += f" At least {_more(about, int(min(missing)))} would be needed."
        return text
    sound = [c for c in found if not c["vacuous"]]
    # Of several quantiles the one that 9 of 10 rows stay below says most.
    nine = [c for c, level in zip(found, levels) if level == 0.9 and not c["vacuous"]]
    best = next(iter(nine), sound[0])
    text = best["sentence"]
    if best["rows_to_halve"]:
        text += (
            f" Bound and observation are {best['gap_words']} apart; about "
            f"{count(best['rows_to_halve'])} {population.tested_pieces(evidence)} would halve that."
        )
    empty = sum(c["vacuous"] for c in found)
    if empty:
        text += f" {plural(empty, 'other bound')} {'is' if empty == 1 else 'are'} vacuous."
    return text
