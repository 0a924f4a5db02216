"""Validation of arguments, which encodes labels as small integers and converts numbers to floats.

Every error is a `ValueError` that names the argument and, where possible, the remedy.
"""

import numpy as np
import pandas as pd
from scipy import sparse

from renyi_lib._dispatch import in_memory, refuse_dask

# Integer labels within a range this wide are shifted instead of hashed, which is much faster.
_DIRECT_RANGE = 1024


# With fewer samples per label than this (on average), labels carry no information. Numbers with
# fractions are then treated as measurements, and other labels as names of the samples.
_FEW_PER_NUMBER = 5
_FEW_PER_LABEL = 2
# With fewer distinct labels than this, no error is raised, so that small examples work.
_SOME_NUMBERS = 5
_SOME_LABELS = 20
# A matrix with at least this many rows may contain samples instead of a table of counts.
_MANY_ROWS = 20
# A matrix whose entries are smaller than this, on average, may contain samples instead of counts.
_SMALL_CELL = 5
# X raises an error if the largest absolute value in its first rows exceeds this limit or is below
# the inverse of the limit.
_LARGEST = 1e100
_SOME_ROWS = 64


class NoSensitiveFeaturesWarning(UserWarning):
    """Warning that a fair estimator was used without groups, and therefore without fairness."""


class SmallSampleWarning(UserWarning):
    """Warning that the sample is so small for its table that chance alone gives a large value."""


def check_same_length(context="", /, **arrays):
    """Raise a `ValueError` that names the arguments unless all have the same length.

    `context` starts the message if the names alone would not identify the arguments.
    """
    lengths = {
        name: array.shape[0] if hasattr(array, "shape") else len(array)
        for name, array in arrays.items()
    }
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} has {size}" for name, size in lengths.items())
        raise ValueError(
            f"{context}all arguments must have the same number of samples, but {sizes}"
        )


def check_alignment(**arrays):
    """Raise a `ValueError` for masked arrays, and for pandas objects with reordered rows.

    Rows are matched by position, as everywhere in scikit-learn. Two pandas objects whose indices
    contain the same labels in another order are therefore almost certainly a mistake.

    Examples
    --------
    >>> y = pd.Series([0, 1], index=["Ann", "Bob"])
    >>> check_alignment(y_pred=y, sensitive_features=pd.Series([1, 0], index=["Bob", "Ann"]))
    Traceback (most recent call last):
    ...
    ValueError: y_pred and sensitive_features have the same index labels in another order, but \
rows are matched by position: reorder one of them, for example with \
sensitive_features.loc[y_pred.index], or pass y_pred.to_numpy() if the rows do match
    """
    first = None
    for name, values in arrays.items():
        refuse_masked(values, name)
        if not isinstance(values, pd.Series | pd.DataFrame):
            continue
        if first is None:
            first = name, values.index
        elif _reordered(first[1], values.index):
            raise ValueError(
                f"{first[0]} and {name} have the same index labels in another order, but rows are "
                f"matched by position: reorder one of them, for example with "
                f"{name}.loc[{first[0]}.index], or pass {first[0]}.to_numpy() if the rows do match"
            )


def _reordered(first, second):
    """Return whether two indices contain the same labels equally often, in another order."""
    if len(first) != len(second) or first.equals(second):
        return False
    try:
        return first.sort_values().equals(second.sort_values())
    except TypeError:  # labels of several types, which cannot be sorted
        return first.value_counts().equals(
            second.value_counts().reindex(first.value_counts().index)
        )


def refuse_masked(values, name):
    """Raise a `ValueError` if values are masked, because numpy would ignore the mask.

    Examples
    --------
    >>> refuse_masked(np.ma.array([1, 2], mask=[False, True]), "y")
    Traceback (most recent call last):
    ...
    ValueError: y has masked values: drop those samples, for example y[~y.mask], or fill them, \
for example y.filled(0)
    """
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(
            f"{name} has masked values: drop those samples, for example {name}[~{name}.mask], or "
            f"fill them, for example {name}.filled(0)"
        )


def refuse_sparse(values, name):
    """Raise a `ValueError` for a sparse matrix, which numpy treats as a single object.

    Examples
    --------
    >>> from scipy import sparse
    >>> refuse_sparse(sparse.eye_array(2), "P")
    Traceback (most recent call last):
    ...
    ValueError: P is a sparse matrix, but this function needs an array: pass P.toarray()
    """
    if sparse.issparse(values):
        raise ValueError(
            f"{name} is a sparse matrix, but this function needs an array: pass {name}.toarray()"
        )


def check_scale(X):
    """Raise a `ValueError` if sums of squares of the features would overflow or underflow.

    Only the first rows are checked.

    Examples
    --------
    >>> check_scale(np.array([[1e-200], [2e-200]]))
    Traceback (most recent call last):
    ...
    ValueError: the values in the first rows of X are at most 2e-200 in size, too small for a \
fit: scale the features, for example with sklearn.preprocessing.StandardScaler
    """
    some = X[:_SOME_ROWS]
    values = some.data if sparse.issparse(some) else some
    size = float(np.abs(values).max(initial=0.0))
    if size > _LARGEST or 0 < size < 1 / _LARGEST:
        raise ValueError(
            f"the values in the first rows of X are at most {size:.3g} in size, too "
            f"{'large' if size > 1 else 'small'} for a fit: scale the features, for example with "
            "sklearn.preprocessing.StandardScaler"
        )


def refuse_dates(values, name):
    """Return the values, or raise an error for dates, which numpy would turn into nanoseconds.

    Examples
    --------
    >>> refuse_dates([1.0, 2.0], "y")
    [1.0, 2.0]
    >>> refuse_dates(np.array(["2024-05-01"], dtype="M8[D]"), "y")
    Traceback (most recent call last):
    ...
    ValueError: y must contain numbers, but it contains dates or durations: convert them first, \
for example with (y - y.min()) / pandas.Timedelta(days=1)
    """
    if getattr(getattr(values, "dtype", None), "kind", None) in ("m", "M"):
        raise ValueError(
            f"{name} must contain numbers, but it contains dates or durations: convert them "
            f"first, for example with ({name} - {name}.min()) / pandas.Timedelta(days=1)"
        )
    return values


def refuse_text(X, cure):
    """Raise a `ValueError` for the first column of X with dates, or with text that is no number.

    Parameters
    ----------
    X : array-like or DataFrame
        Features.
    cure : str
        Remedy; "{column}" stands for the column's name or position.

    Examples
    --------
    >>> refuse_text(pd.DataFrame({"age": [20, 30], "job": ["clerk", "baker"]}), "encode it")
    Traceback (most recent call last):
    ...
    ValueError: column 'job' of X contains text, such as 'clerk': encode it
    """
    if isinstance(X, pd.DataFrame):
        columns = X.items()
    elif isinstance(X, np.ndarray) and X.dtype.kind in "OUS" and X.ndim == 2:
        columns = enumerate(X.T)
    else:
        return
    for name, column in columns:
        if column.dtype.kind in "mM":
            refuse_dates(column, f"X[{name!r}]")
        if isinstance(column, pd.Series) and not pd.api.types.is_string_dtype(column.dtype):
            continue
        text = next((value for value in column if isinstance(value, str)), None)
        if text is not None and not _is_number(text):
            raise ValueError(
                f"column {name!r} of X contains text, such as {str(text)!r}: "
                + cure.format(column=repr(name))
            )


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def refuse_sample_matrix(table, name):
    """Raise a `ValueError` if a table of counts looks like a matrix with a row for each sample.

    A `JointTable` and the result of `pandas.crosstab` are always accepted, and any other data
    frame with columns that are not numeric is treated as samples. So are the following tables if
    they have many rows: small whole numbers in rows that mostly repeat, columns of whole numbers
    next to columns of fractions, and data frames with numbered rows and named columns.

    Examples
    --------
    >>> refuse_sample_matrix([[40, 10], [10, 40]], "P")
    >>> refuse_sample_matrix(pd.DataFrame({"hired": [0, 1] * 50, "sex": [1, 1, 0, 0] * 25}), "P")
    Traceback (most recent call last):
    ...
    ValueError: P looks like samples, 100 rows of 'hired' and 'sex', not like a table of \
counts: count them first, with joint_table(P['hired'], P['sex']). If these are counts, pass \
JointTable(P, rows, columns) instead
    """
    frame = table if isinstance(table, pd.DataFrame) else None
    refuse_masked(table, name)
    refuse_sparse(table, name)
    try:
        array = np.asarray(table)
    except ValueError:
        return  # the caller's own check reports what is wrong
    if hasattr(table, "counts") or array.ndim != 2 or array.shape[1] < 2:
        return
    if frame is not None and frame.columns.name is not None:
        return
    rows, columns = array.shape
    text = frame is not None and not all(
        pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes
    )
    if not text and (rows < _MANY_ROWS or rows < 4 * columns or array.dtype.kind not in "biuf"):
        return
    named = frame is not None and isinstance(frame.index, pd.RangeIndex)
    named = named and all(isinstance(column, str) for column in frame.columns)
    if text or named or _rows_repeat(array) or _mixes_labels_and_scores(array):
        first, second = ("first", "second") if frame is None else map(repr, frame.columns[:2])
        cure = f"{name}[:, 0], {name}[:, 1]"
        if frame is not None:
            cure = f"{name}[{first}], {name}[{second}]"
        raise ValueError(
            f"{name} looks like samples, {rows} rows of "
            + (f"{columns} columns" if frame is None or columns > 2 else f"{first} and {second}")
            + f", not like a table of counts: count them first, with joint_table({cure}). "
            f"If these are counts, pass JointTable({name}, rows, columns) instead"
        )


def _rows_repeat(array):
    """Return whether a table contains small whole numbers and more than half repeated rows."""
    if array.mean() >= _SMALL_CELL:
        return False
    if array.dtype.kind == "f" and np.any(array != np.floor(array)):
        return False
    return pd.DataFrame(array).duplicated().mean() > 0.5


def _mixes_labels_and_scores(array):
    """Return whether some columns contain only whole numbers and others do not."""
    if array.dtype.kind != "f":
        return False
    whole = (array == np.floor(array)).all(axis=0)
    return bool(np.any(whole & array.any(axis=0)) and not whole.all())


def read_validation(validation):
    """Validate validation rows; return X, y, sensitive_features and weights (or None).

    Examples
    --------
    >>> read_validation(([[1.0], [2.0]], [0, 1], ["f", "m"], [1.0]))
    Traceback (most recent call last):
    ...
    ValueError: validation: all arguments must have the same number of samples, but X has 2, \
y has 2, sensitive_features has 2, sample_weight has 1
    """
    if not isinstance(validation, tuple | list) or len(validation) not in (3, 4):
        size = f" of length {len(validation)}" if isinstance(validation, tuple | list) else ""
        raise ValueError(
            "validation must be (X, y, sensitive_features), or these and sample_weight, "
            f"not a {type(validation).__name__}{size}"
        )
    X, y, groups, weight = (*validation, None)[:4]
    if not in_memory(X):
        return X, y, groups, weight  # column names, or Dask collections
    if weight is not None:
        weight = sample_weights(weight)
    given = {"X": X, "y": y, "sensitive_features": groups, "sample_weight": weight}
    check_same_length(
        "validation: ", **{name: part for name, part in given.items() if part is not None}
    )
    return X, y, groups, weight


def check_several_groups(categories, n_samples, name="sensitive_features"):
    """Raise a `ValueError` if there is only one group, or a separate group for each sample."""
    if len(categories) < 2:
        samples = "1 sample" if n_samples == 1 else f"{n_samples} samples"
        raise ValueError(
            f"{name} has only one group, {categories.tolist()[0]!r} ({samples}): fairness between "
            "groups needs at least two groups"
        )
    check_discrete(categories, n_samples, name)


def check_discrete(categories, n_samples, name, *, cells=False, otherwise=""):
    """Raise a `ValueError` if values are not labels but measurements or names of samples.

    Parameters
    ----------
    categories : ndarray of shape (m,)
        Distinct labels, all of which occur.
    n_samples : int
        Number of samples.
    name : str
        Name of the argument, for the error message.
    cells : bool, default=False
        Whether the samples may be the weighted cells of a table, in which labels naturally occur
        only once.
    otherwise : str, default=""
        Alternative remedy, which is added to the message.

    Examples
    --------
    >>> check_discrete(np.array(["f", "m"]), 10, "sensitive_features")
    >>> check_discrete(np.linspace(0, 1, 10) / 3, 10, "age")
    Traceback (most recent call last):
    ...
    ValueError: age looks continuous: it has 10 different numbers in 10 samples, so there are too \
few equal values to compare. Cut it into a few bins, for example with pandas.qcut(age, 5)
    """
    size = len(categories)
    rare = n_samples < _FEW_PER_LABEL * size
    too_rare = rare or (size >= _SOME_LABELS and n_samples < _FEW_PER_NUMBER * size)
    if size >= _SOME_NUMBERS and too_rare and _has_fractions(categories):
        raise ValueError(
            f"{name} looks continuous: it has {size} different numbers in {n_samples} samples, "
            "so there are too few equal values to compare. Cut it into a few bins, for example "
            f"with pandas.qcut({name}, 5){otherwise}"
        )
    if size >= _SOME_LABELS and rare and not cells:
        raise ValueError(
            f"{name} has {size} different labels in {n_samples} samples, fewer than two samples "
            "for each label on average, but nothing can be learned from labels that rarely "
            "repeat. Merge them into a few groups; if they are numbers, cut them into "
            f"bins{otherwise}"
        )


def looks_continuous(values, name):
    """Return whether values are measurements, which are floats that are not all whole.

    The result depends on the type and on the values, but never on how many there are or how often
    they repeat, so adding similar rows does not change the treatment.

    Parameters
    ----------
    values : array-like of shape (n,), Series, categorical or DataFrame
        Values of the variable.
    name : str
        Name of the argument, for the error message.

    Returns
    -------
    bool
        Whether the values are measurements.

    Examples
    --------
    >>> looks_continuous([0.31, 0.12, 0.5], "score"), looks_continuous([7.25] * 1000, "wage")
    (True, True)
    >>> looks_continuous([0.0, 1.0], "flag"), looks_continuous([17, 18], "age")
    (False, False)
    """
    values = _as_array(values, name)
    if values.ndim == 2 or len(values) == 0:
        return False
    kind = values.dtype.kind
    # Check in detail only if necessary, because that takes a pass over the data.
    if kind != "f" and not (kind == "O" and isinstance(values[0], float)):
        return False
    return _has_fractions(np.asarray(values))


def _has_fractions(categories):
    """Return whether the labels are numbers that are not all whole."""
    if categories.dtype == object:
        if not all(isinstance(label, float) for label in categories):
            return False
        categories = categories.astype(float)
    if categories.dtype.kind != "f":
        return False
    known = categories[np.isfinite(categories)]
    return bool(np.any(known != np.floor(known)))


def encode_labels(values, name):
    """Return codes 0 … m-1 and the sorted categories, every one of which occurs.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, k), Series, categorical or DataFrame
        Labels of any type. Several columns are combined into one label, a tuple for each
        combination that occurs.
    name : str
        Name of the argument, for the error message.

    Returns
    -------
    codes : ndarray of int, shape (n,)
        Code of each label.
    categories : ndarray of shape (m,)
        Labels in increasing order. A categorical keeps its own order, and labels of types that
        cannot be compared are sorted by type and text.

    Examples
    --------
    >>> codes, categories = encode_labels(["no", "yes", "no"], "answer")
    >>> codes, categories
    (array([0, 1, 0]), array(['no', 'yes'], dtype=object))
    """
    values = _as_array(values, name)
    if values.ndim == 2:
        return _encode_columns(values, name)
    if len(values) == 0:
        raise ValueError(f"{name} is empty: pass at least one sample")
    try:
        codes, categories = pd.factorize(values)
    except TypeError as error:
        raise ValueError(
            f"{name} has labels that are not hashable ({error}): convert them, for example to "
            "strings"
        ) from error
    if codes.min() < 0:
        raise ValueError(
            f"{name} has a missing value (NaN or None), the first at position {codes.argmin()}: "
            "drop those samples, or give them a separate label"
        )
    try:
        order = np.asarray(categories.argsort())
    except TypeError:
        order = np.argsort([f"{type(label).__name__} {label}" for label in categories])
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    plain = categories.dtype if isinstance(categories.dtype, np.dtype) else object
    return rank[codes], np.asarray(categories, dtype=plain)[order]


def without_unused(codes, categories):
    """Remove the categories that do not occur, and renumber the codes.

    Examples
    --------
    >>> without_unused(np.array([0, 2, 2]), np.array(["a", "b", "c"]))
    (array([0, 1, 1]), array(['a', 'c'], dtype='<U1'))
    """
    used = np.bincount(codes, minlength=len(categories)) > 0
    if used.all():
        return codes, categories
    return (np.cumsum(used) - 1)[codes], categories[used]


def pool_groups(codes, categories, cells, min_size):
    """Pool the smallest groups until every group has at least `min_size` rows.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Code of each row's group.
    categories : ndarray of shape (d,)
        Group labels.
    cells : ndarray of int, shape (k, d)
        Number of rows of each group in one or several strata, all of which must be large enough.
    min_size : int
        Minimum number of rows.

    Returns
    -------
    codes, categories, cells
        Codes, labels and counts after pooling. The label of the pool lists its members.

    Examples
    --------
    >>> codes, categories = np.array([0, 0, 0, 0, 1, 2, 2]), np.array(["a", "b", "c"])
    >>> codes, categories, cells = pool_groups(codes, categories, np.array([[4, 1, 2]]), 3)
    >>> categories[codes].tolist(), cells.tolist()
    (['a', 'a', 'a', 'a', 'b + c', 'b + c', 'b + c'], [[4, 3]])
    """
    order = np.argsort(cells.min(axis=0), kind="stable")
    size = np.count_nonzero(cells.min(axis=0) < min_size)
    while 0 < size < len(order) and cells[:, order[:size]].sum(axis=1).min() < min_size:
        size += 1
    if not size:
        return codes, categories, cells
    if size == len(order):
        raise ValueError(
            f"min_group_size={min_size} leaves only one group, because it would pool all groups: "
            f"the {len(order)} groups have {cells.min(axis=0).tolist()} rows (if the metric "
            "conditions on the true label, rows of that label, or of the rarer one). Lower "
            "min_group_size"
        )
    pool, kept = np.sort(order[:size]), np.sort(order[size:])
    place = np.full(len(order), len(kept))
    place[kept] = np.arange(len(kept))
    labels = np.empty(len(kept) + 1, dtype=object)
    labels[:-1] = categories[kept]
    labels[-1] = " + ".join(str(label) for label in categories[pool].tolist())
    cells = np.column_stack([cells[:, kept], cells[:, pool].sum(axis=1)])
    return place[codes], labels, cells


def known_codes(values, known, name):
    """Return the position of each label among the labels known from a fit.

    Examples
    --------
    >>> known_codes(["m", "m"], np.array(["f", "m"]), "sensitive_features")
    array([1, 1])
    """
    codes, categories = encode_labels(values, name)
    position = {label: code for code, label in enumerate(known.tolist())}
    unseen = [label for label in categories.tolist() if label not in position]
    if unseen:
        raise ValueError(
            f"{name} contains labels unseen in fit: {unseen}; the fit had {list(position)}"
        )
    return np.array([position[label] for label in categories.tolist()], dtype=np.int64)[codes]


def integer_codes(values, name):
    """Return codes 0 … m-1 and the category of each; some categories may not occur.

    This is the fast way to count, because integers within a narrow range are only shifted. All
    other labels are encoded by `encode_labels`.

    Returns
    -------
    codes : ndarray of int, shape (n,)
        Codes, which must not be modified, because the array may be the caller's own.
    categories : ndarray of shape (m,)
        Category of each code.

    Examples
    --------
    >>> integer_codes([1, 3, 1], "grade")
    (array([1, 3, 1]), array([0, 1, 2, 3]))
    """
    codes, low, categories = unshifted_codes(values, name)
    codes = codes.astype(np.intp, copy=False)
    return (codes - low if low else codes), categories


def unshifted_codes(values, name):
    """Return the codes of `integer_codes` before they are shifted down by `low` and widened.

    The innermost loop of counting shifts and widens them on the fly. Until they are widened, the
    codes have the caller's integer type, in which arithmetic may overflow. Their absolute values
    are below 2^31.

    Returns
    -------
    codes : ndarray of int, shape (n,)
        Unshifted codes.
    low : int
        Number to subtract from each code, which is at most the smallest code.
    categories : ndarray of shape (m,)
        Category of each shifted code.
    """
    values = _as_array(values, name)
    if isinstance(values, np.ndarray) and values.size and values.dtype.kind in "iub":
        # Read as unsigned integers, negative numbers are 128 or more, so a single pass can show
        # that all labels are small. The first few labels show whether this pass is worthwhile.
        low, high = 0, 128
        if values[:64].min() >= 0:
            high = int(values.view(values.dtype.str.replace("i", "u")).max())
        if high >= 128:
            low, high = int(values.min()), int(values.max())
        if high - low < _DIRECT_RANGE and max(-low, high) < 2**31:
            return values, low, (low + np.arange(high - low + 1)).astype(values.dtype)
    codes, categories = encode_labels(values, name)
    return codes, 0, categories


def read_arrow(values):
    """Convert Polars or Arrow text to pandas without creating a Python object for each label.

    Polars and Arrow tables of several columns become data frames. Other values are returned
    unchanged; numpy reads numbers without a copy.

    Examples
    --------
    >>> read_arrow(["no", "yes"])
    ['no', 'yes']
    """
    columns = values
    if hasattr(values, "to_arrow"):  # Polars
        try:
            columns = values.to_arrow()
        except ModuleNotFoundError:  # without pyarrow, numpy reads the text, but more slowly
            return values
    if hasattr(columns, "column_names") and hasattr(columns, "itercolumns"):
        names, parts = columns.column_names, columns.itercolumns()
        return pd.DataFrame({name: read_arrow(part) for name, part in zip(names, parts)})
    kind = getattr(columns, "type", None)
    if not hasattr(columns, "dictionary_encode"):
        return values
    if hasattr(kind, "value_type"):  # the values of a dictionary are in order of appearance
        columns, kind = columns.cast(kind.value_type), kind.value_type
    return pd.arrays.ArrowExtensionArray(columns) if "string" in str(kind) else values


def numeric_values(values, name) -> np.ndarray:
    """Validate values, which must be one finite number for each sample; return them as floats."""
    refuse_dask(values, name)
    refuse_masked(values, name)
    refuse_dates(values, name)
    if getattr(getattr(values, "dtype", None), "kind", None) == "c":
        raise ValueError(f"{name} must contain real numbers, not complex ones")
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must contain numbers: {error}") from error
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.size == 0:
        raise ValueError(f"{name} is empty: pass at least one sample")
    if numbers.ndim != 1:
        raise ValueError(
            f"{name} must be one number for each sample, but it has shape {numbers.shape}"
        )
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} has missing or infinite values: drop those samples")
    return numbers


def sample_weights(values, name="sample_weight") -> np.ndarray:
    """Validate weights, which must be finite, nonnegative and not all zero."""
    weights = numeric_values(values, name)
    if weights.min() < 0:
        raise ValueError(
            f"{name} has negative values, such as {weights.min():g}: weights must be 0 or more"
        )
    if not weights.any():
        raise ValueError(f"{name} is zero everywhere: at least one weight must be positive")
    return weights


def _as_array(values, name):
    """Return one column as a numpy or pandas array, or several columns as a DataFrame."""
    if not isinstance(
        values, pd.DataFrame | pd.Series | pd.Index | pd.api.extensions.ExtensionArray
    ):
        values = _numpy_array(values, name)
        if values.ndim == 1:
            return values
        values = pd.DataFrame(values)
    if isinstance(values, pd.DataFrame):
        if values.shape[1] != 1:
            return values
        values = values.iloc[:, 0]
    if isinstance(values.dtype, np.dtype):
        return values.to_numpy()
    return getattr(values, "array", values)


def _numpy_array(values, name):
    """Return the labels as a numpy array of one or two dimensions, without converting them."""
    refuse_dask(values, name)
    refuse_masked(values, name)
    refuse_sparse(values, name)
    try:
        array = np.asarray(values)
        if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
            # numpy has converted numbers and NaN among the strings to strings.
            array = np.asarray(values, dtype=object)
    except ValueError as error:
        raise ValueError(f"{name} is not a list of labels: {error}") from error
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} must be one label for each sample, or a table with a row for each sample, "
            f"not an array of {array.ndim} dimensions"
        )
    return array


def _encode_columns(frame, name):
    """Encode several columns together, so that each category is a tuple."""
    if frame.shape[1] == 0:
        raise ValueError(f"{name} has no columns: pass at least one")
    codes, labels = 0, [()]
    for column, values in frame.items():
        new_codes, categories = encode_labels(values, f"{name}, column {column!r},")
        # Keep only the pairs that occur, column by column, so that the code cannot overflow.
        codes, pairs = encode_labels(codes * len(categories) + new_codes, name)
        earlier, new = np.divmod(pairs, len(categories))
        if categories.dtype.kind in "biuf":
            categories = categories.tolist()  # plain numbers, for readable tuples
        labels = [(*labels[i], categories[j]) for i, j in zip(earlier, new)]
    joint = np.empty(len(labels), dtype=object)
    joint[:] = labels
    return codes, joint


def loss_weights(class_weight, classes, y, weight):
    """Return each sample's weight in the loss, or None for equal weights; y has class codes."""
    if class_weight is None:
        return weight
    if class_weight == "balanced":
        mass = np.bincount(y, weight, len(classes))
        by_class = mass.sum() / (len(classes) * mass)
    else:
        labels = classes.tolist()
        unknown = [label for label in class_weight if label not in labels]
        if unknown:
            raise ValueError(
                f"class_weight contains {unknown[0]!r}, which is not a class of y: {labels}"
            )
        weights = [class_weight.get(label, 1.0) for label in labels]
        by_class = sample_weights(weights, "class_weight")
    loss_weight = by_class[y] if weight is None else by_class[y] * weight
    return loss_weight / loss_weight.sum()


def class_codes(y, classes):
    """Return the position of each label among the classes."""
    y = np.asarray(y)
    codes = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    if (classes[codes] != y).any():
        unseen = np.unique(y[classes[codes] != y]).tolist()
        raise ValueError(
            f"y contains labels unseen in fit: {unseen}; the fit had {classes.tolist()}"
        )
    return codes


def as_probabilities(labels, name, pos_label):
    """Convert labels to probabilities of the positive label."""
    if pos_label is None:
        refuse_dask(labels, name)
        texts = _texts(labels, name)
        if texts:
            shown = " and ".join(map(repr, texts))
            raise ValueError(
                f"{name} contains the labels {shown}: pass pos_label, the label that counts as "
                f"positive, for example pos_label={texts[-1]!r}"
            )
        values = numeric_values(labels, name)
        if values.min() < 0 or values.max() > 1:
            raise ValueError(
                f"{name} must contain labels 0 and 1, or probabilities, but has values from "
                f"{values.min():.4g} to {values.max():.4g}: for other labels, pass pos_label, the "
                "label to treat as 1"
            )
        return values
    codes, categories = encode_labels(labels, name)
    matches = np.array([label == pos_label for label in categories])
    # A constant prediction may lack the positive label; with two labels, a typo is more likely.
    if len(categories) > 1 and not matches.any():
        raise ValueError(
            f"{name} has no label equal to pos_label={pos_label!r}: pos_label must be one of its "
            f"labels, such as {categories.tolist()[0]!r}"
        )
    return matches[codes].astype(float)


def _texts(labels, name):
    """Return the first few distinct labels, sorted, if they are text other than numbers."""
    array = _as_array(labels, name)
    if array.ndim != 1 or not len(array) or not isinstance(array[0], str):
        return []
    if _is_number(array[0]):
        return []
    return sorted({str(label) for label in array[:1000] if isinstance(label, str)})[:3]
