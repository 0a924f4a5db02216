"""The explorables of Part I show the library's numbers and can be used by everyone."""

import re

import numpy as np
import pytest

from renyi_book.explorables import FOLDER, fixed
from renyi_book.live import draggable_table, ellipse, friends_game
from renyi_lib.correlation import maximal_functions, renyi_binary, renyi_from_joint
from renyi_lib.dependence import normalized_mutual_information, pearson_correlation
from tests.browser.explorable_fixtures import (
    DAYS,
    ROLES,
    chromium,
    model,
    printed,
    samples,
    settled,
    site,
    stage,
    visit,
)
from tests.browser.explorable_fixtures import contents as all_contents

__all__ = ["chromium", "site", "visit"]  # fixtures, used by name

NAMES = ["joint-table", "friends-game", "ellipse", "guessing-game"]


@pytest.fixture(scope="module")
def contents():
    """The arguments of `explorable` for each, as in the chapters, and the page's HTML."""
    return all_contents()


@pytest.fixture(scope="module")
def random_tables():
    """Fifty tables of counts: dense, sparse with empty rows, and hardly dependent."""
    rng = np.random.default_rng(15)
    tables = []
    for k in range(50):
        shape = rng.integers(2, 7, size=2)
        if k % 5 == 3:
            table = rng.integers(0, 3, size=shape) * rng.integers(0, 2, size=shape)
            table[0, 0] += 1
        elif k % 5 == 4:
            table = 1000 * np.outer(rng.integers(1, 9, shape[0]), rng.integers(1, 9, shape[1]))
            table[0, 0] += 1
        else:
            table = rng.integers(0, 30, size=shape)
            table[-1, -1] += 1
        tables.append(table)
    return tables


# The models give the same numbers as the library.


def test_random_tables_give_the_numbers_of_the_library(visit, site, contents, random_tables):
    page = visit("models", contents["joint-table"]["html"])
    code = (
        "x.map((P) => ({ ...m.dependence(P), nmi: m.nmi(P), D: m.differences(P), "
        "pearson: m.pearson(P, P.map((_, i) => i), P[0].map((_, j) => j)) }))"
    )
    tables = [table.tolist() for table in random_tables]
    unique = 0
    for table, ours in zip(random_tables, model(page, site, "dependence.js", code, tables)):
        truth, (a, b) = maximal_functions(table), samples(table)
        P = table / table.sum()
        assert ours["rho"] == pytest.approx(renyi_from_joint(table), abs=1e-9, rel=1e-6)
        assert ours["rho"] == pytest.approx(truth.rho, rel=1e-9)
        assert ours["sigmas"] == pytest.approx(truth.singular_values.tolist(), abs=1e-9)
        assert ours["nmi"] == pytest.approx(normalized_mutual_information(a, b), abs=1e-9)
        assert ours["pearson"] == pytest.approx(pearson_correlation(a, b), abs=1e-9)
        assert np.allclose(ours["D"], P - np.outer(P.sum(axis=1), P.sum(axis=0)), atol=1e-12)
        f, g = np.array(ours["f"]), np.array(ours["g"])
        if truth.rho > 0:
            # mean 0, variance 1, and the pair reaches rho, unique or not
            assert f @ P.sum(axis=1) == pytest.approx(0, abs=1e-9)
            assert f**2 @ P.sum(axis=1) == pytest.approx(1, abs=1e-9)
            assert f @ P @ g == pytest.approx(truth.rho, abs=1e-9)
        gap = truth.rho - (truth.singular_values[1] if len(truth.singular_values) > 1 else 0)
        if gap > 1e-3:
            unique += 1
            assert np.allclose(f, truth.f, atol=1e-9)
            assert np.allclose(g, truth.g, atol=1e-9)
    assert unique > 30


def test_independent_counts_have_correlation_exactly_zero(visit, site, contents):
    page = visit("models", contents["joint-table"]["html"])
    table = np.outer([7, 3, 11], [5, 9, 13]).tolist()
    assert model(page, site, "dependence.js", "m.dependence(x).rho", table) == 0


def test_replies_are_conditional_means_and_climb_to_rho(visit, site, contents, random_tables):
    page = visit("models", contents["friends-game"]["html"])
    rng = np.random.default_rng(16)
    cases = []
    for table in random_tables:
        counts = table[:3, :3] + 1 if min(table.shape) > 2 else table + 1
        f, g = (rng.normal(size=size) for size in counts.shape)
        cases.append((counts, f, g))
    plain = [[counts.tolist(), f.tolist(), g.tolist()] for counts, f, g in cases]
    played = model(page, site, "friends-game", "x.map(([P, f, g]) => m.play(P, f, g, 12))", plain)
    for (counts, f, g), ours in zip(cases, played):
        assert ours["rho"] == pytest.approx(maximal_functions(counts).rho, abs=1e-9)
        scores = [step["score"] for step in ours["steps"]]
        assert np.all(np.diff(scores) > -1e-12)
        assert max(scores) <= ours["rho"] + 1e-12
        if ours["rho"] < 1e-6:
            continue  # hardly any dependence: a reply is a difference of rounding errors
        expected = friends_game.play(counts, f, g, 12)
        for step, (f_k, g_k, score) in zip(ours["steps"], expected):
            assert np.allclose(step["f"], f_k, atol=1e-9)
            assert np.allclose(step["g"], g_k, atol=1e-9)
            assert step["score"] == pytest.approx(score, abs=1e-9)
    long = model(page, site, "friends-game", "m.play(...x, 200).steps.at(-1).score", plain[0])
    assert long == pytest.approx(renyi_from_joint(cases[0][0]), abs=1e-9)


def test_constant_scores_have_no_correlation_and_no_reply(visit, site, contents):
    page = visit("models", contents["friends-game"]["html"])
    steps = model(
        page,
        site,
        "friends-game",
        "m.play(x, [1, 2, 3, 4], [1, 1, 1], 1).steps",
        DAYS.to_numpy().tolist(),
    )
    assert [step["score"] for step in steps] == [0, 0]
    assert steps[1]["f"] == [1, 2, 3, 4]


def test_walks_around_the_circle_agree_with_the_table(visit, site, contents):
    page = visit("models", contents["ellipse"]["html"])
    rng = np.random.default_rng(17)
    tables = [rng.integers(1, 40, size=(rng.integers(3, 7), 3)) for _ in range(50)]
    tables += [DAYS.to_numpy(), ellipse.NEARLY_TIED, ellipse.ALIKE]
    angles = rng.integers(0, 361, size=len(tables)).tolist()
    cases = [[table.tolist(), angle] for table, angle in zip(tables, angles)]
    walked = model(page, site, "ellipse", "x.map(([P, t]) => m.walk(P, t))", cases)
    for table, angle, ours in zip(tables, angles, walked):
        sigma = maximal_functions(table).singular_values
        code, reached = ellipse.walk(table, angle)
        assert ours["sigmas"] == pytest.approx(sigma.tolist(), abs=1e-9)
        assert np.allclose(ours["code"], code, atol=1e-9)
        assert ours["reached"] == pytest.approx(reached, abs=1e-9)
        # The length of the drawn image is the correlation that the best reply reaches.
        assert np.hypot(*ours["image"]) == pytest.approx(reached, abs=1e-9)


def test_guessing_errors_match_the_samples_and_never_fall_by_more_than_rho2(visit, site, contents):
    page = visit("models", contents["guessing-game"]["html"])
    rng = np.random.default_rng(18)
    cases = []
    for k in range(50):
        counts = rng.integers(0, 40, size=(rng.integers(2, 7), 2))
        counts += np.array([1, k % 2])
        cases.append((counts, rng.random(len(counts))))
    hardly = 1000 * np.outer([1, 2, 3], [2, 3])
    hardly[0, 0] += 1
    cases.append((hardly, np.ones(3)))
    plain = [[counts.tolist(), w.tolist()] for counts, w in cases]
    paid = model(page, site, "guessing-game", "x.map((one) => m.pay(...one))", plain)
    for (counts, w), ours in zip(cases, paid):
        a, b = samples(counts)
        truth = renyi_binary(a, b)
        assert ours["paid"] == pytest.approx(np.mean((w[a] - b) ** 2), abs=1e-9)
        assert ours["gamma"] == pytest.approx(truth.gamma, abs=1e-9)
        assert ours["rho"] == pytest.approx(truth.rho, rel=1e-9, abs=1e-12)
        assert ours["shares"] == pytest.approx((truth.w + 0.5).tolist(), abs=1e-9)
        assert ours["saved"] <= ours["rho2"] + 1e-12


# The pages print the right numbers at the start and at both ends of each slider.


def expected_texts(name, state):
    """Every linked number of the explorable in a state, computed by the library."""
    if name == "joint-table":
        counts = np.array(state["counts"]).reshape(3, 3)
        seen = draggable_table.measures(counts)
        P = counts / counts.sum()
        D = P - np.outer(P.sum(axis=1), P.sum(axis=0))
        texts = {key: fixed(value, 3) for key, value in seen.items()}
        for k, (d, n) in enumerate(zip(D.ravel(), counts.ravel())):
            text = fixed(d, 3)
            texts[f"d{k}"] = text if text.startswith("−") or float(text) == 0 else f"+{text}"
            texts[f"n{k}"] = str(n)
        del texts["nmi"]  # only in the picture
        return texts
    if name == "friends-game":
        counts, replies = DAYS.to_numpy(), state["replies"]
        steps = friends_game.play(counts, np.array(state["f"]), np.array(state["g"]), replies)
        return {
            "score": fixed(steps[-1][2], 4),
            "rho": fixed(renyi_from_joint(counts), 4),
            "replies": "1 reply" if replies == 1 else f"{replies} replies",
        }
    if name == "ellipse":
        tables = {
            "weather": DAYS.to_numpy(),
            "tied": ellipse.NEARLY_TIED,
            "alike": ellipse.ALIKE,
        }
        table = tables[state["table"]]
        reached = ellipse.walk(table, state["angle"])[1]
        sigma = maximal_functions(table).singular_values
        return {
            "angle": f"{state['angle']}°",
            "reached": fixed(reached, 4),
            "sigma2": fixed(sigma[0], 4),
            "sigma3": fixed(sigma[1], 4),
        }
    a, b = samples(ROLES)
    truth, q = renyi_binary(a, b), b.mean()
    paid = np.mean((np.array(state["w"])[a] - b) ** 2)
    numbers = {"paid": paid, "saved": 1 - paid / (q * (1 - q)), "rho2": truth.rho**2}
    return {key: fixed(value, 3) for key, value in numbers.items()}


def opening(contents, name):
    data = contents[name]["data"]
    return {
        "joint-table": lambda: {"counts": data["counts"]},
        "friends-game": lambda: {"f": data["f"], "g": data["g"], "replies": 0},
        "ellipse": lambda: {"angle": ellipse.ANGLE, "table": "weather"},
        "guessing-game": lambda: {"w": data["start"]},
    }[name]()


@pytest.mark.parametrize("name", NAMES)
def test_initial_numbers_match_the_library(visit, contents, name):
    page = visit(name, contents[name]["html"])
    expected = expected_texts(name, opening(contents, name))
    assert printed(page, name) == expected
    # These are also the numbers on the page before the script ran.
    assert contents[name]["values"].items() <= expected.items()


@pytest.mark.parametrize("name", NAMES)
def test_keyboard_moves_every_slider_to_both_ends(visit, contents, name):
    page = visit(name, contents[name]["html"])
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    sliders = page.locator("input[type=range]")
    reset = page.get_by_role("button", name="Reset")
    for k in range(sliders.count()):
        for key in ("Home", "End"):
            sliders.nth(k).focus()
            page.keyboard.press(key)
            settled(page)
            state = state_after(contents, name, k, at_end=key == "End")
            assert printed(page, name) == expected_texts(name, state), (k, key)
            assert sliders.nth(k).get_attribute("aria-valuetext")
            reset.click()
            settled(page)
    assert printed(page, name) == expected_texts(name, opening(contents, name))


def state_after(contents, name, slider, at_end):
    """The state that a slider's first or last stop gives, from the opening state."""
    state = opening(contents, name)
    if name == "joint-table":
        state["counts"] = [*state["counts"]]
        state["counts"][slider] = 20 if at_end else 0
    elif name == "guessing-game":
        state["w"] = [*state["w"]]
        state["w"][slider] = 1 if at_end else 0
    elif name == "ellipse":
        state["angle"] = 360 if at_end else 0
    elif slider == 0:
        state["replies"] = 12 if at_end else 0
    else:
        # Setting a number starts a new game.
        lists = [np.array(state["f"]), np.array(state["g"])]
        which, k = divmod(slider - 1, 4)
        lists[which][k] = 3 if at_end else -3
        state = {"f": lists[0], "g": lists[1], "replies": 0}
    return state


@pytest.mark.parametrize("name", NAMES)
def test_suggested_links_set_the_state(visit, contents, name):
    page = visit(name, contents[name]["html"])
    phrases = re.findall(r"\[([^\]]+)\]\(([^)]+)\)", contents[name]["say"])
    assert phrases
    for words, settings in phrases:
        page.get_by_role("button", name=words, exact=True).click()
        settled(page)
        state = opening(contents, name)
        for pair in settings.split("&"):
            key, value = pair.split("=")
            kind = state[key]
            if isinstance(kind, list):
                state[key] = [float(x) for x in value.split(",")]
            else:
                state[key] = type(kind)(value)
        if name == "joint-table":
            state["counts"] = [int(x) for x in state["counts"]]
        seen, expected = printed(page, name), expected_texts(name, state)
        assert seen == expected, words
        assert page.locator(".explorable-summary").text_content()


def test_the_table_chooser_and_the_best_reply_button_work_by_keyboard(visit, contents):
    page = visit("ellipse", contents["ellipse"]["html"])
    page.get_by_text("Other tables").click()
    page.get_by_role("radio", name="weather").focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    state = opening(contents, "ellipse") | {"table": "tied"}
    assert printed(page, "ellipse") == expected_texts("ellipse", state)
    page = visit("friends-game", contents["friends-game"]["html"])
    button = page.get_by_role("button", name="Best reply")
    button.focus()
    for replies in range(1, 13):
        page.keyboard.press("Enter")
        settled(page)
        state = opening(contents, "friends-game") | {"replies": replies}
        assert printed(page, "friends-game") == expected_texts("friends-game", state)
    assert button.is_disabled()


# Dragging, the address, JupyterLab and motion.


def test_dot_can_be_dragged_horizontally(visit, contents):
    page = visit("friends-game", contents["friends-game"]["html"])
    box = stage(page)
    at = [box["x"] + 24 + (x + 3) / 6 * (box["width"] - 48) for x in (1, 2.5)]
    page.mouse.move(at[0], box["y"] + 172)  # the car, the second friend's last number
    page.mouse.down()
    page.mouse.move(at[1], box["y"] + 175, steps=4)
    page.mouse.up()
    settled(page)
    start = {"f": np.arange(4) - 1.5, "g": np.array([-1, 0, 2.5]), "replies": 0}
    assert printed(page, "friends-game") == expected_texts("friends-game", start)


def test_guess_and_code_can_be_dragged(visit, contents):
    page = visit("guessing-game", contents["guessing-game"]["html"])
    box = stage(page)
    last_row = box["y"] + box["height"] - 130  # husbands
    middle = box["x"] + 130 + (box["width"] - 142) / 2
    page.mouse.move(middle + 60, last_row)
    page.mouse.down()
    page.mouse.move(middle, last_row, steps=3)
    page.mouse.up()
    settled(page)
    guesses = [*contents["guessing-game"]["data"]["start"][:-1], 0.5]
    assert printed(page, "guessing-game") == expected_texts("guessing-game", {"w": guesses})
    page = visit("ellipse", contents["ellipse"]["html"])
    box = stage(page)
    page.mouse.click(box["x"] + box["width"] / 4, box["y"] + 40)
    settled(page)
    assert printed(page, "ellipse")["angle"] == "90°"


def test_address_stores_the_state(visit, contents):
    html = contents["ellipse"]["html"]
    page = visit("ellipse", html)
    page.get_by_role("button", name="bus and car are alike").click()
    page.wait_for_function("location.hash === '#ellipse.angle=90&ellipse.table=alike'")
    again = visit("ellipse", html, hash="#ellipse.angle=90&ellipse.table=alike")
    state = {"angle": 90, "table": "alike"}
    assert printed(again, "ellipse") == expected_texts("ellipse", state)
    again.evaluate("location.hash = 'ellipse.angle=10'")
    again.wait_for_function(
        "document.querySelector('output[data-value=angle]').textContent === '10°'"
    )


@pytest.mark.parametrize(
    ("name", "hash"),
    [
        ("ellipse", "#ellipse.angle=Infinity&ellipse.table=nothing&ellipse.other=3"),
        ("friends-game", "#friends-game.f=1,2&friends-game.replies=x"),
        ("guessing-game", "#guessing-game.w=a,b,c,d,e,f"),
        ("joint-table", "#joint-table.counts=1,2,3"),
    ],
)
def test_invalid_address_opens_the_initial_state(visit, contents, name, hash):
    page = visit(name, contents[name]["html"], hash=hash)
    assert printed(page, name) == expected_texts(name, opening(contents, name))


def test_out_of_range_values_are_clipped(visit, contents):
    page = visit("ellipse", contents["ellipse"]["html"], hash="#ellipse.angle=9999")
    assert printed(page, "ellipse")["angle"] == "360°"
    zeros = ",".join(["0"] * 9)
    page = visit(
        "joint-table", contents["joint-table"]["html"], hash=f"#joint-table.counts={zeros}"
    )
    assert printed(page, "joint-table")["rho"] == "0.000"


def test_jupyterlab_keeps_the_static_picture(chromium, contents):
    context = chromium.new_context()
    page = context.new_page()
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.set_content(f"<html><body>{contents['ellipse']['html']}</body></html>")
    page.wait_for_timeout(200)
    assert page.locator(".explorable-still img").count() == 1
    assert wrong == []
    context.close()


def test_models_do_not_access_the_page():
    for path in [FOLDER / "dependence.js", *FOLDER.glob("*/model.js")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\b(document|window|shared\.js)\b", text), path.name


def test_dots_are_animated_unless_reduced_motion_is_preferred(visit, contents):
    for motion, moving in (("no-preference", True), ("reduce", False)):
        page = visit("friends-game", contents["friends-game"]["html"], reduced_motion=motion)
        page.evaluate(
            "() => { window.glides = 0; const own = Element.prototype.animate;"
            " Element.prototype.animate = function (...all) {"
            " glides += 1; return own.apply(this, all); }; }"
        )
        page.get_by_role("button", name="Best reply").click()
        assert (settled(page).evaluate("glides") > 0) is moving
