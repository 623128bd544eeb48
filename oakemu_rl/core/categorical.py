"""Distributions over returns: their projection, their means and the loss that moves them.

A distribution puts probabilities on the Z evenly spaced atoms of a support. The best next action is
chosen by its mean, in `q_targets`. Letters: B rows, A actions, Z atoms.
"""

import torch
from torch import Tensor

from oakemu_rl.core.checks import check_dimensions, check_floating, check_integer, check_shape

_ROUNDING = 8.0 * torch.finfo(torch.float32).eps
"""By what share of the largest atom two gaps of one support may differ."""

_SLACK = 1e-3
"""By what share of a gap a mean may leave the support and still be called inside."""


@torch.no_grad()
def categorical_projection(
    *, rewards: Tensor, discounts: Tensor, next_probabilities: Tensor, support: Tensor
) -> Tensor:
    """The distribution of `r + discount * Z'`, put back onto the atoms.

        b_j = clip((r + discount * z_j - z_1) / gap, 0, Z - 1)
        m_i = sum_j p_j * max(0, 1 - |b_j - i|)              i, j count atoms from 0

    The probability of each moved atom is shared by its two neighbours, in inverse proportion to the
    distances. So mass is always kept, and the mean as long as every `r + discount * z_j` lies in
    the support. Where the discount is 0 all mass is at `r`, and the probabilities are not looked
    at.

    On an accelerator the order in which equal neighbours are summed is not fixed, and with it the
    last bit.

    Shapes:
        rewards, discounts [B] floating; next_probabilities [B, Z] floating, those of the next
        action; support [Z] floating, evenly spaced, increasing; result [B, Z] float32, detached.

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong, or a support on the CPU is not evenly spaced and increasing.

    Bellemare, Dabney and Munos 2017, "A Distributional Perspective on Reinforcement Learning",
    equation 7.
    """
    _check_rows(rewards, discounts, next_probabilities, support)
    probabilities = _of_successors(discounts, next_probabilities)
    support = support.float()
    first, gaps = support[0], len(support) - 1
    moved = torch.addcmul(
        rewards.float().unsqueeze(1), discounts.float().unsqueeze(1), support
    ).sub_(first)
    # Clipped when all is rounded: a place beyond the last atom would take negative mass from it.
    positions = moved.mul_(gaps / (support[-1] - first)).clamp_(0.0, gaps)
    # Bounded as integers: a reward of NaN gives masses of NaN, and no index beyond the atoms.
    below = positions.floor().long().clamp_(0, gaps - 1)
    above_share = positions.sub_(below).mul_(probabilities)
    projected = torch.zeros_like(probabilities)
    projected.scatter_add_(1, below, probabilities - above_share)
    return projected.scatter_add_(1, below + 1, above_share)


@torch.no_grad()
def rows_outside_support(
    *, rewards: Tensor, discounts: Tensor, next_probabilities: Tensor, support: Tensor
) -> Tensor:
    """How many rows have a mean `r + discount * E[Z']` that the support cannot hold.

    Few at the start of training are no harm; many say that the support is too narrow, and that
    values pile up at its ends. Single atoms beyond the ends are not counted, since any reward but 0
    moves some.

    Shapes:
        as of `categorical_projection`; result [] int64.

    Raises:
        As `categorical_projection`.
    """
    _check_rows(rewards, discounts, next_probabilities, support)
    support = support.float()
    means = _means(_of_successors(discounts, next_probabilities), support)
    means = torch.addcmul(rewards.float(), discounts.float(), means)
    first, last = support[0], support[-1]
    slack = _SLACK / (len(support) - 1) * (last - first)
    return ((means < first - slack) | (means > last + slack)).sum()


def expected_values(*, probabilities: Tensor, support: Tensor) -> Tensor:
    """The mean of each action's distribution: `Q(s, a) = sum_i p_i(s, a) * z_i`.

    Shapes:
        probabilities [B, A, Z] floating; support [Z] floating; result [B, A] float32.

    Raises:
        TypeError: a dtype is wrong. ValueError: a shape is wrong.
    """
    check_floating("probabilities", probabilities)
    check_dimensions("probabilities", probabilities, "BAZ")
    check_floating("support", support)
    check_shape("support", support, probabilities.shape[2:], "Z")
    return _means(probabilities.float(), support.float())


def atoms_of_actions(*, atoms: Tensor, actions: Tensor) -> Tensor:
    """The Z numbers of one action a row; of logits, probabilities or their logarithms.

    Shapes:
        atoms [B, A, Z] floating; actions [B] of any integer dtype; result [B, Z].

    Raises:
        TypeError: a dtype is wrong. ValueError: a shape is wrong.
    """
    check_floating("atoms", atoms)
    check_dimensions("atoms", atoms, "BAZ")
    check_integer("actions", actions)
    check_shape("actions", actions, atoms.shape[:1], "B")
    rows = actions.long().view(-1, 1, 1).expand(-1, 1, atoms.shape[2])
    return atoms.gather(1, rows).squeeze(1)


def categorical_loss(*, log_probabilities: Tensor, targets: Tensor) -> Tensor:
    """The cross-entropy of each row: `l_b = -sum_i m_i * log p_i`.

    Atoms without target add 0, even where their probability is 0.

    Shapes:
        log_probabilities [B, Z] floating, of the actions taken; targets [B, Z] floating; result [B]
        float32. Gradient reaches `log_probabilities` alone.

    Raises:
        TypeError: a dtype is wrong. ValueError: a shape is wrong.
    """
    check_floating("log_probabilities", log_probabilities)
    check_dimensions("log_probabilities", log_probabilities, "BZ")
    check_floating("targets", targets)
    check_shape("targets", targets, log_probabilities.shape, "BZ")
    targets = targets.detach().float()
    finite = log_probabilities.float().masked_fill(targets == 0.0, 0.0)
    return -(targets * finite).sum(dim=1)


def _means(probabilities: Tensor, support: Tensor) -> Tensor:
    """The means over the last dimension; a product of matrices would be halved by autocast."""
    return (probabilities * support).sum(dim=-1)


def _of_successors(discounts: Tensor, probabilities: Tensor) -> Tensor:
    """The probabilities where there is a successor; elsewhere 1 for the first atom."""
    elsewhere = probabilities.new_zeros(probabilities.shape[1], dtype=torch.float32)
    elsewhere[0] = 1.0
    return torch.where((discounts != 0.0).unsqueeze(1), probabilities.float(), elsewhere)


def _check_rows(
    rewards: Tensor, discounts: Tensor, next_probabilities: Tensor, support: Tensor
) -> None:
    check_floating("next_probabilities", next_probabilities)
    check_dimensions("next_probabilities", next_probabilities, "BZ")
    for name, tensor in (("rewards", rewards), ("discounts", discounts)):
        check_floating(name, tensor)
        check_shape(name, tensor, next_probabilities.shape[:1], "B")
    check_floating("support", support)
    check_shape("support", support, next_probabilities.shape[1:], "Z")
    if len(support) < 2:
        raise ValueError(f"support: expected two atoms or more, got {len(support)}")
    if support.device.type == "cpu":
        _check_spacing(support)


def _check_spacing(support: Tensor) -> None:
    least, greatest = torch.aminmax(support.diff())
    largest = max(abs(float(support[0])), abs(float(support[-1])))
    if not (least > 0.0 and greatest - least <= _ROUNDING * largest):
        raise ValueError(
            f"support: expected evenly spaced, increasing atoms, got gaps from {float(least):g} to "
            f"{float(greatest):g}"
        )
