#!/bin/sh
# Installs `ahp` for one user: picks the archive of this system, checks its sum and writes `ahp` and `ahp-fleet` to ~/.local/bin.
#   AHP_BASE_URL     where the release lies (https:// or file://)
#   AHP_INSTALL_DIR  where the programs go
set -eu

version=@VERSION@
base=${AHP_BASE_URL:-@BASE_URL@}
dir=${AHP_INSTALL_DIR:-$HOME/.local/bin}

fail() {
    echo "install.sh: $*; nothing was installed" >&2
    exit 1
}

[ -n "$base" ] || fail "set AHP_BASE_URL to where the release lies"
case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) triple=x86_64-unknown-linux-gnu ;;
    Linux-aarch64 | Linux-arm64) triple=aarch64-unknown-linux-gnu ;;
    Darwin-arm64) triple=aarch64-apple-darwin ;;
    Darwin-x86_64) triple=x86_64-apple-darwin ;;
    *) fail "there is no program for $(uname -s) on $(uname -m); on Windows, install it in WSL" ;;
esac
name=ahp-$version-$triple

work=$(mktemp -d) || fail "there is no place for temporary files"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

fetch() {
    case $base in
        file://*) cp "${base#file://}/$1" "$work/$1" ;;
        *)
            if command -v curl >/dev/null; then
                curl --proto '=https' --tlsv1.2 -fsSL -o "$work/$1" "$base/$1"
            elif command -v wget >/dev/null; then
                wget -q -O "$work/$1" "$base/$1"
            else
                fail "neither curl nor wget is here"
            fi ;;
    esac || fail "$base/$1 cannot be fetched"
}

fetch "$name.tar.gz"
fetch SHA256SUMS
cd "$work"
grep " $name.tar.gz\$" SHA256SUMS > wanted || fail "SHA256SUMS does not name $name.tar.gz"
if command -v sha256sum >/dev/null; then
    sha256sum -c wanted >/dev/null 2>&1 || fail "$name.tar.gz is not what SHA256SUMS says"
elif command -v shasum >/dev/null; then
    shasum -a 256 -c wanted >/dev/null 2>&1 || fail "$name.tar.gz is not what SHA256SUMS says"
else
    fail "neither sha256sum nor shasum is here"
fi
tar -xzf "$name.tar.gz" || fail "$name.tar.gz cannot be unpacked"
mkdir -p "$dir" 2>/dev/null || fail "$dir cannot be written"
for program in ahp ahp-fleet; do
    if ! cp "$name/$program" "$dir/$program.new" 2>/dev/null; then
        rm -f "$dir/ahp.new" "$dir/ahp-fleet.new"
        fail "$dir cannot be written"
    fi
    chmod 755 "$dir/$program.new"
done
# Both are whole before one takes the place of an older one.
mv "$dir/ahp-fleet.new" "$dir/ahp-fleet"
mv "$dir/ahp.new" "$dir/ahp"
echo "installed $dir/ahp ($version)"
case ":$PATH:" in
    *":$dir:"*) ;;
    *) echo "put it on PATH: export PATH=\"$dir:\$PATH\"" ;;
esac
