"""What a job reports, read back."""

import io
import json
from typing import Any

from glassformer.workbench.worker import JobReporter


def open_reporter(stopped: set[str] | None = None) -> tuple[JobReporter, io.BytesIO]:
    pipe = io.BytesIO()
    return JobReporter("1", pipe, stopped if stopped is not None else set()), pipe


def said(pipe: io.BytesIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in pipe.getvalue().splitlines()]
