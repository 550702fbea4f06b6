"""The files that the package installs outside of its modules."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from pathlib import Path


def command() -> Path:
    """Returns the installed command; raises FileNotFoundError if there is none."""
    name = "loopscope" + (sysconfig.get_config_var("EXE") or "")
    user = sysconfig.get_path("scripts", scheme=f"{os.name}_user")
    # With `pip install --target` the commands are beside the modules.
    beside = Path(__file__).resolve().parent.parent / "bin"
    for folder in (sysconfig.get_path("scripts"), user, beside):
        path = Path(folder) / name
        if path.is_file():
            return path
    raise FileNotFoundError(f"the command {name} is not installed with the package")


def page() -> Path:
    """Returns the folder of the built page; raises FileNotFoundError if there is none."""
    folder = command().resolve().parent.parent / "share" / "loopscope" / "page"
    if not (folder / "index.html").is_file():
        raise FileNotFoundError(f"the page is not installed with the package: {folder}")
    return folder


def copy_page(to: str | os.PathLike[str]) -> None:
    """Copies the built page into a folder."""
    shutil.copytree(page(), to, dirs_exist_ok=True)


def main() -> int:
    """Runs the command with the arguments of this process; returns its exit code."""
    arguments = [str(command()), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(arguments[0], arguments)
    import subprocess

    return subprocess.call(arguments)
