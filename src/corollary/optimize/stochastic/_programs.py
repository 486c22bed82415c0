"""Compiled programs for averages of JAX functions; callers enable double precision."""

from functools import partial
from typing import Any

from corollary.core.xla import jax, jnp


def _losses(term: Any, x: Any, rows: Any) -> Any:
    return jax.vmap(partial(term, x))(*rows)


@partial(jax.jit, static_argnames="term")
def mean_and_gradient(x: Any, rows: Any, *, term: Any) -> Any:
    """Return the mean of a term over rows, and its gradient."""
    return jax.value_and_grad(lambda x: _losses(term, x, rows).mean())(x)


@partial(jax.jit, static_argnames="term")
def term_gradients(x: Any, rows: Any, *, term: Any) -> Any:
    """Return the gradient of the term at each row."""
    return jax.jacrev(lambda x: _losses(term, x, rows))(x)


@partial(jax.jit, static_argnames="rule")
def apply_rule(x: Any, memory: Any, gradient: Any, rate: Any, *, rule: Any) -> Any:
    """Take one step of a rule; return the point and what the rule remembers."""
    updates, memory = rule.transform(rate).update(gradient, memory, x)
    return x + updates, memory


@partial(jax.jit, static_argnames=("term", "rule"))
def run_epoch(
    start: Any, data: Any, rows: Any, shares: Any, rates: Any, *, term: Any, rule: Any
) -> Any:
    """Take one step for each row of ``rows``; return point, average, total weight and memory."""

    def step(carry: Any, plan: Any) -> Any:
        x, average, total, memory = carry
        rows, share, rate = plan
        batch = jax.tree.map(lambda a: a[rows], data)
        gradient = jax.grad(lambda x: jnp.sum(share * _losses(term, x, batch)))(x)
        total = total + rate
        average = average + rate / total * (x - average)
        if rule is None:
            return (x - rate * gradient, average, total, memory), None
        x, memory = apply_rule(x, memory, gradient, rate, rule=rule)
        return (x, average, total, memory), None

    end, _ = jax.lax.scan(step, start, (rows, shares, rates))
    return end
