"""The engine: what to compute next, for whom, and what to answer. One thread, at most one target pass per step."""
