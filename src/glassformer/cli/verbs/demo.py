"""`glassformer demo`: a tiny translator is trained and drawn, in seconds."""

import os
import shutil
import sys
from pathlib import Path

from glassformer.cli.output import count_columns, draw_recording, show_progress
from glassformer.cli.parser import Arguments
from glassformer.messages import message
from glassformer.render.terminal.text import wrap

POSITION = 20
EXAMPLES = ("glassformer demo",)


def run(_: Arguments) -> None:
    """Train a tiny translator and draw where it looks."""
    from glassformer.lessons.demo_translator import SENTENCE, STEPS, train_translator
    from glassformer.loaded.opening import load

    print(message("cli.demo.begin"))
    last = 0.0

    with show_progress(message("cli.demo.steps"), STEPS) as show_step:

        def report(step: int, loss: float) -> None:
            nonlocal last
            last = loss
            show_step(step + 1)

        model = load(*train_translator(report), name="demo")
    print(f"  {message('cli.demo.trained', steps=STEPS, loss=last)}")
    recording = model.record(SENTENCE)
    assert recording.target is not None
    print(f"\n  {SENTENCE}\n  {recording.target.text}\n")
    print(draw_recording(recording))
    print(f"\n{wrap(str(message('cli.demo.explanation')), min(count_columns(), 88))}")
    command = f'{_name_program()} record zoo/gpt2 "The animal was too tired to cross the street"'
    print(f"\n{message('cli.demo.next')}\n  {command}")


def _name_program() -> str:
    """What a person types to run this program again."""
    beside = Path(sys.executable).with_name("glassformer")
    if shutil.which("glassformer"):
        return "glassformer"
    return os.path.relpath(beside) if beside.exists() else f"{os.path.relpath(sys.executable)} -m glassformer"
