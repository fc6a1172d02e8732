"""Models that must be refused, and a few odd ones that must not."""
import random

import runs

r = runs.Runs(shared=True)
SAMPLE = open(runs.SAMPLES + "/gcn.gnn", "rb").read()
HEAD = b"model M(k = 2) (g: graph, x: node[F]) -> node[C] { "


def body(text):
    return HEAD + text.encode() + b" }\n"


# What the language does not allow: exit status 1, and a word of what is wrong.
for name, text, what in (
    ("unknown_name", body("return relu(z)"), "nothing is named `z`"),
    ("unknown_layer", body("a = GCNCon(C)\n return a(g, x)"), "did you mean `GCNConv`?"),
    ("unknown_argument", body("a = GCNConv(C, biass = true)\n return a(g, x)"),
     "did you mean `bias`?"),
    ("wrong_dim", body("param w: [3, C] = glorot_uniform\n return x @ w"),
     "does not fit node[34] and [3, 4]"),
    ("wrong_space", body("m = edge(u -> v in g: x[u])\n return x + m"),
     "does not fit node[34] and edge[34]"),
    ("wrong_result", body("return x"), "the result of `M` is `node[C]` (C = 4), this is node[34]"),
    ("no_return", body(""), "ends without `return`"),
    ("probability", body("a = GCNConv(C)\n return a(g, dropout(x, 1.5))"),
     "a probability is between 0 and 1, not 1.5"),
    ("huge_constant", body("return x * 99999999999999999999999999"), "integer too large"),
    ("huge_dim", body("param w: [F, 999999999999] = zeros\n return x @ w"), "999999999999"),
    ("huge_product", body("param w: [F, 2000000000, 2000000000] = zeros\n return x @ w"),
     "2000000000"),
    ("huge_range", body("a = [i for i in 0..1000000000000]\n return x"), "range is too long"),
    ("zero_division", body("a = GCNConv(C / (k - 2))\n return a(g, x)"), "zero"),
    ("recursion", b"fn f(x) = f(x)\n" + body("return f(x)"), "does it use itself?"),
    ("layer_recursion", b"layer A() (g: graph, x: node[in]) -> node[in] { b = A()\n"
     b" return b(g, x) }\n" + body("a = A()\n return a(g, x)"), "does it use itself?"),
    ("two_models", body("return x") + b"model M() (g: graph, x: node[F]) -> node[C] { return x }",
     "M"),
    ("train_what", SAMPLE.replace(b"train GCN", b"train GNC"), "GNC"),
    ("unknown_optimizer", SAMPLE.replace(b"adam(", b"adm("), "adm"),
    ("unknown_parameter", SAMPLE.replace(b'"convs.0"', b'"conv.0"'),
     "no parameter is named `conv.0`"),
    ("negative_epochs", SAMPLE.replace(b"epochs = 200", b"epochs = -1"), "-1"),
    # Not a model at all.
    ("empty", b"", "no `model` in this file"),
    ("only_comments", b"# nothing\n", "no `model` in this file"),
    ("elf", b"\x7fELF\x02\x01\x01" + bytes(57), "unexpected character \\x7f"),
    ("zip", b"PK\x03\x04" + bytes(60), "unexpected character"),
    ("noise", bytes(random.Random(1).randrange(256) for _ in range(5000)), "error"),
    ("nul", SAMPLE.replace(b"relu", b"re\0lu"), "unexpected character \\x00"),
    ("nul_at_the_end", SAMPLE + b"\0", "unexpected character \\x00"),
    ("not_utf8", SAMPLE.replace(b"relu", b"r\xfflu"), "unexpected character"),
    # Deep, long, or endless.
    ("parentheses", body("return " + "(" * 10 ** 6 + "x" + ")" * 10 ** 6), "nested too deeply"),
    ("open_parentheses", body("return " + "(" * 10 ** 6), "nested too deeply"),
    ("brackets", body("return " + "[" * 10 ** 6), "nested too deeply"),
    ("minuses", body("return " + "-" * 10 ** 6 + "x"), "nested too deeply"),
    ("nots", body("return " + "not " * 10 ** 5 + "x"), "nested too deeply"),
    ("powers", body("return " + "x ^ " * 10 ** 5 + "x"), "deep"),
    ("calls", body("return " + "relu(" * 10 ** 5 + "x"), "nested too deeply"),
    ("blocks", HEAD + b"if true { " * 10 ** 5, "nested too deeply"),
    ("else_ifs", body("if false { a = 1 } " + "else if false { a = 1 } " * 10 ** 4 + " return x"),
     "error"),
    ("sum", body("return " + "x + " * 10 ** 5 + "x"), "too deep"),
    ("long_name", body("return " + "a" * 10 ** 6), "nothing is named"),
    ("long_number", body("return x * 0." + "1" * 10 ** 6), "node[34]"),
    ("long_string", b'model M(s = "' + b"x" * 10 ** 6, "string without its closing"),
    ("open_comment", body("return (x #"), "error"),
    ("too_long", b"#" * (5 << 20), "too long for a model"),
    ("doubling", b"".join(b"fn f%d(x) = f%d(f%d(x))\n" % (i + 1, i, i) for i in range(1, 60)) +
     b"fn f1(x) = x + x\n" + body("return f60(x)"), "error"),
    ("wide", body("return " + " + ".join(["x"] * 100) + "\n return " * 1000), "error"),
):
    r.fails(1, what, r.write(name + ".gnn", text), "--emit=gir")

# What a file is does not matter before it can be read.
r.fails(3, "nowhere.gnn: No such file or directory", "train", r.path("nowhere.gnn"))
r.fails(3, "Is a directory", "train", r.folder)
r.fails(2, "no command and no file 'nowhere'", "nowhere")

# Odd and fine: line ends of other systems, a byte order mark or invalid UTF-8 in a comment, no line
# feed at the end.
for name, text in (("crlf", SAMPLE.replace(b"\n", b"\r\n")),
                   ("comment", b"# \xff\xfe\xc0\x80\n" + SAMPLE), ("no_line_feed", SAMPLE.rstrip()),
                   ("tabs", SAMPLE.replace(b"  ", b"\t"))):
    if r.works(r.write(name + ".gnn", text), "--emit=gir").count("\n") < 20:
        r.problems.append(f"{name}: too little was printed")
r.done()
