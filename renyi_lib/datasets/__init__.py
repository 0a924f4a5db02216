"""Loaders of the paper's three data sets and a larger one, which verify each file's checksum."""

from renyi_lib.datasets._adult import load_adult
from renyi_lib.datasets._bank import load_bank
from renyi_lib.datasets._census_income import load_census_income
from renyi_lib.datasets._dataset import EncodedDataset, FairDataset
from renyi_lib.datasets._files import DataFileError
from renyi_lib.datasets._german import load_german
from renyi_lib.datasets._sensitive import Grouping

__all__ = [
    "DataFileError",
    "EncodedDataset",
    "FairDataset",
    "Grouping",
    "load_adult",
    "load_bank",
    "load_census_income",
    "load_german",
]
