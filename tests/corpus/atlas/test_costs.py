"""What silencing costs is the growth of the loss that a sweep measures."""

import numpy as np

from glassformer.corpus.atlas.costs import can_cost, collect, measure_cost
from glassformer.corpus.atlas.texts import MarkedText
from glassformer.loaded.opening import load
from glassformer.place import Place
from glassformer.recorders.causes.outcomes import ClassProbability, LogProbability, Loss
from glassformer.recorders.causes.sweep import sweep
from our_networks import TEXT, WORDS, build
from tolerances import assert_near

PLACE = {shape: Place(shape, "self", 1) for shape in ("decoder", "encoder")}


def spend(model, text=TEXT):
    found = measure_cost(model, MarkedText(text), None)
    return [found] if found else []


def test_of_a_language_model_it_is_the_growth_of_the_loss() -> None:
    model = load(build(shape="decoder").eval(), WORDS)
    assert can_cost(model)
    assert_near(
        collect(spend(model), PLACE["decoder"], 2)[0],
        sweep(model, TEXT, outcome=Loss()).heads()[1],
        summands=64,
    )


def test_of_a_classifier_it_is_about_the_label_it_would_give() -> None:
    model = load(build(shape="encoder", head="classes", classes=2).eval(), WORDS)
    shares = model.classify([model.reader.read_source(TEXT).ids])[0]
    found = sweep(model, TEXT, outcome=ClassProbability(int(np.argmax(shares))))
    expected = np.log(found.baseline) - np.log(found.values)
    assert_near(collect(spend(model), PLACE["encoder"], 2)[0], expected[2:4], summands=64)


def test_without_a_loss_there_are_no_costs() -> None:
    assert not can_cost(load(build(shape="encoder", head="none").eval(), WORDS))
    assert spend(load(build(shape="decoder").eval(), WORDS), "the " * 40) == []  # too long: left out


def test_of_a_masked_model_it_is_about_hidden_tokens() -> None:
    model = load("zoo/albert")
    text = "The cat sleeps on the old mat."
    encoding = model.reader.read_source(text)
    ids = np.array(encoding.ids)
    place = int(np.flatnonzero(~np.array(encoding.special))[3])
    token = int(ids[place])
    ids[place] = model.tokenizer.roles["mask"]
    found = sweep(model, ids, outcome=LogProbability(token, place))
    growths = [measure_cost(model, MarkedText(text), None)]
    first = Place("encoder", "self", 0)
    heads = found.heads().shape[1]
    if sum(~np.array(encoding.special)) > 10:
        return
    assert_near(collect(growths, first, heads)[0], -found.heads()[0], summands=64)
