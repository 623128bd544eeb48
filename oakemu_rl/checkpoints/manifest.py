"""`manifest.json`: what a checkpoint folder holds, and how to tell that it is whole.

The manifest carries the sha256 and size of each file, and in `checksum` the sha256 of its own other
entries, as JSON with sorted keys and no white space. A format number above `FORMAT_VERSION` is
believed only where that checksum holds, so that every later format must keep it.
"""

import hashlib
import json
import platform
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import attrs
import numpy
import torch

from oakemu_rl.checkpoints.plain import from_json, to_json
from oakemu_rl.config.strict import structure
from oakemu_rl.config.validators import InvalidValueError, number
from oakemu_rl.core.errors import CheckpointError, ConfigurationError

FORMAT_VERSION = 1
MANIFEST_NAME = "manifest.json"
_FILE_NAME = re.compile(r"[a-z0-9_]+\.(safetensors|json)")


class NewerFormatError(CheckpointError):
    """A later version of this program wrote the checkpoint."""


@attrs.frozen(kw_only=True)
class FileEntry:
    """One file of the folder. `size` is in bytes."""

    sha256: str
    size: int = attrs.field(validator=number(least=0))


def _plain_names(_instance: object, _attribute: object, files: Mapping[str, FileEntry]) -> None:
    for name in files:
        if not _FILE_NAME.fullmatch(name) or name == MANIFEST_NAME:
            raise InvalidValueError(
                "files", f"got the file name {name!r}, allowed is {_FILE_NAME.pattern}"
            )


@attrs.frozen(kw_only=True)
class Manifest:
    """The manifest of format 1. `created` is UTC in ISO 8601."""

    env_steps: int = attrs.field(validator=number(least=0))
    iterations: int = attrs.field(validator=number(least=0))
    configuration_hash: str
    versions: Mapping[str, str]
    torch_threads: int = attrs.field(validator=number(least=1))
    created: str
    files: Mapping[str, FileEntry] = attrs.field(validator=_plain_names)


def library_versions() -> dict[str, str]:
    """The versions that decide whether a run can be repeated bit for bit."""
    try:
        own = version("oakemu-rl")
    except PackageNotFoundError:
        own = "run from its sources"
    return {
        "oakemu_rl": own,
        "torch": str(torch.__version__),
        "numpy": numpy.__version__,
        "python": platform.python_version(),
    }


def file_entry(data: bytes) -> FileEntry:
    """The entry of a file with these contents."""
    return FileEntry(sha256=hashlib.sha256(data).hexdigest(), size=len(data))


def manifest_bytes(manifest: Manifest) -> bytes:
    """The text of `manifest.json`: no newline at its end, so that no cut goes unseen."""
    body = {"format_version": FORMAT_VERSION, **attrs.asdict(manifest)}
    return to_json({**body, "checksum": _checksum(body)}, place=MANIFEST_NAME).rstrip()


def read_manifest(data: bytes, *, source: str) -> Manifest:
    """Read `manifest.json`, believing nothing before its checksum holds.

    Raises:
        NewerFormatError: a later version wrote it; names both format numbers.
        CheckpointError: it is broken; names `source`.
    """
    body = from_json(data, source=source)
    claimed = body.get("format_version")
    newer = isinstance(claimed, int) and claimed > FORMAT_VERSION
    told = (
        f"{source}: is of checkpoint format {claimed}, and this program reads formats up to "
        f"{FORMAT_VERSION}; install a newer oakemu-rl"
    )
    if body.pop("checksum", None) != _checksum(body):
        also = f"; besides, {told}" if newer else ""
        raise CheckpointError(f"{source}: does not match its own checksum{also}")
    if newer:
        raise NewerFormatError(told)
    if body.pop("format_version", None) != FORMAT_VERSION:
        raise CheckpointError(f"{source}: has format {claimed!r}, expected is {FORMAT_VERSION}")
    try:
        return structure(body, Manifest, source=source)
    except ConfigurationError as error:
        raise CheckpointError(str(error)) from None


def _checksum(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
