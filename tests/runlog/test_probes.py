"""Which probes a run has: by text and step; other files in the folder are none."""

import json
from pathlib import Path

from glassformer.runlog.probes import PROBES, TEXTS, Probe, find_probes, name_probe, read_probe_texts


def test_probes_are_found_by_text_and_step(tmp_path: Path) -> None:
    folder = tmp_path / PROBES
    folder.mkdir()
    for step, text in ((100, 0), (5, 1), (0, 0), (123_456_789, 0)):
        (folder / name_probe(step, text)).touch()
    for other in (".1234.bundle.part", "step-5.bundle", "notes.txt", "step-00000005-x.bundle"):
        (folder / other).touch()
    found = find_probes(tmp_path)
    assert [(probe.text, probe.step) for probe in found] == [(0, 0), (0, 100), (0, 123_456_789), (1, 5)]
    assert found[0] == Probe(0, 0, folder / "step-00000000-0.bundle")
    assert find_probes(tmp_path / "none") == []


def test_texts_are_read_by_number_and_a_damaged_list_is_empty(tmp_path: Path) -> None:
    assert read_probe_texts(tmp_path) == {}
    (tmp_path / PROBES).mkdir()
    file = tmp_path / PROBES / TEXTS
    file.write_text(json.dumps({"0": {"source": "the cat"}, "3": {"source": {"input_ids": [1, 2]}}}))
    assert read_probe_texts(tmp_path) == {0: {"source": "the cat"}, 3: {"source": {"input_ids": [1, 2]}}}
    for damaged in ('{"0": ', "[1]", '{"a": {}}', '{"0": 5}'):
        file.write_text(damaged)
        assert read_probe_texts(tmp_path) == {}
