"""A game as a Gymnasium environment: steps, rewards, observations, and exact saved states."""

import json
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from oakemu_rl.core.emulator import Emulator
from oakemu_rl.core.errors import GameError
from oakemu_rl.envs.games.definition import GameDefinition, MemoryValue
from oakemu_rl.envs.games.registry import find_game
from oakemu_rl.envs.spectrum.machine import FRAMES_PER_SECOND, SpectrumMachine
from oakemu_rl.envs.spectrum.screen import colour_image, grey_image, palette

GameObservation = NDArray[Any] | dict[str, NDArray[Any]]

_STATE_MARK = b"OAKGAME\x01"


class SpectrumGame(gymnasium.Env[GameObservation, np.int64]):
    """A game in a machine of its own; any number of them live in one process.

    The game is started once, when the environment is made, and its state kept; `reset` goes back to
    that state and draws the game's seeds from `np_random`. A step holds the action's keys and runs
    `frame_skip` frames, or fewer where the end comes inside them; its reward is the sum over these
    frames. Observations are fresh arrays: grey screens [1, height, width] uint8, memory values
    [count] float32.

    Raises:
        GameError: the game is unknown or wrong.
        MissingExtraError: the package `zx` is not installed.
    """

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        game: str | GameDefinition,
        *,
        render_mode: str | None = None,
        border_pixels: int = 0,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is {render_mode!r}, allowed are None and 'rgb_array'")
        if border_pixels < 0:
            raise ValueError(f"border_pixels is {border_pixels}, allowed is 0 or more")
        self.definition = find_game(game) if isinstance(game, str) else game
        self.render_mode = render_mode
        self._border_pixels = border_pixels
        settings = self.definition.settings
        self._keys = tuple(settings.actions.values())
        self._hold_frames = settings.timing.hold_frames or settings.timing.frame_skip
        watched = self.definition.reward.names | self.definition.terminated.names
        self._watched = {name: settings.values[name] for name in watched}
        self.metadata = {
            **self.metadata,
            "render_fps": FRAMES_PER_SECOND / settings.timing.frame_skip,
        }
        self.action_space = spaces.Discrete(len(self._keys))
        self.observation_space = _observation_space(self.definition)
        self._machine: Emulator = SpectrumMachine()
        self._start = self._start_up()
        self._playing = False
        self._steps = 0
        self._steps_without_reward = 0

    @property
    def action_names(self) -> tuple[str, ...]:
        """The name of each action, by number."""
        return tuple(self.definition.settings.actions)

    @property
    def values(self) -> Mapping[str, int]:
        """The game's named values as they are in memory now."""
        return self._read(self.definition.settings.values)

    @property
    def frames(self) -> int:
        """Video frames run since the environment was made."""
        return self._machine.frames

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 - Gymnasium passes it
    ) -> tuple[GameObservation, dict[str, Any]]:
        """Begin an episode; `seed` decides the game's random numbers, else they are drawn on."""
        super().reset(seed=seed)
        self._machine.load(self._start)
        settings = self.definition.settings
        for name in settings.reset.seeds:
            value = settings.values[name]
            drawn = int(self.np_random.integers(1, value.highest, endpoint=True))
            self._machine.write(value.address, drawn.to_bytes(value.size, "little"))
        self._playing = True
        self._steps = 0
        self._steps_without_reward = 0
        return self.observe(), {}

    def step(
        self, action: np.int64 | int
    ) -> tuple[GameObservation, float, bool, bool, dict[str, Any]]:
        """Take one action.

        Raises:
            ResetNeeded: the episode has ended, or none has begun.
            ValueError: there is no such action.
        """
        if not self._playing:
            raise ResetNeeded("no episode is being played; call reset() first")
        number = int(action)
        if not 0 <= number < len(self._keys):
            raise ValueError(
                f"action is {action}, allowed are 0 to {len(self._keys) - 1}: "
                f"{', '.join(self.action_names)}"
            )
        reward, terminated = self._play(self._keys[number])
        self._steps += 1
        self._steps_without_reward = 0 if reward else self._steps_without_reward + 1
        truncated = not terminated and self._is_too_long()
        self._playing = not (terminated or truncated)
        return self.observe(), float(reward), terminated, truncated, {}

    def observe(self) -> GameObservation:
        """The observation of the state as it is now."""
        seen = self.definition.settings.observation
        if seen.kind == "screen":
            return self._screen()
        values = self.definition.settings.values
        numbers = self._read({name: values[name] for name in seen.values}).values()
        memory = np.fromiter(numbers, np.float32, len(seen.values))
        return memory if seen.kind == "memory" else {"screen": self._screen(), "memory": memory}

    def render(self) -> NDArray[np.uint8] | None:
        """The whole screen in colour, [192, 256, 3], within a border where one was asked for."""
        if self.render_mode is None:
            return None
        image = colour_image(self._machine.screen())
        if not self._border_pixels:
            return image
        height, width, _ = image.shape
        edge = self._border_pixels
        framed = np.empty((height + 2 * edge, width + 2 * edge, 3), np.uint8)
        framed[:] = palette()[self._machine.border()]
        framed[edge : edge + height, edge : edge + width] = image
        return framed

    def save_state(self) -> bytes:
        """The exact state of game, episode and random numbers: see `load_state`."""
        generator = None if self._np_random is None else self._np_random.bit_generator.state
        header = {
            "game": self.definition.name,
            "playing": self._playing,
            "steps": self._steps,
            "steps_without_reward": self._steps_without_reward,
            "seed": self._np_random_seed,
            "generator": generator,
        }
        text = json.dumps(header).encode()
        return b"".join((_STATE_MARK, len(text).to_bytes(4, "little"), text, self._machine.save()))

    def load_state(self, state: bytes) -> None:
        """Take up a state of the same game: all that follows is as it was after `save_state`.

        Raises:
            GameError: `state` is no state of this game.
        """
        mark = len(_STATE_MARK)
        if not state.startswith(_STATE_MARK):
            raise GameError(
                f"this is no saved state of a game: it begins with {state[:mark]!r}, "
                f"expected {_STATE_MARK!r}"
            )
        begin = mark + 4
        end = begin + int.from_bytes(state[mark:begin], "little")
        try:
            header = json.loads(state[begin:end])
        except ValueError as error:
            raise GameError(f"this saved state of a game is damaged: {error}") from None
        if header["game"] != self.definition.name:
            raise GameError(
                f"this is a saved state of the game {header['game']!r}, "
                f"not of {self.definition.name!r}"
            )
        self._machine.load(state[end:])
        self._playing = header["playing"]
        self._steps = header["steps"]
        self._steps_without_reward = header["steps_without_reward"]
        self._np_random_seed = header["seed"]
        self._np_random = None
        if header["generator"] is not None:
            self._np_random = np.random.Generator(np.random.PCG64())
            self._np_random.bit_generator.state = header["generator"]

    def close(self) -> None:
        """Free the machine."""
        self._machine.close()

    def _start_up(self) -> bytes:
        settings = self.definition.settings
        self._machine.write(settings.program.address, self.definition.program)
        self._machine.jump(entry=settings.program.entry, stack=settings.program.stack)
        for press in settings.reset.start_up:
            self._machine.set_keys(press.keys)
            self._machine.run_frames(press.frames)
        self._machine.set_keys(())
        return self._machine.save()

    def _play(self, keys: tuple[str, ...]) -> tuple[int, bool]:
        reward_of, end_of = self.definition.reward.evaluate, self.definition.terminated.evaluate
        self._machine.set_keys(keys)
        before = self._read(self._watched)
        reward = 0
        for frame in range(self.definition.settings.timing.frame_skip):
            if frame == self._hold_frames:
                self._machine.set_keys(())
            self._machine.run_frames(1)
            now = self._read(self._watched)
            reward += reward_of(now, before)
            if end_of(now, before):
                return reward, True
            before = now
        return reward, False

    def _is_too_long(self) -> bool:
        episode = self.definition.settings.episode
        longest, idle = episode.max_steps, episode.max_steps_without_reward
        return (longest is not None and self._steps >= longest) or (
            idle is not None and self._steps_without_reward >= idle
        )

    def _read(self, values: Mapping[str, MemoryValue]) -> dict[str, int]:
        read = self._machine.read
        return {
            name: int.from_bytes(read(value.address, value.size), "little")
            for name, value in values.items()
        }

    def _screen(self) -> NDArray[np.uint8]:
        seen = self.definition.settings.observation
        image = grey_image(self._machine.screen(), shrink=seen.shrink, area=seen.play_area)
        return image[None]


def _observation_space(definition: GameDefinition) -> spaces.Space[Any]:
    settings = definition.settings
    seen = settings.observation
    shape = (1, seen.play_area.height // seen.shrink, seen.play_area.width // seen.shrink)
    screen = spaces.Box(0, 255, shape, np.uint8)
    if seen.kind == "screen":
        return screen
    highest = np.array([settings.values[name].highest for name in seen.values], np.float32)
    memory = spaces.Box(np.zeros_like(highest), highest, dtype=np.float32)
    return memory if seen.kind == "memory" else spaces.Dict({"screen": screen, "memory": memory})
