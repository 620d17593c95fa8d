"""What libgomp is told, by hand."""

from completion_server.engine.openmp import SPINS, settle_threads


def settled(environment: dict[str, str], process: int, cpus: list[int]) -> dict[str, str]:
    settle_threads(environment, process, cpus)
    return environment


def test_each_thread_gets_a_core_and_processes_begin_at_different_ones() -> None:
    assert settled({}, 4, [0, 2, 5]) == {"GOMP_SPINCOUNT": str(SPINS), "GOMP_CPU_AFFINITY": "2 5 0"}
    assert settled({}, 6, [0, 2, 5])["GOMP_CPU_AFFINITY"] == "0 2 5"


def test_what_the_user_has_set_stays() -> None:
    assert settled({"GOMP_SPINCOUNT": "7", "OMP_PROC_BIND": "false"}, 1, [0, 1]) == {
        "GOMP_SPINCOUNT": "7",
        "OMP_PROC_BIND": "false",
    }


def test_one_core_needs_no_order() -> None:
    assert "GOMP_CPU_AFFINITY" not in settled({}, 1, [3])
