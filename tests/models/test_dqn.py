"""The DQN model: values from its parts, masks in dueling models, weights and noise by generator."""

import copy
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from oakemu_rl.config.dqn import DQNModelOptions
from oakemu_rl.core.observations import ActionSpec, ObservationSpec, TensorSpec
from oakemu_rl.models.dqn import DQNModel, build_dqn_model
from oakemu_rl.models.noisy import NoisyLinear

ACTIONS = ActionSpec(names=("noop", "left", "right"))
VECTOR = TensorSpec(shape=(4,), dtype="float32")
IMAGE = TensorSpec(shape=(2, 20, 28), dtype="uint8")
SPECS: list[ObservationSpec] = [VECTOR, IMAGE, {"screen": IMAGE, "memory": VECTOR}]
KINDS: list[dict[str, Any]] = [
    {"dueling": dueling, "noisy": noisy, "atoms": atoms}
    for dueling in (False, True)
    for noisy in (False, True)
    for atoms in (1, 5)
]
each_spec = pytest.mark.parametrize("spec", SPECS, ids=["vector", "image", "both"])
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind)))


def build(spec: ObservationSpec = VECTOR, *, seed: int = 0, **options: Any) -> DQNModel:
    return build_dqn_model(
        observation_spec=spec,
        action_spec=ACTIONS,
        options=DQNModelOptions(feature_size=24, **options),
        generator=torch.Generator().manual_seed(seed),
    )


def observations(spec: ObservationSpec = VECTOR, rows: int = 6) -> Tensor | dict[str, Tensor]:
    if not isinstance(spec, TensorSpec):
        return {name: torch.as_tensor(observations(part, rows)) for name, part in spec.items()}
    generator = torch.Generator().manual_seed(3)
    if spec.dtype == "uint8":
        return torch.randint(0, 256, (rows, *spec.shape), generator=generator, dtype=torch.uint8)
    return torch.randn(rows, *spec.shape, generator=generator)


def lively(model: DQNModel) -> DQNModel:
    """The model with outputs of about 1, and noise where it has any."""
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    model.resample_noise(generator)
    return model


@each_spec
@each_kind
def test_values_have_their_shape_and_are_float32(
    spec: ObservationSpec, kind: dict[str, Any]
) -> None:
    model = build(spec, **kind)
    values = model(observations(spec))
    assert values.shape == (6, 3)
    assert values.dtype == torch.float32
    assert model.is_noisy == kind["noisy"]
    assert model.is_categorical == (kind["atoms"] > 1)


def test_a_plain_model_is_its_head_over_the_features() -> None:
    model, batch = lively(build()), observations()
    assert torch.equal(model(batch), model.action_head(model.trunk(batch)))
    assert torch.equal(model(batch, torch.tensor([True, False, True])), model(batch))


@pytest.mark.parametrize("atoms", [1, 5])
def test_dueling_values_are_the_states_plus_centred_advantages(atoms: int) -> None:
    model, batch = lively(build(dueling=True, atoms=atoms)), observations()
    mask = torch.tensor([[1, 0, 1], [1, 1, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0], [0, 1, 1]]).bool()
    assert model.value_head is not None
    features = model.trunk(batch)
    advantages = model.action_head(features).reshape(6, 3, atoms)
    values = model.value_head(features)
    outputs = model.atom_logits(batch, mask) if atoms > 1 else model(batch, mask).unsqueeze(-1)
    for row in range(6):
        legal = [a for a in range(3) if mask[row, a] or not mask[row].any()]
        centre = sum(advantages[row, a] for a in legal) / len(legal)
        for action in range(3):
            expected = values[row] + advantages[row, action] - centre
            torch.testing.assert_close(outputs[row, action], expected, atol=1e-5, rtol=1e-5)


@given(mask=st.lists(st.booleans(), min_size=3, max_size=3), illegal=st.floats(-1e4, 1e4))
@settings(deadline=None, max_examples=30)
def test_dueling_values_of_legal_actions_do_not_depend_on_illegal_ones(
    mask: list[bool], illegal: float
) -> None:
    if not any(mask):
        return
    legal = torch.tensor(mask)
    model, batch = lively(build(dueling=True)), observations()
    before = model(batch, legal)[:, legal]
    assert isinstance(model.action_head, nn.Sequential)
    with torch.no_grad():
        model.action_head[-1].bias[~legal] = illegal
    torch.testing.assert_close(model(batch, legal)[:, legal], before)
    # The mean of the legal actions' values is the state's value.
    assert model.value_head is not None
    values = model.value_head(model.trunk(batch)).squeeze(1)
    torch.testing.assert_close(before.mean(dim=1), values, atol=1e-5, rtol=1e-4)


def test_a_mask_for_all_rows_is_as_one_for_each() -> None:
    model, batch = lively(build(dueling=True, atoms=5)), observations()
    mask = torch.tensor([True, False, True])
    assert torch.equal(model(batch, mask), model(batch, mask.expand(6, 3)))
    everything = torch.ones(3, dtype=torch.bool)
    torch.testing.assert_close(model(batch, everything), model(batch))


def test_a_row_that_allows_nothing_is_finite_and_has_finite_gradients() -> None:
    model = lively(build(dueling=True))
    model(observations(), torch.zeros(6, 3, dtype=torch.bool)).sum().backward()
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in model.parameters())


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        (torch.ones(6, 3), TypeError),
        (torch.ones(5, 3, dtype=torch.bool), ValueError),
        (torch.ones(4, dtype=torch.bool), ValueError),
    ],
    ids=["dtype", "rows", "actions"],
)
def test_a_wrong_mask_is_refused(mask: Tensor, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^mask: expected"):
        build(dueling=True)(observations(), mask)


def test_categorical_values_are_expected_returns() -> None:
    model, batch = lively(build(atoms=5, value_min=-1.0, value_max=3.0)), observations()
    assert torch.equal(model.support, torch.tensor([-1.0, 0.0, 1.0, 2.0, 3.0]))
    probabilities = model.atom_logits(batch).softmax(dim=-1)
    assert probabilities.shape == (6, 3, 5)
    expected = sum(probabilities[:, :, i] * (i - 1.0) for i in range(5))
    torch.testing.assert_close(model(batch), expected)


def test_atoms_of_expected_values_are_refused() -> None:
    with pytest.raises(ValueError, match="atom_logits: the model is not categorical; set"):
        build().atom_logits(observations())
    assert build().support is None


@each_kind
def test_first_values_are_near_zero(kind: dict[str, Any]) -> None:
    values = build(IMAGE, **kind)(observations(IMAGE))
    assert values.abs().max().item() < 0.1


@each_spec
def test_equal_generators_give_equal_weights_whatever_the_global_seed(
    spec: ObservationSpec,
) -> None:
    torch.manual_seed(1)
    first = build(spec, dueling=True, noisy=True, atoms=5).state_dict()
    torch.manual_seed(2)
    second = build(spec, dueling=True, noisy=True, atoms=5).state_dict()
    other = build(spec, dueling=True, noisy=True, atoms=5, seed=1).state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert not torch.equal(first["action_head.2.weight"], other["action_head.2.weight"])


def test_building_does_not_move_the_global_generator() -> None:
    before = torch.get_rng_state()
    build(IMAGE, trunk="impala", dueling=True, noisy=True, atoms=5)
    assert torch.equal(torch.get_rng_state(), before)


@each_spec
@each_kind
def test_a_backward_pass_reaches_every_parameter(
    spec: ObservationSpec, kind: dict[str, Any]
) -> None:
    model = build(spec, **kind)
    model.resample_noise(torch.Generator().manual_seed(1))
    model(observations(spec)).square().sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@each_kind
def test_train_and_eval_modes_say_the_same_and_a_pass_changes_no_buffer(
    kind: dict[str, Any],
) -> None:
    model, batch = lively(build(normalize_observations=True, **kind)), observations()
    model.update_statistics(batch)
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    assert torch.equal(model.train()(batch), model.eval()(batch))
    assert all(torch.equal(buffers[name], buffer) for name, buffer in model.named_buffers())


def test_all_layers_of_the_heads_are_noisy_and_the_trunk_is_not() -> None:
    model = build(IMAGE, dueling=True, noisy=True, noise_sigma=0.3)
    assert model.value_head is not None
    for head in (model.action_head, model.value_head):
        linears = [layer for layer in head.modules() if not list(layer.children())]
        noisy = [layer for layer in linears if isinstance(layer, NoisyLinear)]
        assert len(noisy) == 2
        assert noisy[0].bias_sigma[0].item() == pytest.approx(0.3 / 24**0.5)
    assert not any(isinstance(layer, NoisyLinear) for layer in model.trunk.modules())


def test_noise_changes_values_until_it_is_removed() -> None:
    model, batch = build(dueling=True, noisy=True), observations()
    plain = model(batch)
    generator = torch.Generator().manual_seed(1)
    model.resample_noise(generator)
    first = model(batch)
    model.resample_noise(generator)
    assert not torch.allclose(model(batch), first)
    assert not torch.allclose(first, plain)
    model.remove_noise()
    assert torch.equal(model(batch), plain)


def test_a_copy_has_noise_of_its_own() -> None:
    model, batch = build(noisy=True), observations()
    other = copy.deepcopy(model)
    other.resample_noise(torch.Generator().manual_seed(1))
    assert not torch.allclose(other(batch), model(batch))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@each_kind
def test_under_autocast_outputs_are_float32_and_near(
    kind: dict[str, Any], dtype: torch.dtype
) -> None:
    model, batch = lively(build(**kind)), observations()
    exact = model(batch)
    with torch.autocast("cpu", dtype=dtype):
        values = model(batch)
        outputs = model.atom_logits(batch) if model.is_categorical else values
    assert values.dtype == outputs.dtype == torch.float32
    torch.testing.assert_close(values, exact, atol=0.2, rtol=0.1)
    values.sum().backward()


def test_statistics_travel_in_the_state_and_the_support_does_not() -> None:
    first = build(normalize_observations=True, atoms=5)
    second = build(normalize_observations=True, atoms=5, seed=1, value_max=20.0)
    assert first.keeps_statistics
    assert not build().keeps_statistics
    first.update_statistics(observations())
    second.load_state_dict(first.state_dict())
    assert torch.equal(first.atom_logits(observations()), second.atom_logits(observations()))
    assert second.support is not None
    assert second.support[-1].item() == 20.0


@pytest.mark.parametrize("spec", SPECS, ids=["vector", "image", "both"])
def test_a_copy_and_a_model_with_other_parameters_go_by_their_own(spec: ObservationSpec) -> None:
    model, other = build(spec), lively(build(spec, seed=5))
    rows = observations(spec)
    before = model(rows)
    copied = copy.deepcopy(model)
    copied.load_state_dict(other.state_dict())
    assert torch.equal(copied(rows), other(rows))
    assert torch.equal(model(rows), before)
    model.load_state_dict(other.state_dict(), assign=True)
    assert torch.equal(model(rows), other(rows))
