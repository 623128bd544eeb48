"""The quick forward pass: the module's values, of the weights that the module has now."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oakemu_rl.config.dqn import DQNModelOptions
from oakemu_rl.core.observations import ActionSpec, ObservationSpec, TensorSpec
from oakemu_rl.models.dqn import DQNModel, build_dqn_model
from oakemu_rl.models.flat import FlatAdam, FlatParameters
from oakemu_rl.models.quick_forward import MOST_ROWS, MOST_WEIGHTS, quick_forward

VECTOR = TensorSpec(shape=(4,), dtype="float32")
SPECS: list[ObservationSpec] = [
    VECTOR,
    TensorSpec(shape=(6,), dtype="uint8"),
    {"position": VECTOR},
    {"memory": TensorSpec(shape=(5,), dtype="uint8"), "position": VECTOR},
]


def build(
    spec: ObservationSpec = VECTOR, *, actions: int = 3, seed: int = 0, **options: Any
) -> DQNModel:
    model = build_dqn_model(
        observation_spec=spec,
        action_spec=ActionSpec(names=tuple(map(str, range(actions)))),
        options=DQNModelOptions(**options),
        generator=torch.Generator().manual_seed(seed),
    )
    generator = torch.Generator().manual_seed(seed + 1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return model


def rows_of(spec: ObservationSpec, rows: int, *, seed: int = 0) -> Any:
    if not isinstance(spec, TensorSpec):
        return {name: rows_of(entry, rows, seed=seed) for name, entry in spec.items()}
    generator = np.random.default_rng(seed)
    if spec.dtype == "uint8":
        return generator.integers(0, 256, (rows, *spec.shape), dtype=np.uint8)
    return generator.normal(size=(rows, *spec.shape)).astype(spec.dtype)


def assert_alike(model: DQNModel, spec: ObservationSpec = VECTOR, *, rows: int = 2) -> None:
    quick = quick_forward(model, rows=rows)
    assert quick is not None
    assert_gives(quick, model, spec, rows=rows)


def assert_gives(quick: Any, model: DQNModel, spec: ObservationSpec = VECTOR, *, rows: int) -> None:
    given_rows = rows_of(spec, rows)
    tensors = (
        torch.from_numpy(given_rows)
        if isinstance(given_rows, np.ndarray)
        else {name: torch.from_numpy(entry) for name, entry in given_rows.items()}
    )
    with torch.no_grad():
        expected = model(tensors).numpy()
    found = quick(given_rows)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@given(
    spec=st.sampled_from(SPECS),
    rows=st.integers(1, 9),
    actions=st.integers(1, 5),
    sizes=st.lists(st.sampled_from([1, 3, 8, 17, 64]), max_size=3),
    activation=st.sampled_from(["tanh", "relu"]),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_it_gives_the_values_of_the_module(
    spec: ObservationSpec, rows: int, actions: int, sizes: list[int], activation: str, seed: int
) -> None:
    model = build(
        spec, actions=actions, hidden_sizes=tuple(sizes), activation=activation, seed=seed
    )
    assert_alike(model, spec, rows=rows)


def test_an_image_read_as_a_vector_keeps_its_order() -> None:
    spec = TensorSpec(shape=(2, 5, 6), dtype="uint8")
    assert_alike(build(spec, trunk="mlp", hidden_sizes=(8,)), spec)


def test_it_follows_what_is_written_to_the_weights() -> None:
    model = build()
    optimizer = FlatAdam(model, lr=0.1, eps=1e-8)
    quick = quick_forward(model, rows=2)
    for _ in range(3):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        assert_gives(quick, model, rows=2)
    model.load_state_dict(build(seed=5).state_dict())
    assert_gives(quick, model, rows=2)


def test_it_finds_weights_that_were_moved_to_other_memory() -> None:
    model = build()
    quick = quick_forward(model, rows=2)
    FlatParameters(model)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    assert_gives(quick, model, rows=2)


def test_it_changes_neither_the_observations_nor_what_it_gave_before() -> None:
    model = build(hidden_sizes=())
    quick = quick_forward(model, rows=2)
    assert quick is not None
    observations = rows_of(VECTOR, 2)
    before = observations.copy()
    first = quick(observations)
    kept = first.copy()
    quick(2.0 * observations)
    assert np.array_equal(observations, before)
    assert np.array_equal(first, kept)


@pytest.mark.parametrize(
    "options",
    [
        {"dueling": True},
        {"noisy": True},
        {"atoms": 5},
        {"normalize_observations": True},
        {"hidden_sizes": (MOST_WEIGHTS // 64 + 1, 64)},
    ],
    ids=str,
)
def test_there_is_none_for_other_models(options: dict[str, Any]) -> None:
    assert quick_forward(build(**options), rows=1) is None


def test_there_is_none_for_images_doubles_many_rows_or_another_device() -> None:
    assert quick_forward(build(TensorSpec(shape=(1, 36, 36), dtype="uint8")), rows=1) is None
    assert quick_forward(build(TensorSpec(shape=(4,), dtype="float64")), rows=1) is None
    assert quick_forward(build(), rows=MOST_ROWS) is not None
    assert quick_forward(build(), rows=MOST_ROWS + 1) is None
    assert quick_forward(build().to("meta"), rows=1) is None
