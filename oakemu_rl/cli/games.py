"""The commands `games ...`."""

from rich.console import Console
from rich.table import Table

from oakemu_rl.envs.games.registry import find_game, game_names


def list_games() -> int:
    """Print the games that come with the package: names for `train`, titles and actions."""
    table = Table("game", "title", "actions")
    for name in game_names():
        settings = find_game(name).settings
        table.add_row(name, settings.title, ", ".join(settings.actions))
    Console().print(table)
    return 0
