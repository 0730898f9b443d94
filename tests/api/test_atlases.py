"""Atlases over HTTP, and their examples as recordings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atlases.invented import invent_atlas
from glassformer.atlases.atlas import FILE


@pytest.fixture
def site(tmp_path: Path, build_site: Callable[..., Any]) -> Any:
    invent_atlas().save(tmp_path / "shipped" / "one")
    invent_atlas("zoo/other", layers=2, seed=1).save(tmp_path / "atlases" / "other one")
    broken = tmp_path / "atlases" / "broken"
    broken.mkdir()
    (broken / FILE).write_text("{}")
    return build_site(atlases=tmp_path / "atlases", shipped_atlases=tmp_path / "shipped")


def test_atlases_are_listed_and_described(site: Any, tmp_path: Path) -> None:
    listed = site.json("/api/atlases")
    assert [(each["id"], each["shipped"]) for each in listed] == [("other one", False), ("one", True)]
    found = site.json("/api/atlases/one")
    assert found["entry"] == listed[1]
    body = invent_atlas().body
    assert [each["place"] for each in found["heads"]] == [each.place for each in body.heads]
    assert found["heads"][0]["scores"]["alignment"] is None
    titles = {each["name"]: each["title"] for each in found["detectors"]}
    assert titles["dependent:obj"]["parameters"]["detail"]["code"] == "atlases.relations.obj"
    assert found["examples"] == {"0": "one:example:0", "1": "one:example:1"}
    (tmp_path / "shipped" / "one" / FILE).write_text(
        invent_atlas("zoo/new").body.model_dump_json(), encoding="utf-8"
    )
    assert site.json("/api/atlases/one")["entry"]["model"]["name"] == "zoo/new", "it was written again"


def test_examples_are_recordings(site: Any) -> None:
    described = site.json("/api/recordings/one:example:1")
    assert described["title"]["parameters"]["atlas"] == "one"
    place = described["maps"][0]["place"]["address"]
    frame = site.frame(f"/api/recordings/one:example:1/maps/{place}/weights?as=float32&head=0")
    assert frame.arrays["weights"].array.shape[-1] == described["maps"][0]["keys"]
    assert "one:example:1" not in {each["id"] for each in site.json("/api/recordings")}
    assert "atlas" in site.refusal("/api/recordings/one:example:1", 403, method="DELETE")["sentence"]
    for id in ("one:example:7", "one:example:01", "none:example:0", "..:example:0", "one:example:"):
        site.refusal(f"/api/recordings/{id}", 404)


def test_heads_are_searched_and_filtered(site: Any) -> None:
    found = site.json("/api/atlases/one/heads?search=heads that look at the object of a verb")
    assert found["detectors"] == ["dependent:obj"]
    assert found["heads"]
    assert {each["type"] for each in found["heads"]} == {"dependent:obj"}
    crossing = site.json("/api/atlases/one/heads?stack=decoder.cross&type=alignment")["heads"]
    assert crossing
    assert all(each["place"].startswith("decoder.cross.") for each in crossing)
    assert len(site.json("/api/atlases/one/heads")["heads"]) == 24
    assert "previous_token" in site.refusal("/api/atlases/one/heads?type=none", 422)["sentence"]
    site.refusal(f"/api/atlases/one/heads?search={'x' * 201}", 422)


def test_two_atlases_beside_each_other(site: Any) -> None:
    found = site.json("/api/atlases/one/beside/other one")
    assert not found["same_architecture"]
    assert len(found["pairs"]) == 16
    assert {
        pair["first"]["place"].split(".")[1] == pair["second"]["place"].split(".")[1]
        for pair in found["pairs"]
    } == {True}
    same = site.json("/api/atlases/one/beside/one")
    assert (same["same_architecture"], same["changed"]) == (True, 0)
    site.refusal("/api/atlases/one/beside/none", 404)


@pytest.mark.parametrize("id", ["none", "..", "%2e%2e", "a%2Fb", "a%00b"])
def test_what_is_no_atlas_is_not_found(site: Any, id: str) -> None:
    site.refusal(f"/api/atlases/{id}", 404)


@pytest.mark.parametrize("text", ["{}", "[", '{"heads": [NaN]}', "\x00"])
def test_a_damaged_atlas_says_what_is_wrong(site: Any, tmp_path: Path, text: str) -> None:
    (tmp_path / "atlases" / "broken" / FILE).write_text(text)
    assert "atlas.json" in site.refusal("/api/atlases/broken", 422)["sentence"]
    assert "broken" not in {each["id"] for each in site.json("/api/atlases")}
