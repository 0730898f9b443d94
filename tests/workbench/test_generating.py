"""What models write, told as it is written."""

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from glassformer.api.jobs import BranchRequest, Stage
from glassformer.errors import InputError
from glassformer.workbench.generating import go_on
from glassformer.workbench.reporter import JobReporter
from tolerances import assert_near
from workbench.conftest import Run, steps


@pytest.mark.slow
def test_a_decoder_writes_and_every_word_is_told(run: Run) -> None:
    recording, events = run(kind="generate", decode={"max_new_tokens": 4})
    generation = recording.generation
    assert generation is not None
    assert [step["token"] for step in steps(events)] == [step.token for step in generation.steps]
    assert [step["index"] for step in steps(events)] == [0, 1, 2, 3]
    assert steps(events)[0]["log_probability"] == pytest.approx(generation.steps[0].log_probability)
    assert len(steps(events)[0]["alternatives"]) == 10  # type: ignore[arg-type]
    words = [step.token for step in generation.steps]
    assert recording.source.ids.tolist()[-len(words) :] == words


def test_what_is_written_is_what_record_writes(run: Run, zoo: Path) -> None:
    from glassformer.loaded.opening import load
    from glassformer.model.generation_settings import GenerationSettings

    recording, _ = run(kind="generate", decode={"method": "beam", "beams": 3, "max_new_tokens": 4})
    again = load(zoo / "decoder").record(
        "the animal was too tired",
        decode=GenerationSettings(max_new_tokens=4, beams=3, alternatives=10),
        want=("weights",),
    )
    assert recording.source.ids.tolist() == again.source.ids.tolist()
    assert recording.generation is not None
    assert again.generation is not None
    assert recording.generation.method == "beam"
    ours, theirs = (
        [(node.index, node.token, node.beam, node.parent) for node in each.nodes]
        for each in (recording.generation, again.generation)
    )
    assert ours == theirs


def test_a_beam_search_is_told_as_the_tree_that_is_kept(run: Run) -> None:
    words = {"model": "zoo/translator", "target_language": "fr", "kind": "generate"}
    recording, events = run(**words, decode={"method": "beam", "beams": 2, "max_new_tokens": 4})
    assert recording.generation is not None
    told = [(step["index"], step["token"], step["beam"], step["parent"]) for step in steps(events)]
    assert told == [(node.index, node.token, node.beam, node.parent) for node in recording.generation.nodes]


def test_the_same_seed_draws_the_same_words(run: Run) -> None:
    decode = {"method": "sampling", "temperature": 2.0, "max_new_tokens": 8}
    texts = [
        tuple(step["token"] for step in steps(run(kind="generate", decode={**decode, "seed": seed})[1]))
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_a_decoder_continues_a_given_prefix(run: Run) -> None:
    """A branch: the first two tokens of a generation, another third, and so on from there."""
    recording, _ = run(kind="generate", decode={"max_new_tokens": 4})
    assert recording.generation is not None
    first = [step.token for step in recording.generation.steps]
    same, events = run(kind="generate", decode={"max_new_tokens": 2}, prefix=first[:2], parent="a")
    assert [step["token"] for step in steps(events)] == first[2:]
    assert same.source.ids.tolist() == recording.source.ids.tolist()
    other = next(each.token for each in recording.generation.steps[2].alternatives if each.token != first[2])
    branch, _ = run(kind="generate", decode={"max_new_tokens": 1}, prefix=[*first[:2], other])
    assert branch.source.ids.tolist()[-4:-1] == [*first[:2], other]


@pytest.mark.parametrize("model", ["translator", "recurrent"])
def test_a_translator_continues_a_given_prefix(run: Run, model: str) -> None:
    words = {"model": f"zoo/{model}"} | ({"target_language": "fr"} if model == "translator" else {})
    recording, events = run(**words, prefix=[5, 7], decode={"max_new_tokens": 2})
    assert recording.target is not None
    assert recording.output is not None
    assert recording.target.ids.tolist()[1:3] == [5, 7]  # behind the start
    first = steps(events)[0]
    assert first["index"] == 0
    assert first["token"] == recording.output.ids[2, 0]  # what stands behind the prefix in one pass
    assert_near(np.array(first["log_probability"]), recording.output.log_probabilities[2, 0])


def test_a_prefix_is_continued_with_an_edge_cut(run: Run) -> None:
    cut = {"kind": "cut", "stack": "decoder", "attention": "self", "query": 1, "key": 0}
    recording, _ = run(
        model="zoo/translator", target_language="fr", prefix=[4], edits=[cut], decode={"max_new_tokens": 2}
    )
    assert recording.target is not None
    assert recording.target.ids.tolist()[1] == 4
    weights = next(
        each for each in recording.maps if (each.stack, each.kind) == ("decoder", "self")
    ).weights()
    assert (weights[:, 1, 0] == 0).all()
    assert (weights[:, 2, 0] > 0).all()


@pytest.mark.slow
def test_a_model_of_transformers_continues_a_given_prefix(run: Run) -> None:
    recording, events = run(model="zoo/theirs", kind="generate", decode={"max_new_tokens": 3})
    first = [step["token"] for step in steps(events)]
    _, events = run(model="zoo/theirs", kind="generate", decode={"max_new_tokens": 2}, prefix=first[:1])
    assert [step["token"] for step in steps(events)] == first[1:]
    assert recording.generation is not None


class Heard(JobReporter):
    """Keeps the progress that it is told."""

    def __init__(self) -> None:
        super().__init__("job", BytesIO(), set())
        self.details: list[str | None] = []

    def progress(self, stage: Stage, share: float | None = None, detail: str | None = None) -> None:
        self.details.append(detail)


def test_the_settings_of_an_uploaded_parent_are_within_the_limits(zoo: Path) -> None:
    from glassformer.loaded.opening import load
    from glassformer.model.generation_settings import GenerationSettings
    from glassformer.recorders.store import store_temporarily

    model = load(zoo / "decoder")
    settings = GenerationSettings(max_new_tokens=2, min_new_tokens=2, alternatives=3)
    parent = model.record("the animal was too tired", decode=settings)
    assert parent.generation is not None
    stage = {
        **parent.generation.settings[0],
        "max_new_tokens": 3000,
        "min_new_tokens": 3000,
        "alternatives": 99,
    }
    parent = replace(parent, generation=replace(parent.generation, settings=(stage,)))
    heard = Heard()
    made = go_on(model, parent, BranchRequest(step=1), ("weights",), heard, store_temporarily, 4)
    assert made.generation is not None
    assert len(made.generation.steps) == 4
    assert max(len(step.alternatives) for step in made.generation.steps) == 10
    assert [each for each in heard.details if each] == ["1/4", "2/4", "3/4", "4/4"]
    with pytest.raises(InputError) as error:
        go_on(model, parent, BranchRequest(), ("weights",), heard, store_temporarily, 1)
    assert error.value.message.code == "workbench.request.too_many_new_tokens"


def test_masks_are_guessed(run: Run, fail: Callable[..., str]) -> None:
    recording, events = run(model="zoo/masked", kind="generate", text="the [MASK] was too [MASK]")
    assert recording.source.texts[1] == "<mask>"
    assert [step["index"] for step in steps(events)] == [1, 4]
    assert recording.output is not None
    assert steps(events)[1]["token"] == recording.output.ids[4, 0]
    assert "no [MASK]" in fail(model="zoo/masked", kind="generate")


def test_a_classifier_names_its_class(run: Run) -> None:
    recording, events = run(model="zoo/classifier", kind="generate")
    assert recording.output is not None
    assert recording.output.kind == "classes"
    assert [step["text"] for step in steps(events)] in (["bad"], ["good"])


def test_a_cut_edge_stays_cut_while_words_are_written(run: Run) -> None:
    cut = {"kind": "cut", "stack": "decoder", "attention": "self", "query": 6, "key": 1}
    recording, events = run(kind="generate", edits=[cut], decode={"max_new_tokens": 4})
    assert recording.maps[0].weights(0)[6, 1] == 0
    assert len(steps(events)) == 4
