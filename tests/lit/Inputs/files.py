"""The files that gnnc reads and writes, with the standard library alone: .npy, .npz, safetensors.

An array is (dtype, shape, flat list); dtype is a letter of struct: f d i q B b ?.
"""
import io
import json
import struct
import zipfile

NPY = {"f": "<f4", "d": "<f8", "i": "<i4", "q": "<i8", "B": "|u1", "b": "|i1", "?": "|b1"}
SAFE = {"f": "F32", "d": "F64", "i": "I32", "q": "I64", "B": "U8", "?": "BOOL"}


def count(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def npy(dtype, shape, values, descr=None):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
        descr or NPY[dtype], "".join(f"{d}, " for d in shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{len(values)}{dtype}", *values)


def write_npz(path, arrays, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as z:
        for name, array in arrays.items():
            z.writestr(name + ".npy", array if isinstance(array, bytes) else npy(*array))


def read_npy(data):
    f = io.BytesIO(data)
    assert f.read(6) == b"\x93NUMPY", data[:16]
    major = f.read(2)[0]
    (n,) = struct.unpack("<H" if major == 1 else "<I", f.read(2 if major == 1 else 4))
    text = f.read(n).decode()
    assert (f.tell() % 64) == 0, "the data of a .npy begins at a multiple of 64"
    header = eval(text, {"__builtins__": {}})
    assert not header["fortran_order"]
    dtype = {v: k for k, v in NPY.items()}[header["descr"]]
    body = f.read()
    n = count(header["shape"])
    assert len(body) == n * struct.calcsize(dtype), (len(body), header)
    return dtype, tuple(header["shape"]), list(struct.unpack(f"<{n}{dtype}", body))


def read_npz(path):
    with zipfile.ZipFile(path) as z:
        assert z.testzip() is None
        return {n[:-4]: read_npy(z.read(n)) for n in z.namelist()}


def write_safetensors(path, tensors):
    header, body = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        data = struct.pack(f"<{len(values)}{dtype}", *values)
        header[name] = {"dtype": SAFE[dtype], "shape": list(shape),
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + body)


def read_safetensors(path):
    data = open(path, "rb").read()
    (n,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + n])
    body, out = data[8 + n:], {}
    for name, t in header.items():
        if name == "__metadata__":
            continue
        dtype = {v: k for k, v in SAFE.items()}[t["dtype"]]
        begin, end = t["data_offsets"]
        assert (end - begin == count(t["shape"]) * struct.calcsize(dtype)
                and end <= len(body)), (name, t)
        values = struct.unpack(f"<{count(t['shape'])}{dtype}", body[begin:end])
        out[name] = dtype, tuple(t["shape"]), list(values)
    return out
