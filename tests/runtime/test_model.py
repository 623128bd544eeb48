"""A model that one thread changes while others read it."""

import threading

import torch
from torch import nn

from oakemu_rl.runtime.model import ThreadSafeModel
from tests.runtime.background import LIMIT_SECONDS, Background


class Network(nn.Module):
    """Parameters and a buffer, in several tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 8))
        self.register_buffer("seen", torch.zeros(64))
        self.fill(0)

    @torch.no_grad()
    def fill(self, number: float) -> None:
        for tensor in self.state_dict().values():
            tensor.fill_(number)


def test_no_snapshot_is_half_old_and_half_new_and_none_goes_back() -> None:
    shared, done = ThreadSafeModel(Network()), threading.Event()

    def learn() -> None:
        while not done.is_set():
            with shared.updating() as model:
                model.fill(shared.version + 1)
                shared.publish()

    learner, last = Background(learn), 0
    try:
        for _ in range(10_000):
            snapshot = shared.snapshot()
            for tensor in snapshot.tensors.values():
                least, greatest = torch.aminmax(tensor)
                assert least == greatest == snapshot.version
            assert snapshot.version >= last
            last = snapshot.version
    finally:
        done.set()
    learner.result()
    assert last > 10


def test_weights_are_seen_when_they_are_published_and_not_before() -> None:
    shared = ThreadSafeModel(Network())
    with shared.updating() as model:
        model.fill(7)
    snapshot = shared.snapshot()
    assert (snapshot.version, shared.version) == (0, 0)
    assert float(snapshot.tensors["seen"][0]) == 0.0
    assert shared.publish() == 1
    assert (shared.snapshot().version, shared.version) == (1, 1)
    assert float(shared.snapshot().tensors["seen"][0]) == 7.0
    assert float(snapshot.tensors["seen"][0]) == 0.0


def test_a_copy_is_independent_of_the_model_and_of_the_snapshot() -> None:
    shared, copy = ThreadSafeModel(Network()), Network()
    shared.model.fill(3)
    shared.publish()
    snapshot = shared.snapshot()
    copy.fill(5)
    snapshot.copy_to(copy)
    shared.model.fill(9)
    assert all(bool((tensor == 3).all()) for tensor in copy.state_dict().values())
    copy.fill(1)
    assert all(bool((tensor == 3).all()) for tensor in snapshot.tensors.values())
    assert all(bool((tensor == 9).all()) for tensor in shared.model.state_dict().values())


def test_a_reader_does_not_wait_for_an_update_but_a_publication_does() -> None:
    shared, inside, leave = ThreadSafeModel(Network()), threading.Event(), threading.Event()

    def learn() -> None:
        with shared.updating() as model:
            model.fill(1)
            inside.set()
            assert leave.wait(LIMIT_SECONDS)
            model.fill(2)

    learner = Background(learn)
    assert inside.wait(LIMIT_SECONDS)
    assert Background(shared.snapshot).result().version == 0
    publisher = Background(shared.publish)
    leave.set()
    learner.result()
    assert publisher.result() == 1
    assert float(shared.snapshot().tensors["seen"][0]) == 2.0


def test_the_lock_is_the_one_that_updates_hold() -> None:
    shared = ThreadSafeModel(Network())
    with shared.updating():
        assert not Background(lambda: shared.lock.acquire(blocking=False)).result()
    with shared.lock, shared.updating() as model:
        assert model is shared.model


def test_a_copy_is_refreshed_with_the_present_weights_where_they_are_newer() -> None:
    shared, copy = ThreadSafeModel(Network()), Network()
    known = shared.refresh(copy, known=None)
    shared.model.fill(3)
    assert shared.refresh(copy, known=known) == known
    assert all(bool((tensor == 0).all()) for tensor in copy.state_dict().values())
    assert shared.advance() == known + 1
    assert shared.refresh(copy, known=known) == known + 1
    assert all(bool((tensor == 3).all()) for tensor in copy.state_dict().values())
    shared.model.fill(9)
    assert all(bool((tensor == 3).all()) for tensor in copy.state_dict().values())


def test_a_copy_that_knows_nothing_is_refreshed_though_nothing_was_advanced() -> None:
    shared, copy = ThreadSafeModel(Network()), Network()
    copy.fill(5)
    shared.refresh(copy, known=None)
    assert all(bool((tensor == 0).all()) for tensor in copy.state_dict().values())


def test_to_advance_publishes_no_snapshot() -> None:
    shared = ThreadSafeModel(Network())
    shared.model.fill(3)
    shared.advance()
    assert (shared.version, shared.snapshot().version) == (0, 0)
    assert float(shared.snapshot().tensors["seen"][0]) == 0.0


def test_no_refreshed_copy_is_half_old_and_half_new_and_none_goes_back() -> None:
    shared, copy, done = ThreadSafeModel(Network()), Network(), threading.Event()

    def learn() -> None:
        revision = 0
        while not done.is_set():
            with shared.updating() as model:
                model.fill(revision + 1)
                revision = shared.advance()

    learner, known, changes = Background(learn), None, 0
    try:
        for _ in range(10_000):
            before, known = known, shared.refresh(copy, known=known)
            changes += known != before
            assert before is None or known >= before
            for tensor in copy.state_dict().values():
                least, greatest = torch.aminmax(tensor)
                assert least == greatest == known
    finally:
        done.set()
    learner.result()
    assert changes > 10
