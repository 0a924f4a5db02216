"""What code a result depends on: the names that a name reaches, and a checksum of them all.

From a function, by the imports and names in its source, through the modules of the book and of the
library: every definition that it can come to. Names are followed one by one, so that a function
which nobody calls on the way does not count, though it stands in the same file. Where the source
does not tell, more is counted rather than less:

* a class counts whole, and so does a module that is used as an object (``metrics.p_rule``);
* a local variable counts as the definition of the same name;
* what a module does when it is imported (a loop, a call, an assignment to a part of something, a
  definition under a decorator of ours) counts for all who import it, by whatever way round;
* a computed import (``import_module(name)``) reaches every module of its package, and a computed
  name (``globals``, ``eval``, ``exec``) every name of its module.

What it cannot see: classes that are found by ``__subclasses__``.

Comments, layout, docstrings and annotations never count; the words of an error or a warning count
only if asked for. Other libraries count by the name under which they are imported.
"""

import ast
import hashlib
from functools import cache, cached_property
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

WHOLE = "*"
_COMPUTED_NAMES = {"globals", "eval", "exec"}
_RUN = ""  # In place of a name: the module is imported, none of its names is used.
# The annotations that say what a field of a class is, not only what type it has.
_FIELD_KINDS = {"ClassVar", "InitVar", "KW_ONLY"}


class Use(NamedTuple):
    """A name of a module; `WHOLE` stands for all of its names."""

    module: str
    name: str = WHOLE


def packages():
    """The folders of the book's package and of the library, by the packages' names."""
    names = ("renyi_book", "renyi_lib")
    return {name: Path(find_spec(name).submodule_search_locations[0]) for name in names}


def checksum(found):
    """Checksum of what was reached, the same for every version of Python.

    Parameters
    ----------
    found : dict of str to str
        From `reached`.

    Returns
    -------
    str
    """
    digest = hashlib.sha256()
    for key in sorted(found):
        digest.update(f"{key}\n{found[key]}\n".encode())
    return digest.hexdigest()


def reached(start, folders=None, *, messages=False, computed=None, extra=None):
    """What can be reached from some names, each with its meaning.

    Parameters
    ----------
    start : iterable of Use
    folders : dict of str to Path, optional
        The packages within which names are followed; by default `packages`.
    messages : bool, default=False
        Whether the words of errors and warnings count.
    computed : dict of str to list of str, optional
        For a package that computes the name of a module to import: the modules that it can be.
    extra : dict of str to str, optional
        Source texts of modules that are in no package, by name, such as a chapter's.

    Returns
    -------
    dict of str to str
        From "module:name" to a text that changes if the meaning does.
    """
    world = _World(packages() if folders is None else folders, messages, extra or {})
    found, seen, todo = {}, set(), list(start)
    while todo:
        use = todo.pop()
        if use in seen:
            continue
        seen.add(use)
        module = world.module(use.module)
        if module is not None:
            meanings, uses = module.look_up(use.name, world, computed or {})
            if meanings:
                found[f"{use.module}:{use.name}"] = "\n".join(meanings)
            todo += uses
    return found


class _World:
    """The modules that names are followed into."""

    def __init__(self, folders, messages, extra):
        self.folders, self.messages = folders, messages
        self.modules = {name: _Module(name, name, text, messages) for name, text in extra.items()}

    def module(self, name):
        """The module of that name, or None if it is not one of ours."""
        if name not in self.modules:
            self.modules[name] = self._found(name)
        return self.modules[name]

    def _found(self, name):
        path = self._path(name)
        if path is None:
            return None
        stat = path.stat()
        return _read(name, path, stat.st_mtime_ns, stat.st_size, self.messages)

    def is_ours(self, name):
        return name.partition(".")[0] in self.folders

    def below(self, package):
        """The modules directly in a package."""
        path = self._path(package)
        if path is None or path.name != "__init__.py":
            return []
        files = [p.stem for p in path.parent.glob("*.py") if p != path]
        folders = [p.parent.name for p in path.parent.glob("*/__init__.py")]
        return [f"{package}.{name}" for name in sorted(files + folders)]

    def _path(self, name):
        package, *parts = name.split(".")
        if package not in self.folders:
            return None
        base = Path(self.folders[package]).joinpath(*parts)
        candidates = (base / "__init__.py", base.with_suffix(".py") if parts else base)
        return next((path for path in candidates if path.is_file()), None)


@cache
def _read(name, path, mtime, size, messages):
    """A module, parsed once as long as its file stays the same (`mtime`, `size`)."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return _Module(name, package, path.read_text(encoding="utf8"), messages)


class _Module:
    """The statements of a module, by the names that they bind."""

    def __init__(self, name, package, text, messages):
        self.name, self.package = name, package
        self.pieces, self.imports, self.stars, self.run = {}, {}, [], []
        tree = _Bare(messages).visit(ast.parse(text))
        for statement in tree.body:
            self._add(statement)

    def _add(self, statement):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for bound, use in _imported(statement, self.package):
                if bound == WHOLE:
                    self.stars.append(use)
                else:
                    self.imports.setdefault(bound, []).append(use)
            return
        if _is_for_types_only(statement):
            return
        piece = _Piece(statement, self.package)
        names = _bound(statement)
        for name in names:
            self.pieces.setdefault(name, []).append(piece)
        if not names or getattr(statement, "decorator_list", []):
            self.run.append(piece)

    def look_up(self, name, world, computed):
        """The meanings of a name, and what they use in turn."""
        if name == _RUN:
            return self._when_imported(world, computed)
        uses = [Use(self.name, _RUN)]
        if name == WHOLE:
            names = [*self.pieces, *self.imports]
            uses += [Use(self.name, own) for own in names]
            return [], uses + [Use(module) for module in world.below(self.name)]
        pieces, imports = self.pieces.get(name, []), self.imports.get(name, [])
        if not pieces and not imports:
            return [], uses + self._not_bound(name, world)
        if name == "__getattr__":
            # What it imports on demand has been found by `_not_bound`.
            computed = {self.package: []}
        for piece in pieces:
            uses += self._used_by(piece, world, computed)
        meanings = [piece.meaning for piece in pieces]
        return meanings + [f"import {':'.join(use)}" for use in imports], uses + imports

    def _when_imported(self, world, computed):
        """What happens at the import, here and in every module that is imported on the way."""
        parents = self.name.split(".")[:-1]
        uses = [Use(".".join(parents[: i + 1]), _RUN) for i in range(len(parents))]
        for use in [use for found in self.imports.values() for use in found] + self.stars:
            uses += [Use(use.module, _RUN), Use(f"{use.module}.{use.name}", _RUN)]
        uses += self.stars
        run = [piece for piece in self.run if self._does_something(piece, world)]
        for piece in run:
            uses += self._used_by(piece, world, computed)
        return [piece.meaning for piece in run], uses

    def _does_something(self, piece, world):
        """A definition under decorators does, if one of those is ours (it may keep a list)."""
        decorators = getattr(piece.statement, "decorator_list", None)
        if decorators is None:
            return True
        roots = {node.id for d in decorators for node in ast.walk(d) if isinstance(node, ast.Name)}
        ours = {
            bound
            for bound, uses in self.imports.items()
            if any(world.is_ours(use.module) for use in uses)
        }
        return bool(roots & (ours | set(self.pieces)))

    def _used_by(self, piece, world, computed):
        uses = list(piece.imports)
        uses += [Use(self.name, n) for n in piece.names if n in self.pieces or n in self.imports]
        if self._computes_an_import(piece):
            anywhere = world.below(self.package) if world.is_ours(self.package) else world.folders
            uses += [Use(module) for module in computed.get(self.package, anywhere)]
        if piece.names & _COMPUTED_NAMES:
            uses.append(Use(self.name))
        return uses

    def _computes_an_import(self, piece):
        bound = [use for name in piece.names for use in self.imports.get(name, [])]
        return "__import__" in piece.names or any(
            use.module == "importlib" for use in [*bound, *piece.imports]
        )

    def _not_bound(self, name, world):
        """Where a name can come from that no statement of the module binds."""
        if world.module(f"{self.name}.{name}") is not None:
            return [Use(f"{self.name}.{name}")]
        if "__getattr__" in self.pieces:
            below = [world.module(module) for module in world.below(self.name)]
            homes = [Use(module.name, name) for module in below if name in module.pieces]
            if homes:
                return [Use(self.name, "__getattr__"), *homes]
        return [Use(self.name)]


class _Piece:
    """A statement: what it means, the names in it, the imports in it."""

    def __init__(self, statement, package):
        self.statement, self.package = statement, package

    @cached_property
    def meaning(self):
        return _meaning(self.statement)

    @cached_property
    def names(self):
        nodes = ast.walk(self.statement)
        return frozenset(node.id for node in nodes if isinstance(node, ast.Name))

    @cached_property
    def imports(self):
        return [
            use
            for node in ast.walk(self.statement)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for _, use in _imported(node, self.package)
        ]


def _imported(statement, package):
    """(name that is bound, what it stands for) for each part of an import."""
    if isinstance(statement, ast.Import):
        return [
            (part.asname, Use(part.name))
            if part.asname
            else (part.name.partition(".")[0], Use(part.name.partition(".")[0]))
            for part in statement.names
        ]
    above = package.split(".")[: len(package.split(".")) - statement.level + 1]
    base = ".".join(above) if statement.level else ""
    module = ".".join(part for part in (base, statement.module) if part)
    return [(part.asname or part.name, Use(module, part.name)) for part in statement.names]


def _bound(statement):
    """The names that a statement binds and does nothing else; none if it may do more."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    else:
        return []
    flat = [
        item
        for target in targets
        for item in (target.elts if isinstance(target, ast.Tuple | ast.List) else [target])
    ]
    return [t.id for t in flat] if all(isinstance(t, ast.Name) for t in flat) else []


def _is_for_types_only(statement):
    if not isinstance(statement, ast.If) or statement.orelse:
        return False
    test = statement.test
    return getattr(test, "id", getattr(test, "attr", None)) == "TYPE_CHECKING"


class _Bare(ast.NodeTransformer):
    """Without docstrings and annotations and, if so wished, the words of errors and warnings."""

    def __init__(self, messages):
        self.messages = messages

    def visit_Expr(self, node):
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else self.generic_visit(node)

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_FunctionDef(self, node):
        node.returns = None
        return self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node):
        for statement in node.body:
            # A field: that it is annotated makes it one, with which type does not matter.
            if isinstance(statement, ast.AnnAssign):
                nodes = ast.walk(statement.annotation)
                names = {getattr(node, "id", getattr(node, "attr", "")) for node in nodes}
                statement.annotation = ast.Constant(value=sorted(names & _FIELD_KINDS))
                statement.is_field = True
        return self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if getattr(node, "is_field", False):
            return self.generic_visit(node)
        if node.value is None:
            return None
        return self.visit(ast.Assign(targets=[node.target], value=node.value))

    def visit_Raise(self, node):
        if isinstance(node.exc, ast.Call):
            self._silence(node.exc)
        return self.generic_visit(node)

    def visit_Call(self, node):
        if getattr(node.func, "id", getattr(node.func, "attr", None)) == "warn":
            self._silence(node)
        return self.generic_visit(node)

    def _silence(self, call):
        if not self.messages:
            call.args = [_Wordless().visit(arg) for arg in call.args]
            call.keywords = [_Wordless().visit(keyword) for keyword in call.keywords]


class _Wordless(ast.NodeTransformer):
    """Texts replaced by the empty one."""

    def visit_Constant(self, node):
        return ast.Constant(value="") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, node):
        return ast.Constant(value="")


def _meaning(node):
    """The syntax tree as text, the same for every version of Python that can read it."""
    if isinstance(node, list):
        return "[" + ",".join(_meaning(item) for item in node) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = dict(ast.iter_fields(node))
    if isinstance(node, ast.JoinedStr):
        fields["values"] = _joined(node.values)
    # Newer versions have more fields, which are empty for code that older ones can read.
    filled = ((name, value) for name, value in sorted(fields.items()) if value not in (None, []))
    inner = ",".join(f"{name}={_meaning(value)}" for name, value in filled)
    return f"{type(node).__name__}({inner})"


def _joined(parts):
    """The parts of an f-string; versions differ in where they cut the text between two fields."""
    merged = []
    for is_text, run in groupby(parts, key=lambda part: isinstance(part, ast.Constant)):
        if is_text:
            text = "".join(part.value for part in run)
            merged += [ast.Constant(value=text)] if text else []
        else:
            merged += run
    return merged
