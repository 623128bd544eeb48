"""The cloning loss agrees with a slow sum over legal actions, for labels of any integer dtype."""

from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import behaviour_cloning_accuracy, behaviour_cloning_loss
from property_tests import references
from property_tests.laws import Arguments, Function, Law, assert_close, assert_raises
from property_tests.mutants import law_tests
from property_tests.strategies import booleans, labelled_logits, tensors


def agrees_with_the_slow_sum(function: Function, arguments: Arguments) -> None:
    result = function(**arguments)
    assert result.dtype == torch.float32
    assert_close(result, references.cloning_loss(**arguments))


def moves_the_logits_of_legal_actions_alone(function: Function, arguments: Arguments) -> None:
    logits = arguments["logits"].requires_grad_()
    weights = arguments["weights"]
    weights = None if weights is None else weights.requires_grad_()
    function(**{**arguments, "logits": logits, "weights": weights}).backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    illegal = ~torch.tensor(references.legal_rows(logits, arguments["mask"]))
    assert (logits.grad[illegal] == 0.0).all()
    assert weights is None or weights.grad is None


def refuses_an_illegal_label(function: Function, arguments: Arguments) -> None:
    rows, actions = arguments["logits"].shape
    labels = arguments["actions"].to(torch.int64, copy=True)
    labels[-1] = actions
    assert_raises(
        ValueError,
        f"actions[{rows - 1}]: got {actions}",
        lambda: function(**{**arguments, "actions": labels}),
    )
    mask = torch.ones(rows, actions + 1, dtype=torch.bool)
    mask[-1, -1] = False
    wider = torch.cat([arguments["logits"], arguments["logits"][:, :1]], dim=1)
    changed = {**arguments, "actions": labels, "mask": mask, "logits": wider}
    assert_raises(ValueError, f"actions[{rows - 1}]", lambda: function(**changed))


def counts_the_rows_that_agree(function: Function, arguments: Arguments) -> None:
    rows = references.log_probs(logits=arguments["logits"].float(), mask=arguments["mask"])
    labels = arguments["actions"].tolist()
    hits = [row.index(max(row)) == label for row, label in zip(rows, labels, strict=True)]
    assert_close(function(**arguments), sum(hits) / len(hits))


@st.composite
def demonstrated_rows(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `behaviour_cloning_loss`; weights of 0 among them."""
    arguments = draw(labelled_logits())
    shape = arguments["actions"].shape
    weights = tensors(shape, st.integers(0, 16).map(lambda eighths: eighths / 8))
    arguments["weights"] = draw(weights) if draw(booleans) else None
    arguments["label_smoothing"] = draw(st.sampled_from([0.0, 0.1, 1.0]))
    return arguments


LAWS = [
    Law(function=behaviour_cloning_loss, arguments=demonstrated_rows(), check=check)
    for check in (
        agrees_with_the_slow_sum,
        moves_the_logits_of_legal_actions_alone,
        refuses_an_illegal_label,
    )
] + [
    Law(
        function=behaviour_cloning_accuracy,
        arguments=labelled_logits(),
        check=counts_the_rows_that_agree,
    )
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
