"""Sphinx extension that copies the scripts of the explorables next to the pages.

They are not static files of the theme, because the theme loads every such script on every page. A
page opened as a file (``file://``) cannot import modules, so each explorable is also written as a
single plain script, ``plain.js``, with its modules in import order, each in a function.
"""

import re
import shutil
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "explorables"
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) (\w+))", re.MULTILINE)


def plain_script(name, source=SOURCE):
    """Return the modules of one explorable as a script without imports."""
    names, parts = {}, []

    def add(path):
        """Append a module's code to the parts, and return the variable with its exports."""
        path = path.resolve()
        if path not in names:
            text = _IMPORT.sub(
                lambda found: (
                    f"const {{{found[1]}}} = {add((path.parent / found[2]).resolve())};\n"
                ),
                path.read_text(encoding="utf-8"),
            )
            exports = ", ".join(_EXPORT.findall(text))
            text = _EXPORT.sub("", text)
            if left := re.search(r"^(import|export)\b.*", text, re.MULTILINE):
                raise ValueError(
                    f"{path.parent.name}/{path.name}: {left.group()!r} must be a plain named "
                    "import or export, as book/explorables/README.md says"
                )
            names[path] = f"module{len(names)}"
            parts.append(
                f"const {names[path]} = (() => {{\n{text}return {{ {exports} }};\n}})();\n"
            )
        return names[path]

    view = add(source / name / "view.js")
    end = f"(window.renyiExplorables ??= {{}})[{name!r}] = {view};\n"
    return f'"use strict";\n(() => {{\n{"".join(parts)}{end}}})();\n'


def copy_explorables(app):
    if app.builder.format != "html":
        return
    target = Path(app.outdir, "book", "explorables")
    only = shutil.ignore_patterns("*.md", ".*")
    shutil.copytree(SOURCE, target, dirs_exist_ok=True, ignore=only)
    for view in SOURCE.glob("*/view.js"):
        script = plain_script(view.parent.name)
        Path(target, view.parent.name, "plain.js").write_text(script, encoding="utf-8")


def setup(app):
    app.connect("builder-inited", copy_explorables)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
