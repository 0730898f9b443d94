"""Write lessons/defaults.json: the topics and what their defaults give, for hosts that compute nothing.

    python -m glassformer.workbench.lesson_defaults

In:   the topics, the models of the zoo.
Out:  the file that ships; run it again when a topic, its words or a model has changed.
"""

from functools import cache

from glassformer.lessons.models import Zoo, open_model
from glassformer.lessons.playing import play
from glassformer.lessons.schema import FILE, Play, Saved
from glassformer.lessons.topics import read_parameters, read_topics
from glassformer.weights.hub import ZOO
from glassformer.workbench.models import ModelCatalog


def save() -> Saved:
    """Play every topic that keeps, with its defaults."""
    catalog = ModelCatalog(ZOO, (), offline=True)
    zoo = Zoo(
        [(model.name, str(model.folder)) for model in catalog.models()],
        cache(open_model),
    )

    def run(name: str, parameters: dict[str, bool | int | float | str]) -> Play:
        return play(name, parameters, zoo).model_copy(update={"seconds": None})

    topics = read_topics()
    plays = {topic.name: run(topic.name, read_parameters(topic, {})) for topic in topics if topic.keeps}
    return Saved(topics=topics, plays=plays)


if __name__ == "__main__":
    FILE.write_text(save().model_dump_json() + "\n", encoding="utf-8")
