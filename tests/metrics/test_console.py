"""The run on the screen."""

from io import StringIO

import pytest
from rich.console import Console

from oakemu_rl.metrics.console import LiveConsole, PlainConsole, console_writer
from oakemu_rl.metrics.progress import (
    Progress,
    advanced,
    progress_line,
    progress_table,
    seconds_left,
)

SPEED = {"time/fps": 500.0}
TEST = {"eval/mean_reward": 18.4, "eval/standard_error": 0.31}


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def screen(*, width: int = 100, terminal: bool = False) -> Console:
    return Console(file=StringIO(), width=width, force_terminal=terminal, color_system=None)


def shown(console: Console) -> str:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def started(total_steps: int = 1_000_000) -> Progress:
    return Progress(total_steps=total_steps, time=0.0)


class TestProgress:
    def test_a_line_tells_steps_share_speed_score_test_and_time_left(self) -> None:
        values = {**SPEED, **TEST, "rollout/ep_rew_mean": 3.25}
        progress = advanced(started(), env_steps=250_000, values=values, time=7.0)
        assert progress_line(progress, time=7.0) == (
            "  250,000 / 1,000,000 steps   25%  500 steps/s  score 3.25  "
            "test 18.4 ± 0.31 at 250,000  0:25:00 left"
        )

    def test_a_figure_stays_until_it_is_told_anew(self) -> None:
        progress = advanced(started(), env_steps=10, values=SPEED, time=1.0)
        progress = advanced(progress, env_steps=20, values={"rollout/ep_rew_mean": 1.0}, time=2.0)
        assert (progress.env_steps, progress.steps_per_second, progress.score) == (20, 500.0, 1.0)

    def test_a_test_of_older_weights_turns_no_step_back(self) -> None:
        progress = advanced(started(), env_steps=5_000, values={}, time=1.0)
        progress = advanced(progress, env_steps=4_000, values=TEST, time=2.0)
        assert progress.env_steps == 5_000
        assert progress.last_test is not None
        assert progress.last_test.env_steps == 4_000

    def test_a_better_earlier_test_is_told_beside_the_last(self) -> None:
        progress = advanced(started(), env_steps=1, values={"eval/mean_reward": 9.5}, time=1.0)
        assert "best" not in progress_line(progress, time=1.0)
        progress = advanced(progress, env_steps=2, values={"eval/mean_reward": -123.0}, time=2.0)
        assert "test -123.0 at 2, best 9.50" in progress_line(progress, time=2.0)

    def test_time_left_runs_down_between_records_and_never_below_nothing(self) -> None:
        progress = advanced(started(2_000), env_steps=1_000, values=SPEED, time=10.0)
        assert seconds_left(progress, time=10.0) == 2.0
        assert seconds_left(progress, time=11.5) == 0.5
        assert seconds_left(progress, time=99.0) == 0.0

    @pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), float("inf")])
    def test_time_left_is_not_known_without_a_speed(self, speed: float) -> None:
        progress = advanced(started(), env_steps=10, values={"time/fps": speed}, time=1.0)
        assert seconds_left(progress, time=1.0) is None
        assert seconds_left(started(), time=1.0) is None
        assert "-:--:-- left" in progress_line(started(), time=1.0)

    def test_more_steps_than_asked_are_still_all_of_it(self) -> None:
        progress = advanced(started(1_000), env_steps=1_024, values=SPEED, time=1.0)
        assert "1,024 / 1,000 steps  100%" in progress_line(progress, time=1.0)

    def test_a_run_that_goes_on_opens_where_it_was(self) -> None:
        progress = advanced(started(1_000), env_steps=400, values={}, time=1.0)
        assert "40%" in progress_line(progress, time=1.0)

    @pytest.mark.parametrize("width", [80, 100, 200])
    def test_the_table_takes_two_lines(self, width: int) -> None:
        console = screen(width=width)
        values = {**SPEED, **TEST, "rollout/ep_rew_mean": 3.25}
        progress = advanced(started(), env_steps=250_000, values=values, time=7.0)
        console.print(progress_table(progress, time=7.0))
        bar, figures = shown(console).splitlines()
        assert bar.startswith("━━━")
        assert bar.rstrip().endswith("25%    250,000 / 1,000,000 steps  0:25:00 left")
        assert len(bar) <= 100
        assert figures.strip() == "500 steps/s  ·  score 3.25  ·  test 18.4 ± 0.31 at 250,000"


class TestPlainLines:
    def test_lines_come_at_most_every_five_seconds(self) -> None:
        clock, console = Clock(), screen()
        writer = PlainConsole(total_steps=1_000, console=console, clock=clock)
        for step in range(1, 101):
            writer.write(env_steps=step, values=SPEED)
            clock.seconds += 0.25
        steps = [int(line.split("/")[0]) for line in shown(console).splitlines()]
        assert steps == [1, 21, 41, 61, 81]

    def test_a_test_is_told_at_once(self) -> None:
        console = screen()
        writer = PlainConsole(total_steps=1_000, console=console, clock=Clock())
        writer.write(env_steps=1, values=SPEED)
        writer.write(env_steps=2, values=SPEED)
        writer.write(env_steps=3, values=TEST)
        assert len(shown(console).splitlines()) == 2
        assert "test 18.4 ± 0.31 at 3" in shown(console).splitlines()[-1]

    def test_closing_tells_the_last_figures_once(self) -> None:
        console = screen()
        writer = PlainConsole(total_steps=1_000, console=console, clock=Clock())
        writer.write(env_steps=1, values=SPEED)
        writer.write(env_steps=1_000, values=SPEED)
        writer.close()
        writer.close()
        assert [line.split("/")[0].strip() for line in shown(console).splitlines()] == [
            "1",
            "1,000",
        ]

    def test_a_line_is_never_broken_nor_coloured(self) -> None:
        console = screen(width=20)
        writer = PlainConsole(total_steps=1_000, console=console, clock=Clock())
        writer.write(env_steps=1, values={**SPEED, **TEST})
        assert len(shown(console).splitlines()) == 1
        assert "\x1b" not in shown(console)


class TestLiveTable:
    def test_the_last_table_stays_on_the_screen(self) -> None:
        console = screen(terminal=True)
        writer = LiveConsole(total_steps=1_000, console=console, clock=Clock())
        writer.write(env_steps=10, values={**SPEED, "rollout/ep_rew_mean": 3.25})
        writer.write(env_steps=1_000, values=TEST)
        writer.close()
        *_, bar, figures = shown(console).rstrip("\x1b[?25h\n").splitlines()
        assert "100%  1,000 / 1,000 steps  0:00:00 left" in bar
        assert "score 3.25  ·  test 18.4 ± 0.31 at 1,000" in figures

    def test_closing_gives_the_cursor_back(self) -> None:
        console = screen(terminal=True)
        writer = LiveConsole(total_steps=1_000, console=console, clock=Clock())
        writer.close()
        assert "\x1b[?25h" in shown(console)


@pytest.mark.parametrize(
    ("mode", "terminal", "kind"),
    [
        ("auto", True, LiveConsole),
        ("auto", False, PlainConsole),
        ("live", False, LiveConsole),
        ("plain", True, PlainConsole),
        ("off", True, type(None)),
    ],
)
def test_the_mode_decides_what_is_drawn(mode: str, terminal: bool, kind: type) -> None:
    console = screen(terminal=terminal)
    writer = console_writer(mode, total_steps=10, console=console, clock=Clock())
    assert type(writer) is kind
    if writer is not None:
        writer.close()


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="auto, live, plain or off, got 'loud'"):
        console_writer("loud", total_steps=10, console=screen())
