# Sourced by the scripts beside it. Runs on bash 3.2 too, the one that macOS ships: no mapfile, no associative
# arrays, and an empty array is spelt ${a[@]+"${a[@]}"}.
# shellcheck shell=bash

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

say() { printf '%s\n' "$*"; }
warn() { printf '%s\n' "$*" >&2; }

# die STATUS MESSAGE...: the message, a line for each argument, and the end.
die() {
    local status=$1
    shift
    printf '%s\n' "$@" >&2
    exit "$status"
}

on_macos() { [[ $OSTYPE == darwin* ]]; }

# The C libraries that Package.swift asks for, a line for each: target|pkg-config name|apt packages|brew formulas.
# Package.swift is the only list; a library added there is installed by scripts/bootstrap without a change here.
system_libraries() {
    { tr '\n' ' ' <Package.swift && echo; } |
        sed -E $'s/(\\.systemLibrary|[^a-zA-Z_.]system)\\(/\\\n&/g' |
        sed -nE '/^(\.systemLibrary|[^a-zA-Z_.]system)\( *(name: *)?"/p' |
        while IFS= read -r entry; do
            printf '%s|%s|%s|%s\n' "$(argument "$entry" '(\(|name:)')" "$(argument "$entry" 'pkgConfig:')" \
                "$(argument "$entry" 'apt(\(|:)')" "$(argument "$entry" 'brew(\(|:)')"
        done
}

# The string, or the strings of the array, that follow a label in one line of Swift.
argument() {
    [[ $1 =~ $2\ *\[?\ *((\"[^\"]*\"[\ ,]*)+) ]] || return 0
    local found=${BASH_REMATCH[$((${#BASH_REMATCH[@]} - 2))]}
    found=${found//[\",]/ }
    # shellcheck disable=SC2086 # split on purpose: what is left are words
    echo $found
}

# Homebrew keeps curl, sqlite and openssl out of the default search paths; the compiler and pkg-config need telling.
use_homebrew() {
    command -v brew >/dev/null || return 0
    local prefix formula
    prefix=$(brew --prefix)
    for formula in $(system_libraries | cut -d'|' -f4); do
        CPATH=$prefix/opt/$formula/include${CPATH:+:$CPATH}
        LIBRARY_PATH=$prefix/opt/$formula/lib${LIBRARY_PATH:+:$LIBRARY_PATH}
        PKG_CONFIG_PATH=$prefix/opt/$formula/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
    done
    export CPATH LIBRARY_PATH PKG_CONFIG_PATH
}

if on_macos; then use_homebrew; fi

# The Python environment of the peers, in .build/peers: made once, and anew when what it is made from changes. Fails with
# the reason in why_no_peers. Its argument is a file for pip's output.
prepare_peers() {
    local log=$1 key venv=.build/peers
    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || {
        why_no_peers="there is no Python 3.10 or newer with venv" && return 1
    }
    key=$(python3 --version; pwd; cat Tests/Peers/requirements.txt)
    if [ -x $venv/bin/python ] && [ "$(cat $venv/made-from 2>/dev/null)" = "$key" ]; then
        prepare_axe $venv "$log"
        return
    fi
    say "Making a Python environment for the peers in $venv"
    rm -rf $venv
    if ! { python3 -m venv $venv &&
        $venv/bin/python -m pip install -q --disable-pip-version-check --retries 1 --timeout 20 \
            --only-binary :all: -r Tests/Peers/requirements.txt; } >"$log" 2>&1; then
        # shellcheck disable=SC2034 # read by the scripts that include this
        why_no_peers="its packages could not be installed: $(grep -m 1 '^ERROR' "$log" || tail -n 1 "$log")"
        return 1
    fi
    printf '%s' "$key" >$venv/made-from
    prepare_axe $venv "$log"
}

# axe-core, without which the tests that need it are skipped.
prepare_axe() {
    "$1/bin/python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("axe_playwright_python") is None)' && return
    "$1/bin/python" -m pip install -q --disable-pip-version-check --retries 1 --timeout 20 --no-deps \
        --only-binary :all: -r Tests/Peers/requirements-axe.txt >>"$2" 2>&1 || true
}
