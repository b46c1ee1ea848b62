"""An endpoint that does not answer is left alone for a while, and then tried by one request."""

import pytest

from chat.breaker import FAILURES, FIRST_REST, LONGEST_REST, WITHIN, Breaker, Resting
from providers.base import AuthFailed, EndpointError, RateLimited, Unavailable

DOWN = Unavailable("The model server cannot be reached right now.", remedy="Start it.")


def _raise(error: BaseException | None) -> None:
    if error is not None:
        raise error


class Bench:
    """A breaker and the clock that it goes by."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.breaker = Breaker(clock=lambda: self.now)

    def ask(self, error: BaseException | None = None) -> str:
        """How one request ends: works, fails as told, or rests."""
        try:
            with self.breaker.request():
                _raise(error)
        except Resting as resting:
            return f"rests {resting.seconds:g}"
        except (EndpointError, KeyboardInterrupt):
            return "fails"
        return "works"

    def trip(self) -> None:
        for _ in range(FAILURES):
            assert self.ask(DOWN) == "fails"


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_it_rests_after_failures_in_a_row_and_tells_until_when(bench: Bench) -> None:
    bench.trip()
    assert bench.breaker.resting == FIRST_REST
    with pytest.raises(Resting, match="in 30 seconds"), bench.breaker.request():
        pass
    bench.now += FIRST_REST - 1
    assert bench.ask() == "rests 1"
    bench.now += 1
    assert bench.ask() == "works"
    assert bench.breaker.resting is None


@pytest.mark.parametrize("between", [None, AuthFailed("No.", remedy="Set the key.")])
def test_any_answer_shows_that_the_server_is_there(
    bench: Bench, between: AuthFailed | None
) -> None:
    for _ in range(3):
        for _ in range(FAILURES - 1):
            bench.ask(DOWN)
        bench.ask(between)
    assert bench.breaker.resting is None


def test_failures_that_lie_far_apart_do_not_add_up(bench: Bench) -> None:
    for _ in range(FAILURES * 2):
        assert bench.ask(DOWN) == "fails"
        bench.now += WITHIN / (FAILURES - 1) + 1


def test_one_request_tries_while_the_others_rest(bench: Bench) -> None:
    bench.trip()
    bench.now += FIRST_REST
    with bench.breaker.request():
        assert bench.ask() == "rests 0"
        bench.breaker.check()
    assert bench.ask() == "works"


def test_a_failed_trial_doubles_the_rest_up_to_an_end(bench: Bench) -> None:
    bench.trip()
    for rest in (30, 60, 120, 240, 480, LONGEST_REST, LONGEST_REST):
        assert bench.breaker.resting == rest
        bench.now += rest
        assert bench.ask(DOWN) == "fails"
    bench.now += LONGEST_REST
    assert bench.ask() == "works"
    bench.trip()
    assert bench.breaker.resting == FIRST_REST


def test_a_trial_that_is_given_up_leaves_the_next_one_to_try(bench: Bench) -> None:
    bench.trip()
    bench.now += FIRST_REST
    assert bench.ask(KeyboardInterrupt()) == "fails"
    assert bench.ask(DOWN) == "fails"
    assert bench.breaker.resting == 2 * FIRST_REST


def test_a_rate_limit_is_obeyed_for_as_long_as_it_says(bench: Bench) -> None:
    limited = RateLimited("Too many.", remedy="Wait.", retry_after=20)
    assert bench.ask(limited) == "fails"
    with pytest.raises(Resting, match=r"too many requests.*in 20 seconds"):
        bench.breaker.check()
    bench.now += 20
    with bench.breaker.request():
        assert bench.ask() == "works", "nothing is on trial after a rate limit"
    assert bench.ask(RateLimited("Too many.", remedy="Wait.")) == "fails"
    assert bench.ask() == "works"
