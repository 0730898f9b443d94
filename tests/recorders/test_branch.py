"""What was written before a branch stays, to the last bit; forced words are what teacher forcing gives."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import generating_models
from campaigns import campaign
from edited_models import make_ours
from glassformer.errors import GlassformerError, InputError
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.branch import branch, open_hypothesis
from glassformer.recorders.edits import AblateHead, BlockHead, ScaleScores
from glassformer.recorders.record import record
from glassformer.recording import Recording, identify
from tolerances import assert_near

PROMPT = [7, 9, 11, 6, 8, 12]
GREEDY = GenerationSettings(max_new_tokens=8, alternatives=3)
SAMPLING = replace(GREEDY, sample=True, seed=5, top_k=12, temperature=0.9)
BEAMS = replace(GREEDY, beams=3, min_new_tokens=2, forbidden=(4,))
OURS = ("decoder", "encoder-decoder")
THEIRS = ("GPT-2", "Llama", "T5", "BART")


def open_model(kind: str, **changes: Any) -> Any:
    network = make_ours(kind, **changes) if kind in OURS else generating_models.make(kind)
    return load(network)


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    return {kind: open_model(kind) for kind in (*OURS, *THEIRS)}


@pytest.mark.parametrize("kind", [*OURS, *THEIRS])
@pytest.mark.parametrize("how", [GREEDY, SAMPLING], ids=["greedy", "sampling"])
def test_forcing_what_the_model_writes_changes_nothing(models, kind: str, how: GenerationSettings) -> None:
    root = record(models[kind], PROMPT, decode=how)
    for step in {0, len(root.generation.steps) // 2, len(root.generation.steps) - 1}:
        token = root.generation.steps[step].token
        for again in (
            branch(root, step, token=token, model=models[kind]),
            branch(root, step, model=models[kind]),
        ):
            assert again.generation.steps == root.generation.steps  # to the last bit
            assert np.array_equal(again.maps[-1].dense, root.maps[-1].dense)
            assert again.branch.parent == identify(root)


@pytest.mark.parametrize("kind", [*OURS, "GPT-2", "BART"])
@campaign("number", range(100), sample=2)
def test_a_branch_of_a_branch_keeps_every_step_before(models, kind: str, number: int) -> None:
    """Whatever is changed, and however often: a token, a head, a key, the temperature, the seed."""
    model, chance = models[kind], random.Random(number)
    now = record(model, PROMPT, decode=chance.choice([GREEDY, SAMPLING]))
    for _ in range(3):
        steps = now.generation.steps
        step = chance.randrange(len(steps))
        edit = BlockHead("decoder", "self", 1, chance.randrange(4), chance.choice([None, 1]))
        changed = branch(
            now,
            step,
            token=chance.choice([None, chance.randrange(5, 30)]),
            edits=[edit] if step > 1 and chance.random() < 0.5 else (),
            temperature=chance.choice([None, 0.0, 0.5, 2.0]),
            seed=chance.randrange(9),
            model=model,
        )
        assert changed.generation.steps[:step] == steps[:step]
        assert branch(changed, step, model=model).generation.steps[:step] == steps[:step]
        now = changed


@pytest.mark.parametrize("kind", [*OURS, "GPT-2", "T5"])
def test_forced_text_is_teacher_forcing(models, kind: str) -> None:
    model, forced = models[kind], [9, 5, 14, 21]
    written = record(model, PROMPT, decode=GREEDY, forced=forced)
    assert [step.token for step in written.generation.steps[:4]] == forced
    assert written.generation.forced == (0, 1, 2, 3)
    sides = (PROMPT, forced) if model.shape == "encoder-decoder" else ([*PROMPT, *forced], None)
    read = record(model, *sides)
    first = 0 if sides[1] else len(PROMPT) - 1
    for step, token in enumerate(forced):
        row = first + step
        known = dict(zip(read.output.ids[row].tolist(), read.output.log_probabilities[row], strict=True))
        if token in known:
            assert_near(written.generation.steps[step].log_probability, known[token], layers=3, magnitude=32)
        best = written.generation.steps[step].alternatives[0]
        assert_near(best.log_probability, read.output.log_probabilities[row, 0], layers=3, magnitude=32)
        assert best.token == read.output.ids[row, 0]


@pytest.mark.parametrize("kind", [*OURS, "GPT-2", "BART"])
def test_temperature_0_is_greedy_and_a_seed_decides(models, kind: str) -> None:
    model = models[kind]
    greedy, drawn = record(model, PROMPT, decode=GREEDY), record(model, PROMPT, decode=SAMPLING)
    assert branch(drawn, 0, temperature=0, model=model).generation.steps == greedy.generation.steps
    hot = [branch(greedy, 1, temperature=3.0, seed=seed, model=model).generation for seed in (1, 1, 2, 3, 4)]
    assert hot[0].steps == hot[1].steps
    assert len({each.text for each in hot}) > 1
    assert hot[0].settings[-1]["temperature"] == 3.0


@pytest.mark.parametrize("kind", [*OURS, "GPT-2", "T5", "BART"])
def test_a_hypothesis_of_a_beam_search_has_its_score(models, kind: str) -> None:
    found = record(models[kind], PROMPT, decode=BEAMS)
    for node in found.generation.hypotheses()[:4]:
        opened = open_hypothesis(found, node, model=models[kind])
        score = found.generation.nodes[node].score
        assert_near(opened.generation.score, score, layers=3, magnitude=32)
        assert [step.token for step in opened.generation.steps] == [
            step.token for step in found.generation.path(node)
        ]
        assert opened.generation.method == "beam"
        assert opened.branch.parent == identify(found)
    on = branch(found, 2, token=6, model=models[kind])
    assert [step.token for step in on.generation.steps[:3]] == [
        *(step.token for step in found.generation.steps[:2]), 6,
    ]  # fmt: skip


@pytest.mark.parametrize("kind", [*OURS, "GPT-2", "BART"])
def test_a_blocked_head_gives_nothing_from_its_step_on(models, kind: str) -> None:
    model = models[kind]
    attention = "cross" if model.shape == "encoder-decoder" else "self"
    root = record(model, PROMPT, decode=GREEDY)
    changed = branch(root, 3, edits=[BlockHead("decoder", attention, 0, 2)], model=model)
    first = 3 if attention == "cross" else len(PROMPT) + 2
    rows = changed.map("decoder", attention, 0).dense[2]
    assert np.all(rows[first:] == 0)
    assert np.all(rows[:first].sum(-1) > 0.9)
    assert changed.generation.steps[3].log_probability != root.generation.steps[3].log_probability
    # The same numbers by one pass over the whole text with the same edit.
    ids = (changed.target or changed.source).ids.tolist()
    sides = (PROMPT, ids[1:]) if attention == "cross" else (ids, None)
    again = record(model, *sides, edits=[BlockHead("decoder", attention, 0, 2, first=first)])
    best = again.output.log_probabilities[first, 0]
    assert_near(changed.generation.steps[3].alternatives[0].log_probability, best, layers=3, magnitude=32)


@pytest.mark.parametrize("kind", ["decoder", "BART"])
def test_each_step_goes_on_in_its_own_way(models, kind: str) -> None:
    """A branch of a branch, before the step at which that one changed the temperature."""
    model = models[kind]
    root = record(model, PROMPT, decode=SAMPLING)
    changed = branch(root, 4, temperature=0, model=model)
    token = root.generation.steps[1].token
    again = branch(changed, 1, token=token, model=model)
    assert again.generation.steps == root.generation.steps
    assert [each["step"] for each in again.generation.settings] == [0, 1]
    same = branch(changed, 1, model=model)  # nothing changes: neither do its stages
    assert same.generation.steps == changed.generation.steps
    assert same.generation.settings == changed.generation.settings
    longer = branch(root, 2, token=9, max_new_tokens=10, model=model)
    free = branch(longer, 0, model=model)  # 9 is not forced again
    assert free.generation.steps[:8] == root.generation.steps
    assert len(free.generation.steps) == 10


def test_a_step_may_be_a_number_of_numpy(models) -> None:
    root = record(models["decoder"], PROMPT, decode=GREEDY)
    made = branch(root, np.int64(1), model=models["decoder"])
    assert (made.branch.step, type(made.branch.step)) == (1, int)


@pytest.mark.slow
def test_the_branch_of_a_translation_keeps_its_source() -> None:
    root = record("zoo/translator", "The cat sleeps.", target_language="fr")
    made = branch(root, 1)
    assert made.source.text == "The cat sleeps."
    for name in ("ids", "offsets", "special", "words"):
        assert np.array_equal(getattr(made.source, name), getattr(root.source, name)), name
    assert made.source.texts == root.source.texts


def test_recurrent_translators_branch_but_cannot_be_blocked() -> None:
    root = record("zoo/recurrent", "The cat sleeps.", decode=replace(GREEDY, max_new_tokens=20))
    assert branch(root, 1).generation.steps == root.generation.steps
    other = branch(root, 1, token=root.generation.steps[1].alternatives[1].token)
    assert other.generation.text != root.generation.text
    assert other.generation.steps[:1] == root.generation.steps[:1]
    with pytest.raises(InputError) as error:
        branch(root, 2, edits=[BlockHead("decoder", "cross", 0, 0)])
    assert error.value.message.code == "recorders.edits.recurrent"


def test_a_branch_is_kept_in_a_bundle_and_goes_on_from_there(models, tmp_path) -> None:
    model = models["decoder"]
    root = record(model, PROMPT, decode=SAMPLING, edits=[AblateHead("decoder", "self", 2, 1)])
    middle = branch(
        root, 2, edits=[BlockHead("decoder", "self", 0, 1, key=3)], name="  no  key ", model=model
    )
    middle.save(tmp_path / "middle.bundle")
    opened = Recording.open(tmp_path / "middle.bundle")
    assert opened.branch == middle.branch
    assert opened.branch.name == "no key"
    assert identify(opened) == identify(middle)
    assert branch(opened, 5, model=model).generation.steps == middle.generation.steps
    assert [str(edit) for edit in opened.evidence.edits] == [
        "head 1 of decoder layer 2, self: silenced",
        "head 1 of decoder layer 0, self: key 3 hidden from query 7 on",
    ]


def test_a_text_that_stopped_goes_on(models) -> None:
    model = models["decoder"]
    root = record(model, PROMPT, decode=replace(GREEDY, max_new_tokens=3))
    longer = branch(root, 3, max_new_tokens=6, model=model)
    assert len(longer.generation.steps) == 6
    assert longer.generation.steps == record(
        model, PROMPT, decode=replace(GREEDY, max_new_tokens=6)
    ).generation.steps  # fmt: skip


def test_a_recording_without_settings_is_branched_where_it_was_greedy(models) -> None:
    """As files of version 0.1."""
    model = models["decoder"]
    root = record(model, PROMPT, decode=GREEDY)
    old = replace(root, generation=replace(root.generation, settings=(), edits=()))
    assert branch(old, 2, model=model).generation.steps == root.generation.steps
    drawn = record(model, PROMPT, decode=SAMPLING)
    old = replace(drawn, generation=replace(drawn.generation, settings=(), edits=()))
    with pytest.raises(InputError) as error:
        branch(old, 2, model=model)
    assert error.value.message.code == "recorders.branch.unknown_settings"


class TestRefusals:
    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"step": 9}, "recorders.branch.no_step"),
            ({"step": -1}, "recorders.branch.no_step"),
            ({"step": True}, "recorders.branch.no_step"),
            ({"step": "1"}, "recorders.branch.no_step"),
            ({"token": 30}, "recorders.causes.unknown_token"),
            ({"token": "two words"}, "loaded.cannot.reads_text"),
            ({"name": "x" * 200}, "recording.branch_name"),
            ({"temperature": 0.7}, "recorders.branch.no_seed"),
            ({"temperature": -1.0, "seed": 1}, None),
            ({"max_new_tokens": 2}, "recorders.branch.no_room"),
            ({"edits": [AblateHead("decoder", "self", 0, 1)]}, "recorders.branch.whole_text"),
            ({"edits": [BlockHead("decoder", "self", 0, 9)]}, "recorders.edits.unknown_head"),
        ],
    )
    def test_what_cannot_be_is_refused_by_name(self, models, changes, code) -> None:
        model = models["decoder"]
        root = record(model, PROMPT, decode=GREEDY)
        with pytest.raises(GlassformerError) as error:
            branch(root, **{"step": 3, "model": model, **changes})
        assert code is None or error.value.message.code == code

    def test_another_model(self, models) -> None:
        root = record(models["decoder"], PROMPT, decode=GREEDY)
        with pytest.raises(InputError) as error:
            branch(root, 1, model=open_model("decoder", layers=2))
        assert error.value.message.code == "recorders.branch.other_model"

    def test_numbers_that_the_model_does_not_give(self, models) -> None:
        model = models["decoder"]
        root = record(model, PROMPT, decode=GREEDY)
        first = root.generation.steps[0]
        wrong = replace(first, log_probability=first.log_probability - 0.01)
        changed = replace(root.generation, steps=(wrong, *root.generation.steps[1:]))
        with pytest.raises(InputError) as error:
            branch(replace(root, generation=changed), 2, model=model)
        assert error.value.message.code == "recorders.branch.steps_differ"

    def test_a_text_that_was_given(self, models) -> None:
        with pytest.raises(InputError) as error:
            branch(record(models["decoder"], PROMPT), 0, model=models["decoder"])
        assert error.value.message.code == "recorders.branch.not_generated"

    def test_edits_that_are_not_kept(self, models) -> None:
        model = models["decoder"]

        class Mine(ScaleScores):  # of a person's own, in no registry
            pass

        edited = record(model, PROMPT, decode=GREEDY, edits=[Mine(0.5)])
        with pytest.raises(InputError) as error:
            branch(edited, 1, model=model)
        assert error.value.message.code == "recorders.branch.unknown_edits"
