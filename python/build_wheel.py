#!/usr/bin/env python3
"""Makes the wheel and the source archive of the package, with the standard library alone.

    build_wheel.py [--library PATH] [--out FOLDER] [--sdist]

It is the build backend of pyproject.toml, too (PEP 517 and 660), so that `pip install ./python`
works without a network.  The library is --library, else GNNC_LIBRARY, else ../build/libgnnc.so;
with none the wheel is of Python alone, and finds the library where `make install` put it.

The library is stripped.  Libraries that it needs, and that not every Linux has, go into gnnc/libs,
which the package loads first.  The tag is read from the library: manylinux with the newest glibc
whose symbols it wants.  Equal input gives equal bytes.
"""

import argparse
import base64
import hashlib
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
# Of every Linux that manylinux is for (PEP 600), as far as C and C++ need.
EVERYWHERE = re.compile(r"(lib(c|m|dl|rt|pthread|util|gcc_s|stdc\+\+)|ld-linux.*)\.so\.\d+")
# What is linked into the library: where Debian keeps its terms.
PARTS = ("libjansson4", "llvm-19", "zlib1g", "libzstd1", "gcc-12-base")
DATE = (1980, 1, 1, 0, 0, 0)


def project():
    """The strings of pyproject.toml's [project], and the version."""
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as f:
        text = f.read().split("[project]")[1]
    found = dict(re.findall(r'^([\w-]+) = "(.*)"$', text, re.M))
    with open(os.path.join(HERE, "gnnc", "_version.py"), encoding="utf-8") as f:
        found["version"] = re.search(r'__version__ = "(.*)"', f.read())[1]
    return found


# The library --------------------------------------------------------------------------------------


def elf(path):
    """(names that it needs, versions of glibc that it wants, machine) of a 64-bit ELF file."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit(f"{path}: a 64-bit library of a little-endian machine is expected")
    machine = {62: "x86_64", 183: "aarch64"}.get(struct.unpack_from("<H", data, 18)[0], "unknown")
    at, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + k * size) for k in range(count)]

    def text(strings, k):
        begin = sections[strings][4] + k
        return data[begin:data.index(b"\0", begin)].decode()

    needed, versions = [], set()
    for _, kind, _, _, offset, length, link, info, _, _ in sections:
        if kind == 6:  # SHT_DYNAMIC
            for tag, value in struct.iter_unpack("<QQ", data[offset:offset + length]):
                if tag == 1:  # DT_NEEDED
                    needed.append(text(link, value))
        if kind == 0x6FFFFFFE:  # SHT_GNU_verneed
            at = offset
            for _ in range(info):
                _, aux, _, first, following = struct.unpack_from("<HHIII", data, at)
                one = at + first
                for _ in range(aux):
                    _, _, _, name, further = struct.unpack_from("<IHHII", data, one)
                    found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", text(link, name))
                    if found:
                        versions.add((int(found[1]), int(found[2])))
                    one += further
                at += following
    return needed, versions, machine


def resolved(path):
    """{name: path} of all that it needs, as the loader finds them."""
    out = subprocess.run(["ldd", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    lost = re.findall(r"^\s*(\S+) => not found", out, re.M)
    if lost:
        sys.exit(f"{path} needs {', '.join(lost)}, which is not here")
    return dict(re.findall(r"^\s*(\S+) => (/\S+)", out, re.M))


def stripped(path):
    """The bytes of a library without what only debuggers read."""
    tool = shutil.which("strip") or shutil.which("llvm-strip-19")
    if not tool:
        print("build_wheel: there is no strip: the library keeps its debug information")
        with open(path, "rb") as f:
            return f.read()
    with tempfile.TemporaryDirectory() as to:
        out = os.path.join(to, "lib.so")
        subprocess.run([tool, "--strip-unneeded", "-o", out, path], check=True)
        with open(out, "rb") as f:
            return f.read()


def library(path):
    """({name in the wheel: bytes}, tag of the platform) of the library and what it brings."""
    files, versions, found = {}, set(), resolved(path)
    todo, seen = [("gnnc/libgnnc.so.0", path)], set()
    while todo:
        name, at = todo.pop()
        needed, wants, machine = elf(at)
        files[name] = stripped(at)
        if name == "gnnc/libgnnc.so.0":
            # CMake leaves an empty folder, which is the current one, behind that of the package's.
            files[name] = files[name].replace(b"\0$ORIGIN/libs:\0", b"\0$ORIGIN/libs\0\0")
        versions |= wants
        for other in needed:
            if not EVERYWHERE.fullmatch(other) and other not in seen:
                seen.add(other)
                todo.append((f"gnnc/libs/{other}", found[other]))
    major, minor = max(versions | {(2, 17)})
    return files, f"manylinux_{major}_{minor}_{machine}"


def find_library(named=None):
    """The library to put in, or None."""
    for path in (named, os.environ.get("GNNC_LIBRARY")):
        if path:
            if not os.path.isfile(path):
                sys.exit(f"{path}: there is no such file")
            return os.path.realpath(path)
    path = os.path.join(ROOT, "build", "libgnnc.so")
    return os.path.realpath(path) if os.path.isfile(path) else None


# Archives -----------------------------------------------------------------------------------------


def package():
    """{name in the wheel: bytes} of the package's own files."""
    files, folder = {}, os.path.join(HERE, "gnnc")
    for part in ("", "torch/", "torch/_rules/"):
        for name in sorted(os.listdir(os.path.join(folder, part))):
            if name.endswith(".py") or name == "py.typed":
                with open(os.path.join(folder, part, name), "rb") as f:
                    files[f"gnnc/{part}{name}"] = f.read()
    return files


# What torch.compile(backend="gnnc") finds.
ENTRY_POINTS = b"[torch_dynamo_backends]\ngnnc = gnnc.torch:backend\n"


def metadata(p):
    """The text of METADATA and PKG-INFO."""
    page = os.path.join(HERE, "README.md")
    with open(page, encoding="utf-8") as f:
        words = f.read()
    return (f"Metadata-Version: 2.1\nName: {p['name']}\nVersion: {p['version']}\n"
            f"Summary: {p['description']}\nLicense: {p['license']}\n"
            f"Requires-Python: {p['requires-python']}\n"
            "Classifier: Operating System :: POSIX :: Linux\nClassifier: Typing :: Typed\n"
            "Description-Content-Type: text/markdown\n\n" + words).encode()


def licenses(with_library):
    """{file name: bytes} of the terms of all that is inside."""
    files = {}
    for path in (os.path.join(ROOT, "LICENSE"), os.path.join(HERE, "LICENSE")):
        if os.path.isfile(path):
            with open(path, "rb") as f:
                files["LICENSE"] = f.read()
    for part in PARTS if with_library else ():
        path = os.path.join("/usr/share/doc", part, "copyright")
        if os.path.isfile(path):
            with open(path, "rb") as f:
                files[f"{part}.txt"] = f.read()
    return files


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write_wheel(folder, files, tag, with_library=False):
    """Writes a wheel of these files; gives its name."""
    p = project()
    info = f"{p['name']}-{p['version']}.dist-info"
    files = dict(files)
    files[f"{info}/METADATA"] = metadata(p)
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: gnnc build_wheel\n"
                              f"Root-Is-Purelib: {'false' if with_library else 'true'}\n"
                              f"Tag: {tag}\n").encode()
    for name, data in licenses(with_library).items():
        files[f"{info}/licenses/{name}"] = data
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    name = f"{p['name']}-{p['version']}-{tag}.whl"
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(os.path.join(folder, name), "w") as z:
        for member, data in files.items():
            entry = zipfile.ZipInfo(member, DATE)
            entry.external_attr = (0o755 if ".so" in member else 0o644) << 16
            z.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return name


# The hooks of PEP 517 and 660 ---------------------------------------------------------------------


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None, named=None):
    """The wheel, with the library where there is one."""
    path, files, tag = find_library(named), package(), "py3-none-any"
    if path:
        more, platform = library(path)
        files.update(more)
        tag = f"py3-none-{platform}"
    return write_wheel(wheel_directory, files, tag, bool(path))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """A wheel that points here; the library is GNNC_LIBRARY's or an installed one."""
    return write_wheel(wheel_directory, {"gnnc.pth": HERE.encode() + b"\n"}, "py3-none-any")


def build_sdist(sdist_directory, config_settings=None):
    """The package without the library."""
    p = project()
    base = f"{p['name']}-{p['version']}"
    files = {**package(), "PKG-INFO": metadata(p)}
    for name in ("pyproject.toml", "build_wheel.py", "README.md"):
        with open(os.path.join(HERE, name), "rb") as f:
            files[name] = f.read()
    files.update(licenses(False))
    os.makedirs(sdist_directory, exist_ok=True)
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz",
                      format=tarfile.PAX_FORMAT) as t:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size, entry.mtime, entry.mode = len(data), 315532800, 0o644
            t.addfile(entry, io.BytesIO(data))
    return base + ".tar.gz"


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    args.add_argument("--library", help="libgnnc.so to put in")
    args.add_argument("--out", default=os.path.join(ROOT, "build", "wheel"))
    args.add_argument("--sdist", action="store_true", help="the source archive instead")
    given = args.parse_args()
    name = (build_sdist(given.out) if given.sdist
            else build_wheel(given.out, named=given.library))
    path = os.path.join(given.out, name)
    print(f"{path}: {os.path.getsize(path) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
