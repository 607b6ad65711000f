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
# A runner that another one runs belongs to what is tested.
if [ -n "$AHP_RUNNER" ]; then exec "$real" "$@"; fi
export AHP_RUNNER="$name-$$"
kept=$dir/$name-$$
: > "$kept.started"
# The mark ends the reading where a program that a test has left behind still holds the output open.
{
    "$real" "$@" 2>&1
    echo $? > "$kept.code"
    printf '\n%s\n' "ahp-ended-$$"
} | LC_ALL=C sed "/^ahp-ended-$$\$/q" | head -c 67108864 > "$kept.out"
cat "$kept.out"
exit "$(cat "$kept.code")"
