"""What every module of rules uses."""

import numpy as np


def registry():
    """A table of rules and the decorator that fills it: a rule is known by its function's name."""
    rules = {}

    def rule(function):
        rules[function.__name__] = function
        return function

    return rules, rule


def delta(claim, thresholds):
    """The smallest effect of a claim, varied with all others."""
    return claim["smallest"]["delta"] * thresholds.effect_scale


def options(claim):
    """What tells a claim from others that share its rule."""
    return claim.get("options", {})


def random_tables(shapes=((2, 2), (3, 2), (3, 4), (6, 5)), each=5, seed=0):
    """Joint tables without zeros, always the same ones."""
    rng = np.random.default_rng(seed)
    return [rng.dirichlet(np.ones(c * d)).reshape(c, d) for c, d in shapes for _ in range(each)]


def order_of(number):
    """A number whose digits are rounding errors: its order of magnitude."""
    return f"below 1e{int(np.ceil(np.log10(max(number, 1e-15))))}"
