"""scikit-learn's ColumnTransformer in model files: which columns go where, by numbers or names.

A function that would choose columns, or an index of pandas, is saved as the list of columns that it
named when the transformer was fitted.
"""

from typing import Any

from corollary.core.schema import Instance, Sizes, Spec


class Columns(Spec):
    """Which columns: a name or a number, a list of them, or a slice."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        if isinstance(value, slice):
            ends = (value.start, value.stop, value.step)
            return all(end is None or isinstance(end, int) for end in ends)
        several = value if isinstance(value, list) else [value]
        return all(isinstance(one, str | int) for one in several)


class Part(Spec):
    """A name, a transformer and its columns."""

    def matches(self, value: Any, sizes: Sizes) -> bool:
        """See :class:`corollary.core.schema.Spec`."""
        match value:
            case (str(), "drop" | "passthrough", columns):
                return Columns().matches(columns, sizes)
            case (str(), step, columns):
                changes_rows = Instance("fit", "get_params", "transform").matches(step, sizes)
                return changes_rows and Columns().matches(columns, sizes)
        return False


def with_plain_columns(
    parameters: dict[str, Any], state: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write the columns of a column transformer as numbers, names and lists."""
    chosen = state.get("_columns", [columns for *_, columns in parameters["transformers"]])
    plain = list(map(_plain, chosen))
    steps = [(name, step, use) for (name, step, _), use in zip(parameters["transformers"], plain)]
    parameters = parameters | {"transformers": steps}
    if "transformers_" in state:
        fitted = [(name, step, _plain(columns)) for name, step, columns in state["transformers_"]]
        name, step, rest = state["_remainder"]
        remainder = (name, step, _plain(rest))
        state = state | {"_columns": plain, "transformers_": fitted, "_remainder": remainder}
    return parameters, state


def _plain(columns: Any) -> Any:
    if isinstance(columns, str | int | slice) or callable(columns):
        return columns
    return columns.tolist() if hasattr(columns, "tolist") else list(columns)


def column_transformer_fits(transformer: Any) -> str | None:
    """Say what is wrong between the parts of a loaded column transformer, or None."""
    d, inputs = transformer.n_features_in_, transformer._transformer_to_input_indices
    names = [name for name, *_ in transformer.transformers_]
    if len(set(names)) != len(names) or not set(names) <= set(inputs):
        return "its parts have no names of their own"
    if set(transformer.output_indices_) - set(inputs):
        return "its output belongs to no part"
    if not all(0 <= column < d for columns in inputs.values() for column in columns):
        return "a part reads columns that do not exist"
    for name, step, _ in transformer.transformers_:
        if not isinstance(step, str) and step.n_features_in_ != len(inputs[name]):
            return "a part was fitted to another number of columns"
    known = set(getattr(transformer, "feature_names_in_", ()))
    for *_, columns in (*transformer.transformers_, *transformer.transformers):
        several = columns if isinstance(columns, list) else [columns]
        if not all(one in known for one in several if isinstance(one, str)):
            return "a part reads columns of other names"
        if not all(-d <= one < d for one in several if isinstance(one, int)):
            return "a part reads columns that do not exist"
    return None
