"""What was fixed before the results, and whether it still is.

``book/rules.json`` has the commit of the rules, a checksum of the frozen fields of each claim and
one of the rules' code. A claim may differ from it if its ``deviations`` say why; code may, if
``rules.json`` has a deviation with the new checksum. Claims that were added later are under
``added``, with the commits that held their rules before they were weighed.
"""

import ast
import hashlib
import json
from pathlib import Path

from renyi_book.chapters import BOOK
from renyi_book.scorecard.table import claims

RULES_FILE = BOOK / "rules.json"
#: What may change later: where the book shows and tests a claim, and what happened to it.
LOOSE = ("chapter", "test", "note", "errata", "deviations", "history")
#: Beside the rules, the code that turns tables into verdicts: modules, and functions of `table`.
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
    """Checksum of the fields of a claim that were fixed beforehand."""
    fixed = {key: value for key, value in claim.items() if key not in LOOSE}
    text = json.dumps(fixed, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def code_checksum(folder=Path(__file__).parent):
    """Checksum of the code that turns tables into verdicts.

    It covers the rules and the modules that they are built on, and of `table` the functions that
    judge. Comments, layout, docstrings, the words of errors and the modules that names are
    imported from do not count.
    """
    digest = hashlib.sha256()
    for path in [*sorted(folder.glob("rules/*.py")), *(folder / name for name in JUDGING)]:
        tree = _Wordless().visit(ast.parse(path.read_text(encoding="utf8")))
        if path.name == "table.py":
            tree.body = [node for node in tree.body if getattr(node, "name", "") in JUDGES]
        digest.update(f"{path.name}\n{_text_of(tree)}\n".encode())
    return digest.hexdigest()


class _Wordless(ast.NodeTransformer):
    """Removes docstrings, the arguments of errors, and the modules behind imported names."""

    def visit_Expr(self, node):
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_ImportFrom(self, node):
        return ast.ImportFrom("", node.names)

    def visit_Raise(self, node):
        return ast.Raise(node.exc.func) if isinstance(node.exc, ast.Call) else node


def _text_of(node):
    """The syntax tree as text; empty fields, in which versions of Python differ, are left out."""
    if isinstance(node, list):
        return f"[{','.join(map(_text_of, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    filled = [(key, value) for key, value in ast.iter_fields(node) if value not in (None, [])]
    return f"{type(node).__name__}({','.join(f'{k}={_text_of(v)}' for k, v in sorted(filled))})"


def freeze(path=RULES_FILE):
    """Write down what is fixed from now on: once, before the results.

    Parameters
    ----------
    path : path, optional

    Raises
    ------
    FileExistsError
        If rules have been frozen there. What has to change after that is a deviation.
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
    """Write down the claims that are new since the rules were frozen: before they are weighed.

    Parameters
    ----------
    path : path, optional
    """
    fixed = json.loads(Path(path).read_text(encoding="utf8"))
    added = fixed.setdefault("added", {"commits": [], "claims": {}})
    for claim in claims():
        if claim["id"] not in fixed["claims"]:
            added["claims"].setdefault(claim["id"], claim_checksum(claim))
    Path(path).write_text(_text(fixed), encoding="utf8")


def name(commit, path=RULES_FILE):
    """Say which commit holds the frozen rules; no checksum is touched.

    Parameters
    ----------
    commit : str
    path : path, optional

    Raises
    ------
    ValueError
        If another commit has been named, or the rules are no longer those that were frozen.
    """
    fixed = json.loads(Path(path).read_text(encoding="utf8"))
    if fixed["commit"] not in (None, commit):
        raise ValueError(f"commit {fixed['commit']} has been named: it is not replaced")
    found = problems(path)
    if found:
        raise ValueError(f"the rules are not those that were frozen: {'; '.join(found)}")
    Path(path).write_text(_text(fixed | {"commit": commit}), encoding="utf8")


def _text(fixed):
    return json.dumps(fixed, indent=1, sort_keys=True) + "\n"


def problems(path=RULES_FILE):
    """What differs from the frozen rules and is not told as a deviation.

    Returns
    -------
    list of str
    """
    fixed = json.loads(Path(path).read_text(encoding="utf8"))
    now = {claim["id"]: claim for claim in claims()}
    added = fixed.get("added", {}).get("claims", {})
    found = [f"{name}: a claim is gone" for name in fixed["claims"] | added if name not in now]
    for name, claim in now.items():
        same = fixed["claims"].get(name) == claim_checksum(claim)
        if name in added and added[name] != claim_checksum(claim):
            found.append(f"{name}: differs from what was fixed when it was added")
        if not same and not claim.get("deviations"):
            found.append(f"{name}: differs from the frozen rules, and says no deviation")
    code = code_checksum()
    if code != fixed["code"] and all(told["code"] != code for told in fixed["deviations"]):
        found.append("the rules' code differs from the frozen one, and no deviation tells of it")
    return found
