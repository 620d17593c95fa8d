"""Traces, replay, reports, demonstration: every number that is published comes from here."""
