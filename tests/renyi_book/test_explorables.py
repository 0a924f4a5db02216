"""The HTML that an explorable writes into a page, and the plain script that the build makes."""

import importlib.util
import json
import re

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from renyi_book.explorables import FOLDER, explorable, explorable_html, fixed
from renyi_book.plotting import address

ALT = "A picture of one, two and three"


def html(**changes):
    return explorable_html(
        "ellipse", **{"picture": ("AAAA", {"width": 700}), "alt": ALT} | changes
    )


@pytest.fixture(scope="module")
def files():
    path = FOLDER.parent / "_tools" / "explorable_files.py"
    spec = importlib.util.spec_from_file_location("explorable_files", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_numbers_and_links_in_the_text_are_parsed():
    page = html(say="Try [a > b](angle=90&table=tied): {rho} < 1, ρ_R.", values={"rho": "0.5"})
    assert '<output data-explorable="ellipse" data-value="rho">0.5</output> &lt; 1' in page
    assert (
        '<span data-explorable="ellipse" data-set="angle=90&amp;table=tied">a &gt; b</span>'
        in page
    )
    assert "ρ<sub>R</sub>" in page


def test_data_cannot_close_their_element():
    page = html(data={"text": "</script><b>"})
    inline = re.search(r'<script type="application/json">(.*?)</script>', page).group(1)
    assert json.loads(inline) == {"text": "</script><b>"}


def test_table_and_heights_are_written():
    page = html(table=pd.DataFrame({"x": [1]}), label="Numbers", heights=(300, 400))
    assert "<summary>Numbers</summary>" in page
    assert "--ex-high:300px;--ex-low:400px" in page


def test_phones_get_a_separate_drawing_if_available():
    narrow = {"svg": "<svg/>", "text": 10}
    page = html(picture=("<svg></svg>", {"width": 700, "text": 8, "narrow": narrow}))
    assert f'<source media="(max-width: 600px)" srcset="{address("<svg/>")}">' in page
    assert 'data-text="8" data-narrow-text="10"' in page
    assert "<picture>" not in html()


def test_missing_parts_are_reported():
    with pytest.raises(ValueError, match="name must be a folder"):
        explorable_html("nothing", picture=("", {"width": 1}), alt=ALT)
    with pytest.raises(ValueError, match="values must contain 'rho'"):
        html(say="{rho}")
    with pytest.raises(ValueError, match="alt must describe"):
        html(alt="")
    with pytest.raises(ValueError, match="values must be a mapping"):
        html(say="{rho}", values=["0.5"])


def test_a_notebook_gets_the_picture_and_the_figure_is_closed(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    fig, _ = plt.subplots(figsize=(6, 2))
    explorable("ellipse", still=fig, alt=ALT)
    assert 'width="600"' in shown[0].data
    assert not plt.fignum_exists(fig.number)


@pytest.mark.parametrize(
    ("x", "digits", "text"),
    [
        (0.125, 2, "0.13"),
        (-0.125, 2, "−0.13"),
        (-1e-9, 3, "0.000"),
        (2.5, 0, "3"),
        (1 / 3, 4, "0.3333"),
    ],
)
def test_numbers_are_formatted_as_in_the_scripts(x, digits, text):
    assert fixed(x, digits) == text


def test_every_explorable_is_bundled_into_one_script(files):
    names = [view.parent.name for view in FOLDER.glob("*/view.js")]
    assert {"ellipse", "friends-game", "guessing-game", "joint-table"} <= set(names)
    for name in names:
        script = files.plain_script(name)
        assert not re.search(r"^\s*(import|export)\b", script, re.MULTILINE)
        assert f"[{name!r}] = module" in script


def test_modules_imported_twice_are_bundled_once(files, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "base.js").write_text("export const two = 2;\n")
    (tmp_path / "one" / "model.js").write_text(
        'import { two } from "../base.js";\n\nexport function four() { return two + two; }\n'
    )
    (tmp_path / "one" / "view.js").write_text(
        'import { two } from "../base.js";\nimport {\n  four,\n} from "./model.js";\n'
        "export function start() { return four() - two; }\n"
    )
    script = files.plain_script("one", tmp_path)
    assert script.count("const two = 2;") == 1
    assert script.index("const two = 2;") < script.index("function four") < script.index("start")


def test_other_kinds_of_import_raise(files, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "view.js").write_text('import * as all from "./model.js";\n')
    with pytest.raises(ValueError, match=r"one/view\.js.*plain named import"):
        files.plain_script("one", tmp_path)
