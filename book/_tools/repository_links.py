"""Sphinx extension: Binder and repository buttons, where a public repository is known.

The address is taken from the environment (GITHUB_REPOSITORY, set by GitHub's runners) or from the
git remote `origin`. Where neither names a repository on GitHub, the buttons are left out rather
than dead.
"""

import os
import re
import subprocess

BINDER = "https://mybinder.org"


def repository_url(environ, remote):
    """The repository's web address, or None.

    Parameters
    ----------
    environ : mapping
        The environment; GITHUB_REPOSITORY holds "owner/name".
    remote : str or None
        The address of the git remote.
    """
    slug = environ.get("GITHUB_REPOSITORY", "")
    if not slug and remote:
        match = re.search(r"github\.com[:/]([\w.-]+/[\w.-]+?)(\.git)?/?$", remote)
        slug = match.group(1) if match else ""
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", slug):
        return None
    return f"https://github.com/{slug}"


def pages_url(environ, remote):
    """Where GitHub Pages would show the book, or None; see `repository_url`."""
    url = repository_url(environ, remote)
    if url is None:
        return None
    owner, name = url.split("/")[-2:]
    return f"https://{owner.lower()}.github.io/{name}/"


def branch(environ):
    """The branch the buttons open: the one being built on GitHub, else main."""
    return environ.get("GITHUB_REF_NAME") or "main"


def git_remote(folder):
    """Address of the remote `origin`, or None outside a git checkout."""
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


def theme_options(url, ref):
    """The theme's options for the buttons, empty where there is no repository."""
    if url is None:
        return {"repository_url": "", "launch_buttons": {}}
    return {
        "repository_url": url,
        "repository_branch": ref,
        "use_repository_button": True,
        "use_issues_button": True,
        "launch_buttons": {"binderhub_url": BINDER, "notebook_interface": "jupyterlab"},
    }


def add_buttons(app, config):
    url = repository_url(os.environ, git_remote(app.srcdir))
    config.html_theme_options.update(theme_options(url, branch(os.environ)))


def setup(app):
    # Before the theme looks at its options.
    app.connect("config-inited", add_buttons, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
