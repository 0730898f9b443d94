"""Effects and patching in the worker: every number is that of `gf.sweep` and `gf.estimate` in Python."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glassformer as gf
from glassformer.api.effects import EffectsRequest, MeasureRequest, OutcomeRequest, PatchingRequest
from glassformer.errors import InputError
from glassformer.place import Place
from glassformer.workbench import LocalWorkbench, effects
from glassformer.workbench.effects import choose_edges, read_outcome
from glassformer.workbench.reporter import StoppedError
from glassformer.workbench.runner import Runner
from tolerances import assert_near
from workbench.conftest import Ask, Wait
from workbench.reports import open_reporter, said

TEXT = "the animal was too tired"


@pytest.fixture
def measure(zoo: Path, ask: Ask, tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """The steps of a measurement, without a process of its own; `tmp_path` gets the bundle."""

    def call(request: MeasureRequest) -> list[dict[str, Any]]:
        reporter, pipe = open_reporter()
        name = request.run.model.removeprefix("zoo/")
        task = {
            "name": name, "folder": str(zoo / name), "path": str(tmp_path / "edges.bundle"), "tagged": False,
            "languages": [], "tokens": 4096, "new_tokens": 8, "measure": request.model_dump(),
        }  # fmt: skip
        Runner(1 << 30).measure(task, reporter)
        return [each["data"] for each in said(pipe) if each["say"] == "step"]

    return call


def near(found: object, wanted: object) -> None:
    assert_near(found, wanted, layers=6, scores=64, magnitude=32)


def heads_of(steps: list[dict[str, Any]], *, confirmed: bool) -> dict[str, dict[str, Any]]:
    return {
        each["place"]: each for step in steps if step["confirmed"] == confirmed for each in step["places"]
    }


@pytest.mark.parametrize(
    ("model", "outcome", "target"),
    [
        ("decoder", gf.LogitDifference(7, 9), None),
        ("classifier", gf.ClassProbability(1), None),
        ("translator", gf.LogProbability(7, 1), (3, 5, 6)),
    ],
)
def test_effects_are_those_of_python(
    measure: Callable[..., Any], zoo: Path, ask: Ask, tmp_path: Path, model: str, outcome: Any, target: Any
) -> None:
    asked = OutcomeRequest(
        token=getattr(outcome, "token", None),
        against=getattr(outcome, "against", None),
        position=getattr(outcome, "position", -1),
        label=getattr(outcome, "label", None),
    )
    assert read_outcome(asked) == outcome
    opened = gf.load(zoo / model)
    ids = None if target is None else (int(opened.record(TEXT, target).target.ids[0]), *target)
    steps = measure(EffectsRequest(run=ask(model=f"zoo/{model}"), outcome=asked, ids=ids))
    estimated, swept = (each(opened, TEXT, target, outcome=outcome) for each in (gf.estimate, gf.sweep))
    assert not steps[0]["confirmed"]  # comes first
    if isinstance(outcome, gf.LogitDifference):  # named by its tokens, not by their ids
        assert steps[0]["outcome"]["parameters"]["token"] == opened.reader.show([7])[0]
    guesses, passes = heads_of(steps, confirmed=False), heads_of(steps, confirmed=True)
    assert set(guesses) == set(passes) == {place.address for place in estimated.heads}
    for place, values in estimated.heads.items():
        near(guesses[place.address]["heads"], values)
        near(guesses[place.address]["layer"], values.sum())
        near(passes[place.address]["heads"], swept.heads(place.stack, place.kind)[place.layer])
        whole = [gf.AblateHead.at(place, head) for head in range(len(values))]
        together = gf.sweep(opened, TEXT, target, outcome=outcome, edits=[whole])
        near(passes[place.address]["layer"], together.effects[0])
    edges = [edge for step in steps for edge in step["edges"]]
    assert edges
    place = Place.parse(edges[0]["place"])
    cut = gf.CutEdge.at(place, *(edges[0][name] for name in ("head", "query", "key")))
    near(edges[0]["effect"], gf.sweep(opened, TEXT, target, outcome=outcome, edits=[cut]).effects[0])
    recording = gf.Recording.open(tmp_path / "edges.bundle")
    assert {each.content for each in recording.maps} == {"signed"}
    assert not recording.evidence.exact
    assert recording.evidence.notes[0].code == "workbench.effects.edges"
    for place, values in estimated.edges.items():
        near(recording.map(place).weights(), np.nan_to_num(values))
    missing = sum(int(np.isnan(values).sum()) for values in estimated.edges.values())
    noted = [note for note in recording.evidence.notes if note.code == "workbench.effects.not_estimated"]
    assert [note.parameters["count"] for note in noted] == ([missing] if missing else [])
    assert bool(missing) == (model != "classifier")  # a causal first token sees itself alone


def test_an_edited_model_is_measured_on_top_of_its_edits(
    measure: Callable[..., Any], zoo: Path, ask: Ask, tmp_path: Path
) -> None:
    edit = {"kind": "ablate", "stack": "decoder", "attention": "self", "layer": 0, "head": 0}
    steps = measure(EffectsRequest(run=ask(edits=[edit]), outcome=OutcomeRequest(token=7)))
    assert all(step["confirmed"] for step in steps)
    assert not (tmp_path / "edges.bundle").exists()
    first = gf.AblateHead("decoder", "self", 0, 0)
    other = gf.AblateHead("decoder", "self", 1, 1)
    swept = gf.sweep(
        gf.load(zoo / "decoder"), TEXT, outcome=gf.LogProbability(7), edits=[[first], [first, other]]
    )
    near(steps[0]["baseline"], swept.values[0])
    near(heads_of(steps, confirmed=True)["decoder.self.1"]["heads"][1], swept.values[1] - swept.values[0])
    near(heads_of(steps, confirmed=True)["decoder.self.0"]["heads"][0], 0.0)


@pytest.mark.parametrize("part", ["residual", "feed_forward", "heads"])
def test_patching_is_that_of_python(measure: Callable[..., Any], zoo: Path, ask: Ask, part: Any) -> None:
    clean, corrupted = "the animal was too tired", "the street was too tired"
    outcome = OutcomeRequest(token=7, against=9)
    steps = measure(PatchingRequest(run=ask(text=clean), corrupted=corrupted, outcome=outcome, part=part))
    assert [step["layer"] for step in steps] == list(range(steps[0]["layers"]))
    assert steps[0]["outcome"]["code"] == gf.LogitDifference(7, 9).as_message().code
    layer = steps[-1]["layer"]
    if part == "heads":
        edits: Any = [gf.PatchHead("decoder", "self", layer, 1, clean)]
    else:
        edits = [gf.PatchStates("decoder", part, layer, clean, positions=(1,))]
    model = gf.load(zoo / "decoder")
    swept = gf.sweep(model, corrupted, outcome=gf.LogitDifference(7, 9), edits=edits)
    near(steps[-1]["values"][1], swept.values[0])
    near(steps[-1]["corrupted"], swept.baseline)
    near(steps[0]["clean"], gf.sweep(model, clean, outcome=gf.LogitDifference(7, 9)).baseline)


@pytest.mark.slow
def test_the_example_of_the_page_works_in_gpt2() -> None:
    """views/patching/view.ts offers this pair, and docs/how-to/causes.md says what is seen."""
    page = (Path(__file__).parents[2] / "web/src/views/patching/view.ts").read_text(encoding="utf-8")
    texts = ("The men on the road", "The man on the road")
    words = (" were", " was")
    assert all(f'"{text}"' in page for text in (*texts, *words))
    outcome = gf.LogitDifference(*words)
    model = gf.load("zoo/gpt2")
    edits: list[gf.Edit] = [
        gf.PatchStates("decoder", "residual", layer, texts[0], positions=(token,))
        for layer, token in ((0, 1), (4, 1), (5, 1), (5, 4))
    ]
    edits.append(gf.PatchHead("decoder", "self", 4, 1, texts[0]))
    swept = gf.sweep(model, texts[1], outcome=outcome, edits=edits)
    clean = gf.sweep(model, texts[0], outcome=outcome, edits=edits[:1]).baseline
    noun, still, gone, last, head = (swept.values - swept.baseline) / (clean - swept.baseline)
    assert clean > 1 > -1 > swept.baseline
    assert noun > 0.9
    assert still > 0.8
    assert gone < 0.2
    assert last > 0.9
    assert head > 0.7


def test_patching_reads_the_second_text_with_both_texts(measure: Callable[..., Any], ask: Ask) -> None:
    run = ask(model="zoo/classifier", text="the animal", second_text="too tired")
    outcome = OutcomeRequest(label=1)
    steps = measure(PatchingRequest(run=run, corrupted="the street", outcome=outcome))
    assert len(steps[0]["clean_tokens"]) == len(steps[-1]["values"])
    assert steps[0]["clean_tokens"] != steps[0]["corrupted_tokens"]
    same = measure(PatchingRequest(run=run, corrupted="the animal", outcome=outcome))
    near(same[-1]["values"], [same[-1]["clean"]] * len(same[-1]["values"]))


def test_a_model_whose_edges_cannot_be_cut_has_effects_of_heads_alone(
    measure: Callable[..., Any], ask: Ask, tmp_path: Path
) -> None:
    steps = measure(
        EffectsRequest(run=ask(model="zoo/recurrent"), outcome=OutcomeRequest(token=7, position=0))
    )
    assert heads_of(steps, confirmed=True)
    assert not any(step["edges"] for step in steps)
    assert not (tmp_path / "edges.bundle").exists()
    patching = PatchingRequest(
        run=ask(model="zoo/recurrent"), corrupted=TEXT, outcome=OutcomeRequest(token=7, position=0)
    )
    with pytest.raises(InputError) as caught:
        measure(patching)
    assert caught.value.message.code == "workbench.effects.nothing_to_patch"


def test_what_cannot_be_measured_is_refused(
    measure: Callable[..., Any], ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = OutcomeRequest(token=7)
    with pytest.raises(InputError) as caught:
        measure(PatchingRequest(run=ask(), corrupted="the animal", outcome=outcome))
    assert caught.value.message.code == "workbench.effects.other_length"
    with pytest.raises(InputError) as caught:
        measure(EffectsRequest(run=ask(), outcome=OutcomeRequest(against=7)))
    assert caught.value.message.code == "workbench.effects.nothing_against"
    monkeypatch.setattr(effects, "MOST_TOKENS", 3)
    with pytest.raises(InputError) as caught:
        measure(EffectsRequest(run=ask(), outcome=outcome))
    assert caught.value.message.code == "workbench.effects.too_many_tokens"
    monkeypatch.setattr(effects, "MOST_TOKENS", 512)
    monkeypatch.setattr(effects, "MOST_HEADS", 1)
    with pytest.raises(InputError) as caught:
        measure(EffectsRequest(run=ask(), outcome=outcome))
    assert caught.value.message.code == "workbench.effects.too_many_heads"


def test_a_measurement_can_be_cancelled(zoo: Path, ask: Ask) -> None:
    reporter, _ = open_reporter({"1"})
    request = EffectsRequest(run=ask(), outcome=OutcomeRequest(token=7))
    task = {"name": "decoder", "folder": str(zoo / "decoder"), "measure": request.model_dump()}
    with pytest.raises(StoppedError):
        Runner(1 << 30).measure(task, reporter)


def test_the_last_key_of_a_query_is_never_cut(zoo: Path) -> None:
    recording = gf.load(zoo / "decoder").record(TEXT)
    places = {each.place: each for each in recording.maps}
    values = {place: np.ones(each.shape) for place, each in places.items()}
    chosen = choose_edges(values, places, 10_000)
    assert chosen
    assert all(query > 0 for _, _, query, _ in chosen)


@pytest.mark.slow
def test_a_job_streams_effects_and_ends_with_a_recording(
    bench: LocalWorkbench, ask: Ask, wait: Wait, folder: Path
) -> None:
    job = bench.measure(EffectsRequest(run=ask(parent="first"), outcome=OutcomeRequest(token=7)))
    assert (job.kind, job.listed) == ("effects", False)
    done = wait(bench, job)
    assert done.state == "done", done.message
    events = bench.store.events(job.id, 0)
    assert [event.data["confirmed"] for event in events if event.name == "step"][:2] == [False, True]
    progress = [event.data for event in events if event.name == "progress"]
    assert (progress[-1]["stage"], progress[-1]["share"]) == ("running", 1.0)
    assert done.recording is not None
    assert gf.Recording.open(folder / done.recording).maps[0].content == "signed"
