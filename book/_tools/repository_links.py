"""Sphinx extension for buttons that open a chapter elsewhere, if a public repository is known.

The address comes from the environment (GITHUB_REPOSITORY, set by GitHub's runners) or from the git
remote `origin`. If neither names a repository on GitHub, the buttons are omitted. A self-hosted
JupyterLite is added if BOOK_JUPYTERLITE contains its address. Each button names the host that it
opens, and no page contacts another host before a button is pressed.
"""

import os
import re
import subprocess
from urllib.parse import urlsplit

BINDER = "https://mybinder.org"
COLAB = "https://colab.research.google.com"


def repository_url(environ, remote):
    """Return the repository's web address, or None.

    Parameters
    ----------
    environ : mapping
        Environment; GITHUB_REPOSITORY has the form "owner/name".
    remote : str or None
        Address of the git remote.
    """
    slug = environ.get("GITHUB_REPOSITORY", "")
    if not slug and remote:
        match = re.search(r"github\.com[:/]([\w.-]+/[\w.-]+?)(\.git)?/?$", remote)
        slug = match.group(1) if match else ""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", slug):
        return None
    return f"https://github.com/{slug}"


def pages_url(environ, remote):
    """Return the address of the book on GitHub Pages, or None; see `repository_url`."""
    url = repository_url(environ, remote)
    if url is None:
        return None
    owner, name = url.split("/")[-2:]
    return f"https://{owner.lower()}.github.io/{name}/"


def branch(environ):
    """Return the branch that the buttons open, which is the one GitHub builds, or main."""
    return environ.get("GITHUB_REF_NAME") or "main"


def git_remote(folder):
    """Return the address of the remote `origin`, or None if there is none."""
    try:
        return subprocess.run(
            ["git", "remote", "get-url", "origin"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def theme_options(url, ref, jupyterlite=""):
    """Return the theme's options for the buttons, empty if there is no repository."""
    if url is None:
        return {"repository_url": "", "launch_buttons": {}}
    launch = {"binderhub_url": BINDER, "colab_url": COLAB, "notebook_interface": "jupyterlab"}
    if jupyterlite:
        launch["jupyterlite_url"] = jupyterlite
    return {
        "repository_url": url,
        "repository_branch": ref,
        "use_repository_button": True,
        "use_issues_button": True,
        "launch_buttons": launch,
    }


def add_buttons(app, config):
    url = repository_url(os.environ, git_remote(app.srcdir))
    lite = os.environ.get("BOOK_JUPYTERLITE", "")
    config.html_theme_options.update(theme_options(url, branch(os.environ), lite))


def name_buttons(app, pagename, templatename, context, doctree):
    """Add the host to each launch button's label, and relabel the PDF button as printing."""
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            if group.get("label") == "launch-buttons" and "url" in button:
                host = urlsplit(button["url"]).hostname or "this site"
                button["text"] = f"{button['text']} (opens {host})"
                button["tooltip"] = f"Run this chapter on {host}, which will see your request"
            elif button.get("label") == "download-pdf-button":
                button.update(text="Print or save as PDF", tooltip="Print this page")


def setup(app):
    # This must run before the theme reads its options.
    app.connect("config-inited", add_buttons, priority=100)
    # This must run after the theme has added its buttons.
    app.connect("html-page-context", name_buttons, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
