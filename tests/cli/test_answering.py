"""`translate`, `generate`, `classify` and `fill`: words, lines or files in; one line for each text out."""

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import glassformer
from cli.conftest import Command
from glassformer import cli

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
    assert "Text 5 has" in complain("generate", decoder, "--input", texts, "--output", output)
    assert list(folder.iterdir()) == []
    assert "is not a file" in complain("generate", decoder, TEXTS[0], "--output", folder)
    assert "Cannot read" in complain("generate", decoder, "--input", tmp_path / "none.txt")
    assert "one of the two" in complain("generate", decoder, TEXTS[0], "--input", texts)
    nowhere = tmp_path / "none" / "answers.txt"
    assert f"{nowhere} cannot be written" in complain("generate", decoder, *TEXTS, "--output", nowhere)
    texts.write_bytes(b"the \xff street\n")
    said = complain("generate", decoder, "--input", texts)
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
