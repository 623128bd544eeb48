"""Metric names."""

from oakemu_rl.metrics import names

NAMES = [
    value
    for key, value in vars(names).items()
    if key.isupper() and key != "ENV_STEPS" and isinstance(value, str)
]


def test_every_name_is_a_group_and_a_thing_and_none_comes_twice() -> None:
    assert all(len(name.split("/")) == 2 for name in NAMES)
    assert len(set(NAMES)) == len(NAMES)


def test_what_stable_baselines3_measures_too_is_spelled_as_there() -> None:
    assert {
        "rollout/ep_rew_mean",
        "rollout/ep_len_mean",
        "eval/mean_reward",
        "eval/mean_ep_length",
        "train/approx_kl",
        "train/clip_fraction",
        "train/clip_range",
        "train/entropy_loss",
        "train/explained_variance",
        "train/learning_rate",
        "train/loss",
        "train/n_updates",
        "train/policy_gradient_loss",
        "train/value_loss",
        "time/fps",
        "time/iterations",
        "time/time_elapsed",
        "time/total_timesteps",
    } <= set(NAMES)
