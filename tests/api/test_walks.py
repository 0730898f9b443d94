"""The walk over HTTP, and the walk of recordings that kept less than everything."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arithmetic import compute
from glassformer import bundle
from glassformer.api.client import InProcessClient
from glassformer.api.frames import decode
from glassformer.api.jobs import JobRequest
from glassformer.errors import ApiError, ConfigurationError, GlassformerError
from glassformer.recording import Recording
from glassformer.render.html.export import list_paths
from glassformer.walk import Arrays, explain, follow, list_arrays, make_plan
from glassformer.walk.cells import _choose_terms
from glassformer.walk.working import Working
from inventions import invent_decoder, invent_translation
from proof import prove_cells
from tolerances import assert_near

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def traced() -> Recording:
    from glassformer.config import ModelConfig
    from glassformer.loaded.opening import load
    from glassformer.model.transformer import Transformer

    torch.manual_seed(0)
    words: dict[str, Any] = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 24, "max_length": 20}
    network = Transformer(ModelConfig(vocabulary_size=5000, start_id=2, end_id=3, **words))
    want = ("weights", "hidden", "output", "trace", "parameters")
    return load(network, name="tiny").record((5, 9, 7, 3), (6, 10), want=want)


@pytest.fixture
def opened(site: Any, traced: Recording, tmp_path: Path) -> str:
    path = tmp_path / "traced.bundle"
    bundle.save(traced, path)
    posted = site.client.post(
        "/api/recordings", content=path.read_bytes(), headers={"origin": "http://localhost:5000"}
    )
    return f"/api/recordings/{posted.json()['id']}"


def test_the_plan_over_http(site: Any, opened: str, traced: Recording) -> None:
    plan = site.json(f"{opened}/walk")
    assert not plan["more"]
    bare = {name: array for name, array in traced.trace.items() if not name.startswith("parameters/")}
    assert make_plan(replace(traced, trace=bare)).more
    assert plan == make_plan(traced).model_dump(mode="json")
    assert [chapter["id"] for chapter in plan["chapters"]][:3] == [
        "encoder.embedding",
        "encoder.0.self",
        "encoder.0.feed_forward",
    ]
    names = [step["id"].rsplit(".", 1)[1] for step in plan["chapters"][1]["steps"]]
    scores = ["queries", "keys", "values", "products", "scaled", "weights"]
    assert names == [*scores, "mixed", "joined", "output", "sum", "norm"]
    assert plan["norm_position"] == "post"
    assert [each["causal"] for each in plan["stacks"]] == [False, True]


def test_arrays_over_http(site: Any, opened: str, traced: Recording) -> None:
    def ask(address: str) -> Any:
        return decode(site.client.get(f"{opened}/trace/{address}").content).arrays["values"].array

    queries = traced.trace["encoder/0/self/queries"]
    assert (ask("encoder/0/self/queries") == queries).all()
    assert (ask("encoder/0/self/queries?head=1&rows=1:3&columns=2:4") == queries[1, 1:3, 2:4]).all()
    weight = traced.trace["parameters/encoder.layers.0.attention.qkv.weight"]
    assert (ask("parameters/encoder.layers.0.attention.qkv.weight?rows=3:5") == weight[3:5]).all()
    assert (ask("parameters/encoder.layers.0.attention.qkv.bias?columns=3:5") == np.zeros(2)).all()
    assert (ask("decoder/ids") == traced.target.ids).all()  # type: ignore[union-attr]
    assert np.isneginf(ask("decoder/0/self/scores?head=0")[0, 1])
    assert ask("output/probabilities").sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("trace/encoder/0/self/nothing", "not_recorded"),
        ("trace/parameters/..%2f..%2fetc/passwd", "not_recorded"),
        ("trace/encoder/0/self/queries?head=2", "no_cell"),
        ("trace/encoder/0/self/queries?rows=1:9", "no_cell"),
        ("trace/encoder/ids?rows=1:2", "no_cell"),
        ("trace/nothing/ids", "not_recorded"),
        ("cell/encoder.0.self.nothing", "no_step"),
        ("cell/encoder.0.self.queries?head=0&row=9", "no_cell"),
        ("cell/encoder.0.self.sum?head=0", "no_cell"),
        ("cell/encoder.0.self.sum?row=-1", "malformed"),
    ],
)
def test_refusals(site: Any, opened: str, address: str, code: str) -> None:
    answer = site.client.get(f"{opened}/{address}")
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]["code"] == code


def test_a_cell_over_http(site: Any, opened: str, traced: Recording) -> None:
    cell = site.json(f"{opened}/cell/encoder.0.self.queries?head=1&row=2&column=3")
    weight = traced.trace["parameters/encoder.layers.0.attention.qkv.weight"]
    read = traced.trace["encoder/embedding/sum"][2].astype(np.float64)
    assert [term["product"] for term in cell["terms"]] == pytest.approx((read * weight[11]).tolist())
    assert cell["value"] == float(traced.trace["encoder/0/self/queries"][1, 2, 3])
    assert abs(cell["difference"]) < 1e-6
    assert cell["reads"] == [
        {"name": "encoder/embedding/sum", "head": None, "row": 2, "column": None},
        {
            "name": "parameters/encoder.layers.0.attention.qkv.weight",
            "head": None,
            "row": 11,
            "column": None,
        },
    ]


def test_a_masked_score_is_no_number(traced: Recording) -> None:
    cell = explain(traced, "decoder.0.self.scores", 0, 1, 0)
    assert (cell.value, cell.shown, cell.difference) == (None, None, 0.0)
    assert cell.numbers["allowed"] == 0


def test_many_terms_are_summed_up(traced: Recording) -> None:
    cell = explain(traced, "output.probabilities", 1, 4)
    logits = traced.trace["output/logits"][1].astype(np.float64)
    weights = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    assert len(cell.terms) + cell.left_out == 5000
    assert len(cell.terms) <= 256 + 8
    assert len(cell.model_dump_json()) < 60_000
    assert sum(term.product or 0 for term in cell.terms) + cell.rest == pytest.approx(1, abs=1e-9)
    found = {term.index for term in cell.terms}
    assert {term.index for term in cell.terms if term.large} == set(np.argsort(-weights)[:8].tolist())
    for start in range(0, 5000, 20):  # what a picture of all of them shows: the highest of each few
        assert start + int(weights[start : start + 20].argmax()) in found


def test_few_terms_are_all_sent() -> None:
    left = np.arange(256.0)
    terms, left_out, rest = _choose_terms(Working(0.0, left, left))
    assert ([term.index for term in terms], left_out, rest) == (list(range(256)), 0, 0.0)


def test_the_diagram_of_both_stacks(traced: Recording) -> None:
    diagram = make_plan(traced).diagram
    kinds = [block.kind for block in diagram.blocks if block.stack == "decoder" and block.layer == 0]
    assert kinds == ["attention", "add", "norm", "cross", "add", "norm", "feed_forward", "add", "norm"]
    memory = [(arrow.start, arrow.end) for arrow in diagram.arrows if arrow.kind == "memory"]
    assert memory == [("encoder.1.feed_forward.norm", f"decoder.{layer}.cross.block") for layer in range(2)]
    residual = {(arrow.start, arrow.end) for arrow in diagram.arrows if arrow.kind == "residual"}
    assert ("decoder.0.self.norm", "decoder.0.cross.add") in residual
    assert ("decoder.embedding.block", "decoder.0.self.add") in residual


@pytest.mark.parametrize("make", [invent_decoder, invent_translation])
def test_a_model_of_transformers_shows_what_its_recording_backs(make: Any) -> None:
    recording = make()
    plan = make_plan(recording)
    steps = {step.id: step for chapter in plan.chapters for step in chapter.steps}
    assert not plan.ours
    assert plan.architecture is None
    assert steps["decoder.0.self.weights"].operation == "softmax"
    assert steps["decoder.0.self.mixed"].words == {"origin": "computed"}
    assert steps["decoder.0.self.output"].missing is not None
    assert plan.notes[0].en.startswith("This model comes from transformers")
    assert "feed-forward" in plan.notes[0].en  # what is missing is named
    assert len(plan.notes) == 1
    told = [step for step in steps.values() if step.arithmetic and step.operation != "choose"]
    prove_cells(recording, told)
    arrays = Arrays(recording)
    for step in told:
        expected, _ = compute(step, lambda name: arrays.find(name))  # type: ignore[arg-type, return-value]
        seen = arrays.find(step.output)
        assert seen is not None
        assert (np.isfinite(seen) == np.isfinite(expected)).all()
        allowed = np.isfinite(seen)
        assert_near(seen[allowed], expected[allowed], layers=2)


def test_what_could_have_been_kept_is_not_said_to_be_out_of_reach() -> None:
    recording = invent_decoder()
    bare = [replace(each, queries=None, keys=None, values=None, dense_scores=None) for each in recording.maps]
    plan = make_plan(replace(recording, maps=tuple(bare), hidden={}))
    steps = {step.id: step for chapter in plan.chapters for step in chapter.steps}
    for name in ("0.self.queries", "0.self.scores", "0.self.mixed", "embedding.states", "0.states.states"):
        missing = steps[f"decoder.{name}"].missing
        assert missing is not None
        assert "Record again with queries" in missing.en, name
    outside = steps["decoder.0.self.output"].missing
    assert outside is not None
    assert "outside of attention" in outside.en
    assert [note.en.split()[0] for note in plan.notes] == ["This", "This"]
    assert plan.more
    assert not make_plan(recording).more  # everything is there that such a recording can hold


def test_a_text_that_is_too_long_for_a_trace_says_so(
    traced: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = replace(traced, trace={})
    assert make_plan(bare).more
    monkeypatch.setattr("glassformer.walk.plan.LONGEST_TRACE", 3)
    plan = make_plan(bare)
    assert not plan.more  # no second run is made in vain
    missing = {step.missing.code for chapter in plan.chapters for step in chapter.steps if step.missing}
    assert missing == {"walk.too_long"}


def test_a_recurrent_network_has_cells_and_looks_back() -> None:
    from glassformer.config import RecurrentConfig
    from glassformer.loaded.opening import load
    from glassformer.model.recurrent import RecurrentTranslator

    torch.manual_seed(0)
    config = RecurrentConfig(vocabulary_size=50, width=8, embedding_width=6, start_id=2, end_id=3)
    network = load(RecurrentTranslator(config), name="cells")
    bare = make_plan(network.record((5, 9, 7, 3), (6, 10), want=("weights", "hidden", "output")))
    assert bare.recurrent
    assert bare.more
    want = ("weights", "hidden", "output", "queries", "keys", "values", "scores")
    plan = make_plan(network.record((5, 9, 7, 3), (6, 10), want=want))
    assert not plan.more
    assert plan.notes == ()
    assert [(chapter.id, chapter.kind) for chapter in plan.chapters] == [
        ("encoder.embedding", "states"),
        ("decoder.embedding", "states"),
        ("decoder.0.cross", "cross"),
        ("output", "output"),
    ]
    assert all(step.missing is None for chapter in plan.chapters for step in chapter.steps)
    assert plan.chapters[2].steps[-1].operation == "mix"  # the context: weights times states
    assert [block.kind for block in plan.diagram.blocks if block.stack == "encoder"] == ["tokens", "states"]


# What follows from what was kept

FOLLOW = ("products", "scaled", "joined", "active", "mixed")  # and sums, where both parts are there
KEPT = ("tokens", "positions", "output", "norm", "inner", "logits")


def slim(recording: Recording) -> Recording:
    """Of the trace only what nothing else gives."""
    trace = {
        name: array
        for name, array in recording.trace.items()
        if name.startswith("parameters/") or name.rsplit("/", 1)[1] in KEPT
    }
    return replace(recording, trace=trace)


@pytest.fixture(scope="module")
def full() -> Recording:
    from glassformer.config import ModelConfig
    from glassformer.loaded.opening import load
    from glassformer.model.transformer import Transformer

    torch.manual_seed(1)
    words: dict[str, Any] = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 24, "activation": "silu"}
    network = Transformer(ModelConfig(vocabulary_size=50, start_id=2, end_id=3, **words))
    want = ("weights", "hidden", "output", "queries", "keys", "values", "scores", "trace", "parameters")
    return load(network, name="tiny").record((5, 9, 7, 3), (6, 10), want=want)


def test_what_follows_is_computed_and_said_to_be(full: Recording) -> None:
    small = slim(full)
    plan, arrays = follow(small)
    steps = [step for chapter in plan.chapters for step in chapter.steps]
    assert all(step.missing is None and step.arithmetic for step in steps)
    prove_cells(small, steps)
    for step in steps:
        seen, name = arrays.find(step.output), step.output.rsplit("/", 1)[1]
        own = Arrays(full).find(step.output)
        assert seen is not None
        assert own is not None
        finite = np.isfinite(own)
        assert (np.isfinite(seen) == finite).all()
        assert_near(seen[finite], own[finite], layers=2, where=step.id)
        computed = step.words.get("origin") == "computed"
        if not computed:
            assert (seen == own).all(), step.id  # what is not marked is the network's own
        if name in FOLLOW:
            unmasked = (
                name == "scaled" and "decoder.0.self" not in step.id and "decoder.1.self" not in step.id
            )
            assert computed != (unmasked and step.kind != "embedding"), step.id


def test_what_follows_is_there_over_http(site: Any, full: Recording, tmp_path: Path) -> None:
    path = tmp_path / "slim.bundle"
    bundle.save(slim(full), path)
    headers = {"origin": "http://localhost:5000"}
    posted = site.client.post("/api/recordings", content=path.read_bytes(), headers=headers)
    here = f"/api/recordings/{posted.json()['id']}"
    answer = site.client.get(f"{here}/trace/encoder/0/feed_forward/active?rows=1:3")
    active = decode(answer.content).arrays["values"].array
    assert_near(active, full.trace["encoder/0/feed_forward/active"][1:3])
    assert site.client.get(f"{here}/trace/encoder/0/feed_forward/nothing").status_code == 404


def test_nothing_follows_from_a_network_that_was_changed(full: Recording) -> None:
    small = slim(full)
    edited = replace(small, evidence=replace(small.evidence, edits=("scale scores by 2",)))
    steps = {step.id: step for chapter in make_plan(edited).chapters for step in chapter.steps}
    assert steps["decoder.0.self.products"].missing is not None
    assert steps["decoder.0.self.scores"].missing is None


def test_numbers_beyond_all_measure_are_refused_and_break_nothing(full: Recording) -> None:
    words = {**(full.architecture or {}), "norm": "batch", "norm_epsilon": 2**-17}
    norm = "parameters/encoder.layers.0.attention_residual.norm"
    none = {
        f"{norm}.running_mean": np.zeros(16, dtype=np.float32),
        f"{norm}.running_var": np.full(16, -(2**-17), dtype=np.float32),
    }
    spoilt = replace(full, architecture=words, trace={**full.trace, **none})
    with pytest.raises(ApiError, match="do not fit together"):  # nothing divided by nothing
        explain(spoilt, "encoder.0.self.norm")
    inner = np.full_like(full.trace["encoder/0/feed_forward/inner"], 3e38)
    words = {**(full.architecture or {}), "activation": "gelu-tanh"}
    spoilt = replace(full, architecture=words, trace={**full.trace, "encoder/0/feed_forward/inner": inner})
    assert explain(spoilt, "encoder.0.feed_forward.active").shown == pytest.approx(3e38, rel=1e-6)


def test_scores_with_something_added_are_no_plain_products() -> None:
    recording = invent_decoder()
    first = recording.maps[0]
    assert first.dense_scores is not None
    changed = replace(first, dense_scores=first.dense_scores + np.float32(0.5))
    plan = make_plan(replace(recording, maps=(changed, *recording.maps[1:])))
    steps = {step.id: step for chapter in plan.chapters for step in chapter.steps}
    assert steps["decoder.0.self.scores"].operation == "states"
    assert steps["decoder.1.self.scores"].operation == "dot"
    with pytest.raises(ApiError, match="does not hold how"):
        explain(recording, "decoder.0.self.queries")


@pytest.mark.parametrize("cap", [2.0, 50.0, 3.217])
def test_a_soft_cap_is_part_of_the_arithmetic(cap: float) -> None:
    recording = invent_decoder()
    first = recording.maps[0]
    assert first.dense_scores is not None
    capped = (cap * np.tanh(first.dense_scores.astype(np.float64) / cap)).astype(np.float32)
    capped[np.isneginf(first.dense_scores)] = -np.inf
    changed = replace(recording, maps=(replace(first, dense_scores=capped), *recording.maps[1:]))
    steps = {step.id: step for chapter in make_plan(changed).chapters for step in chapter.steps}
    assert steps["decoder.0.self.scores"].numbers["cap"] == pytest.approx(cap, rel=1e-3)
    assert "cap" not in steps["decoder.1.self.scores"].numbers
    cell = explain(changed, "decoder.0.self.scores", 7, 3, 1)
    assert cell.numbers["cap"] == steps["decoder.0.self.scores"].numbers["cap"]
    assert_near(cell.shown, float(capped[1, 7, 3]))
    hidden = explain(changed, "decoder.0.self.scores", 3, 7, 1)
    assert hidden.shown is None


def test_one_score_that_is_off_is_no_cap() -> None:
    recording = invent_decoder(tokens=1, layers=1, heads=1)
    (first,) = recording.maps
    assert first.dense_scores is not None
    nearer = first.dense_scores * np.float32(0.9)  # as by a bias: there is a cap that would do the same
    changed = replace(recording, maps=(replace(first, dense_scores=nearer),))
    for each, operation in ((recording, "dot"), (changed, "states")):
        steps = {step.id: step for chapter in make_plan(each).chapters for step in chapter.steps}
        assert steps["decoder.0.self.scores"].operation == operation


def test_an_old_bundle_opens_as_before(tmp_path: Path) -> None:
    recording = invent_decoder()
    path = tmp_path / "old.bundle"
    bundle.save(recording, path)
    assert b"architecture" not in path.read_bytes()
    again = bundle.open(path)
    assert again.architecture is None
    assert again.trace == {}


def test_a_file_may_lie(traced: Recording) -> None:
    words = dict(traced.architecture or {})
    with pytest.raises(ConfigurationError):
        make_plan(replace(traced, architecture={"norm_position": "pre"}))
    with pytest.raises(ConfigurationError):
        make_plan(replace(traced, architecture={**words, "heads": 0}))
    with pytest.raises(GlassformerError, match="Expected a text, a number, a boolean or None"):
        replace(traced, architecture={"width": [1]})  # type: ignore[dict-item]
    with pytest.raises(GlassformerError, match="Expected float32"):
        replace(traced, trace={"encoder/0/self/queries": np.array(["a"])})  # type: ignore[dict-item]
    short = {**traced.trace, "parameters/encoder.layers.0.attention.qkv.weight": np.zeros((3, 2))}
    with pytest.raises(ApiError, match="do not fit together"):
        explain(replace(traced, trace=short), "encoder.0.self.keys", 0, 0, 1)
    flat = {**traced.trace, "encoder/0/self/queries": np.zeros(4, dtype=np.float32)}
    steps = {
        step.id: step for chapter in make_plan(replace(traced, trace=flat)).chapters for step in chapter.steps
    }
    assert steps["encoder.0.self.queries"].missing is not None


def test_a_file_takes_the_walk_along(traced: Recording) -> None:
    listed = list(list_paths(traced, "x", hidden=False, vectors=False, exact=False))
    assert "recordings/x/walk" in listed
    named = {name for chapter in make_plan(traced).chapters for step in chapter.steps for name in step.inputs}
    assert {f"recordings/x/trace/{name}" for name in named} <= set(listed)
    learned = {path for path in listed if "/parameters/" in path}
    norms = {
        f"recordings/x/trace/{name}" for name in traced.trace if "norm" in name and "parameters/" in name
    }
    assert learned == norms != set()  # what is large stays at home
    bare = list_paths(invent_decoder(), "x", hidden=False, vectors=False, exact=False)
    assert not any("walk" in path or "trace" in path for path in bare)
    with InProcessClient(traced) as client:  # what a notebook and a file are told is what the server says
        answers = [
            client.get(path.replace("recordings/x", f"recordings/{client.id}"))
            for path in listed
            if "/trace/" in path or path.endswith("/walk")
        ]
    assert all(answer.is_success for answer in answers)


def test_so_many_numbers_and_no_more(traced: Recording) -> None:
    few = list_arrays(traced, 100)
    assert sum(np.prod(Arrays(traced).shape(name) or 0) for name in few) <= 100
    assert few[0] == "encoder/ids"


def test_a_job_may_ask_for_a_trace() -> None:
    assert JobRequest(kind="record", model="m", text="x", want=("trace", "parameters")).want
