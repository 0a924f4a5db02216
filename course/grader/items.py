"""Statistics of each test, which are its pass rate, discrimination and most common message.

A valid test is passed more often by students who do well in the other tests. Its *discrimination*
is the correlation between passing it and the share of points earned elsewhere in the assignment. A
test that nobody passes, or that has nothing to do with the rest, is probably broken.
"""

import math
from collections import Counter

COLUMNS = [
    "assignment",
    "task",
    "test",
    "students",
    "pass_rate",
    "discrimination",
    "commonest_message",
    "share_of_failures",
    "flag",
]
FEWEST = 20  # minimum number of students for a flag
LOWEST = 0.18  # minimum discrimination of a test without a flag


def correlation(x, y):
    """Return Pearson's correlation of two lists, or nan if one of them is constant."""
    n = len(x)
    mean_x, mean_y = sum(x) / n, sum(y) / n
    xx = sum((a - mean_x) ** 2 for a in x)
    yy = sum((b - mean_y) ** 2 for b in y)
    xy = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
    return xy / math.sqrt(xx * yy) if xx > 0 and yy > 0 else math.nan


def flag(passed, found):
    """Return what is suspicious about a test, or ""."""
    n, count = len(passed), sum(passed)
    if n < FEWEST or count == n:
        return ""
    if count == 0:
        return "nobody passes it"
    if not found >= LOWEST:
        return "unrelated to the other tests"
    return ""


def statistics(results):
    """Return a row of `COLUMNS` for each test, from the results of one or more assignments."""
    rows = []
    for assignment in sorted({result.assignment for result in results}):
        own = [r for r in results if r.assignment == assignment and r.marks]
        # Blank notebooks carry no information about a test.
        own = [r for r in own if any(mark.points for mark in r.marks)]
        for name in [m.name for m in own[0].marks if not m.rubric] if own else []:
            rows.append(row(assignment, name, own))
    return rows


def row(assignment, name, results):
    """Return the row of one test."""
    passed, rest, messages = [], [], Counter()
    about = None
    for result in results:
        marks = {m.name: m for m in result.marks if m.points is not None}
        if name not in marks:
            continue
        about = marks.pop(name)
        passed.append(about.points >= about.worth)
        rest.append(sum(m.points for m in marks.values()))
        if not passed[-1]:
            messages[about.message or "no answer"] += 1
    if not passed:
        return [assignment, 0, name, 0, "", "", "", "", ""]
    found = correlation(passed, rest)
    message, often = messages.most_common(1)[0] if messages else ("", 0)
    return [
        assignment,
        about.task,
        name,
        len(passed),
        round(sum(passed) / len(passed), 3),
        "" if math.isnan(found) else round(found, 3),
        message[:300],
        round(often / sum(messages.values()), 3) if messages else "",
        flag(passed, found),
    ]
