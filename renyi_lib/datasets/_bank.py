"""Bank Marketing: phone calls by a Portuguese bank to sell term deposits."""

import io

import pandas as pd

from renyi_lib.datasets._dataset import FairDataset
from renyi_lib.datasets._files import LICENSE, read_original
from renyi_lib.datasets._sensitive import Grouping

_DESCRIPTIONS = {
    "age": "age in years",
    "job": "kind of job; 'unknown' is one of the values",
    "marital": "marital status: married, single, or divorced (widowed counts as divorced)",
    "education": "primary, secondary or tertiary; 'unknown' is one of the values",
    "default": "whether the client has a credit in default",
    "balance": "average yearly balance of the account, in euros",
    "housing": "whether the client has a housing loan",
    "loan": "whether the client has a personal loan",
    "contact": "kind of phone of the last call; 'unknown' is one of the values",
    "day": "day of the month of the last call",
    "month": "month of the last call",
    "duration": "length of the last call in seconds, known only once the answer is known too",
    "campaign": "number of calls to this client in this campaign, including the last one",
    "pdays": "days since the last call of an earlier campaign, -1 if there was none",
    "previous": "number of calls to this client before this campaign",
    "poutcome": "outcome of the earlier campaign; 'unknown' mostly if there was none",
    "y": "whether the client took the term deposit",
}
_TARGET = "y"
_N_TRAIN = 32000


def load_bank() -> FairDataset:
    """Load the Bank Marketing data set, split as in the paper.

    The paper trains on the first 32000 rows and tests on the last 13211. The file is in
    chronological order, and the campaign changes over time, so 5.9 % of the training rows but
    25.7 % of the test rows are positive.

    Returns
    -------
    FairDataset
        Data set. The only key of its ``sensitive_choices`` is ``"married"`` (S = 1 for married, 0
        for single and divorced). The default features are all columns except marital.
        ``'unknown'`` is treated as an ordinary value.

    References
    ----------
    S. Moro, P. Rita and P. Cortez, *Bank Marketing*, UCI Machine Learning Repository, 2014.
    https://doi.org/10.24432/C5K306

    Examples
    --------
    >>> bank = load_bank().encode(columns=["age"])
    >>> print(f"{bank.y_train.mean():.3f} {bank.y_test.mean():.3f}")
    0.059 0.257
    """
    table = pd.read_csv(io.BytesIO(read_original("bank-full.csv")), sep=";", na_filter=False)
    return FairDataset(
        name="bank",
        train=table.iloc[:_N_TRAIN].copy(),
        test=table.iloc[_N_TRAIN:].copy(),
        target=_TARGET,
        positive="yes",
        features=tuple(column for column in _DESCRIPTIONS if column not in ("marital", _TARGET)),
        sensitive_choices={
            "married": (Grouping("marital", {"not married": None, "married": "married"}),)
        },
        descriptions=dict(_DESCRIPTIONS),
        codes={},
        doi="10.24432/C5K306",
        license=LICENSE,
    )
