"""What a run does when an alarm begins: go on, stop, or start a command.

In:   the setting `on_alarm` of a recipe; the event of an alarm.
Out:  a wish to stop, or a process that runs beside the training.

A command gets the folder of the run in GLASSFORMER_RUN, the cause in GLASSFORMER_CAUSE, the step in
GLASSFORMER_STEP, and the alarm as a line of JSON on its standard input; what it prints goes to on_alarm.log
in the folder of the run. Training does not wait for it.
"""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

from glassformer.errors import ConfigurationError
from glassformer.registry import suggestion
from glassformer.runlog import ALARM, Event
from glassformer.training.callbacks.callback import Callback

CONTINUE, STOP = "continue", "stop"
OUTPUT = "on_alarm.log"


def check_command(what: str) -> None:
    """Refuse an `on_alarm` whose command is not found on this machine, before training starts."""
    if what not in (CONTINUE, STOP) and shutil.which(shlex.split(what)[0]) is None:
        near = suggestion(what, (CONTINUE, STOP))
        raise ConfigurationError("training.on_alarm", value=what, suggestion=near)


class AlarmAction(Callback):
    """Does what `on_alarm` says."""

    def __init__(self, what: str, run: Path) -> None:
        self.what = what
        self.run = run
        self.stopped_by: Event | None = None  # the alarm that asks the run to stop
        self._started: list[subprocess.Popen[bytes]] = []

    def on_event(self, event: Event) -> None:
        """Act where an alarm begins."""
        if event.kind != ALARM:
            return
        if self.what == STOP:
            self.stopped_by = self.stopped_by or event
        elif self.what != CONTINUE:
            self._start(event)

    def _start(self, event: Event) -> None:
        self._started = [process for process in self._started if process.poll() is None]
        cause = "" if event.alarm is None else str(event.alarm["cause"])
        about = {
            "GLASSFORMER_RUN": str(self.run.resolve()),
            "GLASSFORMER_CAUSE": cause,
            "GLASSFORMER_STEP": str(event.step),
        }
        line = json.dumps({"step": event.step, "message": event.message, "alarm": event.alarm}) + "\n"
        with (self.run / OUTPUT).open("ab") as output:
            try:
                process = subprocess.Popen(
                    shlex.split(self.what),
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=os.environ | about,
                )
            except OSError as error:  # it was there when the run began; training goes on without it
                output.write(f"{error}\n".encode())
                return
        self._started.append(process)
        assert process.stdin is not None
        try:
            process.stdin.write(line.encode())
            process.stdin.close()
        except BrokenPipeError:  # it does not read
            pass
