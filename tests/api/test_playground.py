"""The playground's addresses: with somebody who plays, and with the defaults that ship."""

from collections.abc import Callable
from typing import Any

from glassformer.api.client import InProcessClient
from glassformer.api.jobs import Playground
from glassformer.lessons.schema import Figure, Matrix, Topic, TopicResult, read_defaults
from glassformer.render.html import export as html
from inventions import invent_decoder


def test_a_workbench_that_plays_is_asked(site: Any) -> None:
    assert isinstance(site.workbench, Playground)
    assert [topic["name"] for topic in site.json("/api/playground")] == ["search", "lookup"]
    answer = site.json("/api/playground/lookup?keys=2&question=谁")
    assert TopicResult.model_validate(answer) == read_defaults().results["lookup"]
    assert site.workbench.played == [("lookup", {"keys": "2", "question": "谁"})]
    assert site.refusal("/api/playground/masks?mask=none", 429)["code"] == "busy"
    started = site.client.post("/api/playground/output?steps=3")
    assert started.status_code == 202
    assert (started.json()["kind"], started.json()["model"]) == ("play", "playground/output")


def test_first_settings_are_there_at_once_and_nobody_computes(site: Any) -> None:
    for name, expected in read_defaults().results.items():
        assert TopicResult.model_validate(site.json(f"/api/playground/{name}")) == expected
    assert site.workbench.played == []


def test_too_much_is_refused_before_anybody_is_asked(site: Any) -> None:
    many = "&".join(f"p{number}=1" for number in range(21))
    site.refusal(f"/api/playground/lookup?{many}", 422)
    site.refusal(f"/api/playground/lookup?question={'x' * 1001}", 422)
    site.refusal(f"/api/playground/{'x' * 81}", 422)
    assert site.workbench.played == []


def test_without_a_workbench_the_defaults_are_there(build_site: Callable[..., Any]) -> None:
    site = build_site(workbench=False)
    topics = [Topic.model_validate(topic) for topic in site.json("/api/playground")]
    assert tuple(topics) == read_defaults().topics
    for topic in topics:
        if not topic.measured:
            played = TopicResult.model_validate(site.json(f"/api/playground/{topic.name}"))
            assert played.parameters == {each.name: each.default for each in topic.parameters}
        else:
            site.refusal(f"/api/playground/{topic.name}", 409)
    error = site.refusal("/api/playground/lookup?keys=2", 409)
    assert error["code"] == "no_workbench"
    site.refusal("/api/playground/output", 409, method="POST")


def test_what_ships_has_a_picture_for_every_topic_but_measurements() -> None:
    saved = read_defaults()
    assert set(saved.results) == {topic.name for topic in saved.topics} - {"cost"}
    for name, played in saved.results.items():
        assert played.figures, name
        for each in played.figures:
            check(each)


def check(each: Figure) -> None:
    """A picture fits its labels."""
    if isinstance(each, Matrix):
        assert len(each.values) == len(each.rows.labels)
        assert all(len(line) == len(each.columns.labels) for line in each.values)
        assert each.low < each.high
    elif each.kind == "lines":
        assert all(len(curve.values) == len(each.x) for curve in each.series)
    elif each.kind == "bars":
        assert all(len(bars.values) == len(each.labels) for bars in each.series)
    elif each.kind == "table":
        assert all(len(line) == len(each.columns) for line in each.rows)


def test_a_notebook_has_the_defaults_and_a_file_only_beside_a_walk() -> None:
    recording = invent_decoder(tokens=2)
    listed = set(html.list_paths(recording, "x", hidden=False, vectors=False, exact=False))
    assert not any(path.startswith("playground") for path in listed)
    with InProcessClient(recording) as client:
        assert client.get("playground/masks").is_success
        assert client.get("playground/masks?mask=none").status_code == 409
