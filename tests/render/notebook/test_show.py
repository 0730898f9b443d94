"""`show` refuses what it cannot show, in words."""

import json
from pathlib import Path

import pytest

from atlases.invented import invent_atlas
from drawings import make_recording
from glassformer.errors import InputError
from glassformer.render.notebook import show as module
from glassformer.render.notebook.show import show
from glassformer.render.notebook.widget import RUN_VIEWS, VIEWS, AtlasWidget, RunWidget
from glassformer.runlog import RunWriter, open_run, read_run


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"language": "tlh"}, "render.not_a_choice"),
        ({"theme": "sepia"}, "render.not_a_choice"),
        ({"view": "nope"}, "render.not_a_choice"),
    ],
)
def test_a_choice_that_is_none_is_refused(settings: dict[str, str], code: str) -> None:
    with pytest.raises(InputError) as error:
        show(make_recording(), **settings)
    assert error.value.message.code == code


def test_the_views_of_the_page_are_those_that_can_be_shown() -> None:
    folders = Path(__file__).parents[3] / "web" / "src" / "views"
    names = json.loads(VIEWS.read_text(encoding="utf-8"))
    views = {each.parent.name: each.read_text(encoding="utf-8") for each in folders.glob("*/view.ts")}
    of_runs = {name for name, code in views.items() if "runView" in code}
    assert sorted(names) == sorted(views.keys() - of_runs - {"runs", "atlas"})  # these show no recording
    assert of_runs == set(RUN_VIEWS)
    widget = show(make_recording(), view="lines")
    with pytest.raises(InputError, match=r"view is 'line'.*heatmap"):
        widget.select(view="line")
    widget.close()


def test_only_recordings_are_shown() -> None:
    with pytest.raises(InputError) as error:
        show("a text")  # type: ignore[arg-type]
    assert error.value.message.code == "render.not_a_recording"


def test_a_page_that_was_not_built_is_named(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EMBEDDED", tmp_path / "embedded.js")
    with pytest.raises(InputError) as error:
        show(make_recording())
    assert error.value.message.code == "render.not_built"


def test_a_run_is_shown_and_answers_about_itself(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "first") as writer:
        writer.write_scalars((step, {"loss": 1 / step}) for step in range(1, 6))
    with open_run(tmp_path / "first") as opened:
        for run in (read_run(tmp_path / "first"), opened):
            widget = show(run, view="learning")
            assert isinstance(widget, RunWidget)
            assert widget.chosen == {"run": "first", "view": "learning"}
            answer = widget._client.get("runs/first/series?name=loss&points=2000").json()
            assert answer["series"]["loss"]["first"] == [1, 2, 3, 4, 5]
            widget.select(place="decoder.self.1", head=2, view="heatmap")
            assert widget.chosen == {
                "run": "first",
                "view": "heatmap",
                "place": "decoder.self.1",
                "head": "2",
            }
            with pytest.raises(InputError) as error:
                widget.select(layer=1)
            assert error.value.message.code == "render.place_of_run"
            widget.close()


@pytest.mark.slow
def test_an_atlas_is_shown_and_answers_with_its_examples() -> None:
    widget = show(invent_atlas(layers=1, heads=2))
    assert isinstance(widget, AtlasWidget)
    assert widget.chosen == {"study": "atlas", "view": "atlas"}
    assert len(widget._client.get("atlases/atlas").json()["heads"]) == 4
    assert widget._client.get("recordings/atlas:example:1").json()["maps"]
    widget.select(place="decoder.self.0", head=1)
    assert (widget.chosen["place"], widget.chosen["head"]) == ("decoder.self.0", "1")
    assert "<img" in widget._write_static("en")
    widget.close()
