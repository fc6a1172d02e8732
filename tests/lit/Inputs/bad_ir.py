"""IR text that must be refused by `gnnc opt` and `gnnc reduce`: exit status 1, and where it is
wrong."""
import runs

r = runs.Runs(shared=True)


def gir(text):
    return "program @p {\n  space node node ?\n  %1 = input \"x\" : node f32[8]\n" + text + "}\n"


def kir(text):
    return "kernel @k (\n  sym n,\n  %x: f32[n] read,\n  %y: f32[n] write\n) {\n" + text + "}\n"


for name, text, what in (
    ("empty", "", "empty:1"),
    ("words", "hello world\n", "words:1"),
    ("open", "program @p {\n", "open:"),
    ("noise", "program @p {" + "\x00\x01\x7f" * 50, "noise:"),
    ("unknown", gir("  %2 = frobnicate %1 : node f32[8]\n"), "unknown:4"),
    ("misspelt", gir("  %2 = exq %1 : node f32[8]\n"), "misspelt:4"),
    ("later", gir("  %2 = exp %3 : node f32[8]\n"), "later:4"),
    ("twice", gir("  %1 = exp %1 : node f32[8]\n"), "twice:4"),
    ("type", gir("  %2 = exp %1 : node f32[9]\n"), "type:4"),
    ("operands", gir("  %2 = exp %1, %1 : node f32[8]\n"), "operands:4"),
    ("space", gir("  %2 = exp %1 : edge f32[8]\n"), "space:4"),
    ("number", gir("  %99999999999 = exp %1 : node f32[8]\n"), "number:4"),
    ("dims", gir("  %2 = exp %1 : node f32[99999999999999999999]\n"), "dims:4"),
    ("output", gir('  output "out" %7\n'), "output:4"),
    ("string", gir('  output "out\n'), "string:4"),
    ("inst", kir("  %1 = frob 1\n"), "inst:6"),
    ("mixed", kir("  %1 = fadd 1, 2\n"), ""),
    ("scope", kir("  for %1 in 0 .. n step 1 thread none {\n    store %y[%9], 0.0\n  }\n"),
     "scope:7"),
    ("access", kir("  for %1 in 0 .. n step 1 thread none {\n    store %x[%1], 0.0\n  }\n"), ""),
    ("unit", kir("  for %1 in 0 .. n step 1 fibre none {\n  }\n"), "unit:6"),
    ("step", kir("  for %1 in 0 .. n step 0 thread none {\n  }\n"), ""),
    ("tile", kir("  %1 = tile f32 99999999999\n"), ""),
    ("nested", kir("  for %1 in 0 .. n step 1 serial none {\n" * 10 ** 5), ""),
):
    for command in (("opt",), ("reduce", "--", "true")):
        r.fails(1, what, command[0], r.write(name, text), *command[1:])
r.done()
