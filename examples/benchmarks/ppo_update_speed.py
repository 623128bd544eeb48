"""One PPO minibatch update against the bare floor, in one run.

    python examples/benchmarks/ppo_update_speed.py [--threads N] [--device cuda]

Both train a Nature CNN on the same 256 x 4 x 84 x 84 uint8 rows. The floor is written out below:
forward, loss, backward, clipping and fused Adam in channels-last layout, with none of the checks,
masks and diagnostics of the library. They take turns; the medians of 20 turns are compared, in CPU
time on the CPU and in wall time on an accelerator.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from oakemu_rl import (
    LossWeights,
    PPOExperimentConfiguration,
    PPOMinibatchUpdater,
    RolloutMinibatch,
    TensorSpec,
    build_ppo_model,
)
from oakemu_rl.core import ActionSpec

ROWS, ACTIONS, TURNS, WARM_UP = 256, 6, 20, 3
CLIP_RANGE, VALUE_WEIGHT, ENTROPY_WEIGHT, MAX_NORM = 0.2, 0.5, 0.01, 0.5


def minibatch(device: torch.device) -> RolloutMinibatch:
    generator = torch.Generator().manual_seed(0)
    numbers = torch.randn(3, ROWS, generator=generator).to(device)
    return RolloutMinibatch(
        observations=torch.randint(
            0, 256, (ROWS, 4, 84, 84), dtype=torch.uint8, generator=generator
        ).to(device),
        actions=torch.randint(0, ACTIONS, (ROWS,), generator=generator).to(device),
        log_probs=torch.full((ROWS,), -1.79, device=device),
        values=numbers[0],
        advantages=numbers[1],
        returns=numbers[2],
    )


def library_update(rows: RolloutMinibatch, device: torch.device) -> Callable[[], None]:
    configuration = PPOExperimentConfiguration()
    model = build_ppo_model(
        observation_spec=TensorSpec(shape=(4, 84, 84), dtype="uint8"),
        action_spec=ActionSpec(names=tuple("abcdef")),
        options=configuration.model,
        generator=torch.Generator().manual_seed(0),
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    scaler = torch.amp.GradScaler(device.type, enabled=False)
    updater = PPOMinibatchUpdater(configuration, optimizer, device, scaler)
    weights = LossWeights(
        policy=1.0, value=VALUE_WEIGHT, entropy=ENTROPY_WEIGHT, behaviour_cloning=0.0
    )

    def update() -> None:
        updater.update_minibatch(rows, None, model, weights)

    return update


class BareNatureCNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(4, 32, 8, 4),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, 2),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(3136, 512),
            nn.ReLU(),
        )
        self.policy, self.value = nn.Linear(512, ACTIONS), nn.Linear(512, 1)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        images = images.contiguous(memory_format=torch.channels_last)
        features = self.trunk(images.float() / 255.0)
        return self.policy(features), self.value(features).squeeze(1)


def bare_update(rows: RolloutMinibatch, device: torch.device) -> Callable[[], None]:
    model = BareNatureCNN().to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

    def update() -> None:
        logits, values = model(rows.observations)
        log_probs = torch.log_softmax(logits, dim=1)
        chosen = log_probs.gather(1, rows.actions[:, None]).squeeze(1)
        ratio = torch.exp(chosen - rows.log_probs)
        clipped = ratio.clamp(1.0 - CLIP_RANGE, 1.0 + CLIP_RANGE)
        policy = -torch.min(ratio * rows.advantages, clipped * rows.advantages).mean()
        entropy = -(log_probs.exp() * log_probs).sum(1).mean()
        value = (values - rows.returns).square().mean()
        loss = policy + VALUE_WEIGHT * value - ENTROPY_WEIGHT * entropy
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
        optimizer.step()

    return update


def seconds(update: Callable[[], None], device: torch.device) -> float:
    clock = time.process_time if device.type == "cpu" else time.perf_counter
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    start = clock()
    update()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return clock() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1, help="threads of one torch operation")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    device = torch.device(arguments.device)
    rows = minibatch(device)
    updates = {"library": library_update(rows, device), "bare": bare_update(rows, device)}
    taken: dict[str, list[float]] = {name: [] for name in updates}
    for turn in range(WARM_UP + TURNS):
        for name, update in updates.items():
            spent = seconds(update, device)
            if turn >= WARM_UP:
                taken[name].append(spent)
    medians = {name: statistics.median(times) for name, times in taken.items()}
    print(f"PPO minibatch update, {ROWS} x 4 x 84 x 84 uint8, Nature CNN, {device}")
    for name, median in medians.items():
        print(f"  {name:8} {median * 1e3:7.1f} ms (median of {TURNS})")
    print(f"  library / bare = {medians['library'] / medians['bare']:.3f} (goal: at most 1.25)")


if __name__ == "__main__":
    main()
