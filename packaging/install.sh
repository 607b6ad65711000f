#!/bin/sh
# Installs `ahp` for one user: picks the archive of this system, checks its sum and writes `ahp` and `ahp-fleet` to ~/.local/bin.
#   AHP_BASE_URL     where the release lies (https:// or file://)
#   AHP_INSTALL_DIR  where the programs go
set -eu
fail() {
    echo "install.sh: $*; nothing was installed" >&2
    exit 1
}

version=@VERSION@
base=${AHP_BASE_URL:-@BASE_URL@}
case $base in
    https://* | file://*) ;;
    "") fail "set AHP_BASE_URL to where the release lies" ;;
    *) fail "AHP_BASE_URL begins with https:// or file://, and not as $base does" ;;
esac
dir=${AHP_INSTALL_DIR:-${HOME:+$HOME/.local/bin}}
case $dir in
    "") fail "HOME is not set: set AHP_INSTALL_DIR to where the programs go" ;;
    /*) ;;
    *) dir=$PWD/$dir ;;
esac
[ ! -d "$dir/ahp" ] && [ ! -d "$dir/ahp-fleet" ] || fail "$dir has a folder where a program goes"
case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) triple=x86_64-unknown-linux-gnu ;;
    Linux-aarch64 | Linux-arm64) triple=aarch64-unknown-linux-gnu ;;
    Darwin-arm64) triple=aarch64-apple-darwin ;;
    Darwin-x86_64) triple=x86_64-apple-darwin ;;
    *) fail "there is no program for $(uname -s) on $(uname -m); on Windows, install it in WSL" ;;
esac
name=ahp-$version-$triple
has() { command -v "$1" >/dev/null; }
sums=$(if has sha256sum; then echo sha256sum; elif has shasum; then echo shasum -a 256; fi)
[ -n "$sums" ] || fail "neither sha256sum nor shasum is here"

work=$(mktemp -d) || fail "there is no place for temporary files"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
for file in "$name.tar.gz" SHA256SUMS; do
    case $base in
        file://*) cp "${base#file://}/$file" "$work/$file" ;;
        *) if has curl; then curl --proto '=https' --tlsv1.2 -fsSL -o "$work/$file" "$base/$file"
           elif has wget; then wget -q -O "$work/$file" "$base/$file"
           else fail "neither curl nor wget is here"; fi ;;
    esac || fail "$base/$file cannot be fetched"
done
cd "$work"
grep " $name.tar.gz\$" SHA256SUMS > wanted || fail "SHA256SUMS does not name $name.tar.gz"
$sums -c wanted >/dev/null 2>&1 || fail "$name.tar.gz is not what SHA256SUMS says"
tar -xzf "$name.tar.gz" || fail "$name.tar.gz cannot be unpacked"
# Both are whole before one takes the place of an older one.
new=$dir/.ahp-$$
if ! { mkdir -p "$dir" && cp "$name/ahp" "$new" && cp "$name/ahp-fleet" "$new-fleet" &&
    chmod 755 "$new" "$new-fleet"; } 2>/dev/null; then
    rm -f "$new" "$new-fleet" 2>/dev/null || true
    fail "$dir cannot be written"
fi
mv -f "$new-fleet" "$dir/ahp-fleet"
mv -f "$new" "$dir/ahp"
echo "installed $dir/ahp ($version)"
case ":$PATH:" in *":$dir:"*) ;; *) echo "put it on PATH: export PATH=\"$dir:\$PATH\"" ;; esac
