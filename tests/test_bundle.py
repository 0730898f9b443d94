"""A bundle gives back what was saved, bit for bit, and refuses every other file in words."""

import json
import os
import resource
import stat
import subprocess
import sys
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from errno import ENOSPC
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer import bundle
from glassformer.bundle.layout import DTYPES
from glassformer.errors import BundleError
from glassformer.messages import Message, literal
from glassformer.place import Place
from glassformer.recording import (
    Alternative,
    AttentionMap,
    Evidence,
    Factors,
    Generation,
    Output,
    Recording,
    Step,
    Tokens,
    build_pyramid,
    measure,
)


def make_recording(seed=0, tokens=12, heads=2, text="héllo 世界", score=-1.5) -> Recording:
    """Everything a recording can hold, small."""
    random = np.random.default_rng(seed)
    texts = tuple(text[index % len(text)] if text else "" for index in range(tokens))
    offsets = np.stack([np.arange(tokens), np.arange(tokens)], axis=1) % (len(text) + 1)
    source = Tokens("source", texts, random.integers(0, 99, tokens), offsets, text, np.arange(tokens) < 1)
    target = Tokens("target", texts, np.arange(tokens), words=np.arange(tokens) - 1)
    queries, keys, values = (random.normal(size=(heads, tokens, 4)).astype(np.float32) for _ in range(3))
    allowed = np.tri(tokens, dtype=bool)
    scores = np.where(allowed, queries.astype(np.float64) @ keys.swapaxes(1, 2) * 0.5, -np.inf)
    log_sum_exp = np.log(np.exp(scores).sum(axis=-1))
    weights = np.exp(scores - log_sum_exp[..., None]).astype(np.float32)
    statistics = measure(weights, allowed, log_sum_exp=log_sum_exp)
    factors = Factors(queries, keys, statistics.log_sum_exp, 0.5, causal=True)
    backed = AttentionMap("decoder", 0, "self", target, target, statistics, factors=factors, values=values)
    maps = (
        AttentionMap(
            "decoder", 0, "self", target, target, statistics, factors=factors, values=values,
            pyramids={0: build_pyramid(backed, 0, 1)},
        ),
        AttentionMap("decoder", 1, "self", target, target, statistics, dense=weights, dense_scores=scores),
        AttentionMap("decoder", 0, "cross", target, source, statistics, dense=weights, relaxed="zeroed"),
    )  # fmt: skip
    alternatives = (Alternative(3, "c", -0.1), Alternative(4, "d", float("-inf")))
    nodes = (Step(0, 3, "c", -0.1, alternatives, score=score), Step(1, 4, "d", -2.0, beam=1, parent=0))
    edits, versions, notes = ("zero head 0",), {"numpy": "2"}, ("a note",)
    return Recording(
        "tiny",
        Evidence("tiny", "ab" * 20, "eager", "float32", True, 1e-7, "eager", edits, versions, notes),
        source,
        target,
        maps,
        {"decoder": random.normal(size=(3, tokens, 5)).astype(np.float16)},
        Output("decoder", [[1, 2]], [[-0.1, -2.0]], {1: "one", 2: "two"}, "classes"),
        Generation(nodes, nodes, "beam"),
    )  # fmt: skip


def assert_same(left, right):
    """Every field, every bit, every type."""
    assert type(left) is type(right)
    if is_dataclass(left):
        for field in fields(left):
            assert_same(getattr(left, field.name), getattr(right, field.name))
    elif isinstance(left, np.ndarray):
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert left.tobytes() == right.tobytes()
        assert not right.flags.writeable
    elif isinstance(left, tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_same(one, other)
    elif hasattr(left, "items"):
        assert list(left) == list(right)
        for key in left:
            assert_same(left[key], right[key])
    else:
        assert left == right or (left != left and right != right)


@pytest.fixture
def saved(tmp_path) -> Path:
    path = tmp_path / "tiny.bundle"
    bundle.save(make_recording(), path)
    return path


def test_a_file_of_version_1_opens_as_it_was_saved():
    """Its texts are strings; they become messages that read the same in every language."""
    opened = bundle.open(Path(__file__).parent / "data" / "version_1.bundle")
    saved = make_recording(seed=1, tokens=5, heads=2, text="a\u2028b", score=-0.5)
    assert opened.evidence == saved.evidence
    assert opened.evidence.notes[0].text("zh") == "a note"
    assert opened.maps[2].relaxed.text("zh") == "zeroed"
    assert opened.generation == saved.generation
    assert opened.source.texts == saved.source.texts
    for seen, wanted in zip(opened.maps, saved.maps, strict=True):
        assert seen.place == wanted.place
        np.testing.assert_allclose(seen.weights(), wanted.weights(), atol=1e-6)


def test_messages_are_kept_with_their_parameters(tmp_path):
    recording = make_recording()
    place = Place("decoder", "self", 1)
    noted = Message("recording.evidence.edited", {"edit": place, "names": ("a", literal("b"))})
    bundle.save(replace(recording, evidence=replace(recording.evidence, notes=(noted,))), tmp_path / "x")
    assert bundle.open(tmp_path / "x").evidence.notes == (noted,)


@given(
    seed=st.integers(0, 2**31),
    tokens=st.integers(1, 70),
    heads=st.integers(1, 3),
    text=st.text(st.characters(), min_size=0, max_size=8),  # lone surrogates included
    score=st.floats(allow_nan=False),
)
def test_round_trip(tmp_path_factory, seed, tokens, heads, text, score):
    recording = make_recording(seed, tokens, heads, text, score)
    path = tmp_path_factory.mktemp("bundle") / "some name.bundle"
    bundle.save(recording, path)
    assert_same(recording, bundle.open(path))
    assert os.listdir(path.parent) == [path.name]


def test_shared_things_stay_shared_and_are_written_once(saved):
    opened = bundle.open(saved)
    assert opened.maps[0].query is opened.maps[1].key is opened.target
    names = set(read_table(saved)) - {"__metadata__"}
    assert sum("log_sum_exp" in name for name in names) == 1
    assert sum("queries" in name for name in names) == 1


def test_one_mask_for_all_heads_is_written_once(tmp_path):
    recording = make_recording()
    statistics = replace(recording.maps[0].statistics, allowed=np.arange(1, 13))
    recording = replace(recording, maps=(replace(recording.maps[0], statistics=statistics),))
    bundle.save(recording, tmp_path / "x.bundle")
    assert read_table(tmp_path / "x.bundle")["content/maps/0/statistics/allowed"]["shape"] == [12]
    assert_same(recording, bundle.open(tmp_path / "x.bundle"))


def test_other_libraries_can_read_it(saved):
    from safetensors import safe_open

    with safe_open(saved, "np") as file:
        assert file.metadata() == {"format": "glassformer-recording", "version": "2"}
        np.testing.assert_array_equal(
            file.get_tensor("content/maps/1/dense"), bundle.open(saved).maps[1].dense
        )


def test_opening_needs_no_torch_and_reads_lazily(saved):
    code = (
        "import sys; from glassformer import bundle; from glassformer.recording.arrays import is_mapped\n"
        f"recording = bundle.open({str(saved)!r})\n"
        "assert is_mapped(recording.maps[0].factors.queries) and is_mapped(recording.hidden['decoder'])\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_header_has_little_air(saved):
    length = int.from_bytes(saved.read_bytes()[:8], "little")
    used = len(saved.read_bytes()[8 : 8 + length].rstrip())
    assert length < 2.5 * used


def test_a_saved_recording_can_be_saved_over_itself(saved):
    opened = bundle.open(saved)
    bundle.save(opened, saved)
    assert_same(make_recording(), opened)
    assert_same(make_recording(), bundle.open(saved))


# Streaming


def test_declared_arrays_are_filled_on_disk_and_not_written_twice(tmp_path):
    whole = make_recording()
    path = tmp_path / "streamed.bundle"
    with bundle.BundleWriter(path) as writer:
        declared = []
        for name in ("queries", "keys"):
            source = getattr(whole.maps[0].factors, name)
            array = writer.declare(f"layer 0/{name}", source.shape)
            array[:] = source
            writer.release(f"layer 0/{name}")
            np.testing.assert_array_equal(array, source)
            declared.append(array)
        factors = Factors(*declared, whole.maps[0].factors.log_sum_exp, 0.5, causal=True)
        old = whole.maps[0]
        map_ = AttentionMap("decoder", 0, "self", old.query, old.key, old.statistics, factors=factors)
        recording = Recording("tiny", whole.evidence, whole.source, whole.target, (map_,))
        writer.finish(recording)
    table = read_table(path)
    assert "layer 0/queries" in table
    assert not any(name.endswith("factors/queries") for name in table)
    assert_same(recording, bundle.open(path))


def test_empty_and_odd_arrays_can_be_declared(tmp_path):
    with bundle.BundleWriter(tmp_path / "x") as writer:
        assert writer.declare("none", (3, 0)).shape == (3, 0)
        for index, dtype in enumerate(DTYPES.values()):
            array = writer.declare(f"odd {index}", (3,), dtype)
            assert array.dtype == dtype
            assert not array.any()
            assert array.ctypes.data % 64 == 0
        with pytest.raises(BundleError, match=r"'odd 0'.*new name"):
            writer.declare("odd 0", (1,))
        with pytest.raises(BundleError, match="complex64"):
            writer.declare("complex", (1,), "complex64")


@pytest.fixture(params=["named", "nameless"])
def parts(request, monkeypatch):
    """How many files are to be seen while one is written; without files that have no name, one."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no files without a name")
    return 1 if request.param == "named" else 0


def test_nothing_stays_after_an_exception(tmp_path, parts):
    with pytest.raises(ZeroDivisionError), bundle.BundleWriter(tmp_path / "x.bundle") as writer:  # noqa: PT012
        writer.declare("a", (1000,))
        assert len(os.listdir(tmp_path)) == parts
        raise ZeroDivisionError
    assert os.listdir(tmp_path) == []


def test_a_writer_that_is_forgotten_cleans_up(tmp_path, parts):
    writer = bundle.BundleWriter(tmp_path / "x.bundle")
    assert len(os.listdir(tmp_path)) == parts
    del writer
    assert os.listdir(tmp_path) == []


def test_a_file_gets_its_name_when_all_is_written(tmp_path, parts):
    path = tmp_path / "x.bundle"
    path.write_bytes(b"the old one")
    before = os.umask(0o027)
    try:
        bundle.save(make_recording(), path)
    finally:
        os.umask(before)
    assert os.listdir(tmp_path) == ["x.bundle"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640  # as of any new file
    assert bundle.open(path).maps


def test_nothing_stays_after_a_sudden_end(tmp_path):
    if not hasattr(os, "O_TMPFILE"):
        pytest.skip("this system has no files without a name")
    code = (
        "import os, sys\nfrom glassformer.bundle import BundleWriter\n"
        "writer = BundleWriter(sys.argv[1])\nwriter.declare('a', (1000,))[:] = 1\nos.kill(os.getpid(), 9)"
    )
    end = subprocess.run([sys.executable, "-c", code, tmp_path / "x.bundle"], check=False)
    assert end.returncode == -9
    assert os.listdir(tmp_path) == []


def test_a_link_stays_one(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "x.bundle").symlink_to("there/y.bundle")
    for _ in range(2):  # a new file, and one that is replaced
        bundle.save(make_recording(), tmp_path / "x.bundle")
        assert (tmp_path / "x.bundle").is_symlink()
        assert bundle.open(tmp_path / "there" / "y.bundle").maps
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(BundleError, match="leads back to itself"):
        bundle.save(make_recording(), tmp_path / "round")


def test_names_that_no_file_can_have(tmp_path):
    longest = tmp_path / ("x" * 255)
    bundle.save(make_recording(), longest)
    assert bundle.open(longest).maps
    for name, reason in (("x" * 256, "File name too long"), ("a\0b", "null byte")):
        with pytest.raises(BundleError, match=f"cannot be written: .*{reason}"):
            bundle.save(make_recording(), tmp_path / name)
        with pytest.raises(BundleError, match=f"could not be opened: .*{reason}"):
            bundle.open(tmp_path / name)


def declare_too_much(path, _recording):
    with bundle.BundleWriter(path, arrays=1) as writer:
        writer.declare("too large", (100_000,))


@pytest.mark.parametrize("write", [declare_too_much, lambda path, recording: bundle.save(recording, path)])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, write):
    path = tmp_path / "x.bundle"
    path.write_bytes(b"the old one")
    recording = make_recording(tokens=64)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, limits[1]))  # files may not grow beyond this
    try:
        with pytest.raises(BundleError, match=r"could not be written: .*Nothing was left behind"):
            write(path, recording)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert os.listdir(tmp_path) == ["x.bundle"]
    assert path.read_bytes() == b"the old one"


@pytest.mark.parametrize("writer", [bundle.save, lambda _, path: bundle.BundleWriter(path)])
def test_only_files_are_replaced(tmp_path, writer):
    os.mkfifo(tmp_path / "pipe")
    for name, kind in (("pipe", "a device, a pipe or a socket"), ("", "a folder"), (".", "a folder")):
        with pytest.raises(BundleError, match=f"is {kind}. Expected the name of a file"):
            writer(make_recording(), tmp_path / name)
    assert (tmp_path / "pipe").is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]
    with pytest.raises(BundleError, match="is a folder"):
        writer(make_recording(), "")


def test_disk_space_is_taken_when_an_array_is_declared(tmp_path, monkeypatch):
    def refuse(handle, start, size):
        raise OSError(ENOSPC, "No space left on device")

    writer = bundle.BundleWriter(tmp_path / "x.bundle")
    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with writer, pytest.raises(BundleError, match="No space left on device"):
        writer.declare("a", (1000,))
    assert os.listdir(tmp_path) == []


def test_more_arrays_than_expected(tmp_path):
    writer = bundle.BundleWriter(tmp_path / "x.bundle", arrays=0)
    with writer, pytest.raises(BundleError, match=r"room for \d+.*expect more arrays"):
        writer.finish(make_recording())
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(BundleError, match="No such file or directory"):
        bundle.save(make_recording(), tmp_path / "nowhere" / "x.bundle")


# Files that are something else


def read_table(path: Path) -> dict:
    content = path.read_bytes()
    return json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])


def rewrite(path: Path, change) -> None:
    """Change the header of a bundle, leaving its data as they are."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    table = json.loads(content[8:end])
    changed = change(table)
    text = json.dumps(table if changed is None else changed).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[end:])


def describe(path: Path, change) -> None:
    """Change the description inside a bundle and move the end of its data accordingly."""
    content = path.read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    table = json.loads(content[8:end])
    start, stop = table["recording"]["data_offsets"]
    assert stop == len(content) - end
    description = json.loads(content[end + start : end + stop])
    changed = change(description)
    text = changed if isinstance(changed, bytes) else json.dumps(description).encode()
    table["recording"] = {"dtype": "U8", "shape": [len(text)], "data_offsets": [start, start + len(text)]}
    header = json.dumps(table).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + content[end : end + start] + text)


DENSE = "content/maps/1/dense"


def set_entry(**changes):
    return lambda table: table[DENSE].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda table: table["__metadata__"].update(version="3"),
            "bundle of version '3'. Expected version 1 or 2",
        ),
        (lambda table: table["__metadata__"].update(format="pt"), "format 'pt'.*load it and record"),
        (lambda table: table.pop("__metadata__") and None, "format None"),
        (lambda table: [], "its header is a list"),
        (lambda table: table.pop("recording") and None, "of which its arrays cover"),
        (lambda table: table.pop(DENSE) and None, "leaves a gap"),
        (set_entry(dtype="F8"), r"Expected dtype \(F64"),
        (set_entry(dtype=["F32"]), r"Expected dtype \(F64"),
        (set_entry(shape=[2, 12, 13]), "1152 bytes. Expected 1248"),
        (set_entry(shape=[2, -12, -12]), "Expected at most 8 whole numbers"),
        (set_entry(shape=[2, 12, 12.0]), "Expected at most 8 whole numbers"),
        (set_entry(shape=[1] * 9), "Expected at most 8 whole numbers"),
        (set_entry(shape=[0, 10**30]), "none larger than the file"),
        (set_entry(shape=[10**5] * 8), "none larger than the file|for its shape"),
        (set_entry(data_offsets=[0, 10**15]), "Expected two in order"),
        (set_entry(data_offsets=[-8, 8]), "Expected two in order"),
        (set_entry(data_offsets=[1152, 0]), "Expected two in order"),
        (set_entry(data_offsets=[True, 1152]), "Expected two in order"),
        (set_entry(data_offsets=[0, 1152]), "overlaps the one before"),
        (set_entry(extra=1), "shape and data_offsets"),
        (lambda table: table.update({DENSE: 7}), "shape and data_offsets"),
    ],
)
def test_a_hostile_header(saved, change, message):
    rewrite(saved, change)
    with pytest.raises(BundleError, match=message):
        bundle.open(saved)


def first(description):
    return description["content"]["fields"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("tokens") and None, "no tokens and content"),
        (lambda d: b"{", "description cannot be read"),
        (lambda d: b"\xff", "description cannot be read"),
        (lambda d: b"[" * 100_000, "description cannot be read"),
        (lambda d: first(d).pop("model") and None, "wrong or missing fields.*model"),
        (lambda d: first(d).update(extra=1), "wrong or missing fields.*extra"),
        (lambda d: first(d).update(model={"array": "nowhere"}), "'nowhere' is missing"),
        (lambda d: first(d).update(model={"array": []}), "description cannot be read"),
        (lambda d: first(d).update(model={"type": "os.system", "fields": {}}), "no type 'os.system'"),
        (lambda d: first(d).update(model={"a": 1, "b": 2}), r"the keys \['a', 'b'\]"),
        (lambda d: first(d).update(source={"tokens": 9}), "no tokens of number 9"),
        (lambda d: first(d).update(source={"tokens": "0"}), "no tokens of number '0'"),
        (lambda d: first(d).update(source=None), "cannot be true.*Recording.source is None"),
        (lambda d: first(d).update(generation="x"), "cannot be true.*Recording.generation is 'x'"),
        (lambda d: first(d)["evidence"]["fields"].update(kernel=5), "cannot be true.*Evidence.kernel is 5"),
        (
            lambda d: first(d)["evidence"]["fields"].update(kernel={"message": 5}),
            "description cannot be read",
        ),
        (
            lambda d: first(d)["evidence"]["fields"].update(kernel={"message": {"code": 5}}),
            "description cannot be read",
        ),
        (
            lambda d: first(d)["maps"][1]["fields"]["statistics"]["fields"].update(content="both"),
            "cannot be true.*HeadStatistics.content is 'both'",
        ),
        (lambda d: first(d).update(hidden={"pairs": 7}), "description cannot be read"),
        (lambda d: first(d).update(hidden={"pairs": [[["a"], 1]]}), "description cannot be read"),
        (lambda d: first(d).update(evidence="trust me"), "cannot be true.*evidence is 'trust me'"),
        (lambda d: first(d)["maps"][1]["fields"].update(layer="1"), "cannot be true.*layer"),
        (lambda d: first(d)["maps"][1]["fields"].update(query=3), "cannot be true.*Expected Tokens"),
        (
            lambda d: first(d)["maps"][1]["fields"].update(dense={"array": "tokens/0/ids"}),
            "cannot be true.*dense",
        ),
        (lambda d: first(d)["maps"][1]["fields"].update(statistics={}), "description cannot be read"),
        (lambda d: d.update(tokens=[first(d)["evidence"]]), "Evidence stands among the tokens"),
        (lambda d: d.update(content=first(d)["evidence"]), "describes a Evidence"),
        (lambda d: d["tokens"][0]["fields"].update(texts=5), "description cannot be read"),
        (lambda d: d["tokens"][0]["fields"].update(text=5), "text is 5"),
    ],
)
def test_a_hostile_description(saved, change, message):
    describe(saved, change)
    with pytest.raises(BundleError, match=message):
        bundle.open(saved)


STRANGE = (
    None, 0, -1, 1e300, 2**70, True, "x", "é", [], {}, [[]], {"array": "nope"}, {"array": []},
    {"float": "nan"}, {"float": []}, {"tokens": 99}, {"tokens": True}, {"pairs": 3}, {"pairs": [[{}, 1]]},
    {"pairs": [["a", {"float": "inf"}]]}, {"type": "Tokens", "fields": {}},
)  # fmt: skip


def list_places(value, place=()):
    """The way to every value inside a description."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*place, key)
        yield from list_places(each, (*place, key))


@given(st.data())
def test_a_description_changed_anywhere_is_refused_or_harmless(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("changed") / "x.bundle"
    bundle.save(make_recording(), path)

    def change(description):
        *way, last = data.draw(st.sampled_from(list(list_places(description))))
        inner = description
        for key in way:
            inner = inner[key]
        inner[last] = data.draw(st.sampled_from(STRANGE))

    describe(path, change)
    with suppress(BundleError):
        assert isinstance(bundle.open(path), Recording)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it has 0 bytes"),
        (b"\x01\x00", "has 2 bytes"),
        (b"\xff" * 8, "says that its header takes 18446744073709551615 bytes"),
        (
            (200_000).to_bytes(8, "little"),
            "says that its header takes 200000 bytes",
        ),
        ((200_000_000).to_bytes(8, "little"), "says that its header takes 200000000 bytes"),
        (b"PK\x03\x04" + bytes(100), "header"),
        (b"\x80\x04\x95 a pickle, perhaps", "header"),
        ((2).to_bytes(8, "little") + b"{}", "is no bundle: it is a safetensors file of format None"),
        ((2).to_bytes(8, "little") + b"\xff\xff", "its header is not JSON"),
        ((16).to_bytes(8, "little") + b'{"a": 1, "a": 1}', "occurs twice"),
        ((90_000).to_bytes(8, "little") + b"[" * 90_000, "not JSON"),
        ((9).to_bytes(8, "little") + b'{"a":NaN}', "format None"),
        ((5006).to_bytes(8, "little") + b'{"a":' + b"9" * 5000 + b"}", "not JSON"),
    ],
)
def test_not_a_bundle(tmp_path, content, message):
    path = tmp_path / "x.bundle"
    path.write_bytes(content)
    with pytest.raises(BundleError, match=message):
        bundle.open(path)


def test_a_file_cut_anywhere_is_refused(saved):
    content = saved.read_bytes()
    for length in [*range(0, 300), *range(300, len(content), 997), len(content) - 1]:
        saved.write_bytes(content[:length])
        with pytest.raises(BundleError):
            bundle.open(saved)
    saved.write_bytes(content + b"\0")
    with pytest.raises(BundleError, match="cover"):
        bundle.open(saved)


@given(st.data())
def test_flipped_bytes_are_refused_or_harmless(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("flipped") / "x.bundle"
    bundle.save(make_recording(), path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 20))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    with suppress(BundleError):
        assert isinstance(bundle.open(path), Recording)


def test_a_huge_header_is_not_read(tmp_path):
    path = tmp_path / "sparse.bundle"
    with path.open("wb") as file:
        file.write((10**10).to_bytes(8, "little"))
        file.truncate(2 * 10**10)  # sparse: the file really is longer than its header
    with pytest.raises(BundleError, match="says that its header takes 10000000000 bytes"):
        bundle.open(path)


def test_paths_that_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, message in (
        (tmp_path, "not a regular file"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / "no", "No such"),
    ):
        with pytest.raises(BundleError, match=message):
            bundle.open(path)
