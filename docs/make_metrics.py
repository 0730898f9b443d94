"""Writes the sections of docs/metrics.md from the metrics themselves: `python docs/make_metrics.py`.

A section is replaced where it stands, a new one is added before "Write your own"; all other text stays. A
test fails while the page says something else than the code.
"""

import re
from pathlib import Path

from glassformer.metrics import METRICS, Metric

PAGE = Path(__file__).parent / "metrics.md"
END = "## Write your own"


def describe_metric(metric: Metric) -> str:
    """The section of one metric."""
    labels = " · ".join(dict.fromkeys(metric.label.text(language) for language in ("en", "zh")))
    low, high = (None if bound is None else f"{bound:.3g}" for bound in metric.range)
    bounds = f"from {low} to {high}" if high else f"from {low} up" if low else "any number"
    readings = " ".join(text.text("en") for text in (metric.lower, metric.higher) if text)
    about = f"over {metric.over}; in {metric.unit}; {bounds}; reads {metric.needs}."
    lines = [metric.details, about, readings]
    for each in metric.parameters:
        default = "required" if each.required else f"default {each.default!r}"
        lines.append(f"`{each.name}` ({default}): {each.about.meaning.text('en')}.")
    listed = "\n".join(f"- {line}" for line in lines if line)
    return f"### `{metric.name}`\n\n{metric.caption.text('en')} *{labels}*\n\n{listed}\n\n"


def write_page(page: str) -> str:
    """The page with every metric as it is now, and none that is gone."""
    known = dict.fromkeys(METRICS)
    sections = re.compile(r"^### `(\w+)`\n.*?(?=^##|\Z)", re.DOTALL | re.MULTILINE)
    page = sections.sub(lambda found: describe_metric(METRICS[found[1]]) if found[1] in known else "", page)
    there = set(re.findall(r"^### `(\w+)`$", page, re.MULTILINE))
    families: dict[str, list[Metric]] = {}
    for name in METRICS:
        if name not in there:
            families.setdefault(METRICS[name].family, []).append(METRICS[name])
    added = "".join(
        f"## {family.capitalize()}\n\n" + "".join(map(describe_metric, metrics))
        for family, metrics in families.items()
    )
    return page.replace(END, added + END)


if __name__ == "__main__":
    PAGE.write_text(write_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
