"""Perturb all inputs slightly, to check that results are portable.

To use it, put this folder on PYTHONPATH and set RENYI_SHAKE=1e-12. Python then imports this module
at start-up, in every worker, kernel and subprocess. From then on, each float that
`np.random.default_rng` draws, and each feature that `FairDataset.encode` returns, has a relative
error of up to RENYI_SHAKE. Results that are printed or asserted must not change.
"""

import os
import sys
from dataclasses import replace
from functools import wraps
from importlib.machinery import PathFinder

SHAKE = float(os.environ["RENYI_SHAKE"])
# Not dirichlet, because its draws have to add up to 1.
FLOATS = (
    "beta chisquare exponential gamma gumbel laplace logistic lognormal multivariate_normal "
    "normal random standard_cauchy standard_exponential standard_gamma standard_normal "
    "standard_t triangular uniform"
)


def shaken(values):
    """Return the values with errors that depend only on the value, so that ties stay ties.

    Integers, such as indicators and ages, are exact on every machine and stay unchanged.
    """
    return values * (1 - SHAKE * (abs(values) * 1024.1 % 1.0) * (values % 1.0 != 0))


def shake_generators(random):
    """Let `default_rng` return generators whose float draws are slightly off."""

    def shaken_method(method):
        @wraps(method)
        def draw(self, *args, out=None, **kwargs):
            values = method(self, *args, **kwargs, **({} if out is None else {"out": out}))
            if out is None:
                return shaken(values)
            out[...] = shaken(values)
            return out

        return draw

    methods = {name: shaken_method(getattr(random.Generator, name)) for name in FLOATS.split()}
    generator, default_rng = type("Generator", (random.Generator,), methods), random.default_rng

    @wraps(default_rng)
    def shaken_default_rng(seed=None):
        rng = default_rng(seed)
        return rng if rng is seed else generator(rng.bit_generator)

    random.default_rng = shaken_default_rng


def shake_datasets(module):
    """Let `FairDataset.encode` return features that are slightly off."""
    encode = module.FairDataset.encode

    @wraps(encode)
    def shaken_encode(self, **options):
        encoded = encode(self, **options)
        parts = {"X_train": encoded.X_train.copy(), "X_test": encoded.X_test.copy()}
        for X in parts.values():
            stored = X.data if hasattr(X, "tocsr") else X
            stored[...] = shaken(stored)
        return replace(encoded, **parts)

    module.FairDataset.encode = shaken_encode


CHANGES = {"numpy.random": shake_generators, "renyi_lib.datasets._dataset": shake_datasets}


class Finder:
    """Change the modules when they are imported."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in CHANGES:
            return None
        spec = PathFinder.find_spec(name, path, target)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            CHANGES[name](module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder)
