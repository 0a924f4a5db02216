"""German Credit: customers of a bank who are good or bad credit risks."""

import io

import pandas as pd

from renyi_lib.datasets._dataset import FairDataset
from renyi_lib.datasets._files import LICENSE, read_original
from renyi_lib.datasets._sensitive import Grouping

_MEANINGS = {
    "Attribute1": "balance of the checking account, in German marks",
    "Attribute2": "duration of the credit, in months",
    "Attribute3": "credit history",
    "Attribute4": "purpose of the credit",
    "Attribute5": "amount of the credit, in German marks",
    "Attribute6": "savings, in German marks",
    "Attribute7": "years in the present employment",
    "Attribute8": "installment rate relative to the income, a number from 1 to 4",
    "Attribute9": "personal status and sex",
    "Attribute10": "other people who are liable for the debt",
    "Attribute11": "time at the present address, a number from 1 to 4",
    "Attribute12": "most valuable property",
    "Attribute13": "age in years",
    "Attribute14": "other installment plans",
    "Attribute15": "housing",
    "Attribute16": "number of credits at this bank",
    "Attribute17": "job",
    "Attribute18": "number of people whom the customer must support, 1 or 2",
    "Attribute19": "telephone",
    "Attribute20": "foreign worker",
    "class": "credit risk",
}

# UCI's own table of codes. A later study found errors in it; see the notes of `load_german`.
_CODES: dict[str, dict] = {
    "Attribute1": {
        "A11": "below 0",
        "A12": "0 to below 200",
        "A13": "200 or more, or a salary paid in for a year or longer",
        "A14": "no checking account",
    },
    "Attribute3": {
        "A30": "no credits taken, or all paid back duly",
        "A31": "all credits at this bank paid back duly",
        "A32": "existing credits paid back duly till now",
        "A33": "paid late in the past",
        "A34": "critical account, or credits at other banks",
    },
    "Attribute4": {
        "A40": "new car",
        "A41": "used car",
        "A42": "furniture or equipment",
        "A43": "radio or television",
        "A44": "household appliances",
        "A45": "repairs",
        "A46": "education",
        "A47": "holiday",
        "A48": "retraining",
        "A49": "business",
        "A410": "other",
    },
    "Attribute6": {
        "A61": "below 100",
        "A62": "100 to below 500",
        "A63": "500 to below 1000",
        "A64": "1000 or more",
        "A65": "unknown, or no savings account",
    },
    "Attribute7": {
        "A71": "unemployed",
        "A72": "below 1",
        "A73": "1 to below 4",
        "A74": "4 to below 7",
        "A75": "7 or more",
    },
    "Attribute9": {
        "A91": "male, divorced or separated",
        "A92": "female, divorced, separated or married",
        "A93": "male, single",
        "A94": "male, married or widowed",
        "A95": "female, single",
    },
    "Attribute10": {"A101": "none", "A102": "co-applicant", "A103": "guarantor"},
    "Attribute12": {
        "A121": "real estate",
        "A122": "building society savings or life insurance",
        "A123": "car or other",
        "A124": "unknown, or none",
    },
    "Attribute14": {"A141": "at a bank", "A142": "at stores", "A143": "none"},
    "Attribute15": {"A151": "rented", "A152": "own", "A153": "free"},
    "Attribute17": {
        "A171": "unemployed, or unskilled and not resident",
        "A172": "unskilled and resident",
        "A173": "skilled employee or official",
        "A174": "manager, self-employed, highly qualified or officer",
    },
    "Attribute19": {"A191": "none", "A192": "yes, under the customer's name"},
    "Attribute20": {"A201": "yes", "A202": "no"},
    "class": {1: "good", 2: "bad"},
}
_TARGET = "class"
_SENSITIVE = "Attribute9"
_N_TRAIN = 800


def load_german() -> FairDataset:
    """Load the German Credit data set, with the first 800 rows for training and 200 for testing.

    Returns
    -------
    FairDataset
        Data set. The only key of its ``sensitive_choices`` is ``"gender-marital"`` (S = 0, 1, 2, 3
        for A91, A92, A93, A94 of Attribute9; A95 does not occur). The default features are all
        columns except Attribute9. The positive class is 1, a good risk. There are no missing
        values.

    Notes
    -----
    Both UCI's table of codes and the paper interpret Attribute9 as gender and marital status.
    Grömping found that this table is wrong for several columns. In the corrected table, A92 is
    "female and not single, *or* male and single", A93 is "male, married or widowed", and A94 is
    "female, single", so the file does not determine gender at all. The groups are the same sets of
    people under either interpretation, and only their names differ. `EncodedDataset.group_names`
    contains the bare codes, and `FairDataset.codes` UCI's interpretation.

    References
    ----------
    H. Hofmann, *Statlog (German Credit Data)*, UCI Machine Learning Repository, 1994.
    https://doi.org/10.24432/C5NC77

    U. Grömping, *South German Credit Data: Correcting a Widely Used Data Set*, Report 4/2019,
    Beuth University of Applied Sciences Berlin, 2019; the corrected data:
    https://doi.org/10.24432/C5X89F

    Examples
    --------
    >>> german = load_german()
    >>> german.encode().group_names
    ('A91', 'A92', 'A93', 'A94')
    >>> german.codes["Attribute9"]["A93"]
    'male, single'
    """
    table = pd.read_csv(
        io.BytesIO(read_original("german.data")), sep=" ", names=list(_MEANINGS), na_filter=False
    )
    groups = {code: code for code in _CODES[_SENSITIVE] if code != "A95"}
    return FairDataset(
        name="german",
        train=table.iloc[:_N_TRAIN].copy(),
        test=table.iloc[_N_TRAIN:].copy(),
        target=_TARGET,
        positive=1,
        features=tuple(column for column in _MEANINGS if column not in (_SENSITIVE, _TARGET)),
        sensitive_choices={"gender-marital": (Grouping(_SENSITIVE, groups),)},
        descriptions={column: _describe(column) for column in _MEANINGS},
        codes={column: dict(codes) for column, codes in _CODES.items()},
        doi="10.24432/C5NC77",
        license=LICENSE,
    )


def _describe(column):
    codes = "; ".join(f"{code} = {meaning}" for code, meaning in _CODES.get(column, {}).items())
    return f"{_MEANINGS[column]}: {codes}" if codes else _MEANINGS[column]
