"""How torch's worker threads wait and where they run: decided before torch is imported, by variables of libgomp.

Knows nothing of models; `models.threads` decides how many threads a pass gets.
"""

import os
from collections.abc import MutableMapping, Sequence

SPINS = 20_000  # some tenths of a millisecond


def settle_threads(
    environment: MutableMapping[str, str] = os.environ, process: int | None = None, cpus: Sequence[int] | None = None
) -> None:
    """Let threads spin for a moment, then sleep, and give each a core of its own. What is set already stays.

    Threads that sleep at once are woken some hundred times in a pass: 25 ms instead of 15 for the embedded model on two
    cores. Threads that spin for long, as is the default, take the core from the one they wait for as soon as something
    else runs. And after a pause in typing both threads often woke on the same core and stayed there for a while: 40 ms.
    Each process begins with another core, so that two engines on one machine do not sit on the same.
    """
    environment.setdefault("GOMP_SPINCOUNT", str(SPINS))
    if cpus is None:
        cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else ()
    if len(cpus) > 1 and not {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"} & environment.keys():
        first = (os.getpid() if process is None else process) % len(cpus)
        environment["GOMP_CPU_AFFINITY"] = " ".join(map(str, [*cpus[first:], *cpus[:first]]))
