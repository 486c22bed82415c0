"""What a reader should know about rows that belong together, in sentences."""

from corollary.core.population import Population
from corollary.reporting._records import Finding
from corollary.reporting._structure import Structure, UnitFact


def structure_findings(structure: Structure, population: Population, task: str) -> list[Finding]:
    """Say what was found, what it changes, and which option settles it."""
    findings = []
    if structure.headline is not None:
        findings.append(_headline(structure, structure.headline, population, task))
    if structure.copies is not None:
        findings.append(_copies(structure.copies))
    findings += [_fact(fact) for fact in structure.facts]
    if structure.n_twins:
        findings.append(_twins(structure))
    if structure.vouched:
        sentence = (
            "You vouched that rows do not depend on each other (--independent). Copies, owners and "
            "order of time were not looked for; every number of this report rests on your word."
        )
        findings.append(Finding("independent", sentence))
    return findings


def _headline(structure: Structure, unit: UnitFact, population: Population, task: str) -> Finding:
    """Tell what the unit is worth and how to settle whether new rows bring new ones."""
    columns = _listed(unit.columns)
    if unit.told:
        option = {"time": "--time", "order": "--order"}.get(unit.kind, "--group")
        sentence = f"The report speaks of {population.rows}, as {option} asks for."
        return Finding("told-rows", sentence, columns=unit.columns)
    errors = _errors(structure, population, task)
    if unit.kind == "owner":
        pieces = population.pieces
        sentence = (
            f"Rows with the same {columns} resemble each other ({unit.n_rows:,} rows, "
            f"{unit.n_units:,} {pieces}): {errors} The report speaks of new {pieces} (--group "
            f"{unit.columns[0]}). If new rows bring none, run again with --independent."
        )
    elif unit.kind == "joined":
        sentence = (
            f"Rows that agree in {columns} come together ({unit.n_rows:,} rows, "
            f"{unit.n_units:,} combinations), as after a join: {errors} The report speaks of new "
            "combinations. If new rows bring none, run again with --independent."
        )
    else:
        by = columns or "the order of the rows"
        option = f"--time {unit.columns[0]}" if unit.columns else "--order"
        sentence = (
            f"Rows change with {by}: {errors} The report speaks of {population.rows} ({option}). "
            "If the model shall predict rows among these and not later ones, run again with "
            "--independent."
        )
    return Finding("dependent-rows", sentence, columns=unit.columns)


def _errors(structure: Structure, population: Population, task: str) -> str:
    """Set the errors on seen and unseen units side by side."""
    judged = structure.familiarity
    if judged is None:
        return ""
    seen, unseen = (
        _percent(error) if task == "classification" else f"{error:.3g}"
        for error in (judged.seen, judged.unseen)
    )
    error = "error" if task == "classification" else "median error"
    if population.kind == "period":
        return f"the {error} is {seen} with rows dealt at random and {unseen} on later rows."
    pieces = population.pieces
    return f"the {error} is {seen} on rows of {pieces} that the model has seen, {unseen} on others."


def _copies(unit: UnitFact) -> Finding:
    near = " and near copies of them" if unit.kind == "near copies" else ""
    sentence = (
        f"{unit.n_rows:,} rows are {unit.n_units:,} different rows{near}. Each counts once: one of "
        "its copies was kept, drawn at random."
    )
    return Finding("copies", sentence)


def _twins(structure: Structure) -> Finding:
    n = structure.n_twins
    if structure.twins_apart:
        sentence = (
            f"{n:,} rows have an identical twin, no more than chance explains: these data repeat "
            "by nature, and twins may lie on both sides of the split."
        )
        return Finding("twins-across-split", sentence)
    sentence = f"{n:,} rows have an identical twin; twins were kept on the same side of the split."
    return Finding("duplicate-rows", sentence)


def _fact(unit: UnitFact) -> Finding:
    """Tell of a unit that changes nothing in this report."""
    if unit.in_time:
        by = f", in order of {unit.columns[0]!r}" if unit.columns else " of the file"
        what = f"Trees err {_percent(unit.worth)} more on later rows{by}"
    else:
        columns = _listed(unit.columns)
        what = f"Trees err {_percent(unit.worth)} more on rows of a new value of {columns}"
    sentence = f"{what}; the report does not speak of those."
    return Finding("row-structure", sentence, columns=unit.columns)


def _listed(names: tuple[str, ...]) -> str:
    quoted = [repr(name) for name in names[:4]] + ["others"] * (len(names) > 4)
    return " and ".join(filter(None, (", ".join(quoted[:-1]), *quoted[-1:])))


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.1 else f"{share:.1%}"
