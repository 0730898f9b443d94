"""Jobs that run in a real worker process: what is recorded, what is told, what is refused."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from glassformer import bundle
from glassformer.api.jobs import Event, Job, JobRequest
from glassformer.recording import Recording
from glassformer.workbench import LocalWorkbench
from tolerances import assert_near

Ask = Callable[..., JobRequest]
Wait = Callable[..., Job]
Run = Callable[..., tuple[Recording, list[Event]]]


@pytest.fixture
def run(bench: LocalWorkbench, folder: Path, ask: Ask, wait: Wait) -> Run:
    """A function that runs a job to its end and gives the recording and all events."""

    def call(**words: object) -> tuple[Recording, list[Event]]:
        job = wait(bench, bench.submit(ask(**words)))
        assert job.state == "done", job.sentence
        assert job.recording is not None
        return bundle.open(folder / job.recording), bench.store.events(job.id, 0)

    return call


@pytest.fixture
def fail(bench: LocalWorkbench, ask: Ask, wait: Wait) -> Callable[..., str]:
    """The sentence of a job that cannot be done; the worker survives it."""

    def call(**words: object) -> str:
        job = wait(bench, bench.submit(ask(**words)))
        assert job.state == "failed"
        assert job.code == "refused"
        assert job.sentence is not None
        return job.sentence

    return call


def steps(events: list[Event]) -> list[dict[str, object]]:
    return [event.data for event in events if event.name == "step"]


def test_a_text_is_recorded_whole(run: Run, zoo: Path) -> None:
    recording, events = run()
    stages = dict.fromkeys(event.data["stage"] for event in events if event.name == "progress")
    stages.pop("statistics", None)  # reported where the pass before it takes long, as on a busy machine
    assert list(stages) == ["queued", "loading", "tokenising", "running", "saving"]
    assert events[-1].name == "done"
    assert recording.model == "zoo/decoder"
    assert recording.source.text == "the animal was too tired"
    from glassformer.recorders.record import record

    again = record(zoo / "decoder", "the animal was too tired", want=("weights", "scores", "values"))
    for ours, theirs in zip(recording.maps, again.maps, strict=True):
        assert_near(ours.weights(), theirs.weights())
        assert ours.queries is not None
        assert ours.keys is not None
        assert ours.values is not None
    assert set(recording.hidden) == {"decoder"}
    assert recording.output is not None


def test_only_what_is_wanted_is_kept(run: Run) -> None:
    recording, _ = run(want=["weights"])
    assert not recording.hidden
    assert recording.output is None
    assert recording.maps[0].queries is None


def test_long_texts_keep_less(run: Run) -> None:
    recording, _ = run(model="zoo/endless", sequence="random", length=600)
    assert recording.maps[0].values is None
    assert recording.hidden


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


def test_a_translator_is_told_the_language(run: Run) -> None:
    recording, events = run(model="zoo/translator", target_language="fr", source_language="en")
    assert recording.source.texts[0] == ">>fr<<"
    assert recording.target is not None
    assert recording.generation is not None
    assert {(map.stack, map.kind) for map in recording.maps} == {
        ("encoder", "self"),
        ("decoder", "self"),
        ("decoder", "cross"),
    }
    assert len(steps(events)) == len(recording.generation.steps)


def test_a_given_target_is_read_and_not_written(run: Run) -> None:
    recording, events = run(model="zoo/translator", target_language="fr", target="the street")
    assert recording.target is not None
    assert recording.target.texts[1:] == ("the", "street")
    assert recording.generation is None
    assert steps(events) == []


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


def test_a_model_of_transformers_continues_a_given_prefix(run: Run) -> None:
    recording, events = run(model="zoo/theirs", kind="generate", decode={"max_new_tokens": 3})
    first = [step["token"] for step in steps(events)]
    _, events = run(model="zoo/theirs", kind="generate", decode={"max_new_tokens": 2}, prefix=first[:1])
    assert [step["token"] for step in steps(events)] == first[1:]
    assert recording.generation is not None


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({}, "generates none"),  # a decoder that only reads
        ({"model": "zoo/encoder"}, "generates none"),
        ({"model": "zoo/translator", "target_language": "fr", "target": "the street"}, "generates none"),
        (
            {
                "model": "zoo/translator",
                "target_language": "fr",
                "edits": [{"kind": "cut", "stack": "decoder", "attention": "self", "query": 1, "key": 0}],
            },
            "cannot continue a given prefix",
        ),
        ({"kind": "generate", "prefix": [4000]}, "4000"),
        ({"kind": "generate", "prefix": [4] * 24}, "reads at most 24"),
    ],
)
def test_a_prefix_that_cannot_be_continued_is_refused(
    fail: Callable[..., str], words: dict[str, object], part: str
) -> None:
    assert part in fail(**{"prefix": [4], **words})


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


def test_two_sentences_are_two_segments(run: Run) -> None:
    one, two = (run(model="zoo/encoder", second_text=second)[0] for second in (None, "the street"))
    assert len(two.source) > len(one.source)


def test_a_recurrent_translator_has_one_map(run: Run) -> None:
    recording, _ = run(model="zoo/recurrent")
    assert [(map.stack, map.kind) for map in recording.maps] == [("decoder", "cross")]


def test_random_sequences_are_framed_words(run: Run) -> None:
    one, same, other = (
        run(model="zoo/masked", sequence="random", length=6, seed=seed)[0] for seed in (1, 1, 2)
    )
    assert one.source.ids.tolist() == same.source.ids.tolist() != other.source.ids.tolist()
    assert one.source.special is not None
    assert one.source.special.tolist() == [False] * 6 + [True]
    assert not {"<unk>", "<mask>"} & set(one.source.texts)


def test_a_sentence_for_the_task_is_chosen_by_seed(run: Run) -> None:
    texts = [run(model="zoo/endless", sequence="task", seed=seed)[0].source.text for seed in (0, 1)]
    assert texts[0] == "The quick brown fox jumps over the lazy dog."
    assert texts[1] != texts[0]


def test_layers_and_multiplier_change_the_run(run: Run) -> None:
    plain, _ = run()
    edited, _ = run(layers=1, multiplier=0.0)
    assert len(edited.maps) == 1
    assert tuple(map(str, edited.evidence.edits)) == (
        "only the first 1 layer of every stack",
        "scores times 0 in every layer",
    )
    assert_near(edited.maps[0].weights()[0, 3, :4], 0.25)
    assert not np.allclose(plain.maps[0].weights()[0, 3, :4], 0.25, atol=1e-3)
    assert plain.maps[0].weights(0).shape == edited.maps[0].weights(0).shape


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"kind": "ablate", "stack": "decoder", "attention": "self", "layer": 1, "head": 0}, "silenced"),
        (
            {"kind": "ablate", "stack": "decoder", "attention": "self", "layer": 1, "head": 0, "how": "mean"},
            "mean of its rows",
        ),
        (
            {"kind": "cut", "stack": "decoder", "attention": "self", "query": 3, "key": 1},
            "query 3 may not look at key 1",
        ),
        ({"kind": "scale", "factor": 2.0, "layer": 1}, "scores times 2 in layer 1"),
        ({"kind": "layers", "count": 1, "stack": "decoder"}, "only the first 1 layer of decoder"),
    ],
)
def test_edits_are_made_and_said(run: Run, edit: dict[str, object], said: str) -> None:
    recording, _ = run(edits=[edit])
    assert said in str(recording.evidence.edits[0])


def test_a_cut_edge_stays_cut_while_words_are_written(run: Run) -> None:
    cut = {"kind": "cut", "stack": "decoder", "attention": "self", "query": 6, "key": 1}
    recording, events = run(kind="generate", edits=[cut], decode={"max_new_tokens": 4})
    assert recording.maps[0].weights(0)[6, 1] == 0
    assert len(steps(events)) == 4


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({"text": "the animal " * 20}, "The text has 41 tokens, but zoo/decoder reads at most 24"),
        ({"sequence": "random", "length": 24}, "reads at most 24"),
        (
            {"model": "zoo/translator", "target_language": "fr", "target": "the " * 30},
            "The target has 31 tokens",
        ),
        (
            {"edits": [{"kind": "ablate", "stack": "decoder", "attention": "self", "layer": 0, "head": 7}]},
            "no head 7",
        ),
        ({"model": "zoo/encoder", "kind": "generate"}, "no head that predicts"),
    ],
)
def test_what_only_the_model_knows_is_refused_by_it(
    fail: Callable[..., str], words: dict[str, object], part: str
) -> None:
    assert part in fail(**words)


def test_a_model_of_transformers_records_and_writes(run: Run) -> None:
    recording, events = run(model="zoo/theirs", layers=1, multiplier=2.0)
    assert len(recording.maps) == 1
    assert steps(events) == []
    recording, events = run(model="zoo/theirs", kind="generate", decode={"max_new_tokens": 3})
    assert recording.generation is not None
    assert [step["token"] for step in steps(events)] == [step.token for step in recording.generation.steps]


def test_a_long_run_tells_how_far_it_is(run: Run) -> None:
    _, events = run(model="zoo/slow", sequence="random", length=400, want=["output"])
    shares = [event.data["share"] for event in events if event.data.get("stage") == "running"]
    assert len(shares) > 2
    assert all(0 <= share <= 1 for share in shares)


def test_events_are_heard_as_they_come_and_end(bench: LocalWorkbench, ask: Ask) -> None:
    async def listen() -> list[str]:
        job = bench.submit(ask(kind="generate", decode={"max_new_tokens": 3}))
        return [event.name async for event in bench.events(job.id)]

    names = asyncio.run(listen())
    assert names.count("step") == 3
    assert names[-1] == "done"


def test_two_listeners_hear_the_same(bench: LocalWorkbench, ask: Ask) -> None:
    async def listen() -> list[list[Event]]:
        job = bench.submit(ask(kind="generate", decode={"max_new_tokens": 3}))

        async def hear() -> list[Event]:
            return [event async for event in bench.events(job.id)]

        return list(await asyncio.gather(hear(), hear()))

    one, other = asyncio.run(listen())
    assert one == other
