"""One checkpoint folder: what goes into it, and reading it without trusting it.

`manifest.json` last, `<stem>.safetensors` for tensors, `state.json` for plain data. Which folder is
written or read is decided by the manager.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import safetensors
import torch
from safetensors.torch import load as tensors_of
from safetensors.torch import save as bytes_of
from torch import Tensor

from oakemu_rl.checkpoints.manifest import (
    MANIFEST_NAME,
    FileEntry,
    Manifest,
    file_entry,
    library_versions,
    manifest_bytes,
    read_manifest,
)
from oakemu_rl.checkpoints.plain import from_json, to_json
from oakemu_rl.core.errors import CheckpointError

_STATE_NAME = "state.json"
_TENSORS_SUFFIX = ".safetensors"


@attrs.frozen(kw_only=True, eq=False)
class Checkpoint:
    """A checkpoint that was read and found whole.

    `tensors` are by file stem (`"model"`, `"optimizer"`, ...), then by name, on the CPU.
    `rejected` says of each checkpoint that was tried before this one what is wrong with it.
    """

    path: Path
    env_steps: int
    manifest: Manifest
    tensors: Mapping[str, Mapping[str, Tensor]]
    state: Mapping[str, Any]
    rejected: tuple[str, ...] = ()


def checkpoint_files(
    *,
    env_steps: int,
    iterations: int,
    tensors: Mapping[str, Mapping[str, Tensor]],
    state: Mapping[str, object],
    configuration_hash: str,
    created: str,
) -> dict[str, bytes]:
    """The files of a checkpoint in the order in which they are written.

    Equal tensors and equal state give equal bytes; only the manifest tells when and by what.

    Raises:
        TypeError: something is neither a tensor nor plain data.
    """
    files = {
        f"{stem}{_TENSORS_SUFFIX}": bytes_of(_own_copies(stem, tensors[stem]))
        for stem in sorted(tensors)
    }
    files[_STATE_NAME] = to_json(state, place="state")
    manifest = Manifest(
        env_steps=env_steps,
        iterations=iterations,
        configuration_hash=configuration_hash,
        versions=library_versions(),
        torch_threads=torch.get_num_threads(),
        created=created,
        files={name: file_entry(data) for name, data in files.items()},
    )
    return {**files, MANIFEST_NAME: manifest_bytes(manifest)}


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint folder. Every checksum is verified before any file is made sense of.

    Raises:
        CheckpointError: the folder is missing, of a newer format, or not whole; names the file.
    """
    if not path.is_dir():
        raise CheckpointError(f"{path}: there is no such checkpoint folder")
    manifest = read_manifest(_read(path / MANIFEST_NAME), source=str(path / MANIFEST_NAME))
    contents = {
        name: _verified(path / name, entry) for name, entry in sorted(manifest.files.items())
    }
    if _STATE_NAME not in contents:
        raise CheckpointError(f"{path / MANIFEST_NAME}: names no {_STATE_NAME}")
    return Checkpoint(
        path=path,
        env_steps=manifest.env_steps,
        manifest=manifest,
        tensors={
            name.removesuffix(_TENSORS_SUFFIX): _tensors(path / name, data)
            for name, data in contents.items()
            if name.endswith(_TENSORS_SUFFIX)
        },
        state=from_json(contents[_STATE_NAME], source=str(path / _STATE_NAME)),
    )


def looks_whole(path: Path) -> bool:
    """Whether the manifest can be read and each file has its size: a glance, not a proof."""
    try:
        manifest = read_manifest(_read(path / MANIFEST_NAME), source=str(path))
        return all(
            (path / name).stat().st_size == entry.size for name, entry in manifest.files.items()
        )
    except (CheckpointError, OSError):
        return False


def _own_copies(stem: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Contiguous copies on the CPU that share memory neither with each other nor with a module."""
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} of {stem} is {type(tensor).__name__}, expected is a tensor")
    return {
        name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()
    }


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise CheckpointError(f"{path}: is missing") from None
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror})") from None


def _verified(path: Path, entry: FileEntry) -> bytes:
    data = _read(path)
    if len(data) != entry.size:
        raise CheckpointError(f"{path}: has {len(data):,} bytes, its manifest says {entry.size:,}")
    if file_entry(data) != entry:
        raise CheckpointError(f"{path}: does not match the checksum in its manifest")
    return data


def _tensors(path: Path, data: bytes) -> dict[str, Tensor]:
    try:
        return tensors_of(data)
    except (safetensors.SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"{path}: is not a safetensors file ({error})") from None
