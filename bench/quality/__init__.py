"""Suggestions at cursors of real code, against what its authors wrote: `python -m bench.quality`."""
