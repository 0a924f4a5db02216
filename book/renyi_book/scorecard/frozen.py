"""Check that everything that was fixed before the results is unchanged.

``book/rules.json`` contains the commit of the rules, a checksum of the frozen fields of each claim
and a checksum of the rules' code. A claim may differ from its checksum if its ``deviations``
explain why, and the code may differ if ``rules.json`` has a deviation with the new checksum.
Claims that were added later are listed under ``added``, with the commits that contained their
rules before the claims were judged. They, too, need ``deviations``, but must match their checksum.
"""

import ast
import hashlib
import json
from pathlib import Path

from renyi_book.chapters import BOOK
from renyi_book.scorecard.table import claims

RULES_FILE = BOOK / "rules.json"
#: Fields that may change later: where the book shows and tests a claim, and its history.
LOOSE = ("chapter", "test", "note", "errata", "deviations", "history")
#: Code, besides the rules, that turns tables into verdicts: modules, and functions of `table`.
JUDGING = ("judging.py", "reading.py", "statistics.py", "thresholds.py", "table.py")
JUDGES = (
    "weigh",
    "judge",
    "counted",
    "stable",
    "multiverse",
    "_factors",
    "_summary",
    "_seeds",
    "_in_a_universe",
    "_violations",
)


def claim_checksum(claim):
    """Compute the checksum of the fields of a claim that were fixed beforehand."""
    fixed = {key: value for key, value in claim.items() if key not in LOOSE}
    text = json.dumps(fixed, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def code_checksum(folder=Path(__file__).parent):
    """Compute the checksum of the code that turns tables into verdicts.

    It covers the rules, the modules on which they are built, and the functions of `table` that
    judge. Comments, layout, docstrings, the wording of errors and the modules from which names are
    imported are ignored.
    """
    digest = hashlib.sha256()
    for path in [*sorted(folder.glob("rules/*.py")), *(folder / name for name in JUDGING)]:
        tree = _Wordless().visit(ast.parse(path.read_text(encoding="utf8")))
        if path.name == "table.py":
            tree.body = [node for node in tree.body if getattr(node, "name", "") in JUDGES]
        digest.update(f"{path.name}\n{_text_of(tree)}\n".encode())
    return digest.hexdigest()


class _Wordless(ast.NodeTransformer):
    """Transformer that removes docstrings, arguments of errors, and modules of imports."""

    def visit_Expr(self, node):
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_ImportFrom(self, node):
        return ast.ImportFrom("", node.names)

    def visit_Raise(self, node):
        return ast.Raise(node.exc.func) if isinstance(node.exc, ast.Call) else node


def _text_of(node):
    """Return the syntax tree as text, without empty fields, which vary by Python version."""
    if isinstance(node, list):
        return f"[{','.join(map(_text_of, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    filled = [(key, value) for key, value in ast.iter_fields(node) if value not in (None, [])]
    return f"{type(node).__name__}({','.join(f'{k}={_text_of(v)}' for k, v in sorted(filled))})"


def freeze(path=RULES_FILE):
    """Store the state that is fixed from now on, once and before the results.

    Parameters
    ----------
    path : path, optional
        File to write.

    Raises
    ------
    FileExistsError
        If rules have already been frozen there. Later changes must be recorded as deviations.
    """
    fixed = {
        "commit": None,
        "claims": {claim["id"]: claim_checksum(claim) for claim in claims()},
        "code": code_checksum(),
        "deviations": [],
    }
    with Path(path).open("x", encoding="utf8") as file:
        file.write(_text(fixed))


def add(path=RULES_FILE):
    """Store the claims that are new since the rules were frozen, before they are judged.

    Parameters
    ----------
    path : path, optional
        File to update.
    """
    fixed = json.loads(Path(path).read_text(encoding="utf8"))
    added = fixed.setdefault("added", {"commits": [], "claims": {}})
    for claim in claims():
        if claim["id"] not in fixed["claims"]:
            added["claims"].setdefault(claim["id"], claim_checksum(claim))
    Path(path).write_text(_text(fixed), encoding="utf8")


def name(commit, path=RULES_FILE):
    """Record which commit contains the frozen rules, without changing any checksum.

    Parameters
    ----------
    commit : str
        Hash of the commit.
    path : path, optional
        File to update.

    Raises
    ------
    ValueError
        If another commit is already recorded, or the rules differ from the frozen ones.
    """
    fixed = json.loads(Path(path).read_text(encoding="utf8"))
    if fixed["commit"] not in (None, commit):
        raise ValueError(
            f"commit {fixed['commit']} is already recorded and is not replaced by {commit}"
        )
    found = problems(path)
    if found:
        raise ValueError(f"the rules differ from the frozen ones: {'; '.join(found)}")
    Path(path).write_text(_text(fixed | {"commit": commit}), encoding="utf8")


def _text(fixed):
    return json.dumps(fixed, indent=1, sort_keys=True) + "\n"


def problems(path=RULES_FILE):
    """List the differences from the frozen rules that are not recorded as deviations.

    Parameters
    ----------
    path : path, optional
        File of the frozen rules.

    Returns
    -------
    list of str
        One line for each difference.
    """
    fixed = json.loads(Path(path).read_text(encoding="utf8"))
    now = {claim["id"]: claim for claim in claims()}
    added = fixed.get("added", {}).get("claims", {})
    found = [
        f"{name}: the claim is missing" for name in fixed["claims"] | added if name not in now
    ]
    for name, claim in now.items():
        same = fixed["claims"].get(name) == claim_checksum(claim)
        if name in added and added[name] != claim_checksum(claim):
            found.append(f"{name}: differs from what was fixed when it was added")
        if not same and not claim.get("deviations"):
            found.append(f"{name}: differs from the frozen rules, but declares no deviation")
    code = code_checksum()
    if code != fixed["code"] and all(told["code"] != code for told in fixed["deviations"]):
        found.append("the rules' code differs from the frozen one, and no deviation declares it")
    return found
