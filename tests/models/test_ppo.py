"""The PPO model: heads, weights from a generator, and what gradients reach."""

from typing import Any

import pytest
import torch
from torch import Tensor

from oakemu_rl.config.options import ModelOptions
from oakemu_rl.core.observations import ActionSpec, ObservationSpec, TensorSpec
from oakemu_rl.models.ppo import PPOModel, build_ppo_model

ACTIONS = ActionSpec(names=("noop", "left", "right"))
VECTOR = TensorSpec(shape=(4,), dtype="float32")
IMAGE = TensorSpec(shape=(2, 20, 28), dtype="uint8")
SPECS: list[ObservationSpec] = [VECTOR, IMAGE, {"screen": IMAGE, "memory": VECTOR}]


def build(spec: ObservationSpec = VECTOR, *, seed: int = 0, **options: Any) -> PPOModel:
    return build_ppo_model(
        observation_spec=spec,
        action_spec=ACTIONS,
        options=ModelOptions(**options),
        generator=torch.Generator().manual_seed(seed),
    )


def observations(spec: ObservationSpec, rows: int = 6) -> Tensor | dict[str, Tensor]:
    if not isinstance(spec, TensorSpec):
        return {name: torch.as_tensor(observations(part, rows)) for name, part in spec.items()}
    generator = torch.Generator().manual_seed(3)
    if spec.dtype == "uint8":
        return torch.randint(0, 256, (rows, *spec.shape), generator=generator, dtype=torch.uint8)
    return torch.randn(rows, *spec.shape, generator=generator)


@pytest.mark.parametrize("spec", SPECS, ids=["vector", "image", "both"])
def test_logits_and_values_have_their_shapes_and_are_float32(spec: ObservationSpec) -> None:
    output = build(spec)(observations(spec))
    assert output.logits.shape == (6, 3)
    assert output.values.shape == (6,)
    assert output.logits.dtype == output.values.dtype == torch.float32


@pytest.mark.parametrize("spec", SPECS, ids=["vector", "image", "both"])
def test_forward_is_the_heads_over_the_features(spec: ObservationSpec) -> None:
    model, batch = build(spec), observations(spec)
    features = model.features(batch)
    output = model(batch)
    assert torch.equal(output.logits, model.logits_from(features))
    assert torch.equal(output.values, model.values_from(features))
    assert torch.equal(output.values, model.calibration_values(batch))


@pytest.mark.parametrize("spec", SPECS, ids=["vector", "image", "both"])
def test_equal_generators_give_equal_weights_whatever_the_global_seed(
    spec: ObservationSpec,
) -> None:
    torch.manual_seed(1)
    first = build(spec).state_dict()
    torch.manual_seed(2)
    second, other = build(spec).state_dict(), build(spec, seed=1).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["policy_head.weight"], other["policy_head.weight"])


def test_building_does_not_move_the_global_generator() -> None:
    before = torch.get_rng_state()
    build(IMAGE, trunk="impala")
    assert torch.equal(torch.get_rng_state(), before)


def test_heads_start_with_their_gains_and_without_bias() -> None:
    model = build()
    policy, value = model.policy_head, model.value_head
    torch.testing.assert_close(policy.weight @ policy.weight.T, 1e-4 * torch.eye(3))
    torch.testing.assert_close(value.weight @ value.weight.T, torch.ones(1, 1))
    assert not policy.bias.any()
    assert not value.bias.any()


def test_the_first_policy_is_nearly_uniform() -> None:
    logits = build(IMAGE)(observations(IMAGE)).logits
    torch.testing.assert_close(logits.softmax(dim=1), torch.full((6, 3), 1 / 3), atol=0.02, rtol=0)


@pytest.mark.parametrize("spec", SPECS, ids=["vector", "image", "both"])
def test_calibration_reaches_the_value_head_alone(spec: ObservationSpec) -> None:
    model = build(spec)
    model.calibration_values(observations(spec)).square().sum().backward()
    reached = {name for name, weight in model.named_parameters() if weight.grad is not None}
    assert reached == {"value_head.weight", "value_head.bias"}


def test_a_full_pass_reaches_every_parameter() -> None:
    model = build({"screen": IMAGE, "memory": VECTOR})
    output = model(observations({"screen": IMAGE, "memory": VECTOR}))
    (output.logits.square().sum() + output.values.square().sum()).backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.parametrize("spec", SPECS, ids=["vector", "image", "both"])
def test_train_and_eval_modes_say_the_same(spec: ObservationSpec) -> None:
    model, batch = build(spec, normalize_observations=True), observations(spec)
    model.update_statistics(batch)
    trained = model.train()(batch)
    tested = model.eval()(batch)
    assert torch.equal(trained.logits, tested.logits)
    assert torch.equal(trained.values, tested.values)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("spec", SPECS, ids=["vector", "image", "both"])
def test_under_autocast_outputs_are_float32_and_near(
    spec: ObservationSpec, dtype: torch.dtype
) -> None:
    model, batch = build(spec), observations(spec)
    exact = model(batch)
    with torch.autocast("cpu", dtype=dtype):
        output = model(batch)
    assert output.logits.dtype == output.values.dtype == torch.float32
    torch.testing.assert_close(output.values, exact.values, atol=0.05, rtol=0.05)
    output.values.sum().backward()


def test_statistics_travel_in_the_state() -> None:
    first, second = build(normalize_observations=True), build(normalize_observations=True, seed=1)
    batch = observations(VECTOR)
    first.update_statistics(batch)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(batch).values, second(batch).values)


def test_a_forward_pass_does_not_write_to_observations() -> None:
    batch = observations(IMAGE)
    assert isinstance(batch, Tensor)
    before = batch.clone()
    build(IMAGE)(batch)
    assert torch.equal(batch, before)
