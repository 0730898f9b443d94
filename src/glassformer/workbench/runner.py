"""One job, in the worker: a model opened, a text read, what happens recorded, a bundle written.

In:   a task as local.py sends it.
Out:  a bundle file; progress and generated tokens on the way.
"""

import gc
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from glassformer import bundle
from glassformer.api.effects import EffectsRequest, PatchingRequest
from glassformer.api.jobs import BranchRequest, JobRequest
from glassformer.errors import CheckpointError, InputError
from glassformer.lessons.models import Zoo
from glassformer.lessons.run import run_topic
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from glassformer.recorders.store import ArrayStore, writing_to
from glassformer.recording import Recording
from glassformer.weights.hub import check_download, find_folder
from glassformer.workbench.effects import measure_effects, measure_patching
from glassformer.workbench.generating import choose_settings, go_on, report_answers, write
from glassformer.workbench.inputs import JobInputs, read_inputs
from glassformer.workbench.layer_progress import reporting
from glassformer.workbench.policy import check_memory
from glassformer.workbench.reporter import JobReporter

SHORT = 512  # tokens up to which everything is kept by default
MIDDLE = 4096  # tokens up to which hidden states are


def flush_denormals() -> None:
    """Treat denormal numbers as zero in this process: they are very slow on CPUs."""
    torch.set_flush_denormal(True)


class Runner:
    """Runs jobs one after another and keeps the models that it opened, the latest longest."""

    def __init__(self, loaded: int, device: str | None = None) -> None:
        self.device = None if device is None else torch.device(device)
        self.on_gpu = self.device is not None and self.device.type == "cuda"
        self.loaded = loaded  # bytes
        if self.on_gpu:  # the other half is for what jobs compute
            self.loaded = min(loaded, torch.cuda.mem_get_info(self.device)[1] // 2)
        self.models: OrderedDict[str, tuple[float, LoadedModel]] = OrderedDict()

    def run(self, task: dict[str, Any], reporter: JobReporter) -> None:
        """From a task to a bundle."""
        request = JobRequest.model_validate(task["request"])
        reporter.progress("loading", detail=task["name"])
        model = self.open(task["name"], task["folder"], task.get("download"), task.get("model_bytes"))
        if request.branch is not None:
            self._branch(model, request.branch, task, request.want, reporter)
            return
        reporter.progress("tokenising")
        given = read_inputs(model, request, task)
        reporter.progress("running", 0.0)
        with writing_to(task["path"]) as destination, reporting(model, given.count, reporter):
            recording = self._record(model, request, given, task, reporter, destination.store)
            evidence = replace(recording.evidence, notes=(*given.notes, *recording.evidence.notes))
            recording = replace(recording, evidence=evidence)
            reporter.progress("saving")
            destination.finish(recording)

    def measure(self, task: dict[str, Any], reporter: JobReporter) -> None:
        """From a task to steps with effects; those of edges become a bundle."""
        patches = task["measure"]["kind"] == "patching"
        request = (PatchingRequest if patches else EffectsRequest).model_validate(task["measure"])
        reporter.progress("loading", detail=task["name"])
        model = self.open(task["name"], task["folder"], task.get("download"), task.get("model_bytes"))
        reporter.progress("running")
        given = read_inputs(model, request.run, task)
        if isinstance(request, PatchingRequest):
            corrupted = request.run.model_copy(update={"text": request.corrupted})
            measure_patching(model, request, given, read_inputs(model, corrupted, task), reporter)
        elif (recording := measure_effects(model, request, given, reporter)) is not None:
            recording.save(task["path"])

    def _branch(
        self,
        model: LoadedModel,
        wanted: BranchRequest,
        task: dict[str, Any],
        want: Sequence[str] | None,
        reporter: JobReporter,
    ) -> None:
        """From a bundle and what changes to another bundle."""
        parent = bundle.open(task["parent"])
        count = len(parent.source) + (0 if parent.target is None else len(parent.target))
        reporter.progress("running", 0.0)
        with writing_to(task["path"]) as destination, reporting(model, count, reporter):
            recording = go_on(
                model,
                parent,
                wanted,
                want or choose_want(count),
                reporter,
                destination.store,
                task["new_tokens"],
            )
            reporter.progress("saving")
            destination.finish(recording)

    def play(self, task: dict[str, Any], reporter: JobReporter) -> None:
        """A topic of the playground; one that streams reports its steps."""
        zoo = Zoo(task["models"], self.open)
        reporter.progress("running")
        report = reporter.step if task["streams"] else None
        result = run_topic(task["topic"], task["parameters"], zoo, report)
        reporter.send("played", play=result.model_dump(mode="json"))

    def open(
        self, name: str, folder: str | None, download: int | None = None, most: int | None = None
    ) -> LoadedModel:
        """A model, from memory if it is there and its files have not changed.

        ApiError or CheckpointError for more bytes to `download`, or in memory, than allowed.
        """
        changed = 0.0 if folder is None else (Path(folder) / "config.json").stat().st_mtime
        key = folder or name
        if key in self.models and self.models[key][0] == changed:
            self.models.move_to_end(key)
            return self.models[key][1]
        self.models.pop(key, None)
        if folder is None and download is not None:
            check_download(name, download)
        if most is not None:
            check_memory(name, Path(folder) if folder is not None else find_folder(name), most)
        try:
            model = load(folder or name, name=name, device=self.device)
        except CheckpointError as error:
            if folder is None:
                raise
            raise CheckpointError(error.message.replace(f"{Path(folder).parent}/", "")) from error
        self.models[key] = (changed, model)
        self._make_room()
        return model

    def forget(self) -> None:
        """Give all models back."""
        self.models.clear()
        self._give_back()

    @property
    def size(self) -> int:
        """Bytes of the models that are open."""
        return sum(model.size for _, model in self.models.values())

    def measure_memory(self) -> dict[str, Any]:
        """What models are open, their bytes in this process, and all bytes on its GPU."""
        return {
            "models": [model.name for _, model in self.models.values()],
            "size": 0 if self.on_gpu else self.size,
            "gpu": torch.cuda.memory_reserved(self.device) if self.on_gpu else 0,
        }

    def _make_room(self) -> None:
        while len(self.models) > 1 and self.size > self.loaded:
            self.models.popitem(last=False)
            self._give_back()

    def _give_back(self) -> None:
        gc.collect()
        if self.on_gpu:
            torch.cuda.empty_cache()

    def _record(
        self,
        model: LoadedModel,
        request: JobRequest,
        given: JobInputs,
        task: dict[str, Any],
        reporter: JobReporter,
        keep: ArrayStore,
    ) -> Recording:
        edits = request.read_edits()
        want = request.want or choose_want(given.count)
        writes = model.shape != "encoder" and request.target is None
        generates = request.kind == "generate" or request.decode is not None
        if writes and (generates or model.shape == "encoder-decoder"):
            settings = choose_settings(model, request.decode, task["new_tokens"])
            return write(model, given, settings, want, edits, reporter, keep)
        if request.prefix:
            raise InputError("workbench.request.nothing_written")
        if request.kind == "generate" and request.target is not None:
            raise InputError("workbench.request.target_and_decode")
        recording = model.record(
            given.inputs,
            given.target,
            target_language=given.language,
            second_text=given.second_text,
            want=want,
            edits=edits,
            keep=keep,
        )
        if request.kind == "generate":
            report_answers(model, recording, reporter)
        return recording


def choose_want(count: int) -> tuple[str, ...]:
    """What is kept by default: everything of a short text, less of a longer one."""
    want: tuple[str, ...] = ("weights", "output")
    if count <= MIDDLE:
        want = (*want, "hidden")
    if count <= SHORT:
        want = (*want, "queries", "keys", "values", "scores")
    return want
