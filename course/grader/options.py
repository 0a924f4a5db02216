"""Options that affect marks, which are stored with the grades and never changed silently."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from .late import Policy
from .sandbox import Limits

FILE = "options.json"


@dataclass(frozen=True)
class Options:
    """Options on which the marks in a folder of grades depend.

    Parameters
    ----------
    tasks : dict
        Numbers of the tasks that count, by assignment; other assignments count in full.
    policy : Policy
        Due dates, and the penalty for late work.
    seed : str
        Fingerprint of the seed of the students' variants; the seed itself is not stored.
    limits : Limits
        Limits on the resources of a submission.
    """

    tasks: dict = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    seed: str = ""
    limits: Limits = field(default_factory=Limits)

    def data(self):
        """Return the options as plain data, for JSON."""
        return {
            "tasks": {name: sorted(numbers) for name, numbers in sorted(self.tasks.items())},
            "policy": self.policy.data(),
            "seed": self.seed,
            "limits": asdict(self.limits),
        }

    def differences(self, other):
        """Return the differences from `other`, one line for each."""
        mine, theirs = self.data(), other.data()
        lines = []
        for name in sorted({*mine["tasks"], *theirs["tasks"]}):
            old, new = (data["tasks"].get(name, "all") for data in (mine, theirs))
            lines += [f"tasks of {name}: {old} → {new}"] if old != new else []
        for name in mine["policy"]:
            old, new = mine["policy"][name], theirs["policy"][name]
            if old != new:
                shown = f"{old} → {new}" if name in ("budget", "penalty") else "other dates"
                lines.append(f"{name}: {shown}")
        lines += ["the seed of the variants"] if mine["seed"] != theirs["seed"] else []
        for name, old in mine["limits"].items():
            new = theirs["limits"][name]
            lines += [f"{name}: {old:g} → {new:g}"] if old != new else []
        return lines


def seal(seed):
    """Return the fingerprint of a seed, or "" without a seed."""
    return hashlib.sha256(f"renyi course\n{seed}".encode()).hexdigest()[:16] if seed else ""


def read(out):
    """Return the options in the folder of grades `out`, None if it has none yet."""
    path = Path(out) / FILE
    try:
        data = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    try:
        return Options(
            {name: frozenset(numbers) for name, numbers in data["tasks"].items()},
            Policy.of_data(data["policy"]),
            data["seed"],
            Limits(**data["limits"]),
        )
    except (ValueError, KeyError, TypeError) as problem:
        raise ValueError(f"{path} cannot be read ({problem}): restore it, or remove it") from None


def chosen(stored, *, assignment, tasks, due, submitted, budget, penalty, seed, limits):
    """Return the stored options, updated by those that are not None.

    Parameters
    ----------
    stored : Options or None
        Options used so far.
    assignment : str or None
        Assignment whose tasks are chosen.
    tasks : set of int, "all" or None
        Tasks that count.
    due, submitted : str or None
        Paths of CSV files; "" means none.
    budget, penalty : float or None
        Free late days, and percentage of the score that each further day costs.
    seed : str or None
        Seed of the students' variants.
    limits : dict
        New value of each limit, or None.
    """
    old = stored or Options()
    table = dict(old.tasks)
    if tasks == "all":
        table.pop(assignment, None)
    elif tasks is not None:
        table[assignment] = frozenset(tasks)
    fresh = Policy.read(due or None, submitted or None, 0, 0)
    policy = replace(
        old.policy,
        due=old.policy.due if due is None else fresh.due,
        submitted=old.policy.submitted if submitted is None else fresh.submitted,
        budget=old.policy.budget if budget is None else budget,
        penalty=old.policy.penalty if penalty is None else penalty,
    )
    given = {name: value for name, value in limits.items() if value is not None}
    fingerprint = old.seed if seed is None else seal(seed)
    return Options(table, policy, fingerprint, replace(old.limits, **given))
