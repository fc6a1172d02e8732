"""gnnc._capi against the headers: sizes, offsets, constants, functions and their arguments."""

import ctypes as C
import ctypes.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from gnnc import _capi as capi
from gnnc._version import __version__

ROOT = os.environ.get("GNNC_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
HEADERS = ("gnnc.h", "run.h")
CC = shlex.split(os.environ.get("CC") or "cc")

# The types of the header's declarations.
TYPES = {
    "const char *": C.c_char_p, "double": C.c_double, "int": C.c_int, "bool": C.c_bool,
    "int64_t": C.c_int64, "uint64_t": C.c_uint64, "size_t": C.c_size_t, "void": None,
    "gnnc_code": C.c_int, "gnnc_index": C.c_int, "void *": C.c_void_p, "char *": C.c_void_p,
    "const void *": C.c_void_p, "const int64_t *": C.c_void_p, "const int32_t *": C.c_void_p,
    "const float *": C.c_void_p, "bool *": C.c_void_p,
    "gnnc_status *": C.c_void_p, "double *": C.POINTER(C.c_double),
    "DLManagedTensor *": C.c_void_p, "struct DLManagedTensorVersioned *": C.c_void_p,
    "size_t *": C.POINTER(C.c_size_t), "int64_t[16]": C.POINTER(C.c_int64),
    "const char **": C.POINTER(C.c_char_p),
    "const DLTensor *const *": C.POINTER(C.POINTER(capi.DLTensor)),
}
OUT = {"gnnc_context", "gnnc_module", "gnnc_graph", "gnnc_executable", "gnnc_state", "gnnc_run",
       "gnnc_status", "char", "void", "DLManagedTensor", "struct DLManagedTensorVersioned"}


def c_type(text):
    """What ctypes has for a type of the header."""
    if text in TYPES:
        return TYPES[text]
    if text.endswith("**") and text[:-2].strip() in OUT:
        return C.POINTER(C.c_void_p)
    bare = text[:-1].replace("const ", "").strip()
    if bare in OUT:
        return C.c_void_p
    return C.POINTER(getattr(capi, bare))


def declared():
    """{name: (result, arguments)} of the headers, as ctypes has them."""
    found = {}
    for header in HEADERS:
        with open(os.path.join(ROOT, "include", "gnnc", header), encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
        for result, name, args in re.findall(
                r"^GNNC_API (?:GNNC_NODISCARD )?([^(;]*?)(gnnc_\w+)\(([^)]*)\);", text, re.M):
            types = []
            for arg in re.sub(r"\s+", " ", args).split(","):
                arg = arg.strip()
                if arg == "void":
                    continue
                of, _, dims = re.fullmatch(r"(.*?)(\w+)(\[\d+\])?", arg).groups()
                types.append(c_type(of.strip() + (dims or "")))
            found[name] = (c_type(result.strip()), tuple(types))
    return found


def structures():
    return {name: s for name, s in vars(capi).items() if isinstance(s, type) and
            issubclass(s, C.Structure) and getattr(s, "_fields_", None)}


class Functions(unittest.TestCase):
    def test_all_are_there_with_their_types(self):
        want = declared()
        self.assertGreater(len(want), 60)
        self.assertEqual(sorted(want), sorted(capi.PROTOTYPES))
        for name in want:
            self.assertEqual(want[name], capi.PROTOTYPES[name], name)

    def test_version(self):
        self.assertEqual(capi.lib.gnnc_version().decode(), __version__)


@unittest.skipUnless(shutil.which(CC[0]), "no C compiler")
class Layout(unittest.TestCase):
    def test_sizes_offsets_constants(self):
        constants = {name: value for name, value in vars(capi).items()
                     if re.match(r"GNNC_|DLPACK_|kDL", name)}
        lines, want = [], []
        for name, value in constants.items():
            lines.append(f'printf("{name} %lld\\n", (long long){name});')
            want.append(f"{name} {value}")
        for name, s in structures().items():
            of = f"struct {name}" if name == "DLManagedTensorVersioned" else name
            lines.append(f'printf("{name} %zu\\n", sizeof({of}));')
            want.append(f"{name} {C.sizeof(s)}")
            for field, _ in s._fields_:
                at = getattr(s, field)
                lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({of}, {field}), '
                             f"sizeof((({of} *)0)->{field}));")
                want.append(f"{name}.{field} {at.offset} {at.size}")
        lines.append('printf("%d.%d.%d\\n", GNNC_VERSION_MAJOR, GNNC_VERSION_MINOR, '
                     "GNNC_VERSION_PATCH);")
        want.append(__version__)
        program = ("#include <gnnc/gnnc.h>\n#include <stdio.h>\nint main(void) {\n" +
                   "\n".join(lines) + "\nreturn 0; }\n")
        with tempfile.TemporaryDirectory() as to:
            source, exe = os.path.join(to, "layout.c"), os.path.join(to, "layout")
            with open(source, "w", encoding="utf-8") as f:
                f.write(program)
            subprocess.run([*CC, "-std=c17", "-I", os.path.join(ROOT, "include"), source, "-o",
                            exe], check=True)
            said = subprocess.run([exe], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(want, said.splitlines())

    def test_every_structure_of_the_headers_is_there(self):
        names = set()
        for header in HEADERS:
            with open(os.path.join(ROOT, "include", "gnnc", header), encoding="utf-8") as f:
                names |= set(re.findall(r"^typedef struct (gnnc_\w+) \{", f.read(), re.M))
        self.assertEqual(sorted(names), sorted(n for n in structures() if n.startswith("gnnc_")))


class Finding(unittest.TestCase):
    def setUp(self):
        self.named = os.environ.pop("GNNC_LIBRARY", None)

    def tearDown(self):
        if self.named is not None:
            os.environ["GNNC_LIBRARY"] = self.named

    def test_beside_the_package_comes_first(self):
        with tempfile.TemporaryDirectory() as to:
            path = os.path.join(to, "libgnnc.so.0")
            open(path, "wb").close()
            os.environ["GNNC_LIBRARY"] = "/elsewhere"
            self.assertEqual(capi.find_library(to), path)
            del os.environ["GNNC_LIBRARY"]

    def test_prefix_of_the_package(self):
        with tempfile.TemporaryDirectory() as to:
            package = os.path.join(to, "lib", "python3", "site-packages", "gnnc")
            os.makedirs(package)
            path = os.path.join(to, "lib", "libgnnc.so")
            open(path, "wb").close()
            self.assertEqual(capi.find_library(package), path)

    def test_error_says_where(self):
        os.environ["GNNC_LIBRARY"] = "/nowhere/libgnnc.so"
        with self.assertRaises(capi.LibraryError) as caught:
            capi.find_library("/no/package")
        del os.environ["GNNC_LIBRARY"]
        for part in ("/no/package", "GNNC_LIBRARY: /nowhere/libgnnc.so", "set GNNC_LIBRARY"):
            self.assertIn(part, str(caught.exception))

    def test_no_libgnnc(self):
        for path, words in ((C.util.find_library("m"), "no libgnnc"),
                            (__file__, "cannot be loaded")):
            with self.assertRaisesRegex(capi.LibraryError, words):
                capi.load(path)


if __name__ == "__main__":
    unittest.main()
