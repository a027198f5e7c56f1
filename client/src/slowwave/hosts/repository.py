"""Find the agent for a folder's conversations: the repository, named after its remote or after its folder.

    remote "origin" is git@github.com:acme/shop.git     github.com/acme/shop
    a repository without that remote, in /home/me/shop  shop
    no repository, in /home/me/notes                    notes

Branches share one memory unless they are kept apart: then each branch is its own agent, as in "acme/shop@main". This
module reads the files of git directly, because a start of git would take longer than the whole hook.
"""

# The import of pathlib takes longer than all of the hook's own modules.
# ruff: noqa: PTH100, PTH112, PTH113, PTH118, PTH119, PTH120, PTH123

import os
from typing import NamedTuple

MAX_NAME_CHARACTERS = 200
_MAX_FILE_BYTES = 262_144
_MAX_PARENTS = 64
_HEADS = "ref: refs/heads/"


class Repository(NamedTuple):
    """A folder's repository: the agent's name, and the branch that is checked out (None: no branch)."""

    name: str
    branch: str | None

    def agent(self, *, apart: bool) -> str:
        """Return the agent's name. apart: True if each branch has its own agent."""
        name = self.name
        if apart and self.branch:
            branch = self.branch[: MAX_NAME_CHARACTERS // 2]
            name = f"{name[: MAX_NAME_CHARACTERS - len(branch) - 1]}@{branch}"
        return name


def repository_of(folder: str) -> Repository:
    """Search a folder and its parents for a repository. An unreadable folder raises nothing and gives its own name."""
    top, git = _find(folder)
    if git is None:
        return Repository(_clean(os.path.basename(top)) or "home", None)
    own, shared = git, _shared(git)
    name = _remote_name(_read(os.path.join(shared, "config")))
    if not name:
        # A worktree gets the name of its repository.
        name = os.path.basename(os.path.dirname(shared) if os.path.basename(shared) == ".git" else shared)
    head = _read(os.path.join(own, "HEAD")).strip()
    branch = _clean(head.removeprefix(_HEADS)) if head.startswith(_HEADS) else None
    return Repository(_clean(name) or "home", branch or None)


def _find(folder: str) -> tuple[str, str | None]:
    """Return the top folder of the repository and its git folder; without a repository, the given folder and None."""
    top = os.path.abspath(folder)
    at = top
    for _ in range(_MAX_PARENTS):
        marker = os.path.join(at, ".git")
        if os.path.isdir(marker):
            return at, marker
        if os.path.isfile(marker):
            pointed = _read(marker).strip().removeprefix("gitdir:").strip()
            return at, os.path.normpath(os.path.join(at, pointed))
        above = os.path.dirname(at)
        if above == at:
            break
        at = above
    return top, None


def _shared(git: str) -> str:
    """Return the git folder that holds the configuration. For a worktree, it belongs to the main working tree."""
    common = _read(os.path.join(git, "commondir")).strip()
    return os.path.normpath(os.path.join(git, common)) if common else git


def _remote_name(config: str) -> str:
    """Return HOST/PATH of the remote "origin", or ""."""
    inside = False
    for raw in config.splitlines():
        line = raw.strip()
        if line.startswith("["):
            inside = line.replace(" ", "").lower() == '[remote"origin"]'
        elif inside and line.lower().replace(" ", "").startswith("url="):
            return name_of_url(line.partition("=")[2].strip().strip('"'))
    return ""


def name_of_url(url: str) -> str:
    """Return a remote's URL without scheme, login, port and ".git", such as "github.com/acme/shop"."""
    scheme, found, rest = url.partition("://")
    if found:
        host, _, path = rest.partition("/")
        host = host.rpartition("@")[2].partition(":")[0]
        if scheme == "file":
            return os.path.basename(path.rstrip("/").removesuffix(".git"))
    elif ":" in url and "/" not in url.partition(":")[0]:
        host, _, path = url.partition(":")
        host = host.rpartition("@")[2]
    else:
        return os.path.basename(url.rstrip("/").removesuffix(".git"))
    return f"{host.lower()}/{path.strip('/').removesuffix('.git')}".strip("/")


def _clean(name: str) -> str:
    return "".join(character for character in name if character.isprintable())[:MAX_NAME_CHARACTERS]


def _read(file: str) -> str:
    try:
        with open(file, "rb") as opened:
            return opened.read(_MAX_FILE_BYTES).decode(errors="replace")
    except OSError:
        return ""
