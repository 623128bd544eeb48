"""What a run tells a person at its end."""

from pathlib import Path

from rich.console import Console

from oakemu_rl.experiments.result import ExperimentResult


def told(result: ExperimentResult) -> str:
    console = Console(width=100)
    with console.capture() as capture:
        console.print(result.summary())
    return capture.get()


def test_a_single_game_has_a_mean_and_no_interval() -> None:
    result = ExperimentResult(
        folder=Path("runs/x"), exit_code=0, steps=64, seconds=1.0, test_mean=3.0, scores=(3.0,)
    )
    text = told(result)
    assert "agent, mean of 1 games" in text
    assert "3.00" in text
    assert "interval" not in text


def test_an_interval_stands_beside_the_mean() -> None:
    result = ExperimentResult(
        folder=Path("runs/x"), exit_code=0, steps=64, seconds=1.0,
        test_mean=3.0, scores=(2.0, 4.0), interval=(1.5, 4.5), random_mean=1.0,
    )  # fmt: skip
    text = told(result)
    assert "3.00 (95% interval 1.50 to 4.50)" in text
    assert "random player, same games" in text
    assert "scripted" not in text
