"""Of which rows the report speaks, in words: the only place that makes these phrases."""

from corollary.reporting._records import Evidence
from corollary.reporting.page._format import count, label, percent_triple, plural

#: Why intervals of rows that were predicted in turn are wider.
WIDENED = "widened because models that share training rows err alike (Nadeau and Bengio)"


def such_rows(evidence: Evidence) -> str:
    """Name the rows that claims are about, as after "at most 5% of"."""
    return label(evidence.population.rows, 120)


def where(evidence: Evidence) -> str:
    """Say where the model is better or worse, inside the headline."""
    return "" if evidence.population.kind == "alike" else f" on {such_rows(evidence)}"


def pieces(evidence: Evidence, n: int, adjective: str = "") -> str:
    """Write a number of pieces of evidence, such as "53 new persons" or "143 unseen rows"."""
    name = evidence.population
    noun = label(name.piece if n == 1 else name.pieces, 80)
    return f"{count(n)} {adjective} {noun}" if adjective else f"{count(n)} {noun}"


def unseen_rows(evidence: Evidence) -> str:
    """Name the test rows without their number, as in "4% of unseen rows wrong"."""
    if evidence.population.kind == "period":
        return f"rows {_span(evidence)}"
    return "unseen rows" if evidence.population.kind == "alike" else such_rows(evidence)


def _span(evidence: Evidence) -> str:
    ends = evidence.population.start, evidence.population.end
    first, last = (end if isinstance(end, str) else f"{end:.10g}" for end in ends)
    return f"of {first}" if first == last else f"from {first} to {last}"


def counted_rows(evidence: Evidence, n: int) -> str:
    """Name some test rows with their number, as in "2 of 143 unseen rows"."""
    kind = evidence.population.kind
    if kind == "new units":
        return f"the rows of {pieces(evidence, n, 'new')}"
    if kind == "period":
        return f"{count(n)} {unseen_rows(evidence)}"
    return plural(n, "unseen row")


def tested_rows(evidence: Evidence) -> str:
    """Name all test rows with what makes them honest, as after "on"."""
    kind, rows = evidence.population.kind, plural(evidence.n_test, "row")
    if kind == "new units":
        rows += f" of {pieces(evidence, evidence.n_pieces, 'new')}"
    if kind == "period":
        rows += f" {_span(evidence)}"
    if evidence.test.folds:
        return f"{rows}, each predicted by a model that had not seen it"
    return f"{rows} that no choice ever saw"


def new_rows(evidence: Evidence, m: int) -> str:
    """Write a number of rows to come, as in "100 new rows would reveal"."""
    if evidence.population.kind != "new units":
        return f"{count(m)} new rows"
    return f"{count(m)} rows, each of another new {label(evidence.population.piece, 80)},"


def like_these(evidence: Evidence) -> str:
    """Name the rows that claims extend to, as after "holds for"."""
    return "rows like these" if evidence.population.kind == "alike" else such_rows(evidence)


def bounded_share(evidence: Evidence, bound: str) -> str:
    """Bound a share of wrong rows, as after "With 95% confidence"."""
    if evidence.population.kind == "period":  # what happened in it is known
        return f"an error rate of at most {bound} was to be expected there"
    return f"at most {bound} of {such_rows(evidence)}"


def weighting(evidence: Evidence) -> str:
    """Say how much a unit counts, as a sentence of its own."""
    if evidence.population.kind == "new units":
        return f" Each {label(evidence.population.piece, 80)} counts the same."
    return ""


def later_rows(evidence: Evidence) -> str:
    """Say what a period leaves open, as a sentence of its own."""
    return " Nothing proves it for later rows." if evidence.population.kind == "period" else ""


def note(evidence: Evidence) -> str:
    """Add to the certificates what the reader must know about the population."""
    return f" {label(evidence.population.note, 160)}" if evidence.population.note else ""


def tested_pieces(evidence: Evidence) -> str:
    """Name what is counted among the test rows, without a number."""
    if evidence.population.kind == "new units":
        return label(evidence.population.pieces, 80)
    return "test rows"


def scope(evidence: Evidence) -> str:
    """Say which rows the report does not speak about."""
    if evidence.population.kind == "new units":
        return (
            f"It speaks about {such_rows(evidence)} drawn like these. Other places, later times or "
            "other instruments are other populations."
        )
    if evidence.population.kind == "period":
        return (
            f"It speaks about {such_rows(evidence)}, which came after the rows that the model "
            "learnt from. Nothing proves it for later rows."
        )
    return (
        "It speaks about rows drawn like these. Other places, later times or other instruments "
        "are other populations."
    )


def split_words(evidence: Evidence) -> str:
    """Say how the test rows were set aside."""
    if evidence.population.kind == "period":
        return (
            "It rests on one period of testing. Another period gives other numbers, which nothing "
            "here bounds."
        )
    if evidence.test.folds:
        return (
            f"It rests on one random deal into {evidence.test.folds} folds, and the model that is "
            "delivered has seen all rows. Another seed gives other numbers, mostly inside the "
            "intervals stated here, which no theorem proves: they are simulated."
        )
    return (
        "It rests on one random split. Another seed gives other numbers, mostly inside the "
        "intervals stated here."
    )


def holds_for(evidence: Evidence) -> str:
    """Say for which rows everything holds."""
    if evidence.population.kind == "period":
        return (
            f"Everything above speaks about {such_rows(evidence)}. Nothing proves it for later "
            "rows, and none have been checked so far."
        )
    rows = "rows drawn like these"
    if evidence.population.kind == "new units":
        rows = such_rows(evidence)
    return f"Everything above holds for {rows}; no new data have been checked so far."


def parts(evidence: Evidence) -> str:
    """Say which rows served what."""
    if evidence.test.folds:
        return (
            f"The table has few rows, so none was kept aside: they were dealt at random into "
            f"{evidence.test.folds} folds, and each fold was predicted by models that were fitted "
            "and chosen without it. Every number about quality in this report comes from these "
            "predictions, unless it says otherwise; the model that is delivered is fitted to all "
            "rows."
        )
    return (
        f"{dealing(evidence)}: {count(evidence.n_train)} to train and choose the model, "
        f"{calibrating(evidence)}{count(evidence.n_test)} to test. Every number about quality in "
        "this report comes from the test rows, unless it says otherwise."
    )


def dealing(evidence: Evidence) -> str:
    """Say how rows were dealt out."""
    if evidence.population.kind == "new units":
        owner = label(evidence.population.piece, 80)
        return f"The rows were dealt at random, with all rows of one {owner} together"
    if evidence.population.kind == "period":
        return "The rows were dealt in their order in time, the latest last"
    return "The rows were dealt at random"


def group_test(evidence: Evidence) -> str:
    """Name the test that compares groups."""
    if evidence.population.kind == "new units":
        return f"(Welch’s test on the mean of each {label(evidence.population.piece, 80)})."
    name = "Welch’s test" if evidence.task == "regression" else "Fisher’s exact test"
    if evidence.population.kind == "period":
        return f"({name}, which counts rows of the period as if each stood alone)."
    return f"({name})."


def interval_method(evidence: Evidence) -> str:
    """Name the interval of a share, as after "Coverage has"."""
    level = f"{100 * evidence.confidence:.6g}%"
    if evidence.population.kind == "new units":
        return f"a betting interval over {label(evidence.population.pieces, 80)} at {level}"
    if evidence.population.kind == "period":
        return (
            f"an interval of Hoeffding and Azuma at {level} (rows may depend on those before them)"
        )
    if evidence.test.folds:
        return f"a binomial interval at {level}, {WIDENED}"
    return f"an exact binomial interval at {level}"


def bands_method(evidence: Evidence) -> str:
    """Name the intervals of several shares."""
    if evidence.population.kind == "new units":
        return f"betting intervals over {label(evidence.population.pieces, 80)}"
    if evidence.population.kind == "period":
        return "intervals of Hoeffding and Azuma (rows may depend on those before them)"
    if evidence.test.folds:
        return f"binomial intervals (Clopper and Pearson), {WIDENED}"
    return "exact binomial intervals (Clopper and Pearson)"


def shares_method(evidence: Evidence) -> str:
    """Name the intervals of the shares in the section on errors."""
    level = f"{100 * evidence.confidence:.6g}%"
    if evidence.population.kind == "alike" and not evidence.test.folds:
        return f"Shares have exact binomial intervals at {level}."
    return f"Shares have {bands_method(evidence)} at {level}."


def quantiles_method(evidence: Evidence) -> str:
    """Name the intervals of the quantiles of the error."""
    level = f"{100 * evidence.confidence:.6g}%"
    if evidence.population.kind == "period":
        return "Quantiles of the error have no interval: rows of a period depend on each other."
    if evidence.test.folds:
        return f"Quantiles of the error have {level} intervals from order statistics, {WIDENED}."
    drawn = ""
    if evidence.population.kind == "new units":
        drawn = f" of one row drawn from each {label(evidence.population.piece, 80)}"
    return (
        f"Quantiles of the error have {level} intervals from order statistics{drawn}, which hold "
        "for every continuous distribution."
    )


def calibrated_on(evidence: Evidence) -> str:
    """Say by which rows sets and intervals were calibrated, and how."""
    if evidence.population.kind == "period":
        how = "the hardest decides"
        if evidence.task == "regression":
            how += ", and errors that last are enlarged as few stretches and a longer history ask"
        return (
            "by the errors on earlier stretches of time, each predicted from the rows before it: "
            + how
        )
    if evidence.test.folds:
        return (
            "by the errors of all rows, each predicted by a model that had not seen it; those of "
            "the rows tested here by the errors in the other folds (cross-conformal prediction)"
        )
    method = "hierarchical" if evidence.population.kind == "new units" else "split"
    return (
        f"on {plural(evidence.n_calibration, 'row')} that neither training nor this table used "
        f"({method} conformal prediction)"
    )


def calibrating(evidence: Evidence) -> str:
    """Count the rows that were set aside for calibration, inside a list."""
    if evidence.population.kind == "period":
        return ""
    return f"{count(evidence.n_calibration)} to calibrate its sets and intervals, "


def promise(evidence: Evidence, kind: str) -> str:
    """Say what calibration promises of rows that are not drawn alike."""
    if evidence.population.kind == "new units" and evidence.n_calibration:
        return (
            f"The {kind} were calibrated on rows of other {label(evidence.population.pieces, 80)}, "
            f"so that they hold the truth for at least {100 * evidence.coverage:.6g}% of "
            f"{such_rows(evidence)}, on average over such calibrations."
        )
    if evidence.test.folds:
        return (
            f"No theorem promises that {kind} of so small a table hold the truth for "
            f"{100 * evidence.coverage:.6g}% of such rows; on simulated tables they did."
        )
    if evidence.population.kind == "period" and evidence.held is not None:
        found = evidence.held
        words = percent_triple(found.share, found.low, found.high)
        return (
            f"Stretches of time are too few for a theorem to promise how often {kind} hold. In "
            f"this period they held {words[0]}; with {100 * evidence.confidence:.6g}% confidence "
            f"{words[1]} to {words[2]} was to be expected there. Nothing is known of later rows."
        )
    return ""
