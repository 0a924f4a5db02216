"""Census-Income (KDD): survey records, used to predict an income above 50 000 dollars."""

import io
import os

import pandas as pd

from renyi_lib.datasets._dataset import FairDataset
from renyi_lib.datasets._files import LICENSE, read_large
from renyi_lib.datasets._sensitive import Grouping

_DESCRIPTIONS = {
    "age": "age in years, 90 for everyone who is 90 or older",
    "class of worker": "kind of employer",
    "detailed industry recode": "code of the industry, 0 outside the universe",
    "detailed occupation recode": "code of the occupation, 0 outside the universe",
    "education": "highest level of schooling reached; 'Children' for those under 15",
    "wage per hour": "hourly wage in cents, 0 if not paid by the hour or not asked",
    "enroll in edu inst last wk": "whether enrolled in a school or college last week",
    "marital stat": "marital status",
    "major industry code": "industry in 24 groups",
    "major occupation code": "occupation in 15 groups",
    "race": "race, in five categories",
    "hispanic origin": "Hispanic origin; 'NA' and 'Do not know' are two of the values",
    "sex": "sex, Female or Male",
    "member of a labor union": "whether a member of a labor union",
    "reason for unemployment": "why unemployed",
    "full or part time employment stat": "full-time, part-time or not in the labor force",
    "capital gains": "income from selling assets at a profit, in dollars",
    "capital losses": "loss from selling assets, in dollars",
    "dividends from stocks": "dividends from stocks, in dollars",
    "tax filer stat": "how the person files a tax return, if at all",
    "region of previous residence": "region of the previous residence, if moved",
    "state of previous residence": "state of the previous residence, if moved; '?' if not known",
    "detailed household and family stat": "role in the household and family, 38 values",
    "detailed household summary in household": "role in the household, 8 values",
    "instance weight": "survey weight: number of people whom this record represents",
    "migration code-change in msa": "move between metropolitan areas; '?' in the 1995 survey",
    "migration code-change in reg": "move between regions; '?' in the 1995 survey",
    "migration code-move within reg": "move within a region; '?' in the 1995 survey",
    "live in this house 1 year ago": "whether the person lived in the same house a year ago",
    "migration prev res in sunbelt": "whether moved from the Sunbelt; '?' in the 1995 survey",
    "num persons worked for employer": "size of the employer in six classes, 0 if none",
    "family members under 18": "which parents of a child are present",
    "country of birth father": "father's country of birth; '?' if not known",
    "country of birth mother": "mother's country of birth; '?' if not known",
    "country of birth self": "country of birth; '?' if not known",
    "citizenship": "citizenship",
    "own business or self employed": "code for an own business, 0 outside the universe",
    "fill inc questionnaire for veteran's admin": "whether a veterans' form was filled in",
    "veterans benefits": "code for veterans' benefits, 0 outside the universe",
    "weeks worked in year": "weeks worked in the year",
    "year": "year of the survey, 94 or 95",
    "income": "yearly income above ('50000+.') or at most ('- 50000.') 50 000 dollars",
}
_TARGET = "income"
_WEIGHT = "instance weight"
_DOI = "10.24432/C5N30T"
# Columns of the file whose numbers are codes of categories.
_CODED = (
    "detailed industry recode",
    "detailed occupation recode",
    "own business or self employed",
    "veterans benefits",
    "year",
)

_GENDER = Grouping("sex", {"Female": "Female", "Male": "Male"})
_RACE = Grouping("race", {"non-White": None, "White": "White"})


def load_census_income(*, data_home: str | os.PathLike | None = None) -> FairDataset:
    """Load the Census-Income (KDD) data set, with UCI's two files as training and test set.

    It is larger and more recent than Adult, comes from the same survey, includes children and
    people without work, and has survey weights. The two files are too large for the package. A
    checkout of the repository contains them in ``data/``, and an installed package reads them
    from a folder of your choice.

    The raw tables differ from the files in only three ways. Columns are named, spaces around
    values are removed, and numbers that code a category (industry, occupation and others) are
    strings. Missing values remain ``'?'``, answers to questions that a person was not asked remain
    ``'Not in universe'``, and both count as categories.

    Parameters
    ----------
    data_home : path-like, optional
        Folder with ``census-income.data`` and ``census-income.test``, plain or compressed as
        ``.xz`` or ``.gz``. The default is the folder given by the environment variable
        ``RENYI_LIB_DATA``, otherwise the repository's ``data``, otherwise ``~/renyi_lib_data``.

    Returns
    -------
    FairDataset
        Data set with 199523 training and 99762 test rows. ``sensitive_choices`` are ``"gender"``
        (S = 1 for Male) and ``"gender-race"`` (Female or Male crossed with non-White or White,
        four groups). The default features are all columns except sex, the survey weight and the
        target. `encode` returns the weights as ``weight_train`` and ``weight_test``.

    Raises
    ------
    DataFileError
        If a file is missing, cannot be decompressed, or differs from UCI's. The message says
        where to put the file.

    References
    ----------
    *Census-Income (KDD)*, UCI Machine Learning Repository, 2000. https://doi.org/10.24432/C5N30T

    Examples
    --------
    >>> census = load_census_income()
    >>> census.train.shape, census.test.shape
    ((199523, 42), (99762, 42))
    >>> census.encode(columns=["age"]).weight_train[:3]
    array([1700.09, 1053.55,  991.95])
    """
    return FairDataset(
        name="census-income",
        train=_read("census-income.data", data_home),
        test=_read("census-income.test", data_home),
        target=_TARGET,
        positive="50000+.",
        features=tuple(c for c in _DESCRIPTIONS if c not in ("sex", _WEIGHT, _TARGET)),
        sensitive_choices={"gender": (_GENDER,), "gender-race": (_GENDER, _RACE)},
        descriptions=dict(_DESCRIPTIONS),
        codes={},
        doi=_DOI,
        license=LICENSE,
        weight=_WEIGHT,
    )


def _read(name, data_home):
    table = pd.read_csv(
        io.BytesIO(read_large(name, _DOI, data_home)),
        names=list(_DESCRIPTIONS),
        dtype=dict.fromkeys(_CODED, str),
        skipinitialspace=True,
        na_filter=False,
    )
    for column in ("major occupation code", "citizenship"):  # one value of each ends with a space
        table[column] = table[column].str.rstrip()
    return table
