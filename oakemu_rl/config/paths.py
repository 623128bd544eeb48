"""The dotted paths of a configuration's settings, and what a wrong path was meant to be."""

from collections.abc import Iterable, Mapping
from typing import Any, get_args, get_origin

import attrs

from oakemu_rl.config.wording import nearest
from oakemu_rl.core.schedules import Schedule

OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "batch_size": ("optimisation.minibatch_size",),
    "beta": ("replay.importance_exponent",),
    "buffer_size": ("replay.capacity",),
    "clip_range_vf": ("loss.value_clip_range",),
    "ent_coef": ("loss.entropy_weight",),
    "eps_greedy": ("exploration.epsilon",),
    "learning_starts": ("replay.warm_up_steps",),
    "lr": ("optimisation.learning_rate",),
    "max_grad_norm": ("optimisation.max_gradient_norm",),
    "minibatch_size": ("optimisation.batch_size",),
    "n_envs": ("environment.count",),
    "n_epochs": ("optimisation.ppo_epochs",),
    "n_eval_episodes": ("evaluation.episodes",),
    "n_steps": ("rollout.steps", "replay.n_step"),
    "num_atoms": ("model.atoms",),
    "num_envs": ("environment.count",),
    "target_update_interval": ("optimisation.target_update_every",),
    "tau": ("optimisation.target_update_rate",),
    "total_timesteps": ("run.total_steps",),
    "train_freq": ("optimisation.steps_per_update",),
    "v_max": ("model.value_max",),
    "v_min": ("model.value_min",),
    "vf_coef": ("loss.value_weight",),
}
"""Where a setting with another name is found: its former path, or the word of other libraries.

Of several paths the one that the configuration at hand has is meant.
"""


def is_record(wanted: Any) -> bool:
    """Whether a field of this type is a record of settings, not one setting."""
    return attrs.has(wanted) and wanted is not Schedule


def is_table(wanted: Any) -> bool:
    """Whether a field of this type is a table with keys of the user's own."""
    origin = get_origin(wanted)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def fields_of(record_type: Any) -> dict[str, Any]:
    """The types of a record's fields, by name."""
    return {field.name: field.type for field in attrs.fields(attrs.resolve_types(record_type))}


def setting_paths(record_type: Any) -> dict[str, Any]:
    """The types of all settings below a record, by dotted path."""
    paths: dict[str, Any] = {}
    for name, wanted in fields_of(record_type).items():
        if is_record(wanted):
            paths |= {f"{name}.{path}": inner for path, inner in setting_paths(wanted).items()}
        else:
            paths[name] = wanted
    return paths


def setting_type(path: str, paths: Mapping[str, Any]) -> Any:
    """The type of the setting at `path`, or of a key in a table of the user's own, or None."""
    parent, _, _ = path.rpartition(".")
    if path not in paths and is_table(paths.get(parent)):
        return get_args(paths[parent])[1]
    return paths.get(path)


def misplaced(path: str, paths: Iterable[str]) -> list[str]:
    """Where a setting lies that is known by this name in another group, or elsewhere than here."""
    known, last = list(paths), _last(path)
    others = OTHER_NAMES.get(path, OTHER_NAMES.get(last, ()))
    if here := [other for other in others if other in known]:
        return here
    return _within(path, [candidate for candidate in known if _last(candidate) == last])


def meant(path: str, paths: Iterable[str]) -> list[str]:
    """What a wrong path may have meant: another name or place, a whole group, another spelling."""
    known = list(paths)
    group = [candidate for candidate in known if candidate.startswith(f"{path}.")]
    if alike := misplaced(path, known) or group:
        return alike
    if "." in path and (close := nearest(path, known)):
        return [close]
    word = nearest(_last(path), {_last(candidate) for candidate in known})
    return [candidate for candidate in known if _last(candidate) == word]


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _within(path: str, candidates: list[str]) -> list[str]:
    """The candidate whose group is spelt like the path's, or all of them where none is."""
    groups = {_group(candidate): candidate for candidate in candidates}
    close = nearest(_group(path), groups)
    return candidates if close is None else [groups[close]]


def _group(path: str) -> str:
    return path.rpartition(".")[0]
