"""What is on the screen and what becomes of it, step by step."""

from bench.replay.ghosts import Ghosts


def kinds(ghosts):
    return [(event.kind, event.characters) for event in ghosts.events]


def test_typed_through_it_stays_the_same_suggestion():
    ghosts = Ghosts()
    ghosts.answered("abc", 1.0)
    ghosts.typed("a", 1.3)
    ghosts.answered("bc", 1.31)  # what the language server gives for the rest
    assert (ghosts.text, ghosts.seen_ms(1.5)) == ("bc", 500.0)
    ghosts.typed("bc", 1.5)
    assert (ghosts.text, ghosts.seen_ms(2.0)) == ("", 0.0)
    assert kinds(ghosts) == [("shown", 3), ("typed-through", 3)]


def test_accepted_in_parts_and_whole():
    ghosts = Ghosts()
    ghosts.answered("abcdef", 1.0)
    assert ghosts.accepted("abc", 1.5)
    assert ghosts.text == "def"
    assert ghosts.accepted("def", 1.6)
    assert kinds(ghosts) == [("shown", 6), ("accepted", 6)]


def test_what_grew_is_the_same_suggestion():
    ghosts = Ghosts()
    ghosts.answered("abc", 1.0, "s1")
    ghosts.typed("a", 1.25)
    ghosts.answered("bc\ndef", 1.5, "s1")
    assert (ghosts.text, ghosts.seen_ms(2.0)) == ("bc\ndef", 1_000.0)
    ghosts.accepted("bc\ndef", 2.0)
    assert kinds(ghosts) == [("shown", 3), ("accepted", 6), ("typed-through", 1)]  # it was seen before it grew


def test_another_key_ends_it():
    ghosts = Ghosts()
    ghosts.answered("abc", 1.0)
    ghosts.accepted("a", 1.1)
    ghosts.typed("x", 1.2)
    assert ghosts.text == ""
    assert kinds(ghosts) == [("shown", 3), ("partly-accepted", 1)]


def test_what_was_hardly_seen_was_not_shown():
    ghosts = Ghosts()
    ghosts.answered("abc", 1.0)
    ghosts.answered("xyz", 1.1)
    ghosts.gone(1.2)
    assert ghosts.events == []


def test_an_accept_of_what_is_not_there_says_so():
    ghosts = Ghosts()
    assert not ghosts.accepted("abc", 1.0)
    ghosts.answered("xyz", 1.0)
    assert not ghosts.accepted("abc", 1.5)
    assert ghosts.text == ""


class Heard(list[tuple[object, ...]]):
    """A watcher that writes down what it is told."""

    def __getattr__(self, name):
        return lambda *told: self.append((name, *told))


def test_a_watcher_is_told_what_a_client_tells_its_server():
    heard = Heard()
    ghosts = Ghosts(heard)
    ghosts.answered("abcdef", 1.0, "one")
    ghosts.typed("a", 1.1)
    ghosts.answered("bcdef", 1.2, "one")
    ghosts.accepted("bc", 1.5)
    ghosts.accepted("def", 1.6)
    ghosts.answered("xyz", 2.0, "two")
    ghosts.typed("q", 2.5)
    assert heard == [
        ("shown", "one"),
        ("typed", "one", 1),
        ("partly_accepted", "one", 3),
        ("accepted", "one"),
        ("shown", "two"),
        ("replaced", "two"),
    ]
