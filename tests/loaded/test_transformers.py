"""Live models of transformers through every verb: the same tokens and numbers as transformers computes."""

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf

import glassformer as gf
from glassformer.errors import CheckpointError, ConfigurationError, InputError
from glassformer.loaded.opening import load
from live_models import DECODERS, TEXTS, TOKENIZER, TRANSLATORS, make
from tolerances import assert_near


def expected_ids(model: Any, ids: list[int], **settings: Any) -> list[int]:
    """What `generate` of transformers writes after the prompt, without the end and padding."""
    written = model.generate(
        torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long), **settings
    )[0].tolist()
    new = written[1 if model.config.is_encoder_decoder else len(ids) :]
    end = model.generation_config.eos_token_id
    return new[: new.index(end)] if end in new else new


@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize("kind", [*DECODERS, *TRANSLATORS])
def test_the_same_tokens_as_transformers(kind: str, beams: int) -> None:
    network = make(kind)
    model = load(network, TOKENIZER)
    verb = gf.generate if kind in DECODERS else gf.translate
    settings = {"num_beams": beams, "max_new_tokens": 7, "do_sample": False}
    texts = verb(model, TEXTS, decode=settings)
    assert isinstance(texts, list)
    assert list(verb(model, TEXTS, decode=settings, stream=True)) == texts
    prompts = [model.read_prompt(text) for text in TEXTS if text]
    found = model.generate(prompts, gf.GenerationSettings(beams=beams, max_new_tokens=7))
    wanted = [expected_ids(network, prompt, **settings) for prompt in prompts]
    assert [list(each[0].words) for each in found] == wanted
    decoded = [
        TOKENIZER.decode([*prompt, *words] if kind in DECODERS else words).strip()
        for prompt, words in zip(prompts, wanted, strict=True)
    ]
    assert [text.strip() for text in texts] == [*decoded[:3], "", decoded[3]]
    assert len({tuple(each) for each in wanted}) > 1  # the prompts matter


@pytest.mark.parametrize("kind", DECODERS)
def test_scores_are_log_probabilities(kind: str) -> None:
    network = make(kind)
    model = load(network, TOKENIZER)
    prompt = model.read_prompt(TEXTS[0])
    [[found]] = model.generate([prompt], gf.GenerationSettings(max_new_tokens=5))
    with torch.no_grad():
        logits = network(torch.tensor([[*prompt, *found.ids]])).logits[0].log_softmax(-1)
    wanted = [float(logits[len(prompt) - 1 + place, token]) for place, token in enumerate(found.ids)]
    assert_near(list(found.log_probabilities), wanted, layers=2)
    assert_near([found.score], [sum(wanted) / len(wanted)], layers=2)


def test_recording_and_generating_write_the_same() -> None:
    model = load(make("LlamaForCausalLM"), TOKENIZER)
    settings = {"max_new_tokens": 6}
    recording = model.record(TEXTS[0], decode=settings)
    assert recording.generation is not None
    [text] = gf.generate(model, TEXTS[:1], decode=settings)
    assert recording.source.text == text
    config = hf.GenerationConfig(max_new_tokens=6, do_sample=False)
    assert gf.generate(model, TEXTS[:1], decode=config) == [text]
    assert model.record(TEXTS[0], decode=config).source.text == text


def test_a_seed_draws_the_same_again_and_leaves_the_random_state() -> None:
    model = load(make("GPT2LMHeadModel"), TOKENIZER)
    settings = {"do_sample": True, "seed": 5, "max_new_tokens": 6}
    before = torch.random.get_rng_state()
    first = gf.generate(model, TEXTS, decode=settings)
    assert torch.equal(before, torch.random.get_rng_state())
    assert gf.generate(model, TEXTS, decode=settings) == first


def test_the_model_is_left_as_it_was_found() -> None:
    network = make("GPT2LMHeadModel").train()
    list(network.modules())[4].eval()
    modes = [module.training for module in network.modules()]
    gf.generate(network, TEXTS, tokenizer=TOKENIZER, decode={"max_new_tokens": 2})
    assert [module.training for module in network.modules()] == modes
    assert torch.is_grad_enabled()


def test_n_best_hypotheses_come_best_first() -> None:
    model = load(make("BartForConditionalGeneration"), TOKENIZER)
    settings = gf.GenerationSettings(beams=4, n_best=3, max_new_tokens=5)
    [found] = model.generate([model.read_prompt(TEXTS[0])], settings)
    assert len(found) == 3
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_a_long_prompt_is_refused_and_a_short_rest_is_filled() -> None:
    model = load(make("GPT2LMHeadModel"), TOKENIZER)  # 24 positions
    with pytest.raises(InputError) as error:
        gf.generate(model, ["the " * 30])
    assert error.value.message.code == "tasks.text_too_long"
    with pytest.raises(InputError) as error:
        gf.generate(model, ["the " * 24])
    assert error.value.message.code == "loaded.prompt_fills_positions"
    [[found]] = model.generate([[5] * 20], gf.GenerationSettings(max_new_tokens=50))
    assert len(found.ids) <= 4


@pytest.mark.parametrize("setting", [{"penalty_alpha": 0.6}, {"num_beam_groups": 2}, {"no_such_thing": 1}])
def test_settings_that_cannot_be_honoured_are_refused_by_name(setting: dict[str, Any]) -> None:
    model = load(make("GPT2LMHeadModel"), TOKENIZER)
    for ask in (
        lambda: model.record("the", decode=setting),
        lambda: gf.generate(model, ["the"], decode=setting),
    ):
        with pytest.raises(ConfigurationError, match=next(iter(setting))):
            ask()


def test_a_live_classifier_says_what_transformers_says() -> None:
    network = make("BertForSequenceClassification")
    texts = [text for text in TEXTS if text]
    found = gf.classify(network, texts, tokenizer=TOKENIZER)
    for text, each in zip(texts, found, strict=True):
        with torch.no_grad():
            logits = network(torch.tensor([TOKENIZER.encode(text).ids])).logits[0]
        assert_near([*each.probabilities.values()], logits.softmax(-1).tolist(), layers=2)
        assert each.label == network.config.id2label[int(logits.argmax())]
    assert list(found[0].probabilities) == ["bad", "good", "so-so"]
    assert [each.label for each in gf.classify(network, texts, tokenizer=TOKENIZER, stream=True)] == [
        each.label for each in found
    ]


def test_a_tagger_and_a_regression_of_transformers_answer_as_they_do() -> None:
    words = {
        "vocab_size": TOKENIZER.size,
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }
    torch.manual_seed(0)
    labels = {0: "DET", 1: "NOUN"}
    tagger = hf.BertForTokenClassification(hf.BertConfig(**words, id2label=labels)).eval()
    text = "the animal was tired"
    (found,) = gf.tag(tagger, [text], tokenizer=TOKENIZER)
    ids = torch.tensor([TOKENIZER.encode(text).ids])
    with torch.no_grad():
        chances = tagger(ids).logits[0].softmax(-1)[:4]  # before the special token
    assert found.words == tuple(text.split())
    assert found.tags == tuple(labels[number] for number in chances.argmax(-1).tolist())
    assert_near(found.probabilities, chances.amax(-1).tolist(), layers=1)
    output = gf.record(tagger, ids[0].tolist(), want=("output",)).output
    assert output is not None
    assert output.kind == "tags"
    assert output.texts(0)[0] == found.tags[0]
    regression = hf.BertForSequenceClassification(hf.BertConfig(**words, num_labels=1)).eval()
    (number,) = gf.predict_numbers(regression, [text], tokenizer=TOKENIZER)
    with torch.no_grad():
        wanted = regression(ids).logits.item()
    assert_near([*number.values()], [wanted], layers=1)
    output = gf.record(regression, ids[0].tolist(), want=("output",)).output
    assert output is not None
    assert output.kind == "numbers"
    assert_near(output.numbers, [wanted], layers=1)


def test_regression_and_many_labels_are_not_classes() -> None:
    for words in ({"num_labels": 1}, {"problem_type": "multi_label_classification"}):
        config = hf.BertConfig(
            vocab_size=20, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, **words
        )
        assert not load(hf.BertForSequenceClassification(config)).can("classifies")


def test_a_live_masked_model_fills_as_transformers_does() -> None:
    network = make("BertForMaskedLM")
    texts = ["the [MASK] was tired", "the animal was too [MASK] to [MASK]"]
    found = gf.fill(network, texts, tokenizer=TOKENIZER, best=3)
    for text, each in zip(texts, found, strict=True):
        ids = torch.tensor([TOKENIZER.encode(text.replace("[MASK]", "<mask>")).ids])
        with torch.no_grad():
            logits = network(ids).logits[0][ids[0] == TOKENIZER.roles["mask"]]
        for gap, row in zip(each.gaps, logits, strict=True):
            assert [guess.token for guess in gap] == row.topk(3).indices.tolist()
            assert_near(
                [guess.probability for guess in gap], row.softmax(-1).topk(3).values.tolist(), layers=2
            )


@pytest.mark.parametrize("kind", TRANSLATORS)
def test_a_folder_translates_as_the_live_model_does(kind: str, tmp_path: Path) -> None:
    network = make(kind)
    network.save_pretrained(tmp_path / "model")
    TOKENIZER.save(tmp_path / "model")
    settings = {"max_new_tokens": 6}
    wanted = gf.translate(network, TEXTS, tokenizer=TOKENIZER, decode=settings)
    assert gf.translate(tmp_path / "model", TEXTS, decode=settings) == wanted
    assert gf.translate(str(tmp_path / "model"), TEXTS, decode=settings) == wanted
    (tmp_path / "model" / "model.safetensors").unlink()
    with pytest.raises(CheckpointError) as error:
        load(tmp_path / "model")
    assert error.value.message.code == "loaded.folder.unreadable"


def test_without_settings_the_model_generates_as_its_own_configuration_says() -> None:
    network = make("BartForConditionalGeneration")
    network.generation_config.num_beams = 3
    network.generation_config.max_new_tokens = 5
    model = load(network, TOKENIZER)
    assert (model.generation.beams, model.generation.max_new_tokens) == (3, 5)
    prompt = model.read_prompt(TEXTS[0])
    assert list(model.generate([prompt])[0][0].words) == expected_ids(network, prompt)
