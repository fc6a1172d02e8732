# not_finite.sh GNNC FOLDER: trains models that have a NaN in front of an activation, and says where
# that was not seen; then one whose weights become infinite.  With sanitizers each activation is in
# one mode.
modes='eager default'
for f in 'relu(z)' 'leaky_relu(z)' 'elu(z)' 'selu(z)' 'gelu(z)' 'silu(z)' 'softplus(z)' \
    'log_sigmoid(z)' 'clamp(z, 0, 1)' 'max(z, 0)' 'min(1, z)' 'z <= 0 ? 0 : z' \
    'max(z, axis = -1, keep = true)' 'min(z, axis = -1, keep = true)' \
    'max(u -> v in g: z[u])' 'softmax(z)'; do
    cat > "$2/m.gnn" <<END
model M() (g: graph, x: node[F]) -> node[C] {
  z = log(x - 2)
  return GCNConv(C)(g, $f)
}
END
    if test -n "$ASAN_OPTIONS$TSAN_OPTIONS"; then
        case $modes in eager) modes=default ;; *) modes=eager ;; esac
    fi
    for mode in $modes; do
        said=$("$1" train "$2/m.gnn" -q -O $mode --epochs 3 2>&1)
        case $said in
        *'loss is nan before the first step: look for'*) echo "seen: $f, $mode" ;;
        *) echo "not seen: $f, $mode: $said" ;;
        esac
    done
done
cat > "$2/m.gnn" <<END
model M(lr = 1e38) (g: graph, x: node[F]) -> node[C] {
  c = GCNConv(C)
  return c(g, x)
}
train M {
  loss = cross_entropy(1e10 * M(g, x), y) over train_mask
  optimizer = sgd(lr = lr)
}
END
"$1" train "$2/m.gnn" -q -O eager --epochs 1 --save "$2/w.safetensors"
test -e "$2/w.safetensors" || echo nothing saved
"$1" train "$2/m.gnn" -q -O eager --epochs 1 -D lr=1e-9 --save "$2/w.safetensors" > /dev/null &&
    test -e "$2/w.safetensors" && echo saved
