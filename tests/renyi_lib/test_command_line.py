"""The command line writes the report from CSV and Parquet files, and errors name the remedy."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from renyi_lib import fairness_report
from renyi_lib.__main__ import main

rng = np.random.default_rng(0)
N = 400
sex = np.where(rng.random(N) < 0.5, "f", "m")
score = np.clip(rng.normal(0.45 + 0.1 * (sex == "m"), 0.2), 0, 1).round(4)
FRAME = pd.DataFrame(
    {
        "score": score,
        "y": (rng.random(N) < score).astype(int),
        "sex": sex,
        "race": rng.choice(["a", "b <&> c"], size=N),
        "weight": rng.exponential(size=N),
    }
)
FRAME["outcome"] = np.where(FRAME["y"] == 1, "repaid", "default")
FRAME["decision"] = np.where(FRAME["score"] > 0.5, "repaid", "default")
COLUMNS = ["--prediction", "score", "--truth", "y", "--group", "sex"]
VOID = {"meta", "circle", "line", "polyline"}


class Page(HTMLParser):
    """Checks that tags are closed in order, and collects addresses and text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.words = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.addresses += [v for name, v in attributes if name in ("src", "href", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in VOID

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def written(tmp_path, frame, *arguments, kind="csv"):
    """The page that the command writes for these rows."""
    path, output = tmp_path / f"rows.{kind}", tmp_path / "report.html"
    if kind == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    assert main(["report", str(path), *arguments, "--output", str(output)]) == 0
    return output.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "parquet"])
def test_every_file_type_gives_the_same_report(tmp_path, kind, capsys):
    page = written(tmp_path, FRAME, *COLUMNS, kind=kind)
    expected = fairness_report(FRAME["y"], FRAME["score"], FRAME["sex"])
    words = " ".join(Page(page).words)
    assert expected.verdict in capsys.readouterr().out
    for line in expected.verdict.splitlines():
        assert line in words
    for rate in expected.by_group["selected"]:
        assert f"{rate:.3f}" in words


def test_page_is_self_contained_and_suits_screen_and_print(tmp_path):
    page = written(tmp_path, FRAME, *COLUMNS)
    parsed = Page(page)
    assert parsed.addresses == []
    assert "url(" not in page
    assert "@import" not in page
    assert "<script" not in page
    for rule in ("prefers-color-scheme: dark", "@media print", "width=device-width"):
        assert rule in page
    assert page.count("<svg") == page.count('role="img" aria-label=') == 2


def test_text_of_the_file_is_escaped(tmp_path):
    arguments = ["--prediction", "score", "--truth", "y", "--group", "race", "sex"]
    page = written(tmp_path, FRAME, *arguments, "--title", "<script>alert(1)</script>")
    assert "<script" not in page
    assert "b &lt;&amp;&gt; c, f" in page


def test_string_labels_and_decisions_are_accepted(tmp_path):
    named = ["--truth", "outcome", "--group", "sex", "--pos-label", "repaid"]
    page = written(tmp_path, FRAME, "--prediction", "decision", *named)
    expected = fairness_report(FRAME["y"], (FRAME["score"] > 0.5).astype(int), FRAME["sex"])
    assert expected.verdict.splitlines()[0] in " ".join(Page(page).words)


def test_numeric_pos_label_is_accepted(tmp_path):
    other = FRAME.assign(y=FRAME["y"] + 1)
    page = written(tmp_path, other, *COLUMNS, "--pos-label", "2")
    expected = fairness_report(FRAME["y"], FRAME["score"], FRAME["sex"])
    assert expected.verdict.splitlines()[-1] in " ".join(Page(page).words)


def test_threshold_and_group_size_are_passed_on(tmp_path):
    options = ["--threshold", "0.6", "--min-group-size", "250"]
    page = written(tmp_path, FRAME, *COLUMNS, *options)
    assert "At the threshold 0.6" in page
    assert "fewer than 250" in page


def test_weights_are_passed_on(tmp_path):
    page = written(tmp_path, FRAME, *COLUMNS, "--weight", "weight")
    known = {"sample_weight": FRAME["weight"]}
    expected = fairness_report(FRAME["y"], FRAME["score"], FRAME["sex"], **known)
    assert expected.verdict.splitlines()[0] in " ".join(Page(page).words)


def test_rows_with_missing_values_are_dropped_on_request(tmp_path):
    holes = FRAME.assign(sex=FRAME["sex"].where(np.arange(N) >= 7))
    page = written(tmp_path, holes, *COLUMNS, "--drop-missing")
    assert "Left out for missing values: 7" in page
    kept = FRAME.iloc[7:]
    expected = fairness_report(kept["y"], kept["score"], kept["sex"])
    assert expected.verdict.splitlines()[0] in " ".join(Page(page).words)


@pytest.mark.parametrize(
    ("frame", "arguments", "words"),
    [
        (FRAME, ["--group", "gender"], "no column 'gender' (for --group); its columns are score"),
        (FRAME, ["--truth", "label"], "no column 'label' (for --truth)"),
        (FRAME, ["--weight", "w"], "no column 'w' (for --weight)"),
        (FRAME, ["--truth", "outcome"], "contains the labels default, repaid: pass the favorable"),
        (FRAME, ["--truth", "outcome"], "--pos-label repaid"),
        (
            FRAME,
            ["--truth", "score"],
            "must contain two labels, 0 and 1 or others with --pos-label",
        ),
        (
            FRAME,
            ["--truth", "score", "--pos-label", "1"],
            "must contain two labels, but it contains",
        ),
        (
            FRAME,
            ["--truth", "outcome", "--pos-label", "Repaid"],
            "has no label 'Repaid': pass one of its labels with --pos-label",
        ),
        (FRAME, ["--prediction", "sex"], "column 'sex' must contain numbers, or two labels"),
        (FRAME, ["--threshold", "50"], "threshold=50 selects nobody"),
        (FRAME.assign(sex="f"), [], "sensitive_features has only one group"),
        (FRAME.assign(y=FRAME["y"].where(np.arange(N) > 2)), [], "missing values in y (3)"),
        (FRAME.iloc[:0], [], "rows.csv has no rows"),
        (FRAME, ["--output", "/nonexistent/folder/report.html"], "cannot write /nonexistent"),
    ],
)
def test_errors_name_the_option_and_the_remedy(tmp_path, capsys, frame, arguments, words):
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    output = ["--output", str(tmp_path / "report.html")]
    assert main(["report", str(path), *COLUMNS, *output, *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert words in error
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("rows.xlsx", b"", "unknown file type: its name must end in one of .csv, .tsv, .parquet"),
        ("rows.csv", None, "does not exist"),
        ("rows.csv", b"", "cannot be read as a CSV file"),
        ("rows.parquet", b"score,y,sex\n", "cannot be read as a Parquet file"),
    ],
)
def test_unreadable_files_exit_with_an_error(tmp_path, capsys, name, content, words):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert main(["report", str(path), *COLUMNS]) == 2
    assert words in capsys.readouterr().err


def test_only_extreme_groups_of_many_are_drawn(tmp_path):
    many = FRAME.assign(sex=np.arange(N) % 40)
    page = written(tmp_path, many, *COLUMNS)
    assert "Only the 15 lowest and 15 highest of 40 shares are drawn" in page
    assert len(re.findall("<circle", page)) == 30


def test_the_module_runs_as_a_program(tmp_path):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    command = [sys.executable, "-m", "renyi_lib", "report", str(tmp_path / "rows.csv"), *COLUMNS]
    done = subprocess.run(
        [*command, "--output", str(tmp_path / "report.html")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert "The report is in" in done.stdout
    assert (tmp_path / "report.html").stat().st_size > 5000
