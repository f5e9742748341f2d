"""The same run, whoever reads it: executors, worker processes, or this one; and what is kept."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import stepviz as sv
from stepviz.traces import TraceWarning, loading, rank_trace
from stepviz.traces.reading import workers
from tests.traces.stored import FILES, put, same_run


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_reads(pool, tmp_path):
    folder = put(tmp_path / "run", FILES)
    context = {} if pool is ThreadPoolExecutor else {"mp_context": _spawn()}
    with pool(2, **context) as executor:
        run = same_run(sv.load_run(folder, executor=executor))
    here = sv.load_run(folder)
    assert run.files.equals(here.files)
    assert run.step(2).breakdown("ns").equals(here.step(2).breakdown("ns"))


def _spawn():
    import multiprocessing

    # Forking a process that runs threads may hang, whoever does it.
    return multiprocessing.get_context("spawn")


@pytest.mark.slow
def test_a_cluster_reads(tmp_path):
    distributed = pytest.importorskip("distributed")
    folder = put(tmp_path / "run", FILES)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        same_run(sv.load_run(folder, executor=client.get_executor()))


def test_patterns_reach_the_workers(tmp_path):
    with (
        sv.add_pattern("optimizer", "^gemm$", where="kernel"),
        ProcessPoolExecutor(1, mp_context=_spawn()) as executor,
    ):
        run = sv.load_run(put(tmp_path / "run", FILES), executor=executor)
    assert run.step(2).breakdown("ns").loc["optimizer", 0] > 100_000


class Broken:
    """An executor whose every task fails."""

    def submit(self, *_):
        future = Future()
        future.set_exception(RuntimeError("no luck"))
        return future


def test_a_fault_of_a_worker_is_its_files(tmp_path):
    folder = put(tmp_path / "run", FILES)
    with pytest.raises(sv.TraceError, match=r"rank0\.json could not be read \(RuntimeError: no"):
        sv.load_run(folder, executor=Broken())
    with pytest.raises(sv.TraceError, match="executor is something with a method submit"):
        sv.load_run(folder, executor=4)


def test_an_executor_that_was_shut_down(tmp_path):
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(sv.TraceError, match="the executor takes no work"):
        sv.load_run(put(tmp_path / "run", FILES), executor=pool)


@pytest.mark.slow
def test_a_script_without_a_guard_reads_in_processes(tmp_path):
    """Also where threads run, which a copied process would hang on."""
    folder = put(tmp_path / "run", FILES)
    script = put(tmp_path, {"script.py": f"""
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
import stepviz as sv
from stepviz.traces.reading import workers
workers._WORTH_PROCESSES = 0
print(sv.load_run({str(folder)!r}).ranks)
""".encode()}) / "script.py"  # fmt: skip
    answer = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, timeout=240
    )
    assert answer.stdout == "[0, 1]\n"
    assert answer.stderr == ""


@pytest.mark.slow
def test_a_worker_that_dies_takes_only_its_file(tmp_path):
    """And a script that is stopped by hand stops at once, without waiting for its workers."""
    script = (
        put(
            tmp_path,
            {
                "script.py": b"""
import os, signal, threading, time
from stepviz.traces.reading import workers
signal.signal(signal.SIGINT, signal.default_int_handler)
workers._WORTH_PROCESSES = 0

def task(item):
    if item == 2:
        os._exit(9)
    return item * item

def slow(item):
    time.sleep(60)

sizes = [10**9] * 4
print(sorted((at, str(found)) for at, found in workers.spread(task, range(4), None, sizes, [])))
threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    list(workers.spread(slow, range(4), None, sizes, []))
except KeyboardInterrupt:
    print("stopped")
"""
            },
        )
        / "script.py"
    )
    answer = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, timeout=50
    )
    died = "the process that read it died, most likely for lack of memory"
    assert answer.stdout.splitlines() == [
        str([(0, "0"), (1, "1"), (2, died), (3, "9")]), "stopped",
    ]  # fmt: skip


def test_where_no_process_starts_this_one_reads(tmp_path, monkeypatch):
    import loky

    def refuse(**options):
        raise OSError(1, "not here")

    monkeypatch.setattr(workers, "_WORTH_PROCESSES", 0)
    monkeypatch.setattr(loky, "cpu_count", lambda: 2)
    monkeypatch.setattr(loky, "get_reusable_executor", refuse)
    with pytest.warns(TraceWarning, match="worker processes cannot be had here .*not here"):
        same_run(sv.load_run(put(tmp_path / "run", FILES)))


def test_events_that_are_not_kept_are_read_again(tmp_path, monkeypatch):
    """What moved the rank's clock since moves what is read again."""
    folder = put(tmp_path / "run", FILES)
    whole = sv.load_run(folder)
    monkeypatch.setattr(loading, "MOST_ROWS_KEPT", 0)
    run = same_run(sv.load_run(folder))
    assert not run.files["in_memory"].any()
    assert run.files.drop(columns="in_memory").equals(whole.files.drop(columns="in_memory"))
    assert run.step(2).breakdown("ns").equals(whole.step(2).breakdown("ns"))
    assert run.device_time().equals(whole.device_time())

    class Ahead:
        def moved(self, ns):
            return ns - 5_000

    moved = [r._ranks[1].on_clock(Ahead()) for r in (whole, run)]
    assert moved[0].events.equals(moved[1].events)
    monkeypatch.setattr(rank_trace, "_MOST_ROWS", 0)
    run._ranks[0].memo.clear()
    assert run._ranks[0].events.equals(whole._ranks[0].events)
    assert "events" not in moved[1].memo
    (folder / "rank1.json").write_bytes(FILES["rank0.json"])
    with pytest.raises(sv.TraceError, match="has changed since, or is gone"):
        _ = moved[1].events
