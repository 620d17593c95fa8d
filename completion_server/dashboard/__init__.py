"""The local page with numbers so far: `foretype dashboard`."""
