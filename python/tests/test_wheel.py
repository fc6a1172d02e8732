"""The wheel and the archive, of a small library that stands in for the large one."""

import base64
import ctypes.util
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

from support import ROOT

sys.path.append(os.path.join(ROOT, "python"))
import build_wheel  # noqa: E402

CC = (os.environ.get("CC") or "cc").split()


@unittest.skipUnless(shutil.which(CC[0]) and shutil.which("ldd"), "no C compiler")
class Wheel(unittest.TestCase):
    def test_what_is_inside(self):
        with tempfile.TemporaryDirectory() as to:
            part, whole = os.path.join(to, "libpart.so.3"), os.path.join(to, "libwhole.so")
            for out, text, more in ((part, "int part(void) { return 3; }",
                                     ["-Wl,-soname,libpart.so.3"]),
                                    (whole, "int part(void); int whole(void) { return part(); }",
                                     [part, "-Wl,-rpath," + to])):
                subprocess.run([*CC, "-shared", "-fPIC", "-xc", "-", "-xnone", "-o", out, *more],
                               input=text, text=True, check=True)
            self.assertIn("libpart.so.3", build_wheel.elf(whole)[0])
            out = os.path.join(to, "out")
            name = build_wheel.build_wheel(out, named=whole)
            self.assertRegex(name, r"gnnc-[\d.]+-py3-none-manylinux_2_\d+_\w+\.whl$")
            with zipfile.ZipFile(os.path.join(out, name)) as z:
                names = z.namelist()
                record = z.read(next(n for n in names if n.endswith("RECORD"))).decode()
                for line in record.splitlines()[:-1]:
                    member, digest, size = line.rsplit(",", 2)
                    data = z.read(member)
                    want = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
                    self.assertEqual(digest, "sha256=" + want.rstrip("="))
                    self.assertEqual(int(size), len(data))
                self.assertEqual(sorted(line.rsplit(",", 2)[0] for line in record.splitlines()),
                                 sorted(names))
            for want in ("gnnc/libgnnc.so.0", "gnnc/libs/libpart.so.3", "gnnc/py.typed",
                         "gnnc/__init__.py"):
                self.assertIn(want, names)
            with open(os.path.join(out, name), "rb") as f:
                first = f.read()
            build_wheel.build_wheel(out, named=whole)
            with open(os.path.join(out, name), "rb") as f:
                self.assertEqual(first, f.read())

    def test_machine_and_versions(self):
        path = ctypes.util.find_library("m")
        found = [p for p in glob.glob("/lib*/*/" + path) + glob.glob("/lib*/" + path)]
        if not found:
            self.skipTest("no libm")
        needed, versions, machine = build_wheel.elf(found[0])
        self.assertIn("libc.so.6", needed)
        self.assertTrue(versions)
        self.assertEqual(machine, os.uname().machine)

    def test_archive(self):
        with tempfile.TemporaryDirectory() as to:
            name = build_wheel.build_sdist(to)
            with tarfile.open(os.path.join(to, name)) as t:
                names = {n.split("/", 1)[1] for n in t.getnames()}
            self.assertLessEqual({"pyproject.toml", "build_wheel.py", "PKG-INFO", "LICENSE",
                                  "gnnc/_capi.py"}, names)


if __name__ == "__main__":
    unittest.main()
