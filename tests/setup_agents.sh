#!/usr/bin/env bash
# Installs what the tests of coding agents need beyond Python: bubblewrap and the Codex CLI, where possible.
# Tests whose program is missing are skipped, so nothing here fails the build. Safe to run again.
#   tests/setup_agents.sh [FOLDER]      default: build/agents
set -u
cd "$(dirname "$0")/.."
folder=${1:-build/agents}
codex=0.117.0

if ! command -v bwrap >/dev/null; then
    if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
        { apt-get install -y bubblewrap || { apt-get update && apt-get install -y bubblewrap; }; } >/dev/null 2>&1
    fi
fi
if command -v bwrap >/dev/null && bwrap --ro-bind / / --unshare-all true 2>/dev/null; then
    echo "bubblewrap: $(bwrap --version)"
else
    echo "bubblewrap: not available here; tests that need it are skipped"
fi

if [ "$("$folder/node_modules/.bin/codex" --version 2>/dev/null)" != "codex-cli $codex" ]; then
    if command -v npm >/dev/null; then
        mkdir -p "$folder"
        npm install --prefix "$folder" --no-save --no-fund --no-audit "@openai/codex@$codex" >/dev/null 2>&1
    fi
fi
"$folder/node_modules/.bin/codex" --version 2>/dev/null || echo "Codex: not available here; tests that need it are skipped"
exit 0
