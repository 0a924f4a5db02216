"""Penalties as differentiable functions in JAX and torch.

A penalty computes its own gradient (Danskin's theorem), so no library has to differentiate
through a singular value decomposition. This module passes that gradient on as a custom gradient::

    penalty = as_jax(RenyiPenalty(), groups)             # or as_torch
    loss = lambda theta: cross_entropy(theta) + lam * penalty(network(theta, X))

Arrays are converted to numpy and back. This is cheap, because the table is small and needs only
one pass over F. Arrays on a GPU are copied. Second derivatives are not supported.

JAX and torch are imported only when they are used.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from renyi_lib._optional import missing
from renyi_lib._parameters import instance
from renyi_lib.penalties import Groups, Penalty
from renyi_lib.stochastic import TABLE_MEASURES, Fermi, RunningTable

__all__ = ["DampedTable", "as_jax", "as_torch", "running_table_as_jax"]


def as_jax(penalty: Any, groups: Any = None) -> Callable:
    """Convert a penalty to a function of JAX arrays, with its gradient; it works under `jax.jit`.

    Parameters
    ----------
    penalty : Penalty or BatchTable
        Penalty, or any stateless object that has ``value_and_grad(F, groups)``. State is not
        allowed, because JAX may evaluate the function more or less often than you call it.
        For a `RunningTable`, use `running_table_as_jax`.
    groups : Groups or array-like of shape (n,), optional
        Group of each sample; for an object that is not a `Penalty`, integer codes. If omitted, as
        for mini-batches, the function takes the codes of the groups, 0 … d - 1, as its second
        argument.

    Returns
    -------
    callable
        Function ``f(F)`` or ``f(F, codes)``, whose value has the precision of F.

    See Also
    --------
    as_torch : Convert a penalty to a function of torch tensors.
    renyi_lib.autodiff.running_table_as_jax : Convert a running table to a JAX training step.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> from renyi_lib.penalties import BinaryRenyiPenalty
    >>> from renyi_lib.autodiff import as_jax
    >>> penalty = as_jax(BinaryRenyiPenalty(), ["f", "m", "m", "f"])
    >>> z = jnp.array([-2.0, 0.0, 1.0, 1.0])
    >>> def of_scores(z):
    ...     x = jax.nn.sigmoid(z)
    ...     return penalty(jnp.column_stack([1 - x, x]))
    >>> print(f"{of_scores(z):.4f}")
    0.0363
    >>> jax.jit(jax.grad(of_scores))(z).round(3)
    Array([-0.02 ,  0.048,  0.038, -0.037], dtype=float32)
    """
    if isinstance(penalty, RunningTable | Fermi):
        raise ValueError(
            f"penalty is a {type(penalty).__name__}, which has state that JAX cannot track: use "
            "running_table_as_jax for a RunningTable; for other penalties, call value_and_grad "
            "outside jit, and pull the gradient back with jax.vjp"
        )
    jax = _imported("jax", "as_jax")
    evaluate = _evaluator(penalty, groups)

    @jax.custom_vjp
    def value(F, *codes):
        return both(F, *codes)[0]

    def both(F, *codes):
        shapes = jax.ShapeDtypeStruct((), F.dtype), jax.ShapeDtypeStruct(F.shape, F.dtype)
        # The callback may receive F in another precision than the caller, so pass the dtype.
        call = partial(evaluate, dtype=F.dtype)
        return jax.pure_callback(call, shapes, F, *codes, vmap_method="sequential")

    def forward(F, *codes):
        found, gradient = both(F, *codes)
        return found, (gradient, len(codes))

    def backward(kept, by_value):
        gradient, others = kept
        return by_value * gradient, *(None for _ in range(others))

    value.defvjp(forward, backward)

    def checked(F, *codes):
        F, *codes = (jax.numpy.asarray(each) for each in (F, *codes))
        _check_shapes(penalty, F, codes[0] if codes else groups)
        return value(F, *codes)

    return checked


class DampedTable(NamedTuple):
    """State of a `RunningTable`, as arrays that JAX passes from step to step.

    Attributes
    ----------
    table : array of shape (c, d)
        Running average E of the batches' tables.
    seen : array of shape ()
        Number of samples seen so far.
    """

    table: Any
    seen: Any


def running_table_as_jax(way: RunningTable, n_classes: int) -> tuple[DampedTable, Callable]:
    """Convert a running table to a step of a JAX training loop, with its state as an argument.

    Parameters
    ----------
    way : RunningTable
        Running table whose groups, measure and memory are used; it is not modified.
    n_classes : int
        Number of classes.

    Returns
    -------
    start : DampedTable
        State before the first batch.
    step : callable
        Function ``value, memory = step(memory, F, codes)``, which is differentiable with respect
        to F and suitable for `jax.jit` and `jax.lax.scan`. The value is the measure of the table E
        after the batch. Its gradient with respect to F is the measure's gradient at E, distributed
        over the batch, as in `RunningTable`.

    See Also
    --------
    renyi_lib.as_jax : Convert a stateless penalty.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> from renyi_lib.stochastic import RunningTable
    >>> from renyi_lib.autodiff import running_table_as_jax
    >>> memory, step = running_table_as_jax(RunningTable(n_groups=2, memory=100), n_classes=2)
    >>> F, codes = jnp.array([[0.75, 0.25], [0.25, 0.75]]), jnp.array([0, 1])
    >>> one_step = jax.value_and_grad(lambda F: step(memory, F, codes), has_aux=True)
    >>> (value, memory), gradient = one_step(F)
    >>> print(f"{value:.4f} after {memory.seen:.0f} samples")
    0.2500 after 2 samples
    """
    instance(RunningTable, "a RunningTable")("way", way)
    jax = _imported("jax", "running_table_as_jax")
    jnp = jax.numpy
    start = DampedTable(jnp.zeros((n_classes, way.n_groups)), jnp.zeros(()))

    def of_table(T, dtype):
        value, dT = TABLE_MEASURES[way.measure](np.asarray(T, dtype=float))
        return np.asarray(value, dtype=dtype), dT.astype(dtype)

    def step(memory, F, codes):
        member = jax.nn.one_hot(codes, way.n_groups, dtype=F.dtype)
        T = F.T @ member / len(F)
        seen = memory.seen + len(F)
        beta = jnp.minimum(1.0, jnp.maximum(len(F) / way.memory, len(F) / seen))
        still = jax.lax.stop_gradient(T)
        E = memory.table + beta * (still - memory.table)
        shapes = jax.ShapeDtypeStruct((), E.dtype), jax.ShapeDtypeStruct(E.shape, E.dtype)
        call = partial(of_table, dtype=E.dtype)
        value, dT = jax.pure_callback(call, shapes, E, vmap_method="sequential")
        value, dT = jax.lax.stop_gradient((value, dT))
        # The second term is 0 and only adds the gradient of sum(dT * T).
        return value + jnp.sum(dT * (T - still)), DampedTable(E, seen)

    return start, step


def as_torch(penalty: Any, groups: Any = None) -> Callable:
    """Convert a penalty to a function of torch tensors, with its gradient for `backward`.

    Parameters
    ----------
    penalty : Penalty, BatchTable, RunningTable or Fermi
        Penalty, or any object with ``value_and_grad(F, groups)``. If it keeps state, each call
        updates it.
    groups : Groups or array-like of shape (n,), optional
        Group of each sample; for an object that is not a `Penalty`, integer codes. If omitted, as
        for mini-batches, the function takes the codes of the groups, 0 … d - 1, as its second
        argument.

    Returns
    -------
    callable
        Function ``f(F)`` or ``f(F, codes)``, whose value is a scalar tensor on the device of F.

    See Also
    --------
    renyi_lib.as_jax : Convert a penalty to a function of JAX arrays.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> from renyi_lib.stochastic import RunningTable
    >>> from renyi_lib.autodiff import as_torch
    >>> penalty = as_torch(RunningTable(n_groups=2))  # doctest: +SKIP
    >>> for x, y, s in batches:  # doctest: +SKIP
    ...     F = torch.softmax(network(x), dim=1)
    ...     loss = torch.nn.functional.nll_loss(F.log(), y) + lam * penalty(F, s)
    ...     optimizer.zero_grad()
    ...     loss.backward()
    ...     optimizer.step()
    """
    torch = _imported("torch", "as_torch")
    evaluate = _evaluator(penalty, groups)

    class Value(torch.autograd.Function):  # type: ignore[name-defined]
        @staticmethod
        def forward(context, F, *codes):
            arrays = [each.detach().cpu().numpy() for each in (F, *codes)]
            value, gradient = evaluate(*arrays)
            context.save_for_backward(torch.as_tensor(gradient, device=F.device))
            context.others = len(codes)
            return torch.as_tensor(value, device=F.device)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(context, by_value):
            (gradient,) = context.saved_tensors
            return by_value * gradient, *(None for _ in range(context.others))

    if groups is None:
        return lambda F, codes: Value.apply(F, torch.as_tensor(codes))
    return Value.apply


def _check_shapes(penalty, F, groups):
    """Raise a `ValueError` unless F has a row for each sample; shapes are known even in `jit`."""
    if len(F.shape) != 2 and getattr(penalty, "depends_on_table", False):
        raise ValueError(
            f"F must have a row for each sample and a column for each class, but it has shape "
            f"{F.shape}: for two classes with probability p, pass column_stack([1 - p, p])"
        )
    n_samples = len(groups.codes) if isinstance(groups, Groups) else np.shape(groups)[0]
    if F.shape[0] != n_samples:
        raise ValueError(
            f"F and the groups (or codes) must have the same number of samples, but F has "
            f"{F.shape[0]} and the groups have {n_samples}"
        )


def _evaluator(penalty, groups):
    """Return a function of numpy arrays that computes value and gradient in F's precision."""
    if not hasattr(penalty, "value_and_grad"):
        raise ValueError(
            "penalty must have a method value_and_grad, like RenyiPenalty(), but it is "
            f"{penalty!r}"
        )
    if groups is not None and isinstance(penalty, Penalty) and not isinstance(groups, Groups):
        groups = Groups.from_labels(groups)

    def evaluate(F, *codes, dtype=None):
        F = np.asarray(F, dtype=dtype)
        of = np.asarray(codes[0]) if groups is None else groups
        value, gradient = penalty.value_and_grad(F, of)
        return np.asarray(value, dtype=F.dtype), np.asarray(gradient, dtype=F.dtype)

    return evaluate


def _imported(name, feature):
    try:
        return __import__(name)
    except ImportError as error:
        raise missing(name, feature, name) from error
