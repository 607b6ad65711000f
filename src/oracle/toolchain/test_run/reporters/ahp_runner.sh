# Stands before a test runner in PATH that writes no report: runs it, and keeps what it prints and its code, so that what
# others print (`echo`, `cat`) is not taken for its words. `$real` is the runner, `$name` its name, `$dir` the folder of reports.
word=
for arg; do
    case $skip$arg in
        --color | -C | --config | -Z) skip=value: ;;
        -* | +*) ;;
        value:*) skip= ;;
        *) word=$arg && break ;;
    esac
done
case $name:$word in
    cargo:test | cargo:t | cargo:nextest | cargo-nextest:* | go:test) ;;
    # They run tests, and with `run` any program.
    cargo:careful | cargo:hack | cargo:llvm-cov | cargo:miri | cargo:tarpaulin)
        case " $* " in *' run '* | *' r '*) exec "$real" "$@" ;; esac ;;
    *) exec "$real" "$@" ;;
esac
# Only who has the seal reports. A runner that another one runs has none, and belongs to what is tested.
seal=
case ${AHP_SEAL-} in "${dir##*/}:"*) seal=${AHP_SEAL#*:} ;; esac
if [ -z "$seal" ]; then exec "$real" "$@"; fi
unset AHP_SEAL

# What was told through the pipe, nobody takes back. It is opened for both, so that nobody waits for a reader.
tell() { printf '%s\n' "$1" 1<> "$dir/told"; }
digest() { if command -v sha256sum > /dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1; }
# What may stand in the place of the tests, or of what builds them.
replaced() { tell "$(printf -- '- replaced\t%s\t%s\t%s' "$1" "$PWD" "$2" | tr '\n' ' ' | cut -c 1-3000)"; }
kept=$dir/$name-$$
tell "$seal begun $name-$$"
# Where it runs, and by which manifest, so that tests of another tree are not taken for those of this one.
place=$(pwd -P)
last=
for arg; do
    case $name:$last in go:-C | cargo*:-C | cargo*:--manifest-path) place=$arg ;; esac
    case $name:$arg in go:-C=* | go:--C=* | cargo*:--manifest-path=*) place=${arg#*=} ;; esac
    case $last=$arg in --partition=*:*/* | *=--partition=*:*/*) tell "$seal part $name-$$ ${arg##*:}" ;; esac
    case $last in -exec | --exec | -toolexec | --toolexec | -overlay | --overlay | -modfile | --modfile | -ldflags | --ldflags | --config) replaced "$last" "$arg" ;; esac
    case $arg in -exec=* | --exec=* | -toolexec=* | --toolexec=* | -overlay=* | --overlay=* | -modfile=* | --modfile=* | -ldflags=* | --ldflags=* | --config=*)
        replaced "${arg%%=*}" "${arg#*=}" ;; esac
    last=$arg
done
[ -d "$place" ] || place=$(dirname "$place")
case $name in go) manifest=go.mod ;; *) manifest=Cargo.toml ;; esac
tell "$(printf '%s place\t%s\t%s' "$seal" "$(CDPATH='' cd "$place" && pwd -P)" "$manifest")"
env | while IFS='=' read -r key value; do
    case $key in
        CARGO_TARGET_*_RUNNER | CARGO_BUILD_RUSTC | CARGO_BUILD_RUSTC_*WRAPPER | CARGO_BUILD_RUSTDOC | RUSTC | RUSTDOC | RUSTC_WRAPPER | RUSTC_WORKSPACE_WRAPPER | \
        CARGO_TARGET_*_LINKER | *RUSTFLAGS | *RUSTDOCFLAGS | LD_PRELOAD | CC | GOENV | GOFLAGS)
        replaced "$key" "$value" ;; esac
done

# In its events `go test` keeps apart what it says and what a test prints. Who did not ask for them sees the lines. Each binary is
# started by a program that sees whether it ran its tests, where the project has none of its own for that.
shown=cat
if [ "$name" = go ]; then
    json=-json
    exec="-exec='$dir/ahp_go_exec.sh'"
    for arg in ${GOFLAGS-} "$@"; do
        case $arg in
            -args | --args) break ;;
            -json | --json | -json=true | --json=true) json= ;;
            -exec | --exec | -exec=* | --exec=*) exec= ;;
        esac
    done
    # For another system Go starts them by a program that it knows.
    if [ -n "${GOOS-}${GOARCH-}" ]; then exec=; fi
    if [ -n "$json" ]; then shown=lines; fi
    for arg; do
        shift
        set -- "$@" "$arg"
        if [ "$arg" = "$word" ]; then set -- "$@" ${json:+"$json"} ${exec:+"$exec"} && word=; fi
    done
fi
lines() {
    LC_ALL=C awk '!/^[{].*"Action":/ { print; next }
        match($0, /"Output":"/) {
            text = substr($0, RSTART + RLENGTH)
            sub(/","OutputType":"[a-z]*"[}]$/, "", text)
            sub(/"[}]$/, "", text)
            gsub(/\\n/, "\n", text); gsub(/\\t/, "\t", text); gsub(/\\"/, "\"", text)
            gsub(/\\u003c/, "<", text); gsub(/\\u003e/, ">", text); gsub(/\\u0026/, "\\&", text)
            printf "%s", text
        }'
}

# The mark ends the reading where a program that a test has left behind still holds the output open. The digest is that of what
# was printed, whatever becomes of the file meanwhile.
mark=ahp-ended-$(printf '%s' "$seal $$" | digest)
{
    "$real" "$@" 2>&1
    code=$?
    tell "$seal code $name-$$ $code"
    echo "$code" > "$kept.code"
    printf '\n%s\n' "$mark"
} | LC_ALL=C sed "/^$mark\$/q" | head -c 67108864 | tee "$kept.out" | { sum=$(digest) && tell "$seal sealed $name-$$.out $sum"; }
sed "/^$mark\$/d" "$kept.out" | "$shown"
exit "$(cat "$kept.code")"
