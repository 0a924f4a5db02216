"""Sphinx extension: formulas render without any third-party host.

MathJax comes from the PyPI package sphinx-mathjax-offline, which holds all 24 MB of it; a page
needs one script and one set of fonts, and only these are copied beside the pages.
"""

import shutil
from importlib.metadata import distribution
from pathlib import Path

WANTED = ["tex-chtml-full.js", "output/chtml/fonts/woff-v2"]


def mathjax_folder():
    """Where the installed package keeps MathJax."""
    package = distribution("sphinx-mathjax-offline")
    script = next(f for f in package.files if f.name == WANTED[0])
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


def setup(app):
    app.connect(
        "config-inited",
        lambda app, config: setattr(config, "mathjax_path", f"mathjax/{WANTED[0]}"),
    )
    app.connect("builder-inited", copy_mathjax)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
