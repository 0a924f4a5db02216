"""The penalties in JAX and in torch: values whose gradient is that of `value_and_grad`.

A penalty knows its own gradient (Danskin's theorem), so that no library has to differentiate
through a singular value decomposition. Here it is handed over as a custom gradient::

    penalty = as_jax(RenyiPenalty(), groups)             # or as_torch
    loss = lambda theta: cross_entropy(theta) + lam * penalty(network(theta, X))

Arrays go to numpy for the table and come back: the table is small, and the pass over F is one
pass. What lies on a GPU is copied. Second derivatives are not supported.

JAX and torch are imported when they are used, not before.
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
    """A penalty as a function of JAX arrays, with its gradient; works under `jax.jit`.

    Parameters
    ----------
    penalty : Penalty or BatchTable
        Or any object with ``value_and_grad(F, groups)`` and no memory: JAX may call it more or
        less often than you do. For a `RunningTable` see `running_table_as_jax`.
    groups : Groups or array-like of shape (n,), optional
        The group of each sample. Without it the function takes the groups' numbers, 0 … d - 1, as
        its second argument: for mini-batches.

    Returns
    -------
    callable
        ``f(F)`` or ``f(F, codes)``: a number, of the precision of F.

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
            f"penalty is a {type(penalty).__name__}, which has a memory that JAX cannot see. "
            "running_table_as_jax does it for a RunningTable; any other works with jax.vjp, "
            "outside jit"
        )
    jax = _imported("jax", "as_jax")
    evaluate = _evaluator(penalty, groups)

    @jax.custom_vjp
    def value(F, *codes):
        return both(F, *codes)[0]

    def both(F, *codes):
        shapes = jax.ShapeDtypeStruct((), F.dtype), jax.ShapeDtypeStruct(F.shape, F.dtype)
        # The callback may see another precision than the caller: that of F is what counts.
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
    """A `RunningTable`'s memory as an array that JAX carries from step to step.

    Attributes
    ----------
    table : array of shape (c, d)
        The running average E of the batches' tables.
    seen : array of shape ()
        How many samples have been seen.
    """

    table: Any
    seen: Any


def running_table_as_jax(way: RunningTable, n_classes: int) -> tuple[DampedTable, Callable]:
    """A running table for a training loop in JAX: its memory goes in and out of each step.

    Parameters
    ----------
    way : RunningTable
        Its groups, measure and memory are taken; the object itself stays as it is.
    n_classes : int
        Number of classes.

    Returns
    -------
    start : DampedTable
        The memory before the first batch.
    step : callable
        ``value, memory = step(memory, F, codes)``, differentiable with respect to F and
        suitable for `jax.jit` and `jax.lax.scan`. The value is that of the table E after the
        batch, and its gradient with respect to F is the measure's gradient at E, spread over the
        batch, as in `RunningTable`.

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
        # The number is the value, the gradient that of sum(dT * T).
        return value + jnp.sum(dT * (T - still)), DampedTable(E, seen)

    return start, step


def as_torch(penalty: Any, groups: Any = None) -> Callable:
    """A penalty as a function of torch tensors, with its gradient for `backward`.

    Parameters
    ----------
    penalty : Penalty, BatchTable, RunningTable or Fermi
        Or any object with ``value_and_grad(F, groups)``. One with a memory makes a step of it with
        each call.
    groups : Groups or array-like of shape (n,), optional
        As in `as_jax`.

    Returns
    -------
    callable
        ``f(F)`` or ``f(F, codes)``: a tensor with one number, on the device of F.

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
            f"F must have a row for each sample and a column for each class, got shape {F.shape}: "
            "of two classes with the probability p give column_stack([1 - p, p])"
        )
    n_samples = len(groups.codes) if isinstance(groups, Groups) else np.shape(groups)[0]
    if F.shape[0] != n_samples:
        raise ValueError(
            f"F and the groups need the same number of samples, but F has {F.shape[0]} and the "
            f"groups have {n_samples}"
        )


def _evaluator(penalty, groups):
    """A function of numpy arrays: the value and the gradient in the precision of F."""
    if not hasattr(penalty, "value_and_grad"):
        raise ValueError(
            f"penalty must have a method value_and_grad, as RenyiPenalty() has, not {penalty!r}"
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
