"""The explorables on learning show the library's numbers and can be used by everyone.

They are the inspector, fair k-means, Adult's scores, the scorecard and the bias score.
"""

import json
import re
import unicodedata

import numpy as np
import pytest

from renyi_book.explorables import fixed
from renyi_book.live import adversary, bias_score, kmeans, scorecard, scores
from renyi_book.scorecard import rows, tally
from renyi_lib import demographic_parity_ratio, equal_opportunity_difference, renyi_correlation
from renyi_lib.clustering import RenyiKMeans
from tests.browser.explorable_fixtures import bodies as all_bodies
from tests.browser.explorable_fixtures import (
    chromium,
    model,
    placed,
    printed,
    settled,
    site,
    visit,
)

__all__ = ["chromium", "site", "visit"]  # fixtures, used by name


@pytest.fixture(scope="session")
def bodies():
    """What each chapter's cell writes into its page."""
    return all_bodies()


@pytest.fixture
def opened(visit, bodies):
    """Open an explorable by name on its own page."""

    def open_one(name, **options):
        return visit(name, bodies[name], **options)

    return open_one


def inline(body):
    """The data that the page computes with."""
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', body)[1])


# --- The numbers -------------------------------------------------------------------------------


def states_of_the_inspector():
    rng = np.random.default_rng(0)
    random = [(rng.integers(-10, 31) / 10, int(rng.integers(31))) for _ in range(50)]
    return [(0.0, 30), (-1.0, 0), (-1.0, 30), (3.0, 0), (3.0, 30), *random]


def test_inspector_numbers_match_the_library(opened, site):
    page = opened("adversary")
    states = states_of_the_inspector()
    code = "x.states.map(([start, steps]) => m.compare(x.bank, start, steps))"
    found = model(page, site, "adversary", code, {"bank": adversary.BANK, "states": states})
    for (start, steps), ours in zip(states, found):
        library = adversary.numbers(start, steps)
        flat = {
            "before": ours["before"]["value"],
            "theta_frozen": ours["frozen"]["theta"],
            "theta_moving": ours["moving"]["theta"],
            "seen": ours["frozen"]["seen"]["value"],
            "frozen": ours["frozen"]["true"]["value"],
            "moving": ours["moving"]["true"]["value"],
            "followed": ours["frozen"]["seen"]["slope"],
            "slope": ours["frozen"]["true"]["slope"],
        }
        assert flat == pytest.approx(library, abs=1e-9), (start, steps)


@pytest.mark.parametrize("state", states_of_the_inspector()[:5])
def test_inspector_prints_the_rounded_numbers(opened, state):
    start, steps = state
    page = opened("adversary", hash=f"#adversary.start={start}&adversary.steps={steps}")
    library = adversary.numbers(start, steps)
    shown = printed(page, "adversary")
    assert shown.pop("steps") == f"{steps} steps"
    assert {key: fixed(library[key], 3) for key in shown} == shown


def test_adversary_slope_matches_a_difference_quotient():
    v = adversary.question(0.4)
    for slope, value in (
        (adversary.paid(0.7, v)[1], lambda t: adversary.paid(t, v)[0]),
        (
            adversary.paid(0.7, adversary.question(0.7))[1],
            lambda t: adversary.paid(t, adversary.question(t))[0],
        ),
    ):
        assert (value(0.7 + 1e-5) - value(0.7 - 1e-5)) / 2e-5 == pytest.approx(slope, abs=1e-8)


def test_optimal_rule_numbers_match_the_library(opened, site, bodies):
    page = opened("bias-score")
    multipliers = np.random.default_rng(2).uniform(0, 0.3, 50).tolist()
    argument = {"population": inline(bodies["bias-score"]), "multipliers": multipliers}
    code = "x.multipliers.map((k) => m.rule(x.population, k))"
    for k, ours in zip(multipliers, model(page, site, "bias-score", code, argument)):
        library = bias_score.numbers(k)
        assert {key: ours[key] for key in library} == pytest.approx(library, abs=1e-9), k


@pytest.mark.parametrize("k", [0, 0.1, 0.3])
def test_optimal_rule_prints_the_rounded_numbers(opened, k):
    page = opened("bias-score", hash=f"#bias-score.k={k}")
    shown = printed(page, "bias-score")
    assert {key: bias_score.printed(k)[key] for key in shown} == shown


def test_play_turns_the_boundary_to_its_end(opened):
    page = opened("bias-score", hash="#bias-score.k=0.25")
    page.get_by_role("button", name="Play").click()
    page.wait_for_timeout(2000)
    assert printed(settled(page), "bias-score")["gap"] == bias_score.printed(0.3)["gap"]


def states_of_four_points():
    rng = np.random.default_rng(1)
    four = [-5.0, -4.0, 4.0, 5.0]
    known = [(four, 85), (four, 0), (four, 200), (four, 100), (four, 170)]
    return known + [
        ((rng.integers(-16, 17, 4) / 2).tolist(), int(rng.integers(201))) for _ in range(50)
    ]


def test_every_visit_matches_the_objective_computed_from_scratch(opened, site):
    page = opened("fair-kmeans")
    groups, start = kmeans.POINTS["s"], kmeans.POINTS["start"]
    argument = {"states": states_of_four_points(), "s": groups, "start": start}
    code = """x.states.map(([points, lam]) => [m.algorithm3, m.descent].map((run) =>
        run(points, x.s, x.start, lam, 6)))"""
    for (points, lam), both in zip(
        argument["states"], model(page, site, "fair-kmeans", code, argument)
    ):
        for algorithm, ours in zip(("paper", "descent"), both):
            count = len(ours["visits"])
            library = kmeans.visits(points, groups, start, lam, count, algorithm=algorithm)
            for mine, theirs in zip(ours["visits"], library.itertuples()):
                where = (points, lam, algorithm, mine["turn"], mine["n"])
                assert (mine["n"], mine["moved"]) == (theirs.point, theirs.moved), where
                assert mine["labels"] == theirs.labels, where
                assert (mine["believed"] is None) == np.isnan(theirs.believed), where
                if mine["believed"] is not None:
                    assert mine["believed"] == pytest.approx(theirs.believed, abs=1e-9), where
                numbers = [mine["dF"], mine["dG"], mine["G"]]
                assert numbers == pytest.approx([theirs.dF, theirs.dG, theirs.G], abs=1e-9), where


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_passes_and_cycles_match_the_algorithms_of_the_library(opened, site):
    page = opened("fair-kmeans")
    groups, start = kmeans.POINTS["s"], kmeans.POINTS["start"]
    argument = {"states": states_of_four_points(), "s": groups, "start": start}
    code = """x.states.map(([points, lam]) => [m.algorithm3, m.descent].map((run) => {
        const { visits, ...end } = run(points, x.s, x.start, lam, 60);
        const sizes = visits.map((v) => v.believed === null ? 1 : Math.abs(v.believed));
        return { ...end, labels: visits[visits.length - 1].labels, near: Math.min(...sizes) };
    }))"""
    compared = 0
    for (points, lam), both in zip(
        argument["states"], model(page, site, "fair-kmeans", code, argument)
    ):
        for algorithm, ours in zip(("paper", "descent"), both):
            if ours["near"] < 1e-6:
                continue  # a tie: rounding decides in the library
            fit = RenyiKMeans(
                2, lam, algorithm=algorithm, init=np.array(start), max_iter=60, tol=0
            ).fit(np.reshape(points, (-1, 1)), sensitive_features=groups)
            where = (points, lam, algorithm)
            assert ours["labels"] == fit.labels_.tolist(), where
            end = (ours["passes"], ours["stopped"], ours["cycle"])
            assert end == (fit.n_iter_, fit.converged_, fit.cycle_length_), where
            compared += 1
    assert compared > 60


def test_second_visit_shows_the_numbers_of_the_chapter(opened):
    shown = printed(opened("fair-kmeans", hash="#fair-kmeans.visit=2"), "fair-kmeans")
    assert (shown["believed"], shown["replied"]) == ("−13.00", "+15.33")


def test_expected_and_actual_gain_agree_only_for_the_descent(opened):
    page = opened("fair-kmeans", hash="#fair-kmeans.visit=2")
    heights = page.eval_on_selector_all(
        ".explorable-stage rect:not([fill=none])",
        "all => all.map((n) => Number(n.getAttribute('height')))",
    )
    assert len(heights) == 4
    predicted, occurred, exact, found = heights
    assert exact == pytest.approx(found)
    assert abs(predicted - occurred) > 1


def test_the_visits_can_be_stepped_through(opened):
    page = opened("fair-kmeans")
    assert printed(page, "fair-kmeans")["believed"] == "–"
    for one in kmeans.visits(**kmeans.POINTS, count=8, algorithm="paper").itertuples():
        page.get_by_role("button", name="Next visit").click()
        shown = printed(settled(page), "fair-kmeans")
        assert shown["believed"] == kmeans._signed(one.believed)
        assert shown["replied"] == (kmeans._signed(one.dF) if one.moved else "stays")


def test_point_can_be_moved_by_mouse_and_keyboard(opened):
    page = opened("fair-kmeans")
    page.get_by_text("Change λ or move the points").click()
    box = placed(page, page.locator("[data-point='3']").first)
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 30, y, steps=4)
    page.mouse.up()
    place = page.get_by_role("slider", name="its position")
    dragged = float(settled(page).evaluate("(n) => n.value", place.element_handle()))
    assert dragged > 5
    assert page.get_by_role("radio", name="4").is_checked()
    place.press("ArrowRight")
    settled(page)
    assert float(place.input_value()) == dragged + 0.5
    assert place.get_attribute("aria-valuetext") == fixed(dragged + 0.5, 1)


def states_of_scores():
    rng = np.random.default_rng(2)
    found = scores.data()
    random = [
        (
            str(rng.choice(found["methods"])),
            float(rng.choice(found["lams"])),
            int(rng.integers(5, 96)),
        )
        for _ in range(50)
    ]
    ends = [("label", 0.0, 5), ("label", 100.0, 95), ("bins", 0.0, 95), ("bins", 100.0, 5)]
    return [("label", 8.0, 50), ("label", 8.0, 30), *ends, *random]


def test_adult_counts_match_python_exactly(opened, site, bodies):
    page = opened("scores")
    states = states_of_scores()
    code = "x.states.map(([method, lam, k]) => m.read(x.data, method, lam, k))"
    argument = {"data": inline(bodies["scores"]), "states": states}
    counts = scores.counts()
    for (method, lam, k), ours in zip(states, model(page, site, "scores", code, argument)):
        library = scores.measure(counts[method, lam], k)
        for key in ("selected", "correct"):
            assert ours[key] == library[key], (method, lam, k)
        for key in ("rates", "accuracy", "pRule", "gap", "chance"):
            assert ours[key] == pytest.approx(library[key], abs=1e-12), (method, lam, k, key)
        gaps = [scores.measure(counts[method, lam], j)["gap"] for j in range(101)]
        curve = ours["curves"][argument["data"]["methods"].index(method)]
        assert curve == pytest.approx(gaps, abs=1e-12)


@pytest.mark.parametrize("state", states_of_scores()[:6])
def test_measures_from_counts_match_those_from_rows(state):
    method, lam, k = state
    above = scores.counts()[method, lam]
    # One row for each person, from the counts.
    cells = [(s, y, d) for s in (0, 1) for y in (0, 1) for d in (0, 1)]
    size = [above[k, s, y] if d else above[0, s, y] - above[k, s, y] for s, y, d in cells]
    s, y, decision = np.repeat(cells, size, axis=0).T
    ours = scores.measure(above, k)
    assert ours["accuracy"] == np.mean(decision == y)
    assert ours["pRule"] == pytest.approx(
        demographic_parity_ratio(y, decision, sensitive_features=s), abs=1e-12
    )
    violation = equal_opportunity_difference(y, decision, sensitive_features=s)
    assert abs(ours["eoGap"]) == pytest.approx(violation, abs=1e-12)
    assert ours["rhoLabel"] == pytest.approx(renyi_correlation(decision, s), abs=1e-12)
    cut = -np.diff(above.sum(axis=2)[::10], axis=0)
    cell, group = np.repeat([(i, j) for i in range(10) for j in (0, 1)], cut.ravel(), axis=0).T
    assert ours["rhoScore"] == pytest.approx(renyi_correlation(cell, group), abs=1e-12)


@pytest.mark.parametrize("state", states_of_scores()[:6])
def test_adult_prints_the_rounded_numbers(opened, state):
    method, lam, k = state
    address = f"#scores.method={method}&scores.lam={lam:g}&scores.t={k / 100}"
    shown = printed(opened("scores", hash=address), "scores")
    counts = scores.counts()
    now = scores.measure(counts[method, lam], k)
    expected = {
        "p": scores.percent(now["pRule"]),
        "accuracy": scores.percent(now["accuracy"]),
        "gap": scores.points(now["gap"]),
        "women": scores.percent(now["rates"][0]),
        "men": scores.percent(now["rates"][1]),
        "t": fixed(k / 100, 2),
    }
    assert shown == expected


def test_button_moves_the_threshold_and_fairness_is_lost(opened):
    page = opened("scores")
    page.get_by_role("button", name="Move the threshold to 0.3").first.click()
    shown = printed(settled(page), "scores")
    after = scores.measure(scores.counts()["label", 8.0], 30)
    assert shown["p"] == scores.percent(after["pRule"])
    assert after["gap"] > 3 * after["chance"]
    text = page.locator(".explorable-summary").inner_text()
    assert "more than what chance alone would give" in text


def test_the_threshold_can_be_dragged(opened):
    page = opened("scores")
    box = placed(page, page.locator("[data-handle] rect"))
    x, y = box["x"] + box["width"] / 2, box["y"] + 60
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 120, y, steps=4)
    page.mouse.up()
    moved = float(settled(page).get_by_role("slider", name="threshold").input_value())
    assert 0.1 < moved < 0.45
    assert printed(page, "scores")["t"] == fixed(moved, 2)


def searched(text):
    """Return a text in lower case, without accents and with the names of Greek letters."""
    plain = unicodedata.normalize("NFD", text.lower().replace("λ", "lambda").replace("ρ", "rho"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def test_scorecard_rows_match_the_claims(opened, site, bodies):
    page, listed = opened("scorecard"), rows()
    data = inline(bodies["scorecard"])
    rng = np.random.default_rng(3)
    plain = {"words": "", "part": "all", "verdict": "all", "group": "part", "sort": "paper"}
    plain["second"] = "no"
    states = [plain, plain | {"second": "yes", "sort": "effect"}]
    for _ in range(50):
        states.append(
            {
                "words": str(
                    rng.choice(["", "renyi", "theorem 3", "λ", "lambda", "no such word"])
                ),
                "part": str(rng.choice(["all", *data["parts"]])),
                "verdict": str(rng.choice(["all", *data["verdicts"]])),
                "group": str(rng.choice(["part", "verdict"])),
                "sort": str(rng.choice(["paper", "effect"])),
                "second": str(rng.choice(["no", "yes"])),
            }
        )
    argument = {"data": data, "states": states, "texts": [row["claim"] for row in listed]}
    code = """x.states.map((state) => m.shown(x.data, x.data.rows.map(
        ([id, part, verdict, primary, effect], k) => ({
            id, part: x.data.parts[part], verdict: x.data.verdicts[verdict],
            primary: Boolean(primary), effect, text: x.texts[k],
        })), state))"""
    effects = dict(zip((row["id"] for row in listed), (row[-1] for row in data["rows"])))
    for state, ours in zip(states, model(page, site, "scorecard", code, argument)):
        expected = [
            row
            for row in listed
            if state["verdict"] in ("all", row["verdict"])
            and state["part"] in ("all", row["part"])
            and (state["second"] == "yes" or row["primary"])
            and all(word in searched(row["claim"]) for word in searched(state["words"]).split())
        ]
        if state["sort"] == "effect":
            expected.sort(
                key=lambda row: np.inf if effects[row["id"]] is None else -effects[row["id"]]
            )
        assert [row["id"] for row in ours["rows"]] == [row["id"] for row in expected], state
        counts = {v: n for v, n in zip(data["verdicts"], ours["counts"]) if n}
        assert counts == tally(expected, primary=False), state


def test_scorecard_shows_the_tally_of_the_book(opened):
    page = opened("scorecard")
    expected = ", ".join(
        f"{n} {scorecard.SIGNS[verdict]}\N{NO-BREAK SPACE}{verdict}"
        for verdict, n in tally().items()
    )
    total = sum(tally().values())
    words = page.locator(".explorable-summary").text_content()
    assert words == f"{total} of {len(rows())} rows: {expected}."


def test_the_scorecard_is_searched_filtered_and_grouped(opened):
    page = opened("scorecard")
    page.get_by_role("button", name="does not hold").click()
    wrong = [row for row in rows() if row["verdict"] == "does not hold" and row["primary"]]
    assert settled(page).locator("tr[id^=claim-]").count() == len(wrong)
    assert page.locator("tr[id^=claim-]").first.is_visible()
    page.get_by_label("Find").fill("hardt")
    for text in settled(page).locator("tr[id^=claim-]").all_text_contents():
        assert "hardt" in text.lower()
    page.get_by_role("button", name="Reset").click()
    assert settled(page).locator("tr[id^=claim-]").count() == sum(tally().values())
    assert page.get_by_label("Find").input_value() == ""
    page.get_by_text("Order, groups and second readings").click()
    page.get_by_role("radio", name="verdict", exact=True).check()
    summaries = settled(page).locator("details.claims-part > summary").all_text_contents()
    assert [text.split(":")[0] for text in summaries] == list(tally())


def test_verdict_filter_is_toggled_in_the_bar(opened):
    page = opened("scorecard")
    pieces = page.locator(".claims-bar button")
    shown = [int(re.search(r"\d+", text)[0]) for text in pieces.all_text_contents()]
    assert shown == list(tally().values())
    for k, count in enumerate(shown):
        pieces.nth(k).click()
        assert settled(page).locator("tr[id^=claim-]").count() == count
        assert pieces.nth(k).get_attribute("aria-pressed") == "true"
        assert pieces.count() == len(shown)
    pieces.nth(len(shown) - 1).click()
    assert settled(page).locator("tr[id^=claim-]").count() == sum(shown)


def test_greek_letters_are_found_by_name(opened):
    page = opened("scorecard")
    found = []
    for words in ("lambda", "λ", "Lambda"):
        page.get_by_label("Find").fill(words)
        rows_found = settled(page).locator("tr[id^=claim-]")
        found.append(rows_found.evaluate_all("all => all.map((row) => row.id)"))
    assert len(found[0]) > 20
    assert found[0] == found[1] == found[2]


def test_a_link_to_a_claim_opens_it(opened):
    claim = next(row["id"] for row in reversed(rows()) if row["primary"])
    page = opened("scorecard", hash=f"#claim-{claim}")
    assert page.locator(f"#claim-{claim}").is_visible()
