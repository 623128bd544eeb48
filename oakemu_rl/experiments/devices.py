"""The device that a run computes on, and how many threads one torch operation takes."""

import os

import torch

from oakemu_rl.config.options import RunOptions
from oakemu_rl.core.errors import ConfigurationError


def chosen_device(name: str) -> torch.device:
    """The device called `name`; `auto` takes CUDA, else Apple's MPS, else the CPU.

    Raises:
        ConfigurationError: torch knows no such device, or this machine has none.
    """
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ConfigurationError(
            f"run.device: {name!r} cannot be used here ({str(error).splitlines()[0]}); "
            "allowed is auto, cpu, or cuda, cuda:1, mps where the machine has them"
        ) from None
    return device


def chosen_threads(options: RunOptions) -> int:
    """Threads of one torch operation: as configured, else 1 beside an actor thread, else every
    core."""
    if options.torch_threads > 0:
        return options.torch_threads
    return 1 if options.mode == "threads" else _cores()


def _cores() -> int:
    """The cores that this process may use; all of them where the system cannot say."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
