"""Recordings in a notebook's cell: questions answered in this process, by messages that may be anything."""

import gc
import json
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from glassformer.api.client import InProcessClient
from glassformer.api.library import Library
from glassformer.errors import InputError
from glassformer.render.html import export as html
from glassformer.walk import explain, make_plan
from inventions import invent_decoder
from texts import text_of


def count_ours() -> int:
    return sum(each.name.startswith(("glassformer", "answer", "measure")) for each in threading.enumerate())


def test_clients_share_threads_and_a_closed_one_answers_no_more() -> None:
    before = count_ours()
    recording = invent_decoder(tokens=4, layers=1)
    clients = [InProcessClient(recording) for _ in range(12)]
    for each in clients:
        assert each.get(f"recordings/{each.id}").is_success
    assert count_ours() - before <= 1 + 4 + 2  # the loop, threads for answers, threads for measurements
    assert clients[0].get(f"recordings/{clients[1].id}").status_code == 404
    for each in clients:
        each.close()
        each.close()
    with pytest.raises(InputError, match="was closed"):
        clients[0].get("recordings")
    with InProcessClient(recording) as again:
        assert again.get("recordings").is_success


@pytest.mark.slow
def test_a_closed_client_leaves_nothing_to_the_shared_threads() -> None:
    client = InProcessClient(invent_decoder(tokens=4, layers=1))
    for path in ("", "/scores/entropy", "/thumbnails"):  # both kinds of threads
        assert client.get(f"recordings/{client.id}{path}").is_success
    held = [weakref.ref(each) for each in (client, client._app, client._library)]
    client.close()
    del client
    # Its threads may still be on their way out of the last answer, with the request in their frames.
    deadline = time.monotonic() + 300
    while any(each() is not None for each in held) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert [each() for each in held] == [None, None, None]


def test_a_question_that_waits_is_cancelled_by_closing() -> None:
    client = InProcessClient(invent_decoder(tokens=4, layers=1))
    gate = threading.Event()
    client._app.state.context.library.entries = gate.wait  # type: ignore[method-assign]
    waiting = client.start("recordings")
    client.close()
    gate.set()
    assert waiting.cancelled()


@pytest.mark.slow
def test_a_library_that_nobody_closes_leaves_no_folder() -> None:
    library = Library(shipped=None)
    folder = library.folder
    assert folder.is_dir()
    del library
    gc.collect()
    assert not folder.exists()


@pytest.fixture
def widget(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A widget without a front end; `said` is what it would send."""
    pytest.importorskip("anywidget")
    from glassformer.render.notebook.widget import RecordingWidget

    shown = RecordingWidget(invent_decoder(tokens=4, layers=2))
    shown.said = []
    monkeypatch.setattr(shown, "send", lambda words, buffers: shown.said.append((words, buffers)))
    yield shown
    shown.close()


def hear(widget: Any, content: Any) -> list[Any]:
    """What is said to a message, once everything asked before is answered."""
    widget.said.clear()
    widget._answer(widget, content, [])
    for waiting in tuple(widget._client._pending):
        waiting.exception(10)
    widget._client.get("about")  # callbacks of the others have run by then
    return list(widget.said)


@pytest.mark.skipif(not html.EMBEDDED.is_file(), reason="the page is not built: npm run build in web/")
def test_a_question_that_is_aborted_is_not_answered(widget: Any) -> None:
    gate = threading.Event()
    widget._client._app.state.context.library.entries = gate.wait
    widget._answer(widget, {"question": 1, "path": "recordings"}, [])
    (waiting,) = widget._asked.values()
    for other in (2, None, "1", [1]):
        widget._answer(widget, {"abort": other}, [])
    assert not waiting.cancelled()
    widget._answer(widget, {"abort": 1}, [])
    gate.set()
    assert waiting.cancelled()
    assert (widget._asked, widget.said) == ({}, [])


@pytest.mark.skipif(not html.EMBEDDED.is_file(), reason="the page is not built: npm run build in web/")
def test_messages_of_any_kind_are_answered_or_left_alone(widget: Any) -> None:
    for garbage in (None, 5, "path", [], {}, {"path": 3}, {"question": 1}, {"path": None, "question": "x"}):
        assert hear(widget, garbage) == []
    for path in (
        "",
        "x" * 9000,
        "../../etc/passwd",
        "recordings/%00",
        "recordings/\ud800",
        "jobs?a=\udfff",
        "%",
    ):
        ((words, _),) = hear(widget, {"question": 7, "path": path})
        assert words["answer"] == 7
        assert words["status"] in (404, 422, 500)
    ((words, buffers),) = hear(widget, {"question": 8, "path": "recordings"})
    assert words == {"answer": 8, "status": 200, "kind": "application/json"}
    assert json.loads(buffers[0])[0]["id"] == widget._client.id


@pytest.mark.skipif(not html.EMBEDDED.is_file(), reason="the page is not built: npm run build in web/")
def test_selections_from_python(widget: Any) -> None:
    widget.select(layer=1, head=2, query=3, view="heatmap")
    assert widget.chosen == {"view": "heatmap", "query": "3", "head": "2", "place": "decoder.self.1"}
    widget.selection = "view=&map=nonsense&%%%"
    assert widget.chosen == {"map": "nonsense"}


@pytest.mark.skipif(not html.EMBEDDED.is_file(), reason="the page is not built: npm run build in web/")
def test_cells_of_a_walk_have_their_arithmetic(widget: Any) -> None:
    steps = [step for chapter in make_plan(widget.recording).chapters for step in chapter.steps]
    explained = [step for step in steps if step.arithmetic]
    assert {"dot", "softmax", "mix"} <= {step.operation for step in explained}
    for step in explained:
        path = f"recordings/{widget._client.id}/cell/{step.id}?row=2&column=1&head=1"
        ((words, (body,)),) = hear(widget, {"question": 1, "path": path})
        assert words["status"] == 200
        true = explain(widget.recording, step.id, 2, 1, 1).model_dump(mode="json")
        assert json.loads(body) == true


def test_why_there_is_no_number_comes_in_both_languages() -> None:
    with InProcessClient(invent_decoder(tokens=1, layers=1)) as client:
        score = json.loads(client.get(f"recordings/{client.id}/scores/overall_sparsity?over=model").content)
        told = json.loads(client.get(f"recordings/{client.id}").content)
    (part,) = score["parts"]
    (why,) = part["undefined"]
    assert text_of(why, "en") == "No allowed weight is zero, so there is nothing to divide by."
    assert text_of(why, "zh") == "允许的权重没有一个为零，因此没有除数。"
    assert "精确" in [text_of(each, "zh") for each in told["evidence"]["messages"]["summary"]]
