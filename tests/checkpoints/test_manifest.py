"""The manifest."""

import json
from typing import Any

import attrs
import pytest

from oakemu_rl.checkpoints.manifest import (
    FileEntry,
    Manifest,
    NewerFormatError,
    file_entry,
    library_versions,
    manifest_bytes,
    read_manifest,
)
from oakemu_rl.core.errors import CheckpointError

MANIFEST = Manifest(
    env_steps=123_456,
    iterations=789,
    configuration_hash="0123abcd",
    versions=library_versions(),
    torch_threads=2,
    created="2026-01-02T03:04:05+00:00",
    files={"model.safetensors": file_entry(b"abc"), "state.json": file_entry(b"")},
)


def resealed(**changes: Any) -> bytes:
    """The manifest's text after `changes`, with a checksum that holds."""
    text = manifest_bytes(MANIFEST)
    body = {**json.loads(text), **changes}
    body = {name: value for name, value in body.items() if value is not ...}
    del body["checksum"]
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return json.dumps({**body, "checksum": file_entry(canonical.encode()).sha256}).encode()


def test_a_manifest_comes_back_as_it_was() -> None:
    assert read_manifest(manifest_bytes(MANIFEST), source="m") == MANIFEST
    assert read_manifest(resealed(), source="m") == MANIFEST


def test_the_text_holds_what_a_person_looks_for() -> None:
    body = json.loads(manifest_bytes(MANIFEST))
    assert body["format_version"] == 1
    assert body["env_steps"] == 123_456
    assert set(body["versions"]) == {"oakemu_rl", "torch", "numpy", "python"}
    assert body["files"]["model.safetensors"] == {
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "size": 3,
    }


def test_no_flipped_bit_goes_unseen() -> None:
    data = manifest_bytes(MANIFEST)
    unseen = []
    for position in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[position] ^= 1 << bit
            try:
                read_manifest(bytes(flipped), source="m")
            except NewerFormatError:
                unseen.append((position, bit))
            except CheckpointError:
                continue
            else:
                unseen.append((position, bit))
    assert unseen == []


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_cut_manifest_is_broken(share: float) -> None:
    data = manifest_bytes(MANIFEST)
    with pytest.raises(CheckpointError, match=r"^m: "):
        read_manifest(data[: int(share * len(data))], source="m")


def test_a_newer_format_is_refused_with_both_numbers() -> None:
    with pytest.raises(NewerFormatError, match=r"format 7, and this program .* up to 1; install"):
        read_manifest(resealed(format_version=7), source="m")


def test_a_newer_format_without_its_checksum_is_broken_and_both_numbers_are_told() -> None:
    data = manifest_bytes(MANIFEST).replace(b'"format_version": 1', b'"format_version": 9')
    with pytest.raises(
        CheckpointError, match=r"own checksum; besides, .* format 9, .* up to 1"
    ) as told:
        read_manifest(data, source="m")
    assert not isinstance(told.value, NewerFormatError)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"format_version": 0}, "m: has format 0"),
        ({"format_version": "1"}, "m: has format '1'"),
        ({"env_steps": -1}, "m: env_steps"),
        ({"env_steps": 1.5}, "m: env_steps"),
        ({"iterations": ...}, "m: iterations: missing"),
        ({"surprise": 1}, "m: surprise"),
        ({"files": {"../model.safetensors": attrs.asdict(file_entry(b""))}}, "m: files"),
        ({"files": {"model.pt": attrs.asdict(file_entry(b""))}}, "m: files"),
        ({"files": {"manifest.json": attrs.asdict(file_entry(b""))}}, "m: files"),
        ({"files": {"state.json": {"sha256": "00", "size": -1}}}, r"m: files.*state\.json.*size"),
    ],
)
def test_a_manifest_is_read_strictly(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(CheckpointError, match=named):
        read_manifest(resealed(**changes), source="m")


def test_an_entry_is_size_and_sha256() -> None:
    assert file_entry(b"abc") == FileEntry(
        size=3, sha256="ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
