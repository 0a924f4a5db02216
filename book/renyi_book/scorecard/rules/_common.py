"""Functions that all modules of rules use."""

import numpy as np


def registry():
    """Return a table of rules by function name, and the decorator that fills it."""
    rules = {}

    def rule(function):
        rules[function.__name__] = function
        return function

    return rules, rule


def delta(claim, thresholds):
    """Return the smallest effect of a claim, scaled as in the sensitivity analysis."""
    return claim["smallest"]["delta"] * thresholds.effect_scale


def options(claim):
    """Return the options that distinguish a claim from others with the same rule."""
    return claim.get("options", {})


def random_tables(shapes=((2, 2), (3, 2), (3, 4), (6, 5)), each=5, seed=0):
    """Return joint tables without zeros, from a fixed seed."""
    rng = np.random.default_rng(seed)
    return [rng.dirichlet(np.ones(c * d)).reshape(c, d) for c, d in shapes for _ in range(each)]


def order_of(number):
    """Return the order of magnitude of a number whose digits are rounding errors."""
    return f"below 1e{int(np.ceil(np.log10(max(number, 1e-15))))}"
