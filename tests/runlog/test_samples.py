"""The file of samples beside a log: resumed, damaged, too long."""

from pathlib import Path

from glassformer.runlog.samples import SAMPLES, Sample, append_samples, read_samples


def test_a_resumed_run_writes_later_ones_again_and_damage_is_left_out(tmp_path: Path) -> None:
    for step in (5, 10, 15):
        append_samples(tmp_path, step, [Sample("a", f"at {step}", None)])
    with (tmp_path / SAMPLES).open("a") as file:
        file.write('{"step": -1, "samples": []}\n[]\n{"step": 20, "samples": [["a", 3]]}\n{"step": 2')
    append_samples(tmp_path, 10, [Sample("a", "again", "b" * 5000)])
    found = read_samples(tmp_path)
    assert list(found) == [5, 10]
    assert found[10][0].output == "again"
    assert len(found[10][0].wanted or "") == 2000
