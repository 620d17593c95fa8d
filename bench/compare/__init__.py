"""Pairs side by side on a person's own code: `foretype bench`.

`contenders` says who takes part, `plan` what each of them does, `run` has them do it in turns (`seat` is one of them at
its desk, `measured` what came of it). `figures`, `paired`, `rule` and `conditions` judge, `result` is the object that
programs read, and `page` with `charts` makes a report of that object alone. `command` puts all of it together.
"""
