"""`translate`, `generate`, `classify` and `fill`: words, lines or files in; one line for each text out."""

import gzip
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import glassformer
from cli.conftest import Command
from glassformer import cli
from glassformer.cli.answering import _writes_file
from media_models import build_media_zoo, encode_picture

TEXTS = ["the animal was too tired", "the street", "", "too tired to cross"]


def write_lines(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("verb", "shape"), [("translate", "encoder-decoder"), ("generate", "decoder")])
def test_one_answer_a_line(
    verb: str, shape: str, build: Callable[..., Path], tmp_path: Path, run: Command
) -> None:
    model, texts = build(shape), write_lines(tmp_path / "texts.txt", TEXTS)
    wanted = list(getattr(glassformer, verb)(model, TEXTS))
    assert run(verb, model, "--input", texts).split("\n") == [*wanted, ""]
    assert wanted[2] == ""
    output = tmp_path / "answers.txt"
    assert run(verb, model, TEXTS[0], TEXTS[1], "--output", output) == ""
    assert output.read_text() == f"{wanted[0]}\n{wanted[1]}\n"
    assert run(verb, model, TEXTS[0]) == f"{wanted[0]}\n"  # streamed


def test_lines_come_from_stdin_and_from_packed_files(
    decoder: Path, tmp_path: Path, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = tmp_path / "texts.txt.gz"
    packed.write_bytes(gzip.compress("\n".join(TEXTS).encode()))
    answers = run("generate", decoder, "--input", packed)
    assert answers.count("\n") == len(TEXTS)
    for words in ((), ("--input", "-")):
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(TEXTS)))
        assert run("generate", decoder, *words) == answers


def test_a_translator_of_many_languages_needs_one(complain: Command) -> None:
    said = complain("translate", "I love you.")
    assert "zoo/translator translates into several languages: " in said
    assert "--to" in said


def test_json_tells_each_text_and_its_answers(translator: Path, run: Command) -> None:
    words = ("translate", translator, *TEXTS[:2], "--beams", 3, "--n-best", 2, "--json")
    rows = [json.loads(line) for line in run(*words).splitlines()]
    assert [row["text"] for row in rows] == TEXTS[:2]
    assert [len(row["answers"]) for row in rows] == [2, 2]
    assert rows[0]["answers"][0]["score"] >= rows[0]["answers"][1]["score"]


@pytest.mark.parametrize(
    ("verb", "shape", "said"),
    [
        ("translate", "decoder", "does not translate"),
        ("generate", "encoder-decoder", "does not continue texts"),
        ("classify", "decoder", "no classes"),
        ("fill", "decoder", "does not fill gaps"),
    ],
)
def test_the_wrong_model(
    verb: str, shape: str, said: str, build: Callable[..., Path], complain: Command
) -> None:
    assert said in complain(verb, build(shape), TEXTS[0])


@pytest.mark.parametrize("verb", ["record", "score"])
def test_a_sentence_in_the_place_of_the_model(verb: str, complain: Command) -> None:
    assert "'I love you.' is not a model. Give the model first and then the text" in complain(
        verb, "I love you."
    )


USUAL = {
    "translate": ("encoder-decoder", "language", "zoo/translator"),
    "generate": ("decoder", "language", "zoo/gpt2"),
    "classify": ("encoder", "classes", "zoo/sentiment"),
    "fill": ("encoder", "masked", "zoo/bert"),
}


@pytest.mark.parametrize("verb", USUAL)
def test_without_a_model_the_zoos_answers(
    verb: str, build: Callable[..., Path], run: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shape, head, name = USUAL[verb]
    model = build(shape, head, **({"classes": 2} if head == "classes" else {}))
    zoo = tmp_path / "zoo"
    zoo.mkdir()
    model.rename(zoo / name.removeprefix("zoo/"))
    monkeypatch.setattr("glassformer.weights.hub.ZOO", zoo)
    text = "the [MASK] street" if verb == "fill" else "the street!"
    wanted = run(verb, name, text)
    assert run(verb, text) == wanted
    assert run(verb, text, text) == wanted * 2
    assert run(verb, "--device", "cpu", text) == wanted
    assert run(verb, name, "--device", "cpu", text) == wanted  # options may stand in between
    assert run(verb, "--input", write_lines(tmp_path / "one.txt", [text])) == wanted
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{text}\r\n"))
    assert run(verb) == wanted


def test_a_single_word_is_a_model_and_the_refusal_says_what_else_to_type(
    complain: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    said = complain("translate", "Hello", "--to", "fr")
    assert "If 'Hello' is the text, write `glassformer translate zoo/translator 'Hello'`." in said
    assert "There is no folder './Hello'" in complain("translate", "./Hello", "the street")
    assert "is the text" not in complain("translate", "Hello", "the street")


def test_a_terminal_is_not_steered_by_what_a_model_writes(
    decoder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "the\x1b[2J\u202e street\r\x9b\t"
    monkeypatch.setattr("glassformer.tasks.answers.stream_answer", lambda *_: iter([hostile]))
    monkeypatch.setattr("glassformer.tasks.answers.write_answer", lambda *_: hostile)
    for watched in (True, False):
        monkeypatch.setattr(sys.stdout, "isatty", lambda watched=watched: watched)
        for words in (["the"], ["the", "street"]):
            assert cli.main(["generate", str(decoder), *words]) == 0
            shown = capsys.readouterr().out.split("\n")[0]
            assert shown == ("the\\u001b[2J\\u202e street\\u000d\\u009b\t" if watched else hostile)


def test_too_many_beams_are_refused(
    decoder: Path, complain: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--beams 5000 is more than the vocabulary has" in complain(
        "generate", decoder, "the", "--beams", 5000
    )
    monkeypatch.setattr("glassformer.model.prompt.find_free_memory", lambda _: 2000)
    said = complain("generate", decoder, "the", "--beams", 4)
    assert "4 beams for 6 new tokens need at least" in said
    assert "Use fewer beams" in said


def test_what_goes_wrong_on_the_way_leaves_no_file(
    decoder: Path, tmp_path: Path, run: Command, complain: Command
) -> None:
    texts = write_lines(tmp_path / "texts.txt", [*TEXTS, "the animal " * 20])
    folder = tmp_path / "answers"
    folder.mkdir()
    output = folder / "answers.txt"
    words = ("generate", decoder, "--input", texts, "--output", output)
    assert "Text 5 has" in complain(*words, "--long", "refuse")
    assert list(folder.iterdir()) == []
    assert "is not a file" in complain("generate", decoder, TEXTS[0], "--output", folder)
    assert "Cannot read" in complain("generate", decoder, "--input", tmp_path / "none.txt")
    assert "one of the two" in complain("generate", decoder, TEXTS[0], "--input", texts)
    nowhere = tmp_path / "none" / "answers.txt"
    assert f"{nowhere} cannot be written" in complain("generate", decoder, *TEXTS, "--output", nowhere)
    texts.write_bytes(b"the \xff street\n")
    said = complain("generate", decoder, "--input", texts, "--long", "refuse")
    assert ":1: byte 5" in said
    assert "on_error" not in said  # no such option here
    assert "correct it, or convert" in said


@pytest.mark.parametrize("device", ["gpu", "cpu:x", "vulkan", "meta"])
def test_a_device_that_is_not_there(device: str, decoder: Path, complain: Command) -> None:
    assert f"Nothing runs on {device!r}" in complain("generate", decoder, TEXTS[0], "--device", device)


def test_an_interrupt_on_the_way_leaves_no_file(
    decoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("glassformer.loaded.native.generate", interrupt)
    folder = tmp_path / "answers"
    folder.mkdir()
    assert cli.main(["generate", str(decoder), *TEXTS, "--output", str(folder / "a.txt")]) == 130
    assert list(folder.iterdir()) == []


def test_one_text_is_not_many(decoder: Path) -> None:
    with pytest.raises(glassformer.errors.InputError, match="Put it into a list"):
        list(glassformer.generate(decoder, "the animal"))


LONG = "the animal was too tired to cross the street , " * 8


@pytest.mark.parametrize("verb", USUAL)
@pytest.mark.slow
def test_a_line_that_is_too_long_leaves_the_others(
    verb: str, build: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shape, head, _ = USUAL[verb]
    model = build(shape, head, **({"classes": 2} if head == "classes" else {}))
    gap = " <mask>" if verb == "fill" else ""
    short = [f"{text}{gap}" for text in TEXTS[:2]]
    lines = [short[number % 2] for number in range(1000)]
    for place in (17, 400, 999):
        lines[place] = f"{LONG}{gap}"
    texts, output = write_lines(tmp_path / "texts.txt", lines), tmp_path / "answers.txt"
    usual = "split" if verb in ("translate", "fill") else "truncate"
    answers = {}
    for long in (None, "split", "truncate", "skip"):
        if (verb, long) == ("generate", "split"):
            continue
        options = [] if long is None else ["--long", long]
        words = [verb, model, "--input", texts, "--output", output, *options]
        assert cli.main([str(word) for word in words]) == 0
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.count("\n") == 1
        assert "3 texts have more than 24 tokens" in printed.err or "3 texts have more than 23" in printed.err
        assert "(texts 18, 401, 1000)" in printed.err
        answers[long] = output.read_text().split("\n")
        assert len(answers[long]) == 1001
        assert answers[long][-1] == ""
        assert len({*answers[long][:1000:2]} - {answers[long][400]}) == 1  # the others are as they always are
    assert answers[None] == answers[usual]
    assert answers["skip"][17] == answers["skip"][400] == answers["skip"][999] == ""
    assert all(answers["truncate"][place] for place in (17, 400, 999))
    assert [line for line in answers["skip"] if line] == [
        line for place, line in enumerate(answers["truncate"]) if place not in (17, 400, 999) and line
    ]


def test_what_a_stopped_command_has_finished_stays(
    decoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Command
) -> None:
    """The first chunk is written before the second is computed."""
    from glassformer.loaded import native

    generate, calls = native.generate, []

    def interrupt(*values: object) -> object:
        calls.append(len(output.read_text().splitlines()) if output.exists() else 0)
        if len(calls) > 1 and calls[-1] >= 16:
            raise KeyboardInterrupt
        return generate(*values)  # type: ignore[arg-type]

    monkeypatch.setattr(native, "generate", interrupt)
    texts = write_lines(tmp_path / "texts.txt", TEXTS * 25)
    output = tmp_path / "answers.txt"
    output.write_text("an old file\n")
    assert cli.main(["generate", str(decoder), "--input", str(texts), "--output", str(output)]) == 130
    written = output.read_text().splitlines()
    assert 16 <= len(written) < 100
    monkeypatch.undo()
    assert written == run("generate", decoder, "--input", texts).splitlines()[: len(written)]


def test_who_waits_for_the_first_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "answers.txt"
    assert _writes_file(file)
    assert not _writes_file(Path(os.devnull))
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert not _writes_file(None)
    with file.open("w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert _writes_file(None)
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert not _writes_file(None)
    os.close(reading)


BROKEN = b"the street\r\n\r\nthe \0 street\nthe \xff\xfe street\n\nthe animal"


@pytest.mark.parametrize("verb", USUAL)
def test_lines_that_are_no_text_leave_the_others(
    verb: str, build: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shape, head, _ = USUAL[verb]
    model = build(shape, head, **({"classes": 2} if head == "classes" else {}))
    texts, output = tmp_path / "texts.txt", tmp_path / "answers.txt"
    gap = b" [MASK]" if verb == "fill" else b""
    texts.write_bytes(BROKEN.replace(b"street\r", b"street" + gap + b"\r") + gap)
    words = [verb, str(model), "--input", str(texts), "--output", str(output)]
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert "2 lines could not be answered" in said
    assert f"{texts}:3" in said
    assert f"{texts}:4" in said
    answers = output.read_text().split("\n")
    assert [bool(line) for line in answers] == [True, False, False, False, False, True, False]
    output.unlink()
    assert cli.main([*words, "--long", "refuse"]) == 2  # before anything is computed
    assert not output.exists()


def test_a_line_without_a_gap_leaves_the_others(
    build: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = write_lines(tmp_path / "texts.txt", ["the street", "the [MASK]"])
    assert cli.main(["fill", str(build("encoder", "masked")), "--input", str(texts)]) == 2
    printed = capsys.readouterr()
    assert f"1 line could not be answered and is empty in the output: {texts}:1: no [MASK]" in printed.err
    assert [bool(line) for line in printed.out.split("\n")] == [False, True, False]


def test_a_file_is_not_read_and_replaced_at_once(decoder: Path, tmp_path: Path, complain: Command) -> None:
    texts = write_lines(tmp_path / "texts.txt", TEXTS)
    assert "is the input and the output" in complain("generate", decoder, "--input", texts, "--output", texts)
    assert texts.read_text().split("\n")[:4] == TEXTS


def test_one_long_text_is_answered_too(translator: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["translate", str(translator), LONG]) == 0
    printed = capsys.readouterr()
    assert printed.out.strip()
    assert "1 text has more than 24 tokens; sentences were read one by one (text 1)" in printed.err


@pytest.mark.slow
def test_a_huge_line(translator: Path, tmp_path: Path, run: Command) -> None:
    texts = write_lines(tmp_path / "texts.txt", ["the street", "the animal " * 40_000, "too tired"])
    answers = run("translate", translator, "--input", texts, "--long", "truncate").split("\n")
    assert len(answers) == 4
    assert all(answers[:3])


def write_pictures(folder: Path, count: int) -> list[Path]:
    """Good ones; the second is damaged."""
    paths = [folder / f"{number}.png" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(encode_picture()[: 60 if number == 1 else None])
    return paths


@pytest.mark.parametrize("verb", ["classify", "translate"])
def test_a_damaged_picture_leaves_the_others(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zoo = build_media_zoo(tmp_path)
    model = [str(zoo / "digits")] if verb == "classify" else [str(zoo / "captioner"), "--to", "fr"]
    paths = write_pictures(tmp_path, 40)  # more than are read before the first is answered
    alone = cli.main([verb, *model, str(paths[0])]), capsys.readouterr().out
    listed = write_lines(tmp_path / "list.txt", [*map(str, paths[:39]), "", str(paths[39]), str(paths[1])])
    assert cli.main([verb, *model, "--input", str(listed)]) == 2
    printed = capsys.readouterr()
    wanted = ["" if number in (1, 39, 41) else alone[1].strip() for number in range(42)]
    assert printed.out.split("\n") == [*wanted, ""]
    assert f"2 lines could not be answered and are empty in the output: {listed}:2: 1.png is damaged" in (
        printed.err
    )
    assert f"{listed}:42: " in printed.err
    assert cli.main([verb, *model, *map(str, paths[:3]), "--json"]) == 2  # named one by one
    printed = capsys.readouterr()
    rows = [json.loads(line) for line in printed.out.splitlines()]
    assert [bool(each.get("label") or each.get("answers")) for each in rows] == [True, False, True]
    assert [each["text"] for each in rows] == [str(each) for each in paths[:3]]
    assert f"{paths[1]}: 1.png is damaged" in printed.err
    for words in ([str(paths[1])], [*map(str, paths[:3]), "--long", "refuse"]):
        assert cli.main([verb, *model, *words]) == 2
        assert capsys.readouterr().err.startswith("glassformer: 1.png is damaged")
