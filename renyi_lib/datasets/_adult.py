"""Adult: census records of 1994, used to predict an income above 50 000 dollars a year."""

import io

import pandas as pd

from renyi_lib.datasets._dataset import FairDataset
from renyi_lib.datasets._files import LICENSE, read_original
from renyi_lib.datasets._sensitive import Grouping

_DESCRIPTIONS = {
    "age": "age in years",
    "workclass": "kind of employer; '?' if not known",
    "fnlwgt": "survey weight: number of people whom this record represents",
    "education": "highest level of schooling reached",
    "education-num": "level of schooling as a number, 1 (preschool) to 16 (doctorate)",
    "marital-status": "marital status",
    "occupation": "kind of work; '?' if not known",
    "relationship": "role in the household, such as Husband or Own-child",
    "race": "race, in the five categories of the census",
    "sex": "sex, Female or Male",
    "capital-gain": "income from selling assets at a profit, in dollars",
    "capital-loss": "loss from selling assets, in dollars",
    "hours-per-week": "hours worked in a usual week",
    "native-country": "country of birth; '?' if not known",
    "income": "yearly income above ('>50K') or at most ('<=50K') 50 000 dollars",
}
_TARGET = "income"
_NOT_A_FEATURE = ("sex", "native-country", _TARGET)

_GENDER = Grouping("sex", {"Female": "Female", "Male": "Male"})
_RACE = Grouping("race", {"non-White": None, "White": "White"})


def load_adult() -> FairDataset:
    """Load the Adult data set, with UCI's two files as training and test set.

    The raw tables differ from the files in only four ways. Columns are named, and three things are
    removed: the space before each value, the comment in the first line of the test file, and the
    period after each label of the test file, so that both tables contain ``'>50K'``. Unknown
    values remain ``'?'`` and count as a separate category.

    Returns
    -------
    FairDataset
        Data set with 32561 training and 16281 test rows. ``sensitive_choices`` are ``"gender"``
        (S = 1 for Male, the privileged group) and ``"gender-race"`` (Female or Male crossed with
        non-White or White, four groups). The default features are all columns except sex and
        native-country, encoded in 64 columns (59 for ``"gender-race"``, where race is not a
        feature).

    See Also
    --------
    load_census_income : Load a larger and more recent data set of the same kind.

    References
    ----------
    B. Becker and R. Kohavi, *Adult*, UCI Machine Learning Repository, 1996.
    https://doi.org/10.24432/C5XW20

    Examples
    --------
    >>> adult = load_adult()
    >>> adult.train.loc[0, ["workclass", "sex", "income"]].tolist()
    ['State-gov', 'Male', '<=50K']
    >>> adult.encode(scaling="standard")
    <EncodedDataset: 32561 train and 16281 test rows, 64 features, groups: Female; Male>
    >>> adult.encode(sensitive="gender-race").group_names
    ('Female, non-White', 'Female, White', 'Male, non-White', 'Male, White')
    """
    test = _read("adult.test", skiprows=1)  # the first line is a comment
    test[_TARGET] = test[_TARGET].str.removesuffix(".")
    return FairDataset(
        name="adult",
        train=_read("adult.data"),
        test=test,
        target=_TARGET,
        positive=">50K",
        features=tuple(column for column in _DESCRIPTIONS if column not in _NOT_A_FEATURE),
        sensitive_choices={"gender": (_GENDER,), "gender-race": (_GENDER, _RACE)},
        descriptions=dict(_DESCRIPTIONS),
        codes={},
        doi="10.24432/C5XW20",
        license=LICENSE,
    )


def _read(name, skiprows=0):
    return pd.read_csv(
        io.BytesIO(read_original(name)),
        names=list(_DESCRIPTIONS),
        skiprows=skiprows,
        skipinitialspace=True,
        na_filter=False,
    )
