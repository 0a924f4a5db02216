"""Compute reading times from the chapters.

    python book/_tools/minutes.py                      # lengths and minutes of every chapter
    python book/_tools/minutes.py --write [slug ...]   # write them where the book states them

A reader takes one minute for `WORDS` words of the main text, one minute for `PROOF_WORDS` words of
a proof, folded or not, `CELL` minutes for each visible code cell and figure, `WARM_UP` minutes for
each warm-up, and `EXERCISE` minutes for each exercise. An inline formula counts as one word, a
displayed formula as `DISPLAY` words. The main text excludes the exercises, folded boxes, the box
"In this chapter" and code. Minutes are rounded to the nearest `STEP`, and the hours of a path to
the nearest half hour. They are stated in the box of each chapter, in `how_to_run.md` and in the
paths on the landing page.
"""

import argparse
import json
import re
from dataclasses import astuple, dataclass
from functools import partial

from renyi_book.chapters import chapters
from visible_cells import BOOK, visible

WORDS, PROOF_WORDS, CELL, WARM_UP, EXERCISE, DISPLAY, STEP = 100, 60, 1, 3, 10, 20, 5
TIME = re.compile(r"\*\*Time\*\* about \d+ minutes; the exercises another \d+\.")
GUIDE = re.compile(
    r"between \d+ and \d+ minutes to read, \d+ on average, and its exercises another \d+"
)
PATH = re.compile(r"\*\*([^*\n]+)\*\*, (?:about )?([\d½]+) hours?\b")


@dataclass(frozen=True)
class Length:
    """Measurements of a chapter from which its time is computed."""

    words: int
    proof_words: int
    cells: int
    figures: int
    warm_ups: int
    exercises: int

    @property
    def minutes(self):
        """Rounded number of minutes for the chapter without its exercises."""
        raw = self.words / WORDS + self.proof_words / PROOF_WORDS
        raw += CELL * (self.cells + self.figures) + WARM_UP * self.warm_ups
        return max(STEP, STEP * round(raw / STEP))

    @property
    def exercise_minutes(self):
        """Rounded number of minutes for the exercises."""
        return STEP * round(self.exercises * EXERCISE / STEP)


def length(notebook):
    """Measure a chapter.

    Parameters
    ----------
    notebook : dict
        Chapter in nbformat's JSON.

    Returns
    -------
    Length
        Measurements of the chapter.
    """
    text = "\n\n".join(
        "".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"
    )
    exercises = len(re.findall(r"^:{3,}\{exercise\}", text, re.MULTILINE))
    text = re.sub(r"^## Exercises\s*$.*?(?=^## |\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
    captions = [
        cell["metadata"]["mystnb"]["figure"].get("caption", "")
        for cell in notebook["cells"]
        if "figure" in cell["metadata"].get("mystnb", {})
    ]
    prose, proofs = split(text)
    return Length(
        words=count(prose) + sum(map(count, captions)),
        proof_words=count(proofs),
        cells=len(visible(notebook)),
        figures=len(captions),
        warm_ups=len(re.findall(r"\{admonition\} Warm-up", text)),
        exercises=exercises,
    )


_OPEN = re.compile(r"^(:{3,}|`{3,})(?:\{([\w:-]+)\}(.*)|\w*)$")
_LEFT_OUT = {"dropdown", "exercise", "code-block", "figure", "image", ""}


def split(text):
    """Return the main text of a page without proofs, and the text of its proofs."""
    parts, stack, options = {"prose": [], "proof": [], None: []}, [], False
    for line in text.splitlines():
        opened = _OPEN.match(line)
        if stack and line.rstrip() == stack[-1][0]:
            stack.pop()
        elif opened:
            fence, name, title = opened.groups(default="")
            kind = stack[-1][1] if stack else "prose"
            if name == "prf:proof" or (name == "dropdown" and "Proof" in title):
                kind = "proof"
            elif name in _LEFT_OUT or "In this chapter" in title:
                kind = None
            stack.append((fence, kind))
            options = True
            continue
        elif options and line.startswith(":") and stack:
            if "dropdown" in line and stack[-1][1] != "proof":
                stack[-1] = stack[-1][0], None
            continue
        else:
            parts[stack[-1][1] if stack else "prose"].append(line)
        options = False
    return "\n".join(parts["prose"]), "\n".join(parts["proof"])


def count(text):
    """Count the words of a Markdown text, including formulas."""
    text, displayed = re.subn(r"\$\$.*?\$\$(?: \(.*?\))?", " ", text, flags=re.DOTALL)
    text = re.sub(r"^\(.*\)=$", " ", text, flags=re.MULTILINE)
    text = re.sub(r"\$[^$]*\$|\{[\w:]+\}`[^`]*`|`[^`]*`", " x ", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return len(re.findall(r"[^\W_](?:[\w'’.,-]*\w)?", text)) + DISPLAY * displayed


def lengths():
    """Return the lengths of all numbered chapters, by slug."""
    return {
        slug: length(json.loads(chapter.path.read_text(encoding="utf8")))
        for slug, chapter in chapters().items()
    }


def stated(text):
    """Return the minutes that a box states for the main text and the exercises, or None."""
    found = TIME.search(text)
    return tuple(map(int, re.findall(r"\d+", found.group(0)))) if found else None


def sentence(chapter_length):
    """Return the sentence about time in the box of a chapter."""
    return (
        f"**Time** about {chapter_length.minutes} minutes; "
        f"the exercises another {chapter_length.exercise_minutes}."
    )


def guide_sentence(times, exercise_times):
    """Return the sentence about the times of all chapters in the guide."""
    return (
        f"between {min(times)} and {max(times)} minutes to read, "
        f"{round(sum(times) / len(times))} on average, "
        f"and its exercises another {round(sum(exercise_times) / len(times))}"
    )


def paths(text):
    """Return the stated hours and the chapters of each path on the landing page."""
    section = re.search(r"^## Paths\s*$(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)[1]
    found = {}
    for paragraph in section.split("\n\n"):
        named = PATH.search(paragraph)
        if named:
            found[named[1]] = named[2], re.findall(r"<?ch-([\w-]+)>?`", paragraph)
    return found


def hours(minutes):
    """Convert minutes to hours, rounded to the nearest half.

    Examples
    --------
    >>> hours(100), hours(120)
    ('1½', '2')
    """
    halves = max(1, round(minutes / 30))
    return (str(halves // 2) if halves > 1 else "") + ("½" if halves % 2 else "")


def needs(text):
    """Return the chapters that a chapter's box requires; sentences with "helps" are ignored."""
    box = re.search(r"\*\*You need\*\*(.*)", text)[1]
    required = (part for part in re.split(r"(?<=\.) ", box) if "helps" not in part)
    return re.findall(r"ch-([\w-]+)", " ".join(required))


def _edit(path, change):
    """Apply a change to the text of a page, and return whether it changed."""
    if path.suffix == ".ipynb":
        notebook = json.loads(path.read_text(encoding="utf8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = change("".join(cell["source"])).splitlines(keepends=True)
        new = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    else:
        new = change(path.read_text(encoding="utf8"))
    if new == path.read_text(encoding="utf8"):
        return False
    path.write_text(new, encoding="utf8")
    return True


def markdown(path):
    """Return the text of a notebook without its code."""
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def write(slugs=None):
    """Update the stated minutes and what depends on them, and return the pages that changed.

    Parameters
    ----------
    slugs : list of str, optional
        Chapters whose minutes to update; by default all.
    """
    known, measured = chapters(), lengths()
    changes = {known[s].path: partial(TIME.sub, sentence(measured[s])) for s in slugs or known}
    changed = [path for path, change in changes.items() if _edit(path, change)]
    times = {slug: stated(markdown(chapter.path)) for slug, chapter in known.items()}
    times = {slug: both for slug, both in times.items() if both}

    def of_paths(text):
        def renew(match):
            total = sum(times[slug][0] for slug in paths(text)[match[1]][1])
            return f"**{match[1]}**, about {hours(total)} hours"

        return PATH.sub(renew, text) if "## Paths" in text else text

    guide = guide_sentence(*zip(*times.values()))
    changes = {"how_to_run.md": lambda text: GUIDE.sub(guide, text), "index.ipynb": of_paths}
    return changed + [
        BOOK / name for name, change in changes.items() if _edit(BOOK / name, change)
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write them into the pages")
    parser.add_argument("slugs", nargs="*", help="chapters; by default all")
    arguments = parser.parse_args()
    if arguments.write:
        print(*(path.relative_to(BOOK) for path in write(arguments.slugs)), sep="\n")
    else:
        heads = ("words", "proofs", "cells", "figures", "warm-ups", "exercises", "minutes")
        print(" " * 26, *(f"{head:>9}" for head in heads))
        for slug, one in lengths().items():
            print(f"{slug:26}", *(f"{number:9}" for number in (*astuple(one), one.minutes)))
