"""Trunks: what an observation becomes before and in its encoders."""

from collections.abc import Mapping

import pytest
import torch
from torch import Tensor, nn

from oakemu_rl.config.options import ModelOptions
from oakemu_rl.core.observations import ObservationSpec, TensorSpec
from oakemu_rl.models.convolution import ImpalaCNN, NatureCNN
from oakemu_rl.models.mlp import MLP
from oakemu_rl.models.trunks import Encoder, Trunk

IMAGE = TensorSpec(shape=(3, 24, 32), dtype="uint8")
VECTOR = TensorSpec(shape=(5,), dtype="float32")
BOTH: Mapping[str, TensorSpec] = {"screen.top": IMAGE, "keys": VECTOR}


def build(spec: ObservationSpec, options: ModelOptions | None = None, seed: int = 0) -> Trunk:
    return Trunk(
        spec,
        options=options or ModelOptions(),
        generator=torch.Generator().manual_seed(seed),
    )


PIXELS = ModelOptions(trunk="mlp", hidden_sizes=())
"""With these the features are the pixels as the network gets them."""


def test_the_byte_128_becomes_0_50196() -> None:
    pixels = build(IMAGE, PIXELS)(torch.full((1, 3, 24, 32), 128, dtype=torch.uint8))
    torch.testing.assert_close(pixels, torch.full((1, 3 * 24 * 32), 0.50196), rtol=0, atol=1e-5)


def test_a_float_image_is_not_divided() -> None:
    spec = TensorSpec(shape=(3, 24, 32), dtype="float32")
    images = torch.rand(2, 3, 24, 32, generator=torch.Generator().manual_seed(0))
    assert torch.equal(build(spec, PIXELS)(images), images.flatten(start_dim=1))


@pytest.mark.parametrize("trunk", ["nature", "impala"])
def test_images_reach_a_convolution_in_channels_last_layout(trunk: str) -> None:
    layouts: list[bool] = []
    model = build(IMAGE, ModelOptions(trunk=trunk))
    first = next(layer for layer in model.modules() if isinstance(layer, nn.Conv2d))
    first.register_forward_pre_hook(
        lambda _, inputs: layouts.append(inputs[0].is_contiguous(memory_format=torch.channels_last))
    )
    model(torch.zeros(2, 3, 24, 32, dtype=torch.uint8))
    assert layouts == [True]


@pytest.mark.parametrize(
    ("spec", "trunk", "network"),
    [
        (IMAGE, "auto", NatureCNN),
        (IMAGE, "nature", NatureCNN),
        (IMAGE, "impala", ImpalaCNN),
        (IMAGE, "mlp", MLP),
        (VECTOR, "auto", MLP),
        (VECTOR, "impala", MLP),
    ],
)
def test_the_network_follows_the_option_and_the_entry(
    spec: TensorSpec, trunk: str, network: type[nn.Module]
) -> None:
    encoder = Encoder(
        "observation",
        spec,
        options=ModelOptions(trunk=trunk),
        generator=torch.Generator().manual_seed(0),
    )
    assert isinstance(encoder.network, network)
    batch = torch.zeros(2, *spec.shape, dtype=spec.torch_dtype)
    assert encoder(batch).shape == (2, encoder.feature_size)


def test_features_of_a_mapping_stand_side_by_side() -> None:
    trunk = build(BOTH, ModelOptions(feature_size=40, hidden_sizes=(16, 8)))
    observations = {
        "keys": torch.ones(2, 5),
        "screen.top": torch.full((2, 3, 24, 32), 200, dtype=torch.uint8),
    }
    features = trunk(observations)
    assert features.shape == (2, trunk.feature_size) == (2, 48)
    first, second = trunk.encoders
    torch.testing.assert_close(features[:, :40], first(observations["screen.top"]))
    torch.testing.assert_close(features[:, 40:], second(observations["keys"]))


def test_without_hidden_layers_a_vector_is_its_own_features() -> None:
    trunk = build(VECTOR, ModelOptions(hidden_sizes=()))
    vectors = torch.arange(10.0).reshape(2, 5)
    assert torch.equal(trunk(vectors), vectors)


@pytest.mark.parametrize(("activation", "least"), [("tanh", -1.0), ("relu", 0.0)])
def test_the_activation_of_vectors_is_the_option(activation: str, least: float) -> None:
    features = build(VECTOR, ModelOptions(activation=activation))(-100 * torch.eye(5))
    assert features.min().item() == pytest.approx(least, abs=1e-2)


def test_a_missing_entry_is_named() -> None:
    with pytest.raises(ValueError, match=r"no entry 'screen\.top', got keys"):
        build(BOTH)({"keys": torch.ones(2, 5)})


@pytest.mark.parametrize(
    "wrong",
    [torch.ones(2, 4), torch.ones(2, 5, dtype=torch.float64), torch.ones(5)],
    ids=["shape", "dtype", "no batch"],
)
def test_a_wrong_entry_is_named_with_what_came(wrong: Tensor) -> None:
    with pytest.raises(ValueError, match=r"observation: expected torch.float32 of shape \[B, "):
        build(VECTOR)(wrong)


def test_normalisers_stand_before_vectors_alone() -> None:
    trunk = build(BOTH, ModelOptions(normalize_observations=True))
    observations = {
        "screen.top": torch.full((4, 3, 24, 32), 200, dtype=torch.uint8),
        "keys": torch.tensor([[3.0] * 5, [7.0] * 5, [3.0] * 5, [7.0] * 5]),
    }
    trunk.update_statistics(observations)
    statistics = dict(trunk.named_buffers())
    assert {name.removeprefix("encoders.1.normalizer.") for name in statistics} == {
        "count", "mean", "var",
    }  # fmt: skip
    assert bool((statistics["encoders.1.normalizer.mean"] == 5.0).all())
    assert bool((statistics["encoders.1.normalizer.var"] == 4.0).all())


def test_without_the_switch_nothing_is_normalised() -> None:
    trunk = build(VECTOR)
    trunk.update_statistics(torch.ones(3, 5))
    assert list(trunk.buffers()) == []
