"""Compare printed outputs number by number.

The last printed digit of a result can differ between processors, because floating-point operations
run in a different order. Two outputs agree here if their numbers agree within one unit of the last
printed digit and everything else is the same.

- A number without a decimal point or an exponent is a count, and counts must be equal.
- ``0.3`` and ``0.301`` are compared in units of 0.001, the finer of the two.
- ``-0.0`` equals ``0.0``, while ``nan`` and ``inf`` are words that must be the same.
- The number of spaces that align columns is ignored; line breaks are not.
- HTML tags and style sheets are compared as text, and only the content between them has numbers.
"""

import re
from decimal import Decimal
from itertools import zip_longest
from numbers import Real

# Markup comes first, so that no number is found inside it. A number may not continue a word (x1)
# or a version (1.2.3), and an exponent must end a word (3e5f is hexadecimal).
TOKEN = re.compile(
    r"""(?P<markup> <style.*?</style> | </?[a-zA-Z][^<>]*> )
      | (?<![\w.]) (?P<number>
            [+\-\u2212]?
            (?: (?: \d{1,3}(?:,\d{3})++ | \d++ ) (?P<point>\.\d*+)? | (?P<bare>\.\d++) )
            (?P<exponent> [eE][+-]?\d++ (?!\w) )?
        ) (?!\.?\d)""",
    re.VERBOSE | re.DOTALL,
)


def differences(expected, actual, tolerance=None):
    """Explain where two printed outputs differ, in one line for each difference.

    Parameters
    ----------
    expected, actual : str
        Stored output and new output.
    tolerance : float, optional
        Largest accepted absolute difference between two numbers, including counts. By default,
        numbers may differ by one unit of the last printed digit and counts must be equal.

    Returns
    -------
    list of str
        One line for each difference, up to the first one outside the numbers, after which the
        outputs cannot be compared; empty if they agree.

    Examples
    --------
    >>> differences("accuracy 0.812 in 25 steps", "accuracy 0.813 in 25 steps")
    []
    >>> differences("accuracy 0.812 in 25 steps", "accuracy 0.822 in 26 steps")
    ['0.812 became 0.822', '25 became 26']
    >>> differences("accuracy 0.812", "accuracy 0.822", tolerance=0.05)
    []
    """
    if tolerance is not None and not (isinstance(tolerance, Real) and tolerance >= 0):
        raise ValueError(f"tolerance must be None or a number, 0 or more, not {tolerance!r}")
    found = []
    for old, new in zip_longest(_tokens(expected), _tokens(actual), fillvalue=""):
        numbers = TOKEN.fullmatch(old), TOKEN.fullmatch(new)
        if all(match and match["number"] for match in numbers):
            if not _close(*numbers, tolerance):
                found.append(f"{old} became {new}")
        elif old != new:
            found.append(f"{old!r} became {new!r}")
            break  # The rest of the two outputs cannot be compared.
    return found


def _tokens(text):
    """Split text into numbers, markup and words, and squeeze the spaces that align columns."""
    tokens, end = [], 0
    for match in TOKEN.finditer(text):
        tokens += [_squeeze(text[end : match.start()]), match.group()]
        end = match.end()
    return [*tokens, _squeeze(text[end:])]


def _squeeze(words):
    return re.sub(r" ?\n ?", "\n", re.sub(r"[ \t]+", " ", words)).strip(" ")


def _close(old, new, tolerance):
    gap = abs(_value(old) - _value(new))
    if tolerance is not None:
        return gap <= Decimal(str(float(tolerance)))
    if _is_count(old) or _is_count(new):
        return gap == 0 and _is_count(old) == _is_count(new)
    return gap <= min(_unit(old), _unit(new))


def _value(match):
    return Decimal(match["number"].replace(",", "").replace("\u2212", "-"))


def _is_count(match):
    return not (match["point"] or match["bare"] or match["exponent"])


def _unit(match):
    """Return one unit of the last printed digit; 0 for a whole number such as ``3.``."""
    places = len(match["point"] or match["bare"] or ".") - 1
    exponent = match["exponent"]
    if not (places or exponent):
        return Decimal(0)
    return Decimal(1).scaleb(int(exponent[1:] if exponent else 0) - places)
