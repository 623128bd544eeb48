"""N environments that step together, whatever Gymnasium's autoreset mode they were made with.

What is handed out is the same in each mode: the true next observation of every step, and the
observation to act on now. Spaces are converted, numbers checked, episodes counted. Making
environments and stacking frames is not here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from gymnasium.error import DependencyNotInstalled
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, VectorEnv

from oakemu_rl.core.errors import EnvironmentFaultError
from oakemu_rl.core.observations import ActionSpec, ObservationSpec
from oakemu_rl.envs.autoreset import (
    FINAL_INFO_KEY,
    autoreset_mode,
    episode_successes,
    final_observations,
)
from oakemu_rl.envs.episodes import EpisodeTally, FinishedEpisode
from oakemu_rl.envs.masks import Flags, MaskReader, Masks, sub_environments
from oakemu_rl.envs.origin import note_origin
from oakemu_rl.envs.spaces import (
    Array,
    Batch,
    action_names,
    action_spec,
    first_action,
    observation_conversion,
)
from oakemu_rl.envs.values import VALUES, ValueReader, Values

DEFAULT_FRAMES_PER_SECOND = 30.0
GREATEST_REWARD = float(np.finfo(np.float32).max)


@attrs.frozen(kw_only=True, eq=False)
class VectorStep:
    """What one step of N environments led to.

    `next_observations` are those that the actions led to, at an episode's end as well: never those
    after a reset; `next_action_masks` and `next_values` belong to them. In a state that ended an
    episode for good no action is taken, and its mask allows all. Where `valid` is false the
    environment was only reset in this call, its action was ignored, and the row is no experience.
    `began` marks environments whose observation to act on now is the first of an episode.

    Shapes:
        next_observations [N, ...]; rewards [N] float32; terminated, truncated, valid, began [N]
        bool; next_action_masks [N, A] bool or None; next_values [N] float32 each.
    """

    next_observations: Batch
    next_action_masks: Masks | None
    next_values: Values
    rewards: npt.NDArray[np.float32]
    terminated: Flags
    truncated: Flags
    valid: Flags
    began: Flags
    episodes: tuple[FinishedEpisode, ...]


class VectorEnvironment:
    """An adapter over a Gymnasium vector environment, switched on its declared autoreset mode.

    - NEXT_STEP: the call after an end resets and steps nothing; its row is not valid.
    - SAME_STEP: the end's true observation is taken from `final_obs`.
    - DISABLED: environments that ended are reset here, in the same call.

    Arrays that are handed out belong to the caller; nothing writes to them later.

    Args:
        envs: the environments.
        name: what they are called in messages; None takes what they call themselves.
        value_names: named values of the environments that are read at every step.

    Raises:
        UnsupportedEnvironmentError: the autoreset mode is absent or unknown, a space cannot be
            trained on, or a named value cannot be read.
    """

    def __init__(
        self,
        envs: VectorEnv[Any, Any, Any],
        *,
        name: str | None = None,
        value_names: Sequence[str] = (),
    ) -> None:
        members = sub_environments(envs)
        self._name = name or _name(envs)
        self._envs = envs
        self._mode = autoreset_mode(envs, environment=self._name)
        self._conversion = observation_conversion(
            envs.single_observation_space, environment=self._name
        )
        self._action_spec = action_spec(
            envs.single_action_space,
            environment=self._name,
            names=action_names(members[0]) if members else (),
        )
        self._first_action = first_action(envs.single_action_space)
        self._masks = MaskReader(envs, actions=self._action_spec.count, environment=self._name)
        self._values = ValueReader(envs, names=value_names, mode=self._mode, environment=self._name)
        self._observations: Batch | None = None
        self._action_masks: Masks | None = None
        self._count = envs.num_envs
        self._episodes = EpisodeTally(self._count)
        self._waiting: Flags | None = None
        self._every = np.ones(self._count, dtype=np.bool_)
        self._none = np.zeros(self._count, dtype=np.bool_)

    @property
    def count(self) -> int:
        """The number of environments, N."""
        return self._count

    @property
    def observation_spec(self) -> ObservationSpec:
        """What one environment's observations look like."""
        return self._conversion.spec

    @property
    def action_spec(self) -> ActionSpec:
        """The actions of one environment."""
        return self._action_spec

    @property
    def observations(self) -> Batch:
        """The observations [N, ...] to act on now."""
        if self._observations is None:
            raise RuntimeError("reset() must be called before the first observation is asked for")
        return self._observations

    @property
    def action_masks(self) -> Masks | None:
        """The masks [N, A] of `observations`, true where legal; None where there are no masks.

        An environment that waits for its reset ignores its action, so there every action is legal.
        """
        return self._action_masks

    @property
    def values_now(self) -> Values:
        """The named values [N] of the states to act on now, those of `value_names`."""
        return self._values.read()

    def reset(self, seeds: Sequence[int]) -> None:
        """Start an episode in each environment, from one seed each.

        An environment that is vectorised in itself takes a single seed: the first.

        Raises:
            ValueError: there is not one seed for each environment.
            EnvironmentFaultError: an observation is not finite, or a mask is wrong.
        """
        if len(seeds) != self.count:
            raise ValueError(f"seeds: expected {self.count}, one an environment, got {len(seeds)}")
        one_each = sub_environments(self._envs) or isinstance(self._envs.unwrapped, AsyncVectorEnv)
        seed: Any = [int(seed) for seed in seeds] if one_each else int(seeds[0])
        raw, infos = self._answer(self._envs.reset, seed=seed)
        self._episodes = EpisodeTally(self.count)
        self._waiting = None
        self._observations = self._converted(raw)
        self._action_masks = self._masks.read_after_reset(infos)

    def step(self, actions: Array) -> VectorStep:
        """Take an action [N] in each environment; those that end are reset as their mode says.

        Raises:
            ValueError: `actions` are not N integers.
            EnvironmentFaultError: a reward or an observation is not finite, or a mask is wrong.
        """
        raw, raw_rewards, terminations, truncations, infos = self._answer(
            self._envs.step, self._given(actions)
        )
        terminated = np.array(terminations, dtype=np.bool_)
        truncated = np.array(truncations, dtype=np.bool_)
        valid, began = self._every.copy(), self._none.copy()
        if self._waiting is not None:
            valid, began = ~self._waiting, self._waiting
            raw_rewards = np.where(valid, raw_rewards, 0.0)
            terminated &= valid
            truncated &= valid
        self._episodes.add(raw_rewards)
        rewards = self._checked_rewards(raw_rewards)
        next_observations = self._observations = self._converted(raw)
        next_values = self._values.read()
        ended = terminated | truncated
        episodes: tuple[FinishedEpisode, ...] = ()
        if True not in ended.tolist():
            self._waiting = None
            next_masks = self._action_masks = self._masks.read(infos, rows=self._every)
        else:
            next_masks = self._read_masks(infos, ended=ended, terminated=terminated)
            next_observations = self._end_episodes(next_observations, infos, ended)
            waits = self._mode is AutoresetMode.NEXT_STEP
            self._waiting = ended if waits else None
            began = began if waits else ended
            episodes = self._episodes.finish(
                ended,
                successes=episode_successes(infos, ended=ended, mode=self._mode),
                idle_steps=int(waits),
            )
        return VectorStep(
            next_observations=next_observations,
            next_action_masks=next_masks,
            next_values=next_values,
            rewards=rewards,
            terminated=terminated,
            truncated=truncated,
            valid=valid,
            began=began,
            episodes=episodes,
        )

    def render(self, index: int) -> Array | None:
        """The picture that environment `index` draws of itself.

        None where it draws none, or lacks a package to draw with.
        """
        members = sub_environments(self._envs)
        try:
            frame: Any = members[index].render() if members else self._envs.render()
        except DependencyNotInstalled:
            return None
        if not members and frame is not None:
            frame = frame[index]
        return frame if isinstance(frame, np.ndarray) else None

    @property
    def frames_per_second(self) -> float:
        """How many steps make a second for a person who watches."""
        return float(self._envs.metadata.get("render_fps", DEFAULT_FRAMES_PER_SECOND))

    def values(self, index: int) -> Mapping[str, int]:
        """The named memory values of the game that environment `index` plays."""
        values: Mapping[str, int] = sub_environments(self._envs)[index].get_wrapper_attr(VALUES)
        return values

    def close(self) -> None:
        """Release the environments."""
        self._envs.close()

    def _read_masks(
        self, infos: Mapping[str, Any], *, ended: Flags, terminated: Flags
    ) -> Masks | None:
        """Set the masks to act on now where they are known yet; returned are those of the true next
        observations."""
        if self._mode is AutoresetMode.SAME_STEP:
            self._action_masks = self._masks.read(infos, rows=self._every)
            final = infos.get(FINAL_INFO_KEY, {})
            cut = self._masks.read_where_given(final, rows=ended & ~terminated)
        else:
            cut = self._masks.read_at_ends(infos, ended=ended, terminated=terminated)
            self._action_masks = cut
        if self._action_masks is None or cut is None:
            return None
        next_masks = np.where(ended[:, None], cut, self._action_masks)
        if self._mode is not AutoresetMode.SAME_STEP:
            # What waits for its reset ignores its action.
            self._action_masks = cut | ended[:, None]
        return next_masks

    def _end_episodes(self, returned: Batch, infos: Mapping[str, Any], ended: Flags) -> Batch:
        """Go on from ends to what is acted on next; the true next observations are returned."""
        if self._mode is AutoresetMode.NEXT_STEP:
            return returned
        if self._mode is AutoresetMode.SAME_STEP:
            final = final_observations(self._envs, infos, ended=ended, environment=self._name)
            return _with_rows(returned, ended, self._converted(final, ended))
        raw, reset_infos = self._answer(self._envs.reset, options={"reset_mask": ended.copy()})
        self._observations = self._converted(raw)
        reset_masks = self._masks.read(reset_infos, rows=ended)
        if self._action_masks is not None and reset_masks is not None:
            self._action_masks[ended] = reset_masks[ended]
        return returned

    def _answer(self, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """What the environments answer; an exception in one of them gets a note that names it."""
        try:
            return call(*given, **named)
        except Exception as error:
            note_origin(error, sub_environments(self._envs), environment=self._name)
            raise

    def _given(self, actions: Array) -> Array:
        if actions.shape != (self._count,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions: expected {self._count} integers, "
                f"got {actions.dtype} of shape {actions.shape}"
            )
        wide = actions.astype(np.int64, copy=False)
        return wide + self._first_action if self._first_action else wide

    def _checked_rewards(self, raw: Array) -> npt.NDArray[np.float32]:
        given = np.asarray(raw)
        # Before they are cast, since for a number beyond float32 that would be an overflow.
        for row, reward in enumerate(given.tolist()):
            if not -GREATEST_REWARD <= reward <= GREATEST_REWARD:
                raise self._fault(row, f"the reward {float(reward)}")
        return given.astype(np.float32)

    def _converted(self, raw: Any, rows: Flags | None = None) -> Batch:
        """The observations of the environments in `rows`, or of all, as the model takes them."""
        batch = self._conversion.convert(raw)
        if isinstance(batch, np.ndarray):
            self._check_finite("observation", batch, rows)
        else:
            for name, array in batch.items():
                self._check_finite(f"observation {name!r}", array, rows)
        return batch

    def _check_finite(self, name: str, array: Array, rows: Flags | None) -> None:
        if array.dtype.kind != "f":
            return
        finite = np.isfinite(array)
        if np.count_nonzero(finite) != finite.size:
            place = int(np.argmin(finite.reshape(len(finite), -1).all(axis=1)))
            row = place if rows is None else int(np.flatnonzero(rows)[place])
            raise self._fault(row, f"an {name} with NaN or an infinite number in it")

    def _fault(self, row: int, what: str) -> EnvironmentFaultError:
        return EnvironmentFaultError(
            f"environment {row} of {self._name!r} gave {what} at step "
            f"{self._episodes.length(row)} of its episode; allowed are finite float32 numbers"
        )


def _with_rows(batch: Batch, rows: Flags, replacements: Batch) -> Batch:
    """A copy of `batch` in which `rows` hold the `replacements`, in order."""
    if isinstance(batch, Mapping):
        assert isinstance(replacements, Mapping)
        return {
            name: _with_array_rows(array, rows, replacements[name]) for name, array in batch.items()
        }
    assert isinstance(replacements, np.ndarray)
    return _with_array_rows(batch, rows, replacements)


def _with_array_rows(array: Array, rows: Flags, replacements: Array) -> Array:
    merged = array.copy()
    merged[rows] = replacements
    return merged


def _name(envs: VectorEnv[Any, Any, Any]) -> str:
    spec = envs.spec
    members = sub_environments(envs)
    if spec is None and members:
        spec = members[0].spec
    return (
        type(members[0].unwrapped if members else envs.unwrapped).__name__
        if spec is None
        else spec.id
    )
