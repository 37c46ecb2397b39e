# Sourced by the scripts beside it: where a release is made, and the Debian releases it is made of.
# shellcheck shell=bash
# shellcheck disable=SC2034 # what is set here is for the scripts that include it
# shellcheck source=scripts/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.bash"

# The C library that the program is linked against is this Debian's (11, glibc 2.31): every system since runs it.
oldest_debian=bullseye oldest_glibc=2.31
# The libraries in the program are built from this Debian's sources, with its security updates (12, which the tests run on).
library_debian=${LIBRARY_DEBIAN:-bookworm}

# Not in Debian: its package hub is GitHub's tool.
package=hub-models
architecture=x86_64 debian_architecture=amd64

work=$PWD/.build/release-sysroot # kept: a second release begins here
sysroot=$work/root
libraries=$sysroot/usr/lib/$architecture-linux-gnu

# 0.1.0, as the program says it.
version=$(sed -nE 's/.*static let number = "([0-9.]+)".*/\1/p' Sources/HubCLI/Help/Version.swift)
# Whatever is packed has the date of the last commit, so that the same commit makes the same files.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
# Where people fetch releases: the formula, the package and the list of contents name it.
address=${RELEASE_ADDRESS:-https://hub.invalid/releases}
name=hub-$version-linux-$architecture
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

only_on_debian() {
    if [ "$(uname -sm)" != "Linux $architecture" ] || ! command -v apt-get >/dev/null; then
        die 6 "A release is made on Debian, on $architecture. Elsewhere, make install builds for that machine."
    fi
}

# need PROGRAM=PACKAGE...: installs the packages whose program is not here; without the right to, says what to type.
need() {
    local pair missing=()
    for pair in "$@"; do
        command -v "${pair%=*}" >/dev/null || missing+=("${pair#*=}")
    done
    [ ${#missing[@]} = 0 ] && return
    [ "$(id -u)" = 0 ] || die 6 "A release needs these first. Type:" "  sudo apt-get install --no-install-recommends ${missing[*]}"
    warn "Installing: ${missing[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends "${missing[@]}" >"${TMPDIR:-/tmp}/apt.$$" 2>&1 ||
        die 6 "apt-get failed:" "$(cat "${TMPDIR:-/tmp}/apt.$$")"
    rm "${TMPDIR:-/tmp}/apt.$$"
}

# mirror LABEL: the address from which this machine gets the packages with that label, Debian or Debian-Security.
mirror() {
    # shellcheck disable=SC2016 # apt's own variables
    apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' | sed -n "s/^$1 //p" | head -n 1
}

# apt_of DEBIAN COMMAND...: apt-get with lists of its own, of that release; this machine's are not touched.
# With --cache first: apt-cache.
apt_of() {
    local folder=$work/apt/$1 program=apt-get
    shift
    if [ "$1" = --cache ]; then program=apt-cache && shift; fi
    $program -q -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::State="$folder/state" -o Dir::State::status=/dev/null \
        -o Dir::Cache="$folder/cache" -o APT::Sandbox::User= -o Acquire::Check-Valid-Until=false \
        -o Acquire::Retries=5 -o Acquire::http::Timeout=20 "$@"
}

# make_lists DEBIAN: fetches what apt_of needs.
make_lists() {
    local folder=$work/apt/$1 debian security log
    debian=$(mirror Debian) security=$(mirror Debian-Security)
    if [ -z "$debian" ] || [ -z "$security" ]; then
        die 6 "apt knows no mirror of Debian and of its security updates here."
    fi
    mkdir -p "$folder"/{state/lists/partial,cache/archives/partial}
    printf '%s\n' "deb $debian $1 main" "deb-src $debian $1 main" "deb $security $1-security main" \
        "deb-src $security $1-security main" >"$folder/sources.list"
    log=$(apt_of "$1" update 2>&1) || die 1 "apt-get update failed for Debian $1:" "$log"
}

# pack FILE FOLDER NAME...: names in a folder as a .tar.gz that depends on nothing but their content; .tar without gzip.
pack() {
    local file=$1 folder=$2
    shift 2
    tar -C "$folder" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        -cf "${file%.gz}" "$@"
    case $file in *.gz) gzip -n -9 -f "${file%.gz}" ;; esac
}
