"""A model that one thread trains while others read it."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Generic, TypeVar

import attrs
from torch import Tensor, nn

ModelT = TypeVar("ModelT", bound=nn.Module)


@attrs.frozen(kw_only=True, eq=False)
class ModelSnapshot:
    """Weights and buffers as they were when `version` was published; never written again."""

    version: int
    tensors: Mapping[str, Tensor]

    def copy_to(self, model: nn.Module) -> None:
        """Load the snapshot into a model of the same shape, on any device."""
        model.load_state_dict(self.tensors)


class ThreadSafeModel(Generic[ModelT]):
    """Holds a model, its lock, and the snapshot that readers take.

    The learner changes the model inside `updating()` and makes the result visible with `publish()`.
    Readers call `snapshot()`, which hands out the newest published weights without waiting for an
    update in progress: a reader sees a whole version, and versions never go back.
    """

    def __init__(self, model: ModelT) -> None:
        self._model = model
        self._lock = threading.RLock()
        self._snapshot = _copy_of(model, version=0)
        self._revision = 0

    @property
    def model(self) -> ModelT:
        """The model itself, for the thread that holds the lock."""
        return self._model

    @property
    def lock(self) -> threading.RLock:
        """The lock that guards the model."""
        return self._lock

    @property
    def version(self) -> int:
        """The number of times that weights were published."""
        return self._snapshot.version

    @contextmanager
    def updating(self) -> Iterator[ModelT]:
        """The model, with its lock held."""
        with self._lock:
            yield self._model

    def publish(self) -> int:
        """Make the present weights the newest snapshot, and return its version."""
        with self._lock:
            self._snapshot = _copy_of(self._model, version=self._snapshot.version + 1)
            return self._snapshot.version

    def advance(self) -> int:
        """Count the present weights as a new version for those who `refresh`, without a copy."""
        with self._lock:
            self._revision += 1
            return self._revision

    def refresh(self, model: nn.Module, *, known: int | None) -> int:
        """Copy the present weights into `model`, a model of the same kind, and return their
        revision; where that is `known`, nothing is copied."""
        with self._lock:
            if self._revision != known:
                own, theirs = self._model.state_dict(), model.state_dict()
                for name, tensor in own.items():
                    theirs[name].copy_(tensor)
            return self._revision

    def snapshot(self) -> ModelSnapshot:
        """The newest published weights; what was only counted with `advance` is not among them."""
        return self._snapshot


def _copy_of(model: nn.Module, *, version: int) -> ModelSnapshot:
    tensors = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    return ModelSnapshot(version=version, tensors=tensors)
