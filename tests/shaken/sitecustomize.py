"""Shake all inputs a little: put this folder on PYTHONPATH, and set RENYI_SHAKE=1e-12.

Python imports this module at start-up, in every worker, kernel and subprocess. From then on each
float that `np.random.default_rng` draws, and each feature that `FairDataset.encode` returns, has a
relative error of up to RENYI_SHAKE. Results that are printed or asserted must not change.
"""

import os
import sys
from dataclasses import replace
from functools import wraps
from importlib.machinery import PathFinder

import numpy as np

SHAKE = float(os.environ["RENYI_SHAKE"])
FLOATS = (
    "beta chisquare dirichlet exponential gamma gumbel laplace logistic lognormal "
    "multivariate_normal normal random standard_cauchy standard_exponential standard_gamma "
    "standard_normal standard_t triangular uniform"
)


def shaken(values):
    """The values with a relative error that depends on the value alone, so that ties stay ties."""
    return values * (1 - SHAKE * np.modf(np.abs(values) * 1234.567)[0])


class ShakenGenerator(np.random.Generator):
    """A generator whose float draws are slightly off."""


def shaken_method(method):
    @wraps(method)
    def draw(self, *args, out=None, **kwargs):
        values = shaken(method(self, *args, **kwargs, **({} if out is None else {"out": out})))
        if out is None:
            return values if np.shape(values) else float(values)
        out[...] = values
        return out

    return draw


for name in FLOATS.split():
    setattr(ShakenGenerator, name, shaken_method(getattr(np.random.Generator, name)))


def shaken_default_rng(default_rng):
    @wraps(default_rng)
    def make(seed=None):
        rng = default_rng(seed)
        return rng if rng is seed else ShakenGenerator(rng.bit_generator)

    return make


def shaken_encode(encode):
    @wraps(encode)
    def make(self, **options):
        encoded = encode(self, **options)
        parts = {"X_train": encoded.X_train.copy(), "X_test": encoded.X_test.copy()}
        for X in parts.values():
            stored = X if isinstance(X, np.ndarray) else X.data  # of a sparse array
            stored[...] = shaken(stored)
        return replace(encoded, **parts)

    return make


class DatasetFinder:
    """Patch `FairDataset.encode` when its module is imported, and not before."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "renyi_lib.datasets._dataset":
            return None
        spec = PathFinder.find_spec(name, path, target)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            module.FairDataset.encode = shaken_encode(module.FairDataset.encode)

        spec.loader.exec_module = exec_module
        return spec


np.random.default_rng = shaken_default_rng(np.random.default_rng)
sys.meta_path.insert(0, DatasetFinder)
