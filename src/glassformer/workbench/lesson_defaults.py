"""Write lessons/defaults.json: the topics and what their defaults give, for hosts that compute nothing.

    python -m glassformer.workbench.lesson_defaults

In:   the topics, the models of the zoo.
Out:  the file that ships; run it again when a topic or a model has changed.
"""

from functools import cache

from glassformer.lessons.models import Zoo, open_model
from glassformer.lessons.run import run_topic
from glassformer.lessons.schema import FILE, Defaults
from glassformer.lessons.topics import read_parameters, read_topics
from glassformer.weights.hub import ZOO
from glassformer.workbench.models import ModelCatalog


def compute_defaults() -> Defaults:
    """Run every topic with its defaults, but for those that measure the machine."""
    catalog = ModelCatalog(ZOO, (), offline=True)
    zoo = Zoo([(model.name, str(model.folder)) for model in catalog.models()], cache(open_model))
    topics = read_topics()
    results = {
        topic.name: run_topic(topic.name, read_parameters(topic, {}), zoo).model_copy(
            update={"seconds": None}
        )
        for topic in topics
        if not topic.measured
    }
    return Defaults(topics=topics, results=results)


if __name__ == "__main__":
    FILE.write_text(compute_defaults().model_dump_json() + "\n", encoding="utf-8")
