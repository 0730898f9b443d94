"""`glassformer completion`."""

import subprocess
import sys

from cli.conftest import Command
from glassformer import cli


def test_bash_completes_verbs_and_options() -> None:
    script = subprocess.run(
        [sys.executable, "-m", "glassformer", "completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    tries = (
        "COMP_WORDS=(glassformer fig); COMP_CWORD=1; _glassformer; echo ${COMPREPLY[@]}\n"
        "COMP_WORDS=(glassformer figure --vi); COMP_CWORD=2; _glassformer; echo ${COMPREPLY[@]}\n"
    )
    printed = subprocess.run(["bash", "-c", f"{script}\n{tries}"], capture_output=True, text=True, check=True)
    assert printed.stdout.split() == ["figure", "--view"]


def test_every_shell_has_every_verb(run: Command, complain: Command) -> None:
    for shell in ("bash", "zsh", "fish"):
        printed = run("completion", shell)
        assert all(verb.name in printed for verb in cli.find_verbs())
    assert "tcsh" in complain("completion", "tcsh")
