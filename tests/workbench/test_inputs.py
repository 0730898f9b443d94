"""What a model is given: texts, masks, random sequences, sentences; what is refused."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from glassformer import bundle
from glassformer.api.inspection import list_facts
from glassformer.api.jobs import Job
from glassformer.errors import ApiError
from glassformer.loaded.opening import load
from glassformer.media import read_picture
from glassformer.messages import message
from glassformer.workbench import LocalWorkbench
from glassformer.workbench.sequences import find_sentences
from media_models import (
    SHORT,
    bad_pictures,
    bad_sounds,
    encode_picture,
    encode_sound,
    make_tone,
    odd_pictures,
    odd_sounds,
)
from workbench.conftest import Ask, Run, Wait, open_bench, steps


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({}, "generates none"),  # a decoder that only reads
        ({"model": "zoo/encoder"}, "generates none"),
        ({"model": "zoo/translator", "target_language": "fr", "target": "the street"}, "generates none"),
        ({"kind": "generate", "prefix": [4000]}, "4000"),
        ({"kind": "generate", "prefix": [4] * 24}, "reads at most 24"),
    ],
)
def test_a_prefix_that_cannot_be_continued_is_refused(
    fail: Callable[..., str], words: dict[str, object], part: str
) -> None:
    assert part in fail(**{"prefix": [4], **words})


def test_two_sentences_are_two_segments(run: Run) -> None:
    one, two = (run(model="zoo/encoder", second_text=second)[0] for second in (None, "the street"))
    assert len(two.source) > len(one.source)


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


def test_a_sample_says_which_it_is(run: Run) -> None:
    recording, _ = run(model="zoo/endless", sequence="task", seed=1)
    samples = find_sentences("language_modelling", "en")
    note = message("workbench.sample", number=2, count=len(samples), text=samples[1])
    assert note in recording.evidence.notes
    assert recording.source.text == samples[1]


def test_a_longer_text_is_cut_and_says_so(run: Run) -> None:
    whole, _ = run(model="zoo/endless", text="the animal was too tired")
    assert not whole.evidence.notes or "Left out" not in str(whole.evidence.notes[0])
    count = len(whole.source.texts) - int(whole.source.special.sum())
    for words in ({"text": "the animal was too tired"}, {"sequence": "task", "seed": 0, "text": None}):
        cut, _ = run(model="zoo/endless", length=2, **words)
        note = next(each for each in cut.evidence.notes if each.code == "workbench.cut")
        assert note.parameters["kept"] == len(cut.source.texts) - int(cut.source.special.sum()) <= 2
        assert note.parameters["count"] > 2
        assert cut.source.text
        assert str(note.parameters["rest"])
    untouched, _ = run(model="zoo/endless", text="the animal was too tired", length=count)
    assert untouched.source.texts == whole.source.texts
    assert not [each for each in untouched.evidence.notes if each.code == "workbench.cut"]


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


# Pictures and sounds


@pytest.fixture(scope="module")
def media_bench(media_zoo: Path, folder: Path) -> Iterator[LocalWorkbench]:
    bench = open_bench(media_zoo, folder)
    bench.locate = lambda id: folder / id
    yield bench
    bench.close()


Send = Callable[..., Job]


@pytest.fixture
def send(media_bench: LocalWorkbench, ask: Ask, wait: Wait) -> Send:
    """A function that runs a model on a file to the end."""

    def call(model: str, content: bytes | None = None, **words: object) -> Job:
        if content is not None:
            path = media_bench.inputs.new_path(None)
            path.write_bytes(content)
            words["media"] = path.stem
        return wait(media_bench, media_bench.submit(ask(model=f"zoo/{model}", sequence="media", **words)))

    return call


def left(bench: LocalWorkbench) -> list[str]:
    """Files that a job was sent and has left behind."""
    return [path.name for path in bench.inputs.folder.iterdir()]


def test_a_picture_is_classified_and_looked_at_again(
    send: Send, media_bench: LocalWorkbench, folder: Path
) -> None:
    job = send("digits", encode_picture(), kind="generate")
    assert job.recording is not None, job.message
    assert left(media_bench) == []
    recording = bundle.open(folder / job.recording)
    picture, output = recording.source.picture, recording.output
    assert picture is not None
    assert output is not None
    assert (picture.rows, picture.columns, output.kind) == (4, 4, "classes")
    assert np.array_equal(picture.pixels[..., 0], read_picture(encode_picture())[..., 0])
    step = steps(media_bench.store.events(job.id, 0))[0]
    assert step["text"] == output.texts(0)[0]
    direct = load(media_bench.catalog.find("zoo/digits").folder).record(read_picture(encode_picture()))
    for mine, theirs in zip(recording.maps, direct.maps, strict=True):
        assert np.array_equal(mine.weights(), theirs.weights())
    edit = {"kind": "ablate", "stack": "encoder", "attention": "self", "layer": 0, "head": 1}
    again = send("digits", media_of=job.recording, edits=[edit])
    assert again.recording is not None, again.message
    edited = bundle.open(folder / again.recording)
    assert edited.source.picture is not None
    assert np.array_equal(edited.source.picture.pixels, picture.pixels)
    assert edited.evidence.edits


def test_a_file_serves_the_jobs_of_its_owner_alone(media_bench: LocalWorkbench, ask: Ask, wait: Wait) -> None:
    path = media_bench.inputs.new_path("rita")
    path.write_bytes(encode_picture())
    request = ask(model="zoo/digits", sequence="media", media=path.stem)
    for other in ("rob", None):
        with pytest.raises(ApiError, match="no picture or sound"):
            media_bench.submit(request, other)
    assert path.is_file()
    assert wait(media_bench, media_bench.submit(request, "rita")).recording is not None
    assert not path.exists()


def test_a_file_waits_with_its_job(
    media_zoo: Path, folder: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = open_bench(media_zoo, folder)
    monkeypatch.setattr(bench, "_start", lambda: None)  # others are before it
    path = bench.inputs.new_path(None)
    path.write_bytes(encode_picture())
    job = bench.submit(ask(model="zoo/digits", sequence="media", media=path.stem))
    monkeypatch.setattr("glassformer.api.inputs.KEPT", -1.0)  # the hour is over
    bench.inputs.limit(None)
    assert path.is_file()
    bench.cancel(job.id)
    assert not path.exists()
    bench.close()


def test_a_caption_is_written_in_the_language_of_its_tag(send: Send, folder: Path) -> None:
    job = send("captioner", encode_picture(), target_language="fr")
    assert job.recording is not None, job.message
    recording = bundle.open(folder / job.recording)
    assert len(recording.source) > SHORT["max_length"]
    assert list_facts(recording).title.text("en") == "Picture, 4 × 4 patches"
    assert recording.target is not None
    assert ">>fr<<" in recording.target.texts[1]
    assert recording.generation is not None


def test_a_sound_is_heard_at_the_rate_of_the_network(send: Send, folder: Path) -> None:
    for model in ("words", "listener"):
        job = send(model, encode_sound(make_tone(0.5, 16_000), 16_000))
        assert job.recording is not None, job.message
        sound = bundle.open(folder / job.recording).source.sound
        assert sound is not None
        assert (sound.rate, round(sound.seconds, 2)) == (8000, 0.5)


@pytest.mark.parametrize("name", [*bad_pictures(), *odd_pictures()])
def test_every_picture_has_an_answer(send: Send, media_bench: LocalWorkbench, name: str) -> None:
    content, part = bad_pictures().get(name) or (odd_pictures()[name], None)
    check_answer(media_bench, send("digits", content), part)


@pytest.mark.parametrize("name", [*bad_sounds(), *odd_sounds()])
def test_every_sound_has_an_answer(send: Send, media_bench: LocalWorkbench, name: str) -> None:
    content, part = bad_sounds().get(name) or (odd_sounds()[name], None)
    check_answer(media_bench, send("listener", content), part)


def check_answer(bench: LocalWorkbench, job: Job, part: str | None) -> None:
    """A recording; or, where `part` is given, a sentence with it. Nothing is left of the file."""
    assert left(bench) == []
    if part is None:
        assert job.recording is not None, job.message
        return
    assert (job.state, job.code, job.recording) == ("failed", "refused", None)
    check_sentence(job, part)


def check_sentence(job: Job, part: str) -> None:
    """In English with this part; in Chinese, too; never where the file lies."""
    assert job.message is not None
    english, chinese = (job.message.text(language) for language in ("en", "zh"))
    assert part in english
    assert any("\u4e00" <= letter <= "\u9fff" for letter in chinese)
    assert not any(place in english for place in (".inputs", ".all"))


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({"model": "zoo/digits"}, "looks at pictures"),
        ({"model": "zoo/listener", "sequence": "random", "length": 3}, "listens to sounds"),
        ({"model": "zoo/digits", "sequence": "media"}, "media"),
        ({"model": "zoo/digits", "sequence": "media", "media": "a", "media_of": "b"}, "not both"),
        ({"model": "zoo/digits", "sequence": "media", "media": "a" * 32}, "no picture or sound"),
        ({"model": "zoo/digits", "sequence": "media", "media": "a", "length": 4}, "belong to texts"),
        ({"model": "zoo/digits", "sequence": "media", "media": "a", "text": "b"}, "cannot be combined"),
        ({"model": "zoo/captioner", "sequence": "media", "media": "a"}, "needs to know the language"),
        ({"model": "zoo/digits", "media": "a"}, "`media`"),
    ],
)
def test_what_does_not_go_together_is_refused(
    media_bench: LocalWorkbench, ask: Ask, words: dict[str, object], part: str
) -> None:
    with pytest.raises(ApiError) as error:
        media_bench.submit(ask(**words))
    assert part in str(error.value)


def test_text_models_refuse_pictures(bench: LocalWorkbench, ask: Ask) -> None:
    with pytest.raises(ApiError, match="reads text"):
        bench.submit(ask(sequence="media", media="a"))
