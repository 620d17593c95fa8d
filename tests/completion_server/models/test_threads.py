"""How many threads a pass gets, on a clock that the test moves."""

from completion_server.models.threads import ThreadChoice


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def make() -> tuple[ThreadChoice, Clock]:
    clock = Clock()
    return ThreadChoice({1: {1: 10.0, 2: 12.0}, 8: {1: 20.0, 2: 14.0}}, clock), clock


def test_the_faster_number_by_width() -> None:
    threads, _ = make()
    assert [threads.count(width) for width in (1, 2, 8, 100)] == [1, 2, 2, 2]


def test_a_late_pass_is_followed_by_a_pause_on_one_thread() -> None:
    threads, clock = make()
    threads.observe(8, 2, 29.0)  # not yet half as much again as one thread
    assert threads.count(8) == 2
    threads.observe(8, 2, 31.0)
    assert threads.count(8) == 1
    clock.now = 1.0
    assert threads.count(8) == 2


def test_pauses_double_while_company_stays_and_start_anew_when_it_goes() -> None:
    threads, clock = make()
    for pause in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0):
        threads.observe(3, 2, 1000.0)
        clock.now += pause - 0.01
        assert threads.count(3) == 1
        clock.now += 0.02
        assert threads.count(3) == 2
    threads.observe(3, 2, 14.0)
    threads.observe(3, 2, 1000.0)
    clock.now += 1.0
    assert threads.count(3) == 2


def test_one_thread_and_passes_wider_than_measured_say_nothing() -> None:
    threads, _ = make()
    threads.observe(8, 1, 1000.0)
    threads.observe(9, 2, 1000.0)
    assert threads.count(8) == 2
