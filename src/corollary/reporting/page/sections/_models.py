"""Models compared: paired differences, and the claim re-tested on rows no choice ever saw."""

from typing import Any

from corollary.reporting._records import Candidate, Evidence
from corollary.reporting.page import _population as population
from corollary.reporting.page._format import listing, number, opening, seconds, triple, triples
from corollary.reporting.page._model_content import ModelsSection
from corollary.reporting.page.sections import _facts as facts

HEADING, CONTENT = "Models compared", ModelsSection


def build(evidence: Evidence) -> dict[str, Any] | None:
    """Compare the candidates with the chosen one and with the baseline."""
    running = [c for c in evidence.candidates if not c.error]
    if not running:
        return None
    retest = _retest(evidence)
    loss, remark = facts.loss_words(evidence)
    return {
        "finding": _finding(evidence, running),
        "loss": facts.loss_words(evidence)[0],
        "candidates": [_candidate(c) for c in running],
        "forest": {
            "rows": _rows(running),
            "reference": 0.0,
            "reference_label": "the chosen model",
            "axis": f"difference in {loss} to the chosen model (right = worse){remark}",
        },
        "retest": retest,
        "out_of_bag": _out_of_bag(running, loss),
        "failed": [{"label": c.label, "error": c.error} for c in evidence.candidates if c.error],
        "method": [
            evidence.selection_rule,
            f"Losses are cross-validated on the {evidence.n_train:,} training rows. Differences "
            "are paired: both models are judged on the same rows, row by row, with "
            f"{facts.confidence_words(evidence)} intervals. A model whose interval contains zero "
            "is called indistinguishable: the data cannot tell it from the chosen one. Size counts "
            "fitted numbers; time is that of the whole cross-validation.",
        ],
    }


def _words(e: dict[str, Any]) -> str:
    if e["value"] is None:
        return "unknown"
    value, low, high = triple(e["value"], e["low"], e["high"])
    return f"{value} ({low} to {high})"


def _rows(running: list[Candidate]) -> list[dict[str, Any]]:
    others = [facts.estimate(c.versus_chosen) for c in running]
    words = triples(
        [(e["value"] or 0.0, e["low"], e["high"]) for e, c in zip(others, running) if not c.chosen]
    )
    texts = iter(f"{value} ({low} to {high})" for value, low, high in words)
    return [_row(c, e, "chosen" if c.chosen else next(texts)) for c, e in zip(running, others)]


def _row(candidate: Candidate, versus: dict[str, Any], text: str) -> dict[str, Any]:
    note = ""
    if candidate.baseline:
        note = "guessing"
    elif candidate.indistinguishable and not candidate.chosen:
        note = "indistinguishable"
    if candidate.chosen:
        return {
            "label": opening(candidate.label),
            "value": 0.0,
            "low": 0.0,
            "high": 0.0,
            "text": text,
            "note": note,
            "strong": True,
            "muted": False,
        }
    return {
        "label": opening(candidate.label),
        "value": versus["value"] or 0.0,
        "low": versus["low"],
        "high": versus["high"],
        "text": text,
        "note": note,
        "strong": False,
        "muted": candidate.baseline,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        "name": candidate.name,
        "label": opening(candidate.label),
        "description": candidate.description,
        "loss": facts.estimate(candidate.loss),
        "loss_words": _words(facts.estimate(candidate.loss)),
        "versus_chosen": facts.estimate(candidate.versus_chosen),
        "versus_baseline": facts.estimate(candidate.versus_baseline),
        "versus_baseline_words": ""
        if candidate.baseline
        else _words(facts.estimate(candidate.versus_baseline)),
        "chosen": bool(candidate.chosen),
        "baseline": bool(candidate.baseline),
        "indistinguishable": bool(candidate.indistinguishable),
        "seconds": float(candidate.seconds),
        "time_words": seconds(candidate.seconds),
        "size": int(candidate.size),
        "out_of_bag": facts.plain(candidate.out_of_bag),
        "settings": {str(k): facts.cell(v) for k, v in candidate.settings.items()},
    }


def _out_of_bag(running: list[Candidate], loss: str) -> str:
    """Set the out-of-bag loss of a forest beside its cross-validated one."""
    sentences = []
    for candidate in running:
        if candidate.out_of_bag is not None:
            sentences.append(
                f"{opening(candidate.label)}: {loss} {number(candidate.out_of_bag)} out of bag "
                "(each training row judged by the trees that had not drawn it), "
                f"{number(candidate.loss.value)} by cross-validation."
            )
    return " ".join(sentences)


def _retest(evidence: Evidence) -> dict[str, Any]:
    loss, remark = facts.loss_words(evidence)
    claim = facts.estimate(facts.chosen(evidence).loss)
    found = evidence.test_loss
    test = facts.estimate(found._replace(low=max(found.low, 0.0)))
    agree = True
    if None not in (claim["low"], claim["high"], test["low"], test["high"]):
        agree = claim["low"] <= test["high"] and test["low"] <= claim["high"]
    sentence = (
        f"By cross-validation the {loss} was {_words(claim)}{remark}; on the "
        f"{population.tested_rows(evidence)} it was {_words(test)}."
    )
    if evidence.test.folds:
        sentence = (
            f"By cross-validation the {loss} of the chosen model was {_words(claim)}{remark}; with "
            f"the choice made anew without each fold it was {_words(test)}."
        )
    sentence += (
        " The two intervals overlap."
        if agree
        else " The two disagree: trust the second, and ask why."
    )
    return {"claim": claim, "test": test, "agree": bool(agree), "sentence": sentence}


def _finding(evidence: Evidence, running: list[Candidate]) -> str:
    best = facts.chosen(evidence)
    name = facts.model_words(best)
    loss = facts.loss_words(evidence)[0]
    same = [facts.model_words(c) for c in running if c.indistinguishable and not c.chosen]
    if best.baseline:
        tried = len(running) - 1
        who = "The only other model was not" if tried == 1 else f"None of {tried} models was"
        more = "" if evidence.test.folds else " by more than chance would make it"
        text = f"{who} better than guessing ({name}){more}, so guessing was chosen."
    else:
        parts = [f"{share} {part}" for part, share in best.settings.items()]
        made_of = f" ({listing(parts, 5)})" if best.name == "mean" else ""
        text = f"{opening(name)}{made_of} was chosen among {len(running)} models."
    if same:
        verb = "is" if len(same) == 1 else "are"
        text += f" {opening(listing(same))} {verb} indistinguishable from it."
    elif len(running) > 2 and not best.baseline:
        text += " Every other model is shown to be worse."
    gain = facts.estimate(best.versus_baseline)
    if gain["high"] is not None and not best.baseline:
        if gain["high"] < 0:
            value, low, high = triple(-gain["value"], -gain["high"], -gain["low"])
            text += (
                f" By cross-validation the chosen one beats guessing by {value} in {loss} "
                f"({low} to {high})."
            )
        else:
            text += " Cross-validation does not show that it beats guessing."
    return text
