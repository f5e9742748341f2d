"""A small machine that runs a training step of several ranks, and writes what a profiler would.

Threads, streams, events, collectives and what waits for what are nodes of a graph; its times are
exact, and a change is made by running it again. It shares no code and no rule with the package.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.traces.synthetic import BASE_NS

MAIN, AUTOGRAD, WORKER, COMPUTE, LINK, OTHER_LINK = 100, 101, 200, 7, 20, 24
#: ns: of a call that launches, from its start to its kernel's, between two rows of a stream.
CALL, LAG, BETWEEN = 3_000, 5_000, 1_000

KERNELS = {
    "allreduce": "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
    "_allgather_base": "ncclDevKernel_AllGather_RING_LL",
    "_reduce_scatter_base": "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL",
    "all_to_allv": "ncclDevKernel_SendRecv",
    "broadcast": "ncclDevKernel_Broadcast_RING_LL",
    "send": "ncclDevKernel_SendRecv",
    "recv": "ncclDevKernel_SendRecv",
}


@dataclass(eq=False)
class Node:
    """What begins when all before it are done, and lasts; `holds` are what its end waits for."""

    rank: int
    step: int
    kind: str
    name: str
    ns: int
    after: list = field(default_factory=list)
    holds: list = field(default_factory=list)
    own: bool = True
    thread: int = 0
    start: int = 0
    end: int = 0


class Machine:
    """Ranks that run programs; solve it, change it, write it."""

    def __init__(self, ranks, groups=None, *, syncs=False):
        self.size, self.syncs = ranks, syncs
        self.groups = {"0": list(range(ranks)), **(groups or {})}
        self.nodes, self.transfers, self.parts = [], {}, defaultdict(dict)
        self.ranks = [Rank(self, number) for number in range(ranks)]

    def node(self, *given, **options):
        made = Node(*given, **options)
        self.nodes.append(made)
        return made

    def solve(self, duration=None):
        """Give every node its start and end; `duration` says how long a node lasts, in ns."""
        known, follow, left = {}, defaultdict(list), {}
        for node in self.nodes:
            begin, end = (node, "start"), (node, "end")
            left[begin], left[end] = len(node.after), 1 + len(node.holds)
            lasts = node.ns if duration is None else duration(node)
            follow[begin].append((end, lasts))
            for other, edge, lag in node.after:
                follow[other, edge].append((begin, lag))
            for other, edge, lag in node.holds:
                follow[other, edge].append((end, lag))
        ready = [point for point, count in left.items() if count == 0]
        times = defaultdict(int)
        while ready:
            point = ready.pop()
            known[point] = times[point]
            for other, lag in follow[point]:
                times[other] = max(times[other], known[point] + lag)
                left[other] -= 1
                if left[other] == 0:
                    ready.append(other)
        assert len(known) == 2 * len(self.nodes), "the programs wait for each other"
        return known

    def run(self):
        """Solve it and keep the times in the nodes."""
        known = self.solve()
        for node in self.nodes:
            node.start, node.end = known[node, "start"], known[node, "end"]
        return self

    def ends(self, step, known=None):
        """Return by rank when its step is over."""
        at = (lambda n: n.end) if known is None else (lambda n: known[n, "end"])
        mine = [n for n in self.nodes if n.step == step and n.rank >= 0 and n.own]
        return {r: max(at(n) for n in mine if n.rank == r) for r in range(self.size)}

    def windows(self, step):
        """Return by rank from when to when a step lasts: from the update before to its own."""
        before, own = self.ends(step - 1), self.ends(step)
        return {rank: (before[rank], own[rank]) for rank in before}

    def completion(self, step, change=None):
        """Return a step's length over all ranks where work in it lasts `change(node)` times."""
        windows = self.windows(step)
        first = min(low for low, _ in windows.values())
        if change is None:
            return max(high for _, high in windows.values()) - first

        def lasts(node):
            if node.step < step:
                return node.ns
            low = windows[node.rank][0] if node.rank >= 0 else first
            # What ran before the step began stays as it was.
            done = min(max(low - node.start, 0), node.ns)
            return done + round((node.ns - done) * change(node))

        return max(self.ends(step, self.solve(lasts)).values()) - first

    def documents(self):
        """Return each rank's trace."""
        return {rank.number: rank.document() for rank in self.ranks}


class Rank:
    """One process: threads, streams, and the rows that a profiler would write."""

    def __init__(self, machine, number):
        self.machine, self.number, self.step, self.kind = machine, number, 0, "host"
        self.thread, self.last, self.streams = MAIN, {}, {}
        self.waits, self.rows, self.open = defaultdict(list), [], []
        self.correlation, self.sequence, self.baton = 0, defaultdict(int), []
        self.events = {}

    # What runs on threads.

    def _host(self, name, ns, holds=(), kind=None, *, own=True):
        after = [(self.last[self.thread], "end", 0)] if self.thread in self.last else []
        after += [(node, "end", 500) for node in self.baton]
        self.baton = []
        node = self.machine.node(
            self.number, self.step, kind or self.kind, name, ns, after, list(holds), own=own
        )
        node.thread = self.thread
        self.last[self.thread] = node
        for inside in self.open:
            inside.append(node)
        return node

    def _row(self, node, cat, **args):
        self.rows.append((cat, node.name, 1, self.thread, node, node, args))
        return node

    def op(self, name, us, *, cat="cpu_op", **args):
        """Run an operator on the current thread."""
        return self._row(self._host(name, round(us * 1000)), cat, **args)

    def call(self, name, ns=CALL, holds=(), **args):
        """Call the runtime."""
        self.correlation += 1
        node = self._host(name, ns, holds)
        self._row(node, "cuda_runtime", correlation=self.correlation, **args)
        return node

    @contextmanager
    def region(self, name, *, cat="user_annotation", kind=None, **args):
        """Put a row around what runs inside, on the current thread."""
        inside, before, thread = [], self.kind, self.thread
        self.open.append(inside)
        self.kind = kind or self.kind
        yield
        self.kind = before
        self.open.pop()
        mine = [node for node in inside if node.thread == thread]
        self.rows.append((cat, name, 1, thread, mine[0], mine[-1], args))

    @contextmanager
    def on(self, thread):
        """Give the work to another thread, and get it back when that is done."""
        before = self.thread
        self.baton, self.thread = [self.last[before]] if before in self.last else [], thread
        yield
        self.baton, self.thread = [self.last[thread]], before

    # What runs on streams.

    def _device(self, call, name, ns, stream, **options):
        after = [(call, "start", LAG)]
        if stream in self.streams:
            after.append((self.streams[stream], "end", BETWEEN))
        after += [(node, "end", BETWEEN) for node in self.waits.pop(stream, [])]
        node = self.machine.node(
            self.number, self.step, options.pop("kind", self.kind), name, ns, after, **options
        )
        self.streams[stream] = node
        return node

    def kernel(self, name, us, *, stream=COMPUTE, cat="kernel", launch="cudaLaunchKernel"):
        """Launch a kernel."""
        call = self.call(launch)
        node = self._device(call, name, round(us * 1000), stream)
        self.rows.append((cat, name, 0, stream, node, node,
                          {"stream": stream, "correlation": self.correlation}))  # fmt: skip
        return node

    def graph(self, names, us, *, stream=COMPUTE):
        """Launch many kernels at once."""
        call = self.call("cudaGraphLaunch")
        for name, each in zip(names, us, strict=True):
            node = self._device(call, name, round(each * 1000), stream)
            self.rows.append(("kernel", name, 0, stream, node, node,
                              {"stream": stream, "correlation": self.correlation}))  # fmt: skip
        return node

    def record(self, stream):
        """Record an event: what was launched last on a stream."""
        self.call("cudaEventRecord", 1_000)
        self.events[self.streams.get(stream)] = (stream, self.correlation)
        return self.streams.get(stream)

    def wait(self, stream, event):
        """Let a stream wait for an event."""
        call = self.call("cudaStreamWaitEvent", 1_000)
        if event is not None:
            self.waits[stream].append(event)
        if event is not None and self.machine.syncs:
            source, record = self.events[event]
            self.rows.append(("cuda_sync", "Stream Wait Event", 0, stream, call, call, {
                "stream": stream, "correlation": self.correlation, "wait_on_stream": source,
                "wait_on_cuda_event_record_corr_id": record,
            }))  # fmt: skip

    def sync(self, stream=None, event=None):
        """Wait on the host for a stream, an event, or the whole device."""
        nodes = [event] if event else [self.streams[stream]] if stream else self.streams.values()
        name = "cudaEventSynchronize" if event else "cudaStreamSynchronize"
        name = name if stream or event else "cudaDeviceSynchronize"
        return self.call(name, 1_000, [(node, "end", 2_000) for node in nodes])

    def collective(self, kind, us, *, group="0", stream=LINK, elements=1000, **said):
        """Take part in a collective: it transfers once all members have begun."""
        members = self.machine.groups[group]
        number = self.sequence[group]
        self.sequence[group] += 1
        key = (group, number)
        call = self.call("cudaLaunchKernelExC")
        self._join(key, call, kind, us, stream, {
            "Collective name": kind, "In msg nelems": elements, "Out msg nelems": elements,
            "Group size": len(members), "dtype": "Float", "Process Group Name": group,
            "Process Group Description": f"pg {group}", "Process Group Ranks": str(members),
            "Seq": number, **said,
        })  # fmt: skip

    def _join(self, key, call, kind, us, stream, said):
        machine = self.machine
        if key not in machine.transfers:
            machine.transfers[key] = machine.node(
                -1, self.step, "exchange", KERNELS[kind], round(us * 1000)
            )
        transfer = machine.transfers[key]
        node = self._device(call, KERNELS[kind], 0, stream, kind="exchange",
                            holds=[(transfer, "end", 0)])  # fmt: skip
        transfer.after.append((node, "start", 0))
        machine.parts[key][self.number] = node
        self.rows.append(("kernel", KERNELS[kind], 0, stream, node, node,
                          {"stream": stream, "correlation": self.correlation, **said}))  # fmt: skip

    def gloo(self, us, *, elements=1000):
        """Post an all-reduce to the worker thread; return what is done when it is over."""
        number = self.sequence["0"]
        self.sequence["0"] += 1
        dims = {"Input Dims": [[elements]], "Input type": ["float"]}
        call = self.op("c10d::allreduce_", 4, **{"Input Dims": [[[elements]]]})
        machine, key = self.machine, ("0", number)
        if key not in machine.transfers:
            name = "gloo:all_reduce"
            machine.transfers[key] = machine.node(-1, self.step, "exchange", name, round(us * 1000))
        transfer = machine.transfers[key]
        after = [(call, "start", LAG)]
        if WORKER in self.last:
            after.append((self.last[WORKER], "end", BETWEEN))
        node = machine.node(self.number, self.step, "exchange", "gloo:all_reduce", 0, after,
                            [(transfer, "end", 0)])  # fmt: skip
        self.last[WORKER] = node
        transfer.after.append((node, "start", 0))
        machine.parts[key][self.number] = node
        self.rows.append(("user_annotation", node.name, 1, WORKER, node, node, dims))
        return node

    def until(self, node):
        """Let the current thread stand still, with no row to say so, until something is over."""
        self.baton.append(node)

    def send(self, to, us, *, stream=LINK, elements=500):
        """Send to another rank, which receives."""
        self._pair("send", self.number, to, us, stream, elements)

    def receive(self, source, us, *, stream=LINK, elements=500):
        """Receive from another rank."""
        self._pair("recv", source, self.number, us, stream, elements)

    def _pair(self, kind, source, to, us, stream, elements):
        key = ("pair", source, to, self.sequence["pair", source, to])
        self.sequence["pair", source, to] += 1
        call = self.call("cudaLaunchKernelExC")
        self._join(key, call, kind, us, stream, {
            "Collective name": kind, "In msg nelems": elements, "Out msg nelems": elements,
            "Group size": 2, "dtype": "Float", "Process Group Name": "0",
            "Process Group Ranks": str(self.machine.groups["0"]),
            "Src Rank": source, "Dst Rank": to,
        })  # fmt: skip

    # What is written.

    def document(self):
        """Return the trace."""
        events = []
        for cat, name, pid, tid, first, last, args in self.rows:
            events.append(
                {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
                 "ts": first.start / 1000, "dur": (last.end - first.start) / 1000, "args": args}
            )  # fmt: skip
        groups = [
            {"pg_name": name, "pg_desc": f"pg {name}", "pg_size": len(members), "ranks": members}
            for name, members in self.machine.groups.items()
            if self.number in members
        ]
        info = {"backend": "nccl", "rank": self.number, "world_size": self.machine.size,
                "pg_config": groups}  # fmt: skip
        return {"schemaVersion": 1, "distributedInfo": info, "baseTimeNanoseconds": BASE_NS,
                "traceEvents": events}  # fmt: skip
