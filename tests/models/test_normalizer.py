"""Normalising vectors: worked values, frozen in use, the same in one batch or many."""

import pytest
import torch

from oakemu_rl.models.normalizer import ObservationNormalizer


def rows(count: int, seed: int = 0) -> torch.Tensor:
    drawn = torch.randn(count, 3, generator=torch.Generator().manual_seed(seed))
    return drawn * torch.tensor([0.1, 1.0, 50.0]) + torch.tensor([5.0, 0.0, -300.0])


def test_mean_5_and_variance_4_make_2_of_9() -> None:
    normalizer = ObservationNormalizer(1)
    normalizer.update(torch.tensor([[3.0], [7.0]]))
    assert (normalizer.mean.item(), normalizer.var.item()) == (5.0, 4.0)
    assert normalizer(torch.tensor([[9.0]])).item() == 2.0


@pytest.mark.parametrize(("value", "expected"), [(1e6, 10.0), (-1e6, -10.0)])
def test_far_values_are_clipped_to_10(value: float, expected: float) -> None:
    normalizer = ObservationNormalizer(1)
    normalizer.update(torch.tensor([[3.0], [7.0]]))
    assert normalizer(torch.tensor([[value]])).item() == expected


def test_before_the_first_update_vectors_pass_as_they_are() -> None:
    vectors = torch.tensor([[0.5, -2.0, 3.0]])
    torch.testing.assert_close(ObservationNormalizer(3)(vectors), vectors)


@pytest.mark.parametrize("training", [True, False])
def test_a_forward_pass_leaves_the_statistics_as_they_were(training: bool) -> None:
    normalizer = ObservationNormalizer(3).train(training)
    normalizer.update(rows(10))
    before = {name: tensor.clone() for name, tensor in normalizer.state_dict().items()}
    normalizer(rows(50, seed=1))
    assert all(torch.equal(before[name], now) for name, now in normalizer.state_dict().items())


@pytest.mark.parametrize("size", [1, 7, 64])
def test_statistics_of_many_batches_are_those_of_all_rows(size: int) -> None:
    everything = rows(320)
    normalizer = ObservationNormalizer(3)
    for batch in everything.split(size):
        normalizer.update(batch)
    exact = everything.double()
    assert normalizer.count.item() == 320
    torch.testing.assert_close(normalizer.mean.double(), exact.mean(0), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        normalizer.var.double(), exact.var(0, correction=0), rtol=1e-4, atol=1e-6
    )


def test_statistics_are_saved_and_loaded() -> None:
    first, second = ObservationNormalizer(3), ObservationNormalizer(3)
    first.update(rows(20))
    second.load_state_dict(first.state_dict())
    torch.testing.assert_close(second(rows(5, seed=2)), first(rows(5, seed=2)), rtol=0, atol=0)
