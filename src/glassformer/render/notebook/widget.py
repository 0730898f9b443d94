"""The widgets behind `show`: an anywidget around one recording, one training run or one atlas.

In:   a Recording, a RunLog or an Atlas; messages of the views: {"question": number, "path":
      "recordings/ID/…"}, {"abort": number}.
Out:  answers with the same number, the bytes beside them; none to a question that was aborted.
"""

import json
import sys
from concurrent.futures import Future
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import anywidget
import traitlets

from glassformer.api.client import InProcessClient
from glassformer.atlases import Atlas
from glassformer.errors import InputError
from glassformer.messages import get_language
from glassformer.place import Place
from glassformer.recording import Recording
from glassformer.render.choice import choose_head, require_choice
from glassformer.render.html.export import EMBEDDED
from glassformer.render.notebook import HEIGHT
from glassformer.render.notebook.static import write_static, write_static_atlas, write_static_run
from glassformer.runlog import RunLog

if TYPE_CHECKING:
    from httpx import Response


VIEWS = EMBEDDED.with_name("views.json")  # of recordings; written when the page is built
RUN_VIEWS = ("curves", "learning")


def require_view(view: str | None, *, run: bool = False) -> None:
    """Refuse a view that the page does not have; what a run recorded is shown as other recordings are."""
    known = json.loads(VIEWS.read_text(encoding="utf-8"))
    require_choice("view", view, (*RUN_VIEWS, *known) if run else known)


# The kernel is asked for the code of the page, once for each page: a saved notebook does not contain it.
LOADER = """
const KEY = "glassformer/code";
const ask = (model) => new Promise((resolve, reject) => {
  const heard = (said, buffers) => {
    if (said?.code !== KEY) return;
    model.off("msg:custom", heard);
    const address = URL.createObjectURL(new Blob([buffers[0]], { type: "text/javascript" }));
    import(address).then((module) => resolve((globalThis[KEY] = module)), reject);
  };
  model.on("msg:custom", heard);
  model.send({ code: KEY });
});
export default {
  async render(context) {
    const module = globalThis[KEY] ?? (await ask(context.model));
    const still = document.getElementById(context.model.get("static_picture"));
    (still?.closest(".jp-OutputArea-child") ?? still)?.style.setProperty("display", "none");
    return module.default.render(context);
  },
};
"""
CODE = "glassformer/code"


class RecordingWidget(anywidget.AnyWidget):
    """One recording in a notebook; close() releases it.

    Beside the widget, a cell has a picture and a table in plain HTML, which the widget hides: they are what a
    notebook shows that was saved and has no kernel.
    """

    _esm = LOADER
    _of_run = False
    static_picture = traitlets.Unicode("").tag(sync=True)  # the id of the element with the picture
    selection = traitlets.Unicode("").tag(sync=True)  # as in the page's address: view=heatmap&head=5
    height = traitlets.Int(HEIGHT, min=200).tag(sync=True)
    language = traitlets.Unicode("").tag(sync=True)  # empty: the browser's
    theme = traitlets.Unicode("").tag(sync=True)

    def __init__(self, recording: Recording, **traits: Any) -> None:
        super().__init__(**traits)
        self.recording = recording
        self._listen(InProcessClient(recording))

    def _listen(self, client: InProcessClient) -> None:
        self._client = client
        self._asked: dict[int, Future[Response]] = {}  # questions under way
        self.on_msg(self._answer)

    def _write_static(self, language: str) -> str:
        return write_static(self.recording, self.chosen, self.static_picture, language)

    def _describe(self) -> str:
        return repr(self.recording)

    @property
    def chosen(self) -> dict[str, str]:
        """What is selected, by name."""
        return dict(parse_qsl(self.selection))

    def select(
        self,
        *,
        part: str | None = None,
        layer: int | None = None,
        place: Place | str | None = None,
        head: int | str | None = None,
        query: int | None = None,
        key: int | None = None,
        view: str | None = None,
    ) -> None:
        """Choose from Python what a person would click on; `place` is a Place or its address."""
        require_view(view, run=self._of_run)
        where = Place.parse(place) if isinstance(place, str) else place
        address = self._find_address(part, layer, where)
        change = {"view": view, "query": query, "key": key, "head": head, "place": address}
        kept = {name: str(value) for name, value in change.items() if value is not None}
        self.selection = urlencode({**self.chosen, **kept})

    def _find_address(self, part: str | None, layer: int | None, place: Place | None) -> str | None:
        if (part, layer, place) == (None, None, None):
            return None
        return choose_head(self.recording, part=part, layer=layer, place=place)[0].place.address

    def _repr_mimebundle_(self, **options: Any) -> Any:
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if getattr(shell, "kernel", None) is not None:
            publish: Any = import_module("IPython.display").publish_display_data

            spoken = self.language or get_language()
            self.static_picture = f"glassformer-{self.model_id}"
            publish({"text/html": self._write_static(spoken), "text/plain": self._describe()})
        return super()._repr_mimebundle_(**options)

    def close(self) -> None:
        super().close()
        self._client.close()

    def _answer(self, _: object, content: Any, __: object) -> None:
        if not isinstance(content, dict):
            return
        if content.get("code") == CODE:
            self.send({"code": CODE}, [EMBEDDED.read_bytes()])
            return
        number, path, aborted = (content.get(name) for name in ("question", "path", "abort"))
        if isinstance(aborted, int) and aborted in self._asked:
            self._asked[aborted].cancel()
        if isinstance(number, int) and isinstance(path, str):
            self._asked[number] = started = self._client.start(path)
            started.add_done_callback(lambda done: self._send_response(number, done))

    def _send_response(self, number: int, done: "Future[Response]") -> None:
        self._asked.pop(number, None)
        if done.cancelled():  # aborted, or closed meanwhile
            return
        if done.exception():
            self.send({"answer": number, "status": 500, "kind": ""}, [b""])
            return
        response = done.result()
        kind = response.headers.get("content-type", "")
        self.send({"answer": number, "status": response.status_code, "kind": kind}, [response.content])


class RunWidget(RecordingWidget):
    """One training run in a notebook, as far as it was written; close() releases it."""

    _of_run = True

    def __init__(self, run: RunLog, **traits: Any) -> None:
        anywidget.AnyWidget.__init__(self, **traits)
        self.run = run
        self._listen(InProcessClient(run.folder))

    def _find_address(self, part: str | None, layer: int | None, place: Place | None) -> str | None:
        if part is not None or layer is not None:
            raise InputError("render.place_of_run")
        return None if place is None else place.address

    def _write_static(self, language: str) -> str:
        return write_static_run(self.run, self.static_picture, language)

    def _describe(self) -> str:
        return f"{self.run.name}: {self.run.state}, {self.run.last_step}"


class AtlasWidget(RecordingWidget):
    """One atlas in a notebook, with the recordings of its examples; close() releases it."""

    def __init__(self, atlas: Atlas, **traits: Any) -> None:
        client = InProcessClient(atlas)
        start = urlencode({"study": client.id, "view": "atlas"})
        anywidget.AnyWidget.__init__(self, selection=start, **traits)
        self.atlas = atlas
        self._listen(client)

    def _find_address(self, part: str | None, layer: int | None, place: Place | None) -> str | None:
        if part is not None or layer is not None:
            raise InputError("render.place_of_run")
        return None if place is None else place.address

    def _write_static(self, language: str) -> str:
        return write_static_atlas(self.atlas, self.static_picture, language)

    def _describe(self) -> str:
        return str(self.atlas)
