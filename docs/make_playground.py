"""Writes the table of topics in docs/playground.md: `python docs/make_playground.py`."""

import re
from pathlib import Path

from glassformer.lessons.topics import read_topics

PAGE = Path(__file__).parent / "playground.md"
TABLE = re.compile(r"^\| topic \|.*?\n(?!\|)", re.DOTALL | re.MULTILINE)


def write_page(page: str) -> str:
    """The page with every topic as it is now."""
    rows = [
        (f"`{topic.name}`", topic.title.text("en"), topic.question.text("en"), topic.change.text("en"))
        for topic in read_topics()
    ]
    table = [("topic", "title", "question", "what to change"), ("---",) * 4, *rows]
    lines = "".join(f"| {' | '.join(row)} |\n" for row in table)
    return TABLE.sub(lambda _: lines, page)


if __name__ == "__main__":
    PAGE.write_text(write_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
