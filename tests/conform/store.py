"""Writes safetensors files whose bytes depend on their content alone.

The safetensors package writes its metadata in an order that changes from run to run, which would
make every re-recording a change. Format: https://github.com/huggingface/safetensors#format
"""
import json

import numpy as np

DTYPES = {"float64": "F64", "float32": "F32", "int64": "I64", "bool": "BOOL"}


def encode(tensors, metadata):
    """tensors: name -> numpy array; metadata: str -> str. Returns the bytes of the file."""
    # Widest elements first, so that every tensor is aligned to its element.
    order = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    header = {"__metadata__": dict(sorted(metadata.items()))}
    chunks, offset = [], 0
    for name in order:
        array = tensors[name]
        # tobytes is C order
        data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        header[name] = {
            "dtype": DTYPES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + len(data)],
        }
        chunks.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(chunks)


def decode(data):
    """The inverse of encode: (tensors, metadata)."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    names = {tag: np.dtype(name) for name, tag in DTYPES.items()}
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        flat = np.frombuffer(data[8 + size + begin : 8 + size + end], dtype=names[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors, metadata
