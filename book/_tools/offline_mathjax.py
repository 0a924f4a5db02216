"""Sphinx extension: formulas render without any third-party host, and only as they come into view.

MathJax comes from the PyPI package sphinx-mathjax-offline, which holds all 24 MB of it. Its parts
are loaded one by one, without the menu and the speech engine that the one-file builds bring along
(half of their weight), and only what a page can ask for is copied beside the pages.

Without MathJax's menu no formula is a tab stop; the MathML for screen readers stays.
"""

import shutil
from importlib.metadata import distribution
from pathlib import Path

START = "startup.js"
PARTS = ["core", "input/tex", "output/chtml", "ui/lazy", "a11y/assistive-mml"]
#: Files and folders; an extension of TeX is fetched where a formula first uses it.
WANTED = [
    START,
    *(f"{part}.js" for part in PARTS),
    "output/chtml/fonts",
    "input/tex/extensions",
]
CONFIG = {
    "loader": {"load": [*PARTS, "[tex]/boldsymbol"]},
    "tex": {"packages": {"[+]": ["boldsymbol"]}},
    # Room before a formula comes into view, so that nothing is seen to move.
    "options": {"lazyMargin": "600px"},
}


def mathjax_folder():
    """Where the installed package keeps MathJax."""
    package = distribution("sphinx-mathjax-offline")
    script = next(f for f in package.files if f.name == START)
    return Path(package.locate_file(script)).parent


def copy_mathjax(app):
    if app.builder.format != "html":
        return
    source, target = mathjax_folder(), Path(app.outdir, "_static", "mathjax")
    for name in WANTED:
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, dirs_exist_ok=True)
        else:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source / name, target / name)


def configure(app, config):
    config.mathjax_path = f"mathjax/{START}"
    config.mathjax3_config = CONFIG


def setup(app):
    # Before MyST adds which elements hold formulas.
    app.connect("config-inited", configure, priority=100)
    app.connect("builder-inited", copy_mathjax)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
