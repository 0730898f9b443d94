"""Commands of advice: another name that is free, and words that a shell reads as they are."""

import shlex
from pathlib import Path

from glassformer.training.commands import fork_command, resume_command


def test_commands_of_a_run_in_the_usual_folder() -> None:
    assert resume_command(Path("runs/first")) == "glassformer train --resume --name first"
    command = fork_command(Path("runs/first"), 40, rate="5e-05")
    assert command == "glassformer train --fork first-2 --from first --step 40 --set train.rate=5e-05"


def test_a_name_that_is_free_and_a_folder_with_a_blank(tmp_path: Path) -> None:
    run = tmp_path / "my runs" / "first"
    run.with_name("first-2").mkdir(parents=True)
    words = shlex.split(fork_command(run, 40))
    assert words[3] == "first-3"
    assert words[words.index("--folder") + 1] == str(run.parent)
