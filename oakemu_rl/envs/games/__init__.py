"""Games for the Spectrum: definitions, our own games, and the environment that plays them."""

from oakemu_rl.envs.games.registry import register_games

register_games()
