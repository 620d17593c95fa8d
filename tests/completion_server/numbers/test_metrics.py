"""Every record moves exactly the metrics that it should, by amounts worked out by hand."""

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from completion_server.backend import Snapshot
from completion_server.numbers.metrics import Metrics, SnapshotCollector
from completion_server.numbers.records import DraftRecord, EventRecord, KeyRecord, PassRecord, Record, RequestRecord


def moved(*records: Record) -> dict[str, float]:
    """Samples that are not zero, as `name{label=value}` without the pair."""
    metrics = Metrics()
    for record in records:
        metrics.add(record)
    return samples(metrics.registry)


def samples(registry: CollectorRegistry) -> dict[str, float]:
    return {
        f"{sample.name}{{{_labels(sample.labels)}}}": sample.value
        for family in text_string_to_metric_families(generate_latest(registry).decode())
        for sample in family.samples
        if sample.value and not sample.name.endswith(("_created", "_bucket"))
    }


def _labels(labels: dict[str, str]) -> str:
    return ",".join(f"{name}={labels[name]}" for name in sorted(labels.keys() - {"pair"}))


def test_a_finished_request() -> None:
    record = RequestRecord(
        0, "lsp", "p", "python", "completed", prompt_tokens=10, cached_tokens=8, computed_tokens=2, completion_tokens=5,
        drafted_tokens=4, accepted_tokens=3, target_passes=2, queue_ms=1, first_tokens_ms=20, ttft_ms=30, e2e_ms=60,
    )  # fmt: skip
    assert moved(record) == {
        "foretype_requests_total{outcome=completed}": 1,
        "foretype_prompt_tokens_total{source=cached}": 8,
        "foretype_prompt_tokens_total{source=computed}": 2,
        "foretype_generation_tokens_total{}": 5,
        "foretype_target_passes_total{}": 2,
        "foretype_request_queue_time_seconds_count{}": 1,
        "foretype_request_queue_time_seconds_sum{}": pytest.approx(0.001),
        "foretype_time_to_first_token_seconds_count{}": 1,
        "foretype_time_to_first_token_seconds_sum{}": pytest.approx(0.03),
        "foretype_e2e_request_latency_seconds_count{}": 1,
        "foretype_e2e_request_latency_seconds_sum{}": pytest.approx(0.06),
        "foretype_request_time_per_output_token_seconds_count{}": 1,
        "foretype_request_time_per_output_token_seconds_sum{}": pytest.approx(0.01),  # 40 ms for four more tokens
    }


def test_a_request_that_was_stopped_wastes_what_it_computed_and_has_no_latency() -> None:
    found = moved(RequestRecord(0, "lsp", "p", "c", "superseded", computed_tokens=7, completion_tokens=2, e2e_ms=9))
    assert found["foretype_wasted_tokens_total{}"] == 9
    assert not any("seconds" in name for name in found)


def test_a_failed_request_wastes_nothing() -> None:
    assert "foretype_wasted_tokens_total{}" not in moved(RequestRecord(0, "l", "p", "c", "failed", computed_tokens=7))


def test_that_nothing_was_wasted_is_said() -> None:
    metrics = Metrics()
    metrics.add(RequestRecord(0, "lsp", "p", "c", "completed"))
    assert 'foretype_wasted_tokens_total{pair="p"} 0.0' in generate_latest(metrics.registry).decode()


def test_drafts_by_drafter_and_position_from_one() -> None:
    assert moved(DraftRecord(0, "p", "python", "n-gram", 0, drafted=3, accepted=2)) == {
        "foretype_spec_decode_num_draft_tokens_total{drafter=n-gram,position=1}": 3,
        "foretype_spec_decode_num_accepted_tokens_total{drafter=n-gram,position=1}": 2,
    }


@pytest.mark.parametrize(
    ("width", "label"), [(1, "1"), (2, "2-4"), (4, "2-4"), (5, "5-8"), (16, "9-16"), (64, "17-64"), (256, "65+")]
)
def test_a_pass_is_timed_by_a_few_widths(width: int, label: str) -> None:
    assert moved(PassRecord(0, "p", width, 20, first=True)) == {
        f"foretype_target_pass_seconds_count{{width={label}}}": 1,
        f"foretype_target_pass_seconds_sum{{width={label}}}": pytest.approx(0.02),
    }


def test_a_later_pass_is_what_a_reader_waits_for_between_tokens() -> None:
    found = moved(PassRecord(0, "p", 1, 20, first=True), PassRecord(0, "p", 1, 30, first=False))
    assert found["foretype_inter_token_latency_seconds_count{}"] == 1
    assert found["foretype_inter_token_latency_seconds_sum{}"] == pytest.approx(0.03)
    assert found["foretype_target_pass_seconds_count{width=1}"] == 2


@pytest.mark.parametrize(
    ("suggestion_ms", "first_tokens_ms", "good"), [(150, 80, True), (151, 80, False), (150, 81, False)]
)
def test_a_good_key_meets_both_limits(suggestion_ms: float, first_tokens_ms: float, good: bool) -> None:
    key = KeyRecord(0, "vim", "p", "go", "engine", 4, suggestion_ms, first_tokens_ms)
    assert ("foretype_good_keystrokes_total{}" in moved(key)) is good


def test_a_key_from_the_cache_is_good_and_not_timed() -> None:
    found = moved(KeyRecord(0, "vim", "p", "go", "from-cache", 4, 1.0))
    assert found["foretype_good_keystrokes_total{}"] == 1
    assert "foretype_keystroke_to_suggestion_seconds_count{}" not in found


def test_an_event_counts_once_and_by_its_characters() -> None:
    found = moved(*[EventRecord(0, "vim", "p", "go", "accepted", 12)] * 2)
    assert sorted(found.values()) == [2, 24]


def test_gauges_are_read_at_each_scrape() -> None:
    now = Snapshot(running=1)
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(lambda: now))
    assert samples(registry)["foretype_num_requests_running{}"] == 1
    assert not any("device_memory" in name for name in samples(registry))
    now = Snapshot("cuda:0", running=3, kv_bytes=5, evictions=2, device_bytes=7)
    assert samples(registry)["foretype_num_requests_running{}"] == 3
    assert samples(registry)["foretype_kv_bytes{}"] == 5
    assert samples(registry)["foretype_evictions_total{}"] == 2
    assert samples(registry)["foretype_device_memory_bytes{device=cuda:0}"] == 7
