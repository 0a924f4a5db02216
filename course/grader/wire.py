"""Format in which the grader and a submission exchange values, as JSON and never by pickle.

A frame consists of its length in four bytes and a JSON text. Plain JSON values represent
themselves, and every other value is an object with one key that names its type:

    {"tuple": [...]}   {"dict": [[key, value], ...]}   {"set": [...]}
    {"array": [dtype, shape, base64]}                  {"scalar": [dtype, base64]}
    {"frame": [[[column, values], ...], index]}        {"series": [name, values, index]}
    {"given": [module, class, {field: value}]}         {"function": number}

The last two types are only sent from the grader to the submission. Nothing that a submission sends
can name a class or run code, and its size is checked before it is read.
"""

import base64
import dataclasses
import json
import math
import re
import struct
import sys

FRAME = 48 << 20  # bytes of one frame that the grader sends
ANSWER = 8 << 20  # bytes of one frame that a submission sends
PIECES = 200_000  # values in such a frame; an array is one of them
# Maximum entries of a dictionary or a set. Numbers can be chosen so that all have the same hash,
# and n of them take n² steps. A test may also make a set of a list, so the number of long integers
# is limited, too; those of up to 18 digits are their own hash.
ENTRIES = 5_000
LONG = re.compile(rb"[0-9]{19,}")
DEPTH = 60  # levels of nesting, well below Python's own limit
BITS = 10_000  # of a whole number; Python itself writes at most 4300 digits
KINDS = "biufU"  # of arrays, namely booleans, integers, floats and text


class Unsendable(TypeError):
    """Error raised for a value that cannot be exchanged; the message describes it."""


def is_array(value):
    """Return whether this is an array, without importing NumPy if it is not loaded."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray)


def is_number(value):
    """Return whether this is a NumPy scalar, without importing NumPy if it is not loaded."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def encode(value, functions=None, depth=0):
    """Convert `value` to JSON.

    Parameters
    ----------
    value : object
        Value to send.
    functions : list or None
        List in which functions are stored for callbacks by the other side; None if not allowed.
    """

    def inner(part):
        return encode(part, functions, depth + 1)

    if depth > DEPTH:
        raise Unsendable("a value nested too deeply, or containing itself")
    # Compare exact types, because numpy's float is also a float but must keep its type.
    if type(value) is int and value.bit_length() > BITS:
        raise Unsendable(f"a whole number of more than {BITS} bits")
    if type(value) in (type(None), bool, int, float, str):
        return value
    if is_number(value):
        return {"scalar": _bytes_of(value)[::2]}
    if is_array(value):
        if value.dtype == object:
            return [inner(part) for part in value.tolist()]
        return {"array": _bytes_of(value)}
    # Raise the error at once rather than after minutes of packing.
    if functions is None and isinstance(value, (list, range, tuple)) and len(value) > PIECES:
        raise Unsendable(f"a value with more than {PIECES} parts")
    if functions is None and isinstance(value, (set, frozenset, dict)) and len(value) > ENTRIES:
        raise Unsendable(f"a dictionary or a set of more than {ENTRIES} entries")
    if isinstance(value, (list, range)):
        return [inner(part) for part in value]
    if isinstance(value, tuple):
        return {"tuple": [inner(part) for part in value]}
    if isinstance(value, (set, frozenset)):
        return {"set": [inner(part) for part in sorted(value, key=repr)]}
    if isinstance(value, dict):
        return {"dict": [[inner(key), inner(part)] for key, part in value.items()]}
    kind = f"{type(value).__module__}.{type(value).__name__}"
    if kind.startswith("pandas.") and kind.endswith(".DataFrame"):
        columns = [
            [inner(name), inner(_column(value.iloc[:, place]))]
            for place, name in enumerate(value.columns)
        ]
        return {"frame": [columns, _index(value, inner)]}
    if kind.startswith("pandas.") and kind.endswith(".Series"):
        return {"series": [inner(value.name), inner(_column(value)), _index(value, inner)]}
    if functions is not None and dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: inner(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"given": [type(value).__module__, type(value).__qualname__, fields]}
    if functions is not None and callable(value):
        functions.append(value)
        return {"function": len(functions) - 1}
    raise Unsendable(f"a value of type {type(value).__name__}")


def _index(table, inner):
    """Return the index of a table, or None for a default index."""
    index = table.index
    plain = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    return None if plain else inner(index.tolist())


def _column(series):
    values = series.to_numpy()
    return values.tolist() if values.dtype == object else values


def _bytes_of(array):
    import numpy as np

    array = np.asarray(array)
    if array.dtype.kind not in KINDS:
        raise Unsendable(f"an array of dtype {array.dtype}")
    if array.nbytes > FRAME:
        raise Unsendable(f"an array of more than {FRAME >> 20} MB")
    array = np.asarray(array, dtype=array.dtype.newbyteorder("<"))
    data = base64.b64encode(array.tobytes()).decode()
    return [array.dtype.str, list(array.shape), data]


def decode(data, call=None):
    """Restore the value that was passed to `encode`.

    Parameters
    ----------
    data : object
        Decoded JSON.
    call : callable or None
        Function that turns a number into a callable. None if the sender is not trusted, in which
        case neither functions nor classes are accepted.
    """

    def inner(part):
        return decode(part, call)

    if data is None or isinstance(data, (bool, int, float, str)):
        return data
    if isinstance(data, list):
        return [inner(part) for part in data]
    ((kind, body),) = data.items()
    if kind in ("set", "dict") and call is None and len(body) > ENTRIES:
        raise ValueError(f"a dictionary or a set of more than {ENTRIES} entries")
    if kind == "tuple":
        return tuple(inner(part) for part in body)
    if kind == "set":
        return {inner(part) for part in body}
    if kind == "dict":
        return {inner(key): inner(part) for key, part in body}
    if kind == "array":
        return _array(*body)
    if kind == "scalar":
        return _array(body[0], [], body[1])[()]
    if kind == "series":
        import pandas as pd

        name, values, index = body
        values, index = _flat(inner(values)), index and _flat(inner(index))
        return pd.Series(values, name=inner(name), index=index)
    if kind == "frame":
        import pandas as pd

        parts, index = body
        columns = [inner(name) for name, _ in parts]
        values = [_flat(inner(part)) for _, part in parts]
        if len({len(part) for part in values}) > 1:
            raise ValueError("the columns of a table have different lengths")
        frame = pd.DataFrame(dict(enumerate(values)), index=index and _flat(inner(index)))
        frame.columns = columns
        return frame
    if kind == "given" and call is not None:
        from importlib import import_module

        module, name, fields = body
        return getattr(import_module(module), name)(**{n: inner(v) for n, v in fields.items()})
    if kind == "function" and call is not None:
        return call(int(body))
    raise ValueError(f"a value of unknown kind {str(kind)[:40]!r}")


def _flat(values):
    """Return the values of one column: a list or an array, which pandas takes as it is.

    A column with an index of its own would be matched with that of the table, and that can take
    hours.
    """
    if isinstance(values, list) or (is_array(values) and values.ndim == 1):
        return values
    raise ValueError("a column that is not a list of values")


def _array(dtype, shape, data):
    import numpy as np

    dtype = np.dtype(str(dtype))
    # Empty texts take no bytes here but four bytes each in NumPy.
    if dtype.kind not in KINDS or dtype.hasobject or dtype.fields or not dtype.itemsize:
        raise ValueError(f"an array of dtype {dtype}")
    shape = tuple(int(length) for length in shape)
    raw = base64.b64decode(data, validate=True)
    # An empty array may have other dimensions of any length, but not above that of a frame.
    if len(shape) > 8 or any(not 0 <= length <= FRAME for length in shape):
        raise ValueError("an array of an impossible shape")
    if dtype.itemsize * math.prod(shape) != len(raw):
        raise ValueError("an array whose shape and content disagree")
    # Copy the array, because arrays from bytes are read-only.
    return np.frombuffer(raw, dtype).reshape(shape).copy()


def pieces(text):
    """Estimate how many values a JSON text contains before any of them is created."""
    return sum(map(text.count, (b",", b"[", b"{")))


def excess(text):
    """Describe how a JSON text exceeds the limits of an answer; "" if it does not."""
    if pieces(text) > PIECES:
        return f"more than {PIECES} values"
    if sum(1 for _ in LONG.finditer(text)) > ENTRIES:
        return f"more than {ENTRIES} long whole numbers"
    return ""


def pack(message, answer=False):
    """Return the bytes of one frame; `answer` marks frames that a submission sends."""
    text = json.dumps(message).encode()
    most = ANSWER if answer else FRAME
    if len(text) > most:
        raise Unsendable(f"a value of more than {most >> 20} MB")
    if answer and excess(text):
        raise Unsendable(f"a value with {excess(text)}")
    return struct.pack("!I", len(text)) + text


def unpack(buffer, untrusted=False):
    """Remove the first frame from the bytearray `buffer`; return it, or None if it is incomplete.

    The length of a frame from the untrusted side, and the number of its values, each of which
    becomes an object, are checked before it is read. Raises ValueError for an invalid frame.
    """
    if len(buffer) < 4:
        return None
    (length,) = struct.unpack("!I", buffer[:4])
    if length > (ANSWER if untrusted else FRAME):
        raise ValueError(
            f"an answer of more than {ANSWER >> 20} MB" if untrusted else "too large a frame"
        )
    if len(buffer) < 4 + length:
        return None
    text = bytes(buffer[4 : 4 + length])
    del buffer[: 4 + length]
    if untrusted and excess(text):
        raise ValueError(f"an answer with {excess(text)}")
    try:
        message = json.loads(text)
    except RecursionError:
        raise ValueError("a frame nested too deeply") from None
    if not isinstance(message, dict):
        raise ValueError("a frame that is not a message")
    return message


def share(values):
    """Return those of `values` that a call can change for its caller: arrays and lists."""
    return [v for v in values if isinstance(v, list) or (is_array(v) and v.ndim)]


def fits(here, there):
    """Return whether one array can take the content of another."""
    return here.flags.writeable and (here.shape, here.dtype) == (there.shape, there.dtype)


def update(mine, theirs):
    """Copy the other side's shared values to those of this side that are writable."""
    for here, there in zip(mine, theirs):
        if isinstance(here, list) and isinstance(there, list):
            here[:] = there
        elif is_array(here) and is_array(there) and fits(here, there):
            here[...] = there
