"""A run through its index is the run as its log has it, however it was written, killed, cut or damaged."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from glassformer.errors import InputError
from glassformer.place import Place
from glassformer.runlog import HEADS, SCALARS, Curve, Event, RunWriter, open_run, read_run, run_index
from glassformer.runlog import index as indexes
from glassformer.runlog.blocks import TornIndexError

PLACES = (Place("encoder", "self", 0), Place("decoder", "cross", 1))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and limits so small that a short log has all of them."""
    monkeypatch.setattr(indexes, "ROWS", 4)
    monkeypatch.setattr(indexes, "FACTOR", 2)
    monkeypatch.setattr(indexes, "MOST_EXACT", 500)
    monkeypatch.setattr(indexes, "CHUNK", 700)


def write(folder: Path, seed: int, *, starts: int = 3, most: int = 60) -> None:
    """A run that was resumed a few times, each time from an earlier step."""
    chance = random.Random(seed)
    step = 0
    for _ in range(starts):
        with RunWriter(folder) as writer:
            writer.write_event(Event(step, "resumed" if step else "started", "Go."))
            for _ in range(chance.randint(1, most)):
                step += 1
                value = chance.choice((chance.gauss(0, 1), chance.gauss(0, 1), float("nan")))
                writer.write_scalars([(step, {"loss": value, "tokens": 7 * step})])
                if step % 5 == 0:
                    writer.write_scalars([(step, {"dev_loss": chance.random()})])
                if step % 2 == 0:
                    heads = {"entropy": [chance.random(), float("nan")], "peak": [0.5, chance.random()]}
                    writer.write_heads(step, dict.fromkeys(PLACES, heads))
        step = chance.randint(0, step)


def assert_same_curve(folder: Path, name: str, curve: Curve) -> None:
    with open_run(folder) as run:
        whole = run.series(name, points=10_000)
        assert whole.exact
        assert whole.first.tolist() == whole.last.tolist() == curve.steps.tolist()
        np.testing.assert_array_equal(whole.mean[:, 0], curve.values)
        for points in (1, 3, 10):
            start, stop = sorted(random.Random(points).choices(range(curve.steps[-1] + 2), k=2))
            assert_summary(run.series(name, start, stop, points), curve, start, stop, points)
            assert_summary(run.series(name, points=points), curve, 0, int(curve.steps[-1]), points)


def assert_summary(series: run_index.Series, curve: Curve, start: int, stop: int, points: int) -> None:
    """Every point says what the rows between its steps say, and no row is left out."""
    inside = (curve.steps >= start) & (curve.steps <= stop)
    assert len(series) <= points
    assert series.count.sum() == np.isfinite(curve.values[inside]).sum()
    rows = 0
    for number in range(len(series)):
        taken = (curve.steps >= series.first[number]) & (curve.steps <= series.last[number])
        values = curve.values[taken & np.isfinite(curve.values)]
        rows += taken.sum()
        assert series.count[number, 0] == len(values)
        if len(values):
            assert series.low[number, 0] == values.min()
            assert series.high[number, 0] == values.max()
            np.testing.assert_allclose(series.mean[number, 0], values.mean(), rtol=1e-12, atol=1e-12)
        else:
            assert np.isnan(series.mean[number, 0])
    assert rows == inside.sum()


@pytest.mark.parametrize("seed", range(8))
def test_series_are_those_of_the_log(tmp_path: Path, seed: int) -> None:
    write(tmp_path, seed)
    log = read_run(tmp_path)
    for name, curve in log.scalars.items():
        assert_same_curve(tmp_path, name, curve)
    with open_run(tmp_path) as run:
        assert set(run.names) >= log.scalars.keys()
        for place, history in log.heads.items():
            assert run.maps[place] == (("entropy", "peak"), 2)
            for name, values in history.statistics.items():
                whole = run.heads(place, name, points=10_000)
                assert whole.first.tolist() == history.steps.tolist()
                np.testing.assert_array_equal(whole.mean, values)
                coarse = run.heads(place, name, points=2)
                assert coarse.low.shape == (len(coarse), 2)
                assert np.nanmin(coarse.low[:, 0]) == np.nanmin(values[:, 0])


@pytest.mark.parametrize("seed", range(8))
def test_an_index_that_is_behind_missing_or_damaged_is_made_good(tmp_path: Path, seed: int) -> None:
    write(tmp_path, seed, most=120)
    chance = random.Random(seed)
    files = sorted(path for path in (tmp_path / "index").rglob("*") if path.is_file() and path.stat().st_size)
    for path in chance.sample(files, len(files) // 2):
        content = path.read_bytes()
        match chance.randint(0, 3):
            case 0:  # killed before it was written
                path.write_bytes(content[: chance.randint(0, len(content))])
            case 1:
                path.unlink()
            case 2:  # what a crash of the machine leaves
                path.write_bytes(bytes(len(content)))
            case 3:
                path.write_bytes(chance.randbytes(len(content)))
    log = read_run(tmp_path)
    for name, curve in log.scalars.items():
        with open_run(tmp_path) as run:
            assert_summary(run.series(name, points=2), curve, 0, 10**9, 2)
            whole = run.series(name, points=10_000)
            np.testing.assert_array_equal(whole.mean[:, 0], curve.values)


def test_while_a_run_is_written_others_read_it(tmp_path: Path) -> None:
    with RunWriter(tmp_path) as writer:
        writer.write_event(Event(0, "started", "Go."))
        writer.write_scalars((step, {"loss": float(step)}) for step in range(1, 100))
        with open_run(tmp_path) as run:
            assert run.series("loss", points=3).mean[-1, 0] > 60
            writer.write_scalars([(100, {"loss": -5.0})])
            run.refresh()
            assert run.series("loss", points=3).low.min() == -5
            writer.write_scalars([(50, {"loss": 1000.0})])  # everything after it is void
            run.refresh()
            assert run.last_step == 50
            assert run.series("loss", points=5).high.max() == 1000
            assert run.series("loss").last[-1] == 50


def test_a_torn_last_line_does_not_count_yet(tmp_path: Path) -> None:
    write(tmp_path, 1)
    with (tmp_path / SCALARS).open("a") as file:
        file.write('{"step": 999, "loss"')
    with open_run(tmp_path) as run:
        assert run.last_step < 999
    write(tmp_path, 2)
    with open_run(tmp_path) as run:
        assert run.damaged == 1
    for name, curve in read_run(tmp_path).scalars.items():
        assert_same_curve(tmp_path, name, curve)


def test_a_log_without_an_index_is_read_once_and_says_how_far_it_is(tmp_path: Path) -> None:
    with (tmp_path / SCALARS).open("w") as file:
        for step in range(1, 200):
            file.write(json.dumps({"step": step, "loss": 1 / step}) + "\n")
    (tmp_path / HEADS).touch()
    seen: list[float] = []
    with open_run(tmp_path, seen.append) as run:
        assert seen == sorted(seen)
        assert seen[-1] == 1
        assert len(seen) > 5
        assert len(run.series("loss", points=10)) == 10
    seen.clear()
    with open_run(tmp_path, seen.append) as run:
        assert not seen
        assert run.series("loss").first[-1] == 199


def test_where_nothing_can_be_written_it_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, 3)
    monkeypatch.setattr(run_index, "lock_index", lambda _: None)
    for path in (tmp_path / "index").rglob("*.rows"):
        path.unlink()
    before = sorted(tmp_path.rglob("*"))
    for name, curve in read_run(tmp_path).scalars.items():
        assert_same_curve(tmp_path, name, curve)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_full_disk_stops_the_index_and_not_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunWriter(tmp_path) as writer:
        writer.write_event(Event(0, "started", "Go."))
        writer.write_scalars([(1, {"loss": 1.0})])
        with monkeypatch.context() as patched:
            patched.setattr("glassformer.runlog.blocks.os.pwrite", _refuse)
            writer.write_scalars([(2, {"loss": 2.0})])
        writer.write_scalars([(3, {"loss": 3.0})])
    with open_run(tmp_path) as run:
        assert run.series("loss").mean[:, 0].tolist() == [1, 2, 3]


def test_a_torn_index_stops_neither_training_nor_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    extend = indexes.LogIndex.extend

    def fail(self: indexes.LogIndex, progress: indexes.Progress | None = None) -> None:
        if self.writable:
            raise TornIndexError
        extend(self, progress)

    with monkeypatch.context() as patched:
        patched.setattr(indexes.LogIndex, "extend", fail)
        with RunWriter(tmp_path) as writer:
            writer.write_event(Event(0, "started", "Go."))
            writer.write_scalars([(1, {"loss": 1.0}), (2, {"loss": 2.0})])
        with open_run(tmp_path) as run:
            assert run.series("loss").mean[:, 0].tolist() == [1, 2]
    with open_run(tmp_path) as run:
        assert run.series("loss").mean[:, 0].tolist() == [1, 2]


def _refuse(*_: object) -> int:
    raise OSError(28, "No space left on device")


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no training run"):
        open_run(tmp_path)
    write(tmp_path, 4)
    with open_run(tmp_path) as run:
        with pytest.raises(InputError, match="no curve called 'lost'"):
            run.series("lost")
        with pytest.raises(InputError, match="no statistic 'lost'"):
            run.heads(PLACES[0], "lost")
