"""Plausible wrong answers to assignment 4, and the test that must catch each."""

PLAN = """
PLAN = {{
    "data": "two coins",
    "seeds": {seeds},
    "ratio": 0.0,
    "claimed": {{"mean": ({low}, math.inf), "spread": (-0.5, 0.5)}},
}}
"""
# A simulation replaces the experiment of the reference, so that mistakes are found in seconds.
RUN = """
def run(seed):
    rng = np.random.default_rng({generator})
    control, treatment = rng.normal(size=50), rng.normal(size=50) + 1
    records = [
        (seed, "mean", "control", control.mean()),
        (seed, "mean", "treatment", treatment.mean()),
        (seed, "spread", "control", control.std()),
        (seed, "spread", "treatment", treatment.std()),
    ]
    return pd.DataFrame(records, columns=["seed", "case", "setting", "value"])
"""
GOOD_PLAN = PLAN.format(seeds="[1, 2, 3, 4, 5]", low="0.0")
GOOD_RUN = RUN.format(generator="seed")


def wrong(name, caught_by, message, **replace):
    """Return a wrong answer, a sound small experiment except for the cells in `replace`."""
    return {
        "name": name,
        "replace": {"plan": GOOD_PLAN, "run": GOOD_RUN} | replace,
        "caught_by": caught_by,
        "message": message,
    }


def interval(half):
    """Return the cell `interval` with another half-width."""
    return f"""
def interval(differences, ratio):
    d = np.asarray(differences, dtype=float)
    d = d[~np.isnan(d)]
    if len(d) < 2:
        return math.nan, math.nan
    half = {half}
    return d.mean() - half, d.mean() + half
"""


ZOO = [
    wrong(
        "three seeds",
        "test_plan",
        "only 3 seeds",
        plan=PLAN.format(seeds="[1, 2, 3]", low="0.0"),
    ),
    wrong(
        "the same seed twice",
        "test_plan",
        "not all different",
        plan=PLAN.format(seeds="[1, 2, 3, 4, 5, 5]", low="0.0"),
        results="RESULTS = pd.concat([run(seed) for seed in set(PLAN['seeds'])])",
    ),
    wrong(
        "a claim that nothing can contradict",
        "test_plan",
        "no outcome could contradict",
        plan=PLAN.format(seeds="[1, 2, 3, 4, 5]", low="-math.inf"),
    ),
    wrong(
        "the seed is not used",
        "test_run",
        "the seed is not used",
        run=RUN.format(generator="0"),
    ),
    wrong(
        "other numbers every time",
        "test_run",
        "different numbers the second time",
        run=RUN.format(generator=""),
    ),
    wrong(
        "a case that was not planned",
        "test_run",
        "not planned: [('median'",
        run=GOOD_RUN.replace(
            "    return",
            """    records.append((seed, "median", "control", np.median(control)))
    return""",
        ),
    ),
    wrong(
        "pasted results",
        "test_results",
        "were numbers pasted",
        results="""
RESULTS = pd.concat([run(seed) for seed in PLAN["seeds"]], ignore_index=True)
RESULTS["value"] = RESULTS["value"].round(1)
""",
    ),
    wrong(
        "results stored and handed out",
        "test_results",
        "stored and handed out",
        run=GOOD_RUN.replace(
            "def run(seed):", "def run(seed):\n    draw = seed if seed < 1000 else 1"
        ).replace("default_rng(seed)", "default_rng(draw)"),
    ),
    wrong(
        "a seed left out",
        "test_results",
        "Leave none out",
        results="RESULTS = pd.concat([run(seed) for seed in PLAN['seeds'][1:]])",
    ),
    wrong(
        "normal quantile",
        "test_interval",
        "normal quantile",
        interval=interval("1.96 * d.std(ddof=1) * math.sqrt(1 / len(d) + ratio)"),
    ),
    wrong(
        "interval of one difference",
        "test_interval",
        "without dividing by the root of n",
        interval=interval("stats.t.ppf(0.975, len(d) - 1) * d.std(ddof=1)"),
    ),
    wrong(
        "standard deviation divided by n",
        "test_interval",
        "use ddof=1",
        interval=interval(
            "stats.t.ppf(0.975, len(d) - 1) * d.std() * math.sqrt(1 / len(d) + ratio)"
        ),
    ),
    wrong(
        "Student's own interval",
        "test_interval",
        "without the ratio",
        interval=interval("stats.t.ppf(0.975, len(d) - 1) * d.std(ddof=1) / math.sqrt(len(d))"),
    ),
    wrong(
        "no ratio in the plan",
        "test_plan",
        "PLAN has no key ratio",
        plan=GOOD_PLAN.replace('    "ratio": 0.0,\n', ""),
        conclusion="""
wide = RESULTS.pivot(index=["case", "seed"], columns="setting", values="value")
wide = wide["treatment"] - wide["control"]
PLAN["ratio"] = 0.0
INTERVALS = {case: interval(wide[case], 0.0) for case in PLAN["claimed"]}
VERDICT = verdict(INTERVALS, PLAN["claimed"])
""",
    ),
    wrong(
        "verdict by the mean alone",
        "test_verdict",
        "both sides of an end",
        verdict="""
def verdict(intervals, claimed):
    inside = [low <= np.mean(intervals[case]) <= high for case, (low, high) in claimed.items()]
    return "holds" if all(inside) else "holds in part" if any(inside) else "does not hold"
""",
    ),
    wrong(
        "an overlap at the upper end counts as agreement",
        "test_verdict",
        "both sides of an end",
        verdict="""
def verdict(intervals, claimed):
    states = set()
    for case, (low, high) in claimed.items():
        start, end = intervals[case]
        states.add("does not hold" if end < low or start > high else "holds")
        if start < low <= end:
            states.add("undecided")
    return states.pop() if len(states) == 1 else "holds in part"
""",
    ),
    wrong(
        "a verdict that is not in the list",
        "test_verdict",
        "is not one of",
        verdict="""
def verdict(intervals, claimed):
    return "True"
""",
        conclusion="""
differences = RESULTS.pivot(index=["case", "seed"], columns="setting", values="value")
differences = differences["treatment"] - differences["control"]
INTERVALS = {case: interval(differences[case], PLAN["ratio"]) for case in PLAN["claimed"]}
VERDICT = "holds"
verdict = lambda intervals, claimed: "holds"
""",
    ),
    wrong(
        "control minus treatment",
        "test_conclusion",
        "treatment - control",
        conclusion="""
wide = RESULTS.pivot(index=["case", "seed"], columns="setting", values="value")
wide = wide["control"] - wide["treatment"]
INTERVALS = {case: interval(wide[case], PLAN["ratio"]) for case in PLAN["claimed"]}
VERDICT = verdict(INTERVALS, PLAN["claimed"])
""",
    ),
    wrong(
        "a verdict typed by hand",
        "test_conclusion",
        "not a matter of choice",
        conclusion="""
wide = RESULTS.pivot(index=["case", "seed"], columns="setting", values="value")
wide = wide["treatment"] - wide["control"]
INTERVALS = {case: interval(wide[case], PLAN["ratio"]) for case in PLAN["claimed"]}
VERDICT = "does not hold"
""",
    ),
]

# Every edit is made in the same sound small experiment.
BASE = {"plan": GOOD_PLAN, "run": GOOD_RUN}
# Edits of the reference: (name, cell, original code, student's code, test, part of the message)
EDITS = [
    (
        "claim rewritten after the results",
        "conclusion",
        'VERDICT = verdict(INTERVALS, PLAN["claimed"])',
        'PLAN = PLAN | {"claimed": {c: (a - 1, b + 1) for c, (a, b) in '
        "INTERVALS.items()}}\n"
        'VERDICT = verdict(INTERVALS, PLAN["claimed"])',
        "test_conclusion",
        "fitted to its results",
    ),
    (
        "claim changed in place",
        "conclusion",
        'VERDICT = verdict(INTERVALS, PLAN["claimed"])',
        'PLAN["claimed"]["mean"] = (-9.0, 9.0)\nVERDICT = verdict(INTERVALS, PLAN["claimed"])',
        "test_conclusion",
        "fitted to its results",
    ),
    (
        "interval of the means, not of the differences",
        "conclusion",
        'DIFFERENCES = WIDE["treatment"] - WIDE["control"]',
        'DIFFERENCES = WIDE["treatment"]',
        "test_conclusion",
        "seed by seed",
    ),
    (
        "pairs broken",
        "conclusion",
        'DIFFERENCES = WIDE["treatment"] - WIDE["control"]',
        'DIFFERENCES = WIDE["treatment"] - WIDE["control"].to_numpy()[::-1]',
        "test_conclusion",
        "within each seed",
    ),
    (
        "one case forgotten",
        "conclusion",
        'for case in PLAN["claimed"]}',
        'for case in list(PLAN["claimed"])[:1]}\nINTERVALS["spread"] = INTERVALS["mean"]',
        "test_conclusion",
        "seed by seed",
    ),
    (
        "nan kept",
        "interval",
        "    d = d[~np.isnan(d)]\n",
        "",
        "test_interval",
        "A run that failed is left out",
    ),
    (
        "nan counted as 0",
        "interval",
        "d = d[~np.isnan(d)]",
        "d = np.nan_to_num(d)",
        "test_interval",
        "",
    ),
    (
        "one number is enough",
        "interval",
        "if len(d) < 2:\n        return math.nan, math.nan",
        "if len(d) < 2:\n        return float(d.mean()) if len(d) else 0.0, 0.0",
        "test_interval",
        "fewer than two",
    ),
    (
        "90 % interval",
        "interval",
        "0.975",
        "0.95",
        "test_interval",
        "quantile 0.95",
    ),
    (
        "99 % interval",
        "interval",
        "0.975",
        "0.995",
        "test_interval",
        "half-width",
    ),
    (
        "n degrees of freedom",
        "interval",
        "len(d) - 1)",
        "len(d))",
        "test_interval",
        "it is n - 1",
    ),
    (
        "median in the middle",
        "interval",
        "float(d.mean() - half), float(d.mean() + half)",
        "float(np.median(d) - 2 * half), float(np.median(d) + half)",
        "test_interval",
        "not centered",
    ),
    (
        "touching an end of the range does not count as inside",
        "verdict",
        "if low <= start and end <= high:",
        "if low < start and end < high:",
        "test_verdict",
        "touches",
    ),
    (
        "nan counts as a contradiction",
        "verdict",
        "elif end < low or start > high:",
        "elif not (end >= low and start <= high):",
        "test_verdict",
        "nan",
    ),
    (
        "open counts as contradiction",
        "verdict",
        'states.add("open")',
        'states.add("contradicts")',
        "test_verdict",
        "",
    ),
    (
        "open cases forgotten",
        "verdict",
        'return "undecided" if "open" in states else "holds"',
        'return "holds"',
        "test_verdict",
        "",
    ),
    (
        "one run used for every seed",
        "results",
        'run(seed) for seed in PLAN["seeds"]',
        'run(PLAN["seeds"][0]).assign(seed=seed) for seed in PLAN["seeds"]',
        "test_results",
        "were numbers pasted",
    ),
]
ZOO += [
    wrong(
        "a range that no result can leave",
        "test_conclusion",
        "it claims nothing",
        plan=PLAN.format(seeds="[1, 2, 3, 4, 5]", low="-1e9"),
    ),
    wrong(
        "twelve seeds",
        "test_plan",
        "at most 10",
        plan=PLAN.format(seeds="list(range(12))", low="0.0"),
    ),
    wrong(
        "control and treatment the same",
        "test_run",
        "nothing was treated",
        run=GOOD_RUN.replace("rng.normal(size=50) + 1\n", "None\n    treatment = control\n"),
    ),
    wrong(
        "a fixed seed in the records",
        "test_run",
        "does not hold 102",
        run=GOOD_RUN.replace(
            '(seed, "mean", "control"', '(101 if seed > 99 else seed, "mean", "control"'
        ),
    ),
    wrong(
        "seeds that are not whole numbers",
        "test_plan",
        "whole numbers",
        plan=PLAN.format(seeds="[1.5, 2.5, 3.5, 4.5, 5.5]", low="0.0"),
        run=GOOD_RUN.replace("default_rng(seed)", "default_rng(int(seed * 2))"),
    ),
]
