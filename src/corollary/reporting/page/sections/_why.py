"""Why: which columns the predictions lean on, and how predictions move with them."""

from typing import Any

from corollary.reporting._records import Effect, Evidence, Importance
from corollary.reporting.page._format import count, label, listing, number, plural, triple, triples
from corollary.reporting.page._report_content import WhySection
from corollary.reporting.page.sections import _facts as facts

HEADING, CONTENT = "Why", WhySection

MOST_BARS = 12
LEAST_LISTED, MOST_LISTED = 40, 80
MOST_EFFECTS = 6
MOST_LEVELS = 12
#: Share of all rises that the foremost columns are said to bear.
MOST = 0.9


def build(evidence: Evidence) -> dict[str, Any] | None:
    """Rank the columns and draw the effects of the foremost."""
    if facts.chosen(evidence).baseline or not (evidence.importances or evidence.effects):
        return None  # guessing leans on no column
    rises = [facts.estimate(rise) for rise in evidence.rises]
    words = triples([(r["value"] or 0.0, r["low"], r["high"]) for r in rises])
    found = [
        _importance(i, rise, text, bool(wide.low > 0))
        for i, rise, text, wide in zip(evidence.importances, rises, words, evidence.rises)
    ]
    loss = evidence.importance_loss or evidence.loss.label
    listed = min(max(LEAST_LISTED, sum(i["matters"] for i in found)), MOST_LISTED)
    return {
        "finding": _finding(evidence, found),
        "loss": loss,
        "importances": found,
        "forest": {
            "rows": [
                {
                    "label": i["column"],
                    "value": i["increase"]["value"] or 0.0,
                    "low": i["increase"]["low"],
                    "high": i["increase"]["high"],
                    "text": i["words"],
                    "muted": not i["matters"],
                }
                for i in found[:MOST_BARS]
            ],
            "reference": 0.0,
            "reference_label": "",
            "axis": f"rise of {loss} when the column is shuffled",
        },
        "n_not_drawn": max(len(found) - MOST_BARS, 0),
        "n_listed": listed,
        "rest": _rest(found[listed:], evidence),
        "effects": _effects(evidence),
        "of_class": next((e.of_class for e in evidence.effects if e.of_class), ""),
        "method": [
            "A column’s importance is the rise of the loss on the test rows when its values are "
            "shuffled among them, the model unchanged. It measures what this model leans on, not "
            "what would happen if the column were changed in the world: association, not cause.",
            f"The intervals of all {plural(len(found), 'column')} hold together at "
            f"{facts.confidence_words(evidence)} (Bonferroni). A column is said to matter when its "
            "interval stays above zero; the others are drawn in grey.",
            "Columns that carry nearly the same information share their importance; each may look "
            "unimportant because the other can stand in for it.",
            "An effect curve is the mean prediction over the test rows when the column alone is "
            "set to a value; the grey shape below shows where rows are. Where it is flat on the "
            "ground, the curve is a guess. A column that nearly follows from others cannot be "
            "moved alone: where that leads beyond every prediction for a real row, the curve is "
            "the mean prediction of the rows that have the value.",
        ],
    }


def _importance(
    importance: Importance, rise: dict[str, Any], words: tuple[str, str, str], matters: bool
) -> dict[str, Any]:
    value, low, high = words
    return {
        "column": importance.column,
        "increase": rise,
        "words": f"{value} ({low} to {high})",
        "matters": matters,
        "stand_ins": [str(s) for s in importance.stand_ins],
    }


def _rest(found: list[dict[str, Any]], evidence: Evidence) -> str:
    """Summarise the columns that the table leaves to the JSON file."""
    known = [i["increase"]["value"] for i in found if i["increase"]["value"] is not None]
    if not known:
        return ""
    matter = sum(i["matters"] for i in found)
    text = f"Shuffling one of the other {plural(len(found), 'column')} changes "
    text += evidence.importance_loss or evidence.loss.label
    text += f" by {number(min(known))} to {number(max(known))}"
    return text + (
        f"; {count(matter)} of them matter." if matter else "; none is told from chance."
    )


def _effects(evidence: Evidence) -> list[dict[str, Any]]:
    drawn = [e for e in evidence.effects if e.grid][:MOST_EFFECTS]
    means = [m for e in drawn for m in e.mean[: None if e.dated or _numeric(e) else MOST_LEVELS]]
    domain = [min(means), max(means)] if means else [0.0, 1.0]
    return [_effect(e, domain, evidence.task == "classification") for e in drawn]


def _numeric(effect: Effect) -> bool:
    return len(effect.grid) > 1 and all(
        isinstance(facts.plain(g), int | float) and not isinstance(g, bool) for g in effect.grid
    )


def _effect(effect: Effect, domain: list[float], percent: bool) -> dict[str, Any]:
    numeric = _numeric(effect)
    most = None if numeric or effect.dated else MOST_LEVELS
    return {
        "column": effect.column,
        "grid": [facts.plain(g) if numeric else facts.cell(g) for g in effect.grid[:most]],
        "mean": [float(m) for m in effect.mean[:most]],
        "density": [float(d) for d in effect.density[:most]],
        "n_levels_hidden": 0 if most is None else max(len(effect.grid) - most, 0),
        "numeric": numeric,
        "dated": effect.dated,
        "together": effect.together,
        "domain": domain,
        "percent": percent,
        "of_class": effect.of_class,
    }


def _finding(evidence: Evidence, found: list[dict[str, Any]]) -> str:
    if not found:
        return "The columns’ importance was not measured; the curves show how predictions move."
    loss = evidence.importance_loss or evidence.loss.label
    matter = [i for i in found if i["matters"]]
    first = (matter or found)[0]
    looks = len(found)
    rise = evidence.rises[found.index(first)]
    value, low, high = triple(rise.value, facts.plain(rise.low), facts.plain(rise.high))
    corrected = f", corrected for {looks} looks" if looks > 1 else ""
    interval = f"({facts.confidence_words(evidence)} interval{corrected}, {low} to {high})"
    if not matter and rise.value <= 0:
        return f"No single column is shown to matter: shuffling none of them raises {loss}."
    if not matter:
        text = (
            f"No single column is shown to matter: shuffling {label(first['column'], 40)} costs "
            f"most, {value} in {loss} {interval}."
        )
        return text + _same(found[0]) + " This is association, not cause."
    names = listing([label(i["column"], 40) for i in matter], 3)
    most = _bear_most(matter)
    text = (
        f"{_how_many(len(matter), len(found))} measurably{most}: {names}. With "
        f"{label(matter[0]['column'], 40)} shuffled, {loss} rises by {value} {interval}."
    )
    return text + _same(matter[0]) + " This is association, not cause."


def _how_many(matter: int, tried: int) -> str:
    if matter == tried > 1:
        return f"{'Both' if tried == 2 else f'All {tried}'} columns matter"
    return f"{plural(matter, 'column')} of {tried} {'matters' if matter == 1 else 'matter'}"


def _bear_most(matter: list[dict[str, Any]]) -> str:
    """Say how few of many columns bear most of what all of them cost: much matters a little."""
    if len(matter) <= MOST_BARS:
        return ""
    rises = [i["increase"]["value"] for i in matter]
    few = next(k for k in range(1, len(rises) + 1) if sum(rises[:k]) >= MOST * sum(rises))
    return f", of which the first {f'{few} bear' if few > 1 else 'bears'} {MOST:.0%} of the rises"


def _same(importance: dict[str, Any]) -> str:
    if not importance["stand_ins"]:
        return ""
    others = listing([label(s, 40) for s in importance["stand_ins"]], 3)
    return f" Nearly the same information is in {others}."
