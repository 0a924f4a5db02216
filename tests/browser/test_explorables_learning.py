"""The explorables on learning: their numbers are the library's, and anybody can work them.

The inspector, fair k-means, Adult's scores, the scorecard, the bias score.
"""

import gzip
import json
import re

import numpy as np
import pytest

from renyi_book.explorables import FOLDER, fixed
from renyi_book.live import adversary, bias_score, kmeans, scorecard, scores
from renyi_book.scorecard import rows, tally
from renyi_lib import demographic_parity_ratio, equal_opportunity_difference, renyi_correlation
from renyi_lib.clustering import RenyiKMeans
from tests.browser.explorable_fixtures import (
    chromium,
    model,
    printed,
    settled,
    site,
    visit,
)

__all__ = ["chromium", "site", "visit"]  # fixtures, used by name

MODULES = {
    "adversary": adversary,
    "fair-kmeans": kmeans,
    "scores": scores,
    "scorecard": scorecard,
    "bias-score": bias_score,
}
NAMES = tuple(MODULES)


@pytest.fixture(scope="session")
def bodies():
    """What each chapter's cell writes into its page."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, module in MODULES.items():
            patch.setattr(
                "IPython.display.display",
                lambda shown, name=name: found.update({name: shown.data}),
            )
            module.show()
    return found


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


def test_the_inspectors_numbers_are_the_librarys(opened, site):
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
def test_the_inspectors_printed_numbers(opened, state):
    start, steps = state
    page = opened("adversary", hash=f"#adversary.start={start}&adversary.steps={steps}")
    library = adversary.numbers(start, steps)
    shown = printed(page, "adversary")
    assert {key: fixed(library[key], 3) for key in shown} == shown


def test_her_slope_is_that_of_a_difference_quotient():
    v = adversary.question(0.4)
    for slope, value in (
        (adversary.paid(0.7, v)[1], lambda t: adversary.paid(t, v)[0]),
        (
            adversary.paid(0.7, adversary.question(0.7))[1],
            lambda t: adversary.paid(t, adversary.question(t))[0],
        ),
    ):
        assert (value(0.7 + 1e-5) - value(0.7 - 1e-5)) / 2e-5 == pytest.approx(slope, abs=1e-8)


def test_the_optimal_rules_numbers_are_the_librarys(opened, site, bodies):
    page = opened("bias-score")
    multipliers = np.random.default_rng(2).uniform(0, 0.3, 50).tolist()
    argument = {"population": inline(bodies["bias-score"]), "multipliers": multipliers}
    code = "x.multipliers.map((k) => m.rule(x.population, k))"
    for k, ours in zip(multipliers, model(page, site, "bias-score", code, argument)):
        library = bias_score.numbers(k)
        assert {key: ours[key] for key in library} == pytest.approx(library, abs=1e-9), k


@pytest.mark.parametrize("k", [0, 0.1, 0.3])
def test_the_optimal_rules_printed_numbers(opened, k):
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


def test_every_visit_is_that_of_the_objective_from_scratch(opened, site):
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
def test_passes_ends_and_cycles_are_those_of_the_librarys_algorithms(opened, site):
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


def test_the_chapters_four_points_open_the_figure(opened):
    shown = printed(opened("fair-kmeans"), "fair-kmeans")
    assert (shown["believed"], shown["replied"]) == ("−13.00", "+15.33")
    assert (shown["followed"], shown["exact"], shown["found"]) == ("−9.00",) * 3


def test_the_visits_can_be_stepped_through(opened):
    page = opened("fair-kmeans", hash="#fair-kmeans.visit=0")
    assert printed(page, "fair-kmeans")["believed"] == "–"
    four = {key: kmeans.POINTS[key] for key in ("x", "s", "start", "lam")}
    for one in kmeans.visits(**four, count=8, algorithm="paper").itertuples():
        page.get_by_role("button", name="Next visit").click()
        shown = printed(settled(page), "fair-kmeans")
        assert shown["believed"] == kmeans._signed(one.believed)
        assert shown["replied"] == (kmeans._signed(one.dF) if one.moved else "stays")


def test_a_point_can_be_dragged_and_moved_by_key(opened):
    page = opened("fair-kmeans")
    box = page.locator("[data-point='3']").first.bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 60, y, steps=4)
    page.mouse.up()
    place = page.get_by_role("slider", name="its place")
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


def test_adults_numbers_are_pythons_to_the_last_person(opened, site, bodies):
    page = opened("scores")
    states = states_of_scores()
    code = "x.states.map(([method, lam, k]) => m.read(x.data, method, lam, k))"
    argument = {"data": inline(bodies["scores"]), "states": states}
    counts = scores.counts()
    for (method, lam, k), ours in zip(states, model(page, site, "scores", code, argument)):
        library = scores.measure(counts[method, lam], k)
        for key in ("selected", "correct"):
            assert ours[key] == library[key], (method, lam, k)
        for key in library.keys() - {"selected", "correct"}:
            assert ours[key] == pytest.approx(library[key], abs=1e-12), (method, lam, k, key)
        gaps = [scores.measure(counts[method, lam], j)["gap"] for j in range(101)]
        curve = ours["curves"][argument["data"]["methods"].index(method)]
        assert curve == pytest.approx(gaps, abs=1e-12)


@pytest.mark.parametrize("state", states_of_scores()[:6])
def test_the_measures_from_counts_are_those_of_the_people(state):
    method, lam, k = state
    above = scores.counts()[method, lam]
    # The people themselves, from the counts.
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
def test_adults_printed_numbers(opened, state):
    method, lam, k = state
    address = f"#scores.method={method}&scores.lam={lam:g}&scores.t={k / 100}"
    shown = printed(opened("scores", hash=address), "scores")
    counts = scores.counts()
    now, usual = (scores.measure(counts[method, at], k) for at in (lam, 0.0))
    expected = {
        "p": scores.percent(now["pRule"]),
        "p_usual": scores.percent(usual["pRule"]),
        "accuracy": scores.percent(now["accuracy"]),
        "gap": scores.points(now["gap"]),
        "eo": scores.points(now["eoGap"]),
        "rho_label": fixed(now["rhoLabel"], 3),
        "rho_score": fixed(now["rhoScore"], 3),
        "women": scores.percent(now["rates"][0]),
        "men": scores.percent(now["rates"][1]),
        "women_n": scores.people(now["selected"][0]),
        "men_n": scores.people(now["selected"][1]),
        "t": fixed(k / 100, 2),
        "lam": f"{lam:g}",
    }
    assert shown == expected


def test_the_button_moves_the_threshold_and_the_fairness_does_not_survive(opened):
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
    box = page.locator("[data-handle]").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 60
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 120, y, steps=4)
    page.mouse.up()
    moved = float(settled(page).get_by_role("slider", name="threshold").input_value())
    assert 0.1 < moved < 0.45
    assert printed(page, "scores")["t"] == fixed(moved, 2)


def test_the_scorecards_rows_are_those_of_the_claims(opened, site, bodies):
    page, listed = opened("scorecard"), rows()
    data = inline(bodies["scorecard"])
    rng = np.random.default_rng(3)
    plain = {"words": "", "part": "all", "verdict": "all", "group": "part", "sort": "paper"}
    plain["second"] = "no"
    states = [plain, plain | {"second": "yes", "sort": "effect"}]
    for _ in range(50):
        states.append(
            {
                "words": str(rng.choice(["", "rényi", "theorem 3", "no such word"])),
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
            and all(word in row["claim"].lower() for word in state["words"].split())
        ]
        if state["sort"] == "effect":
            expected.sort(
                key=lambda row: np.inf if effects[row["id"]] is None else -effects[row["id"]]
            )
        assert [row["id"] for row in ours["rows"]] == [row["id"] for row in expected], state
        counts = {v: n for v, n in zip(data["verdicts"], ours["counts"]) if n}
        assert counts == tally(expected, primary=False), state


def test_the_scorecard_opens_with_the_books_tally(opened):
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
    page.get_by_role("radio", name="does not hold").check()
    wrong = [row for row in rows() if row["verdict"] == "does not hold" and row["primary"]]
    assert settled(page).locator("tr[id^=claim-]").count() == len(wrong)
    assert page.locator("tr[id^=claim-]").first.is_visible()
    page.get_by_label("Find").fill("hardt")
    for text in settled(page).locator("tr[id^=claim-]").all_text_contents():
        assert "hardt" in text.lower()
    page.get_by_role("button", name="Reset").click()
    assert settled(page).locator("tr[id^=claim-]").count() == sum(tally().values())
    assert page.get_by_label("Find").input_value() == ""
    page.get_by_role("radio", name="verdict", exact=True).check()
    summaries = settled(page).locator("details.claims-part > summary").all_text_contents()
    assert [text.split(":")[0] for text in summaries] == list(tally())


def test_a_link_to_a_claim_opens_it(opened):
    claim = next(row["id"] for row in reversed(rows()) if row["primary"])
    page = opened("scorecard", hash=f"#claim-{claim}")
    assert page.locator(f"#claim-{claim}").is_visible()


# --- Every one of them -------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_it_is_small(name, bodies):
    own = [path.read_bytes() for path in (FOLDER / name).glob("*.js")]
    assert len(gzip.compress(b"".join(own))) <= 15_000
    shared = [(FOLDER / file).read_bytes() for file in ("shared.js", "plot.js", "explorables.css")]
    data = re.search(r'<script type="application/json">(.*?)</script>', bodies[name])[1]
    assert len(gzip.compress(b"".join([*own, *shared, data.encode()]))) <= 30_000


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_nothing_is_cut_and_everything_can_be_hit(opened, name, theme):
    page = opened(name, width=390, theme=theme, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.eval_on_selector_all(
        ".explorable-controls :is(button, input[type=range], label:has(input), select), "
        ".explorable summary",
        "nodes => nodes.filter((n) => n.getBoundingClientRect().height < 43.5)"
        ".map((n) => n.outerHTML)",
    )
    assert small == []
    tiny = page.eval_on_selector_all(
        ".explorable-stage text",
        "nodes => nodes.map((n) => parseFloat(getComputedStyle(n).fontSize))"
        ".filter((size) => size < 12)",
    )
    assert tiny == []
    beyond = page.eval_on_selector_all(
        ".explorable-stage text",
        "nodes => nodes.filter((n) => { const b = n.getBoundingClientRect();"
        " return b.left < -1 || b.right > 391; }).map((n) => n.textContent)",
    )
    assert beyond == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "scorecard"])
def test_keys_move_it_and_what_changes_is_spoken(opened, name):
    page = opened(name)
    slider = page.get_by_role("slider").first
    before, words = printed(page, name), page.locator(".explorable-summary").text_content()
    told = slider.get_attribute("aria-valuetext")
    slider.focus()
    slider.press("End" if slider.input_value() == slider.get_attribute("min") else "Home")
    settled(page)
    assert slider.get_attribute("aria-valuetext") != told
    assert printed(page, name) != before
    assert page.locator(".explorable-summary").text_content() != words
    page.wait_for_function(
        "document.querySelector('.explorable-voice').textContent ==="
        " document.querySelector('.explorable-summary').textContent"
    )
    page.get_by_role("button", name="Reset").click()
    assert printed(settled(page), name) == before


@pytest.mark.parametrize("name", [name for name in NAMES if name != "scorecard"])
def test_phrases_in_the_prose_are_buttons_and_the_address_keeps_the_state(
    opened, visit, bodies, name
):
    page = opened(name)
    before = printed(page, name)
    page.locator("button.explorable-try").last.click()
    after = printed(settled(page), name)
    assert after != before
    page.wait_for_function(f"location.hash.includes('{name}.')")
    hash = page.evaluate("location.hash")
    again = visit(f"{name}-again", bodies[name], hash=hash)
    assert printed(again, name) == after


@pytest.mark.parametrize("name", NAMES)
def test_the_baked_numbers_are_those_of_the_opening_state(opened, bodies, name):
    baked = dict(
        re.findall(
            r'<output data-explorable="[^"]*" data-value="(\w+)">([^<]*)</output>', bodies[name]
        )
    )
    shown = printed(opened(name), name)
    assert {key: shown[key] for key in baked} == baked


@pytest.mark.parametrize("name", NAMES)
def test_without_a_script_the_still_version_stands(chromium, site, bodies, name):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site.add(f"{name}-still", bodies[name]))
    still = page.locator(".explorable-still")
    assert still.is_visible()
    if name == "scorecard":
        assert page.locator("tr[id^=claim-]").count() == len(rows())
    else:
        assert len(still.locator("img").get_attribute("alt").split()) > 10
    context.close()


@pytest.mark.parametrize("name", NAMES)
def test_it_wakes_on_a_page_opened_as_a_file(chromium, site, bodies, name):
    from tests.book.test_tools import load

    script = load("explorable_files").plain_script(name)
    (site.folder / "book" / "explorables" / name / "plain.js").write_text(script, encoding="utf-8")
    site.add(f"{name}-file", bodies[name])
    context = chromium.new_context()
    page = context.new_page()
    page.goto((site.folder / "book" / "part" / f"{name}-file.html").as_uri())
    page.wait_for_selector(".explorable[data-live=yes]")
    context.close()


@pytest.mark.parametrize("name", NAMES)
def test_on_paper_there_are_no_controls(opened, name):
    page = opened(name)
    page.emulate_media(media="print")
    assert not page.locator(".explorable-controls").is_visible()
    assert page.locator(".explorable-stage").is_visible()
    assert page.locator(".explorable-summary").is_visible()
