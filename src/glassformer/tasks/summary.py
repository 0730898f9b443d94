"""What the data of a run is: rows, classes, lengths, and how much of the held-out text is also learnt from.

In:   a task, the names of its splits.
Out:  a JSON object for the log of a run, and sentences for a person.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from glassformer.errors import GlassformerError
from glassformer.messages import Message, message
from glassformer.tasks.task import Task, TaskExamples

SHOWN = 12  # classes in a sentence


def summarise(
    task: Task, splits: Sequence[str], steps: int, updates: int, others: Sequence[str] = ()
) -> dict[str, Any]:
    """The data of a run of so many steps, of which `updates` are an epoch; `splits` begins with training.

    The run does not need the `others`: one that cannot be read is noted.
    """
    examples = {split: task.examples(split) for split in dict.fromkeys(splits)}
    unreadable: list[Message] = []
    for split in others:
        try:
            examples[split] = task.examples(split)
        except GlassformerError as error:
            unreadable.append(message("tasks.summary.unreadable", split=split, reason=error.message))
    return {
        "splits": {split: _describe(task, split, each) for split, each in examples.items()},
        "overlap": [
            _compare(one, other, examples)
            for other, one in combinations(examples, 2)
            if examples[one].keys is not None and examples[other].keys is not None
        ],
        "held_out": [text.to_json() for text in task.describe_held_out()],
        "loss": [text.to_json() for text in task.describe_loss()],
        "unreadable": [text.to_json() for text in unreadable],
        "vocabulary": task.tokenizer.size if task.words else 0,
        "steps": steps,
        "updates_per_epoch": updates,
        "epochs": steps / updates,
    }


def _describe(task: Task, split: str, examples: TaskExamples) -> dict[str, Any]:
    lengths = examples.lengths
    described: dict[str, Any] = {
        "examples": len(lengths),
        "tokens": int(lengths.sum()) if examples.tokens is None else examples.tokens,
        "identity": task.identity(split),
        "notes": [note.to_json() for note in examples.notes],
    }
    if len(lengths):
        middle, most = np.percentile(lengths, (50, 90)).tolist()
        described["lengths"] = {
            "least": int(lengths.min()), "median": middle, "ninety_percent": most, "most": int(lengths.max())
        }  # fmt: skip
    if examples.keys is not None:
        described["texts"] = len(examples.keys)
        described["different_texts"] = len(np.unique(examples.keys, axis=0))
    classes = task.count_classes(split)
    return described | ({"classes": classes} if classes else {})


def _compare(one: str, other: str, examples: Mapping[str, TaskExamples]) -> dict[str, Any]:
    """How many rows of one split are also in another; of other sentence pairs, how many share a side."""
    here, there = examples[one].keys, examples[other].keys
    assert here is not None
    assert there is not None
    _, numbers = np.unique(np.concatenate([there, here]), axis=0, return_inverse=True)
    numbers = numbers.reshape(-1)  # equal for equal rows
    same = np.isin(numbers[len(there) :], numbers[: len(there)])
    sides = np.isin(here, there).any(axis=1)
    return {
        "split": one,
        "other": other,
        "unit": examples[one].unit,
        "texts": len(here),
        "same": int(same.sum()),
        "one_side": int((sides & ~same).sum()),
    }


def explain(summary: Mapping[str, Any]) -> Iterator[Message]:
    """A summary in sentences."""
    for split, numbers in summary["splits"].items():
        lengths = numbers.get("lengths", {"least": 0, "median": 0, "most": 0})
        yield message(
            "tasks.summary.split",
            split=split,
            examples=numbers["examples"],
            tokens=numbers["tokens"],
            least=lengths["least"],
            median=lengths["median"],
            most=lengths["most"],
        )
        if "classes" in numbers:
            yield from _explain_classes(split, numbers["classes"])
    for text in (*summary["held_out"], *summary.get("loss", ()), *summary.get("unreadable", ())):
        yield Message.from_json(text)
    for found in summary["overlap"]:
        yield from _explain_overlap(found)
    yield message(
        "tasks.summary.epochs",
        steps=summary["steps"],
        epochs=summary["epochs"],
        updates=summary["updates_per_epoch"],
        vocabulary=summary["vocabulary"],
    )


def _explain_classes(split: str, counts: Mapping[str, int]) -> Iterator[Message]:
    total = max(1, sum(counts.values()))
    first = sorted(counts, key=lambda label: -counts[label])[:SHOWN]
    shares = [
        message("tasks.summary.share", label=label, count=counts[label], share=counts[label] / total)
        for label in first
    ]
    code = "tasks.summary.classes" if len(first) == len(counts) else "tasks.summary.most_frequent_classes"
    yield message(code, split=split, classes=shares, count=len(counts))
    missing = [label for label, count in counts.items() if count == 0]
    if missing:
        yield message(
            "tasks.summary.missing_classes", split=split, classes=missing[:SHOWN], count=len(missing)
        )


def _explain_overlap(found: Mapping[str, Any]) -> Iterator[Message]:
    about = {"split": found["split"], "other": found["other"], "total": found["texts"]}
    if not found["texts"]:
        return
    lines = found["unit"] == "line"
    if found["same"]:
        share = found["same"] / found["texts"]
        code = "tasks.summary.overlap_lines" if lines else "tasks.summary.overlap_texts"
        yield message(code, count=found["same"], share=share, **about)
    else:
        yield message(
            "tasks.summary.no_overlap_lines" if lines else "tasks.summary.no_overlap_texts", **about
        )
    if found["one_side"]:
        yield message("tasks.summary.overlap_sides", count=found["one_side"], **about)
