"""The bytes of a model file: one JSON header and one block of array data.

Layout: a 16-byte signature, the lengths of header and payload as two little-endian 64-bit
numbers, the SHA-256 of both, the header (UTF-8 JSON), the payload (arrays, little-endian, by rows
or by columns, one after the other). Nothing is compressed and nothing is named by a path, so a
file can neither expand nor point outside itself; every length is checked against the size of the
file before anything is allocated. The checksum finds damage, not malice: what the header says is
believed by nobody until :mod:`corollary.core.files` has checked it.
"""

import hashlib
import json
import math
import struct
from typing import Any, TypeGuard

import numpy as np

SIGNATURE = b"corollary model\n"
_LENGTHS = struct.Struct("<QQ")
_PREFIX = len(SIGNATURE) + _LENGTHS.size + hashlib.sha256().digest_size
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")


class ModelFileError(ValueError):
    """A model file was refused; the message says why."""


def pack(header: dict[str, Any], arrays: list[np.ndarray]) -> bytes:
    """Encode a header and arrays."""
    described, parts, offset = [], [], 0
    for array in arrays:
        array = np.asarray(array, dtype=array.dtype.newbyteorder("<"))
        if array.dtype.str not in DTYPES:
            raise ModelFileError(f"Arrays of dtype {array.dtype} cannot be saved.")
        # A product with a matrix stored by columns may round differently from one stored by rows:
        # the order is kept, so that a loaded model predicts the same bits.
        order: Any = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        entry: dict[str, Any] = {"dtype": array.dtype.str, "shape": list(array.shape)}
        described.append(entry | {"offset": offset, "order": order})
        parts.append(array.tobytes(order))
        offset += array.nbytes
    text = json.dumps({**header, "arrays": described}, allow_nan=False, ensure_ascii=False)
    body = text.encode() + b"".join(parts)
    lengths = _LENGTHS.pack(len(text.encode()), offset)
    return SIGNATURE + lengths + hashlib.sha256(lengths + body).digest() + body


def unpack(data: bytes) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Decode and check what :func:`pack` wrote."""
    if data[: len(SIGNATURE)] != SIGNATURE:
        raise ModelFileError("This is not a corollary model file (its signature is missing).")
    if len(data) < _PREFIX:
        raise ModelFileError("The model file is truncated.")
    lengths = data[len(SIGNATURE) : len(SIGNATURE) + _LENGTHS.size]
    header_size, payload_size = _LENGTHS.unpack(lengths)
    if len(data) != _PREFIX + header_size + payload_size:
        raise ModelFileError(
            f"The model file is truncated or has been extended: it should have "
            f"{_PREFIX + header_size + payload_size} bytes and has {len(data)}."
        )
    body = memoryview(data)[_PREFIX:]
    digest = data[len(SIGNATURE) + _LENGTHS.size : _PREFIX]
    checksum = hashlib.sha256(lengths)
    checksum.update(body)
    if checksum.digest() != digest:
        raise ModelFileError("The model file is damaged: its checksum does not match.")
    try:
        header = json.loads(bytes(body[:header_size]), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The model file's header cannot be read: {error}") from None
    if not isinstance(header, dict) or not isinstance(header.get("arrays"), list):
        raise ModelFileError("The model file's header is not an object with a list of arrays.")
    payload = body[header_size:]
    arrays: list[np.ndarray] = []
    start = 0
    for entry in header.pop("arrays"):
        # Arrays follow one another: if they could overlap, a small file could fill the memory.
        arrays.append(_array(entry, payload, start))
        start += arrays[-1].nbytes
    return header, arrays


def is_whole(value: Any) -> TypeGuard[int]:
    """Say whether a value is an int and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool)


def _refuse_constant(name: str) -> float:
    raise ModelFileError(f"The model file's header contains {name}, which JSON does not have.")


def _array(entry: Any, payload: memoryview, start: int) -> np.ndarray:
    order: Any = "F" if isinstance(entry, dict) and entry.get("order") == "F" else "C"
    match entry:
        case {"dtype": str(dtype), "shape": list(shape), "offset": int(offset)} if (
            dtype in DTYPES
            and len(shape) <= 8
            and all(is_whole(n) and n >= 0 for n in shape)
            and offset == start
        ):
            size = math.prod(shape) * np.dtype(dtype).itemsize
            # The product of the other dimensions is bounded too, or shape (0, 2**60) would pass.
            if math.prod(max(1, n) for n in shape) <= 2**48 and offset + size <= len(payload):
                flat = np.frombuffer(payload[offset : offset + size], dtype=dtype)
                return flat.reshape(shape, order=order).copy(order=order)
    raise ModelFileError(f"The model file describes an impossible array: {str(entry)[:200]}")
