#!/bin/sh
# Installs hub from a release: the tarball, checked against SHA256SUMS. Later: a newer one in its place, or removes it.
#
#   sh install.sh [--from FOLDER-OR-ADDRESS] [--prefix FOLDER] [--uninstall]
#
# --from     where the tarball and SHA256SUMS are; else beside this script
# --prefix   where hub goes; else /usr/local for root, ~/.local for others
set -eu
die() { printf 'install.sh: %s\n' "$@" >&2 && exit 1; }
from=$(dirname "$0") remove=no
if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
while [ $# != 0 ]; do
    case $1 in
    --from) from=${2?a folder or an address is missing} && shift ;;
    --prefix) prefix=${2?a folder is missing} && shift ;;
    --uninstall) remove=yes ;;
    *) sed -n '2,/^set/s/^#$\|^# //p' "$0" && exit 2 ;;
    esac
    shift
done
documents=$prefix/share/doc/hub-models

uninstall() { # what the list that came with it names, and the folders that were made for it
    while IFS= read -r file; do rm -f "$prefix/$file"; done <"$documents/files"
    made=$(cat "$documents/folders") && rm -f "$documents/files" "$documents/folders"
    printf '%s\n' "$made" | while IFS= read -r path; do rmdir "$prefix${path#.}" 2>/dev/null || :; done
}
if [ $remove = yes ]; then
    [ -f "$documents/files" ] || die "no release of hub is in $prefix; --prefix names another folder"
    uninstall && exit
fi
[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] ||
    die "releases are for Linux on x86-64, this is $(uname -s) on $(uname -m): in a clone of the sources, make install builds hub"
there=$prefix/bin && while [ ! -e "$there" ]; do there=$(dirname "$there"); done
[ -w "$there" ] || die "$prefix/bin cannot be written: name another folder with --prefix"
if dpkg -S "$prefix/bin/hub" >/dev/null 2>&1; then die "$prefix/bin/hub belongs to a package: name another folder with --prefix"; fi

folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
fetch() {
    case $from in
    http://* | https://*)
        if command -v curl >/dev/null; then curl -fsSL -o "$folder/$1" "$from/$1"
        elif command -v wget >/dev/null; then wget -qO "$folder/$1" "$from/$1"
        else die "neither curl nor wget is here: fetch $1 yourself, and name its folder with --from"; fi ;;
    *) cp "$from/$1" "$folder/$1" ;;
    esac || die "$from/$1 could not be fetched"
}
fetch SHA256SUMS
tarball=$(sed -n 's/^[0-9a-f]\{64\}  \(hub-[0-9.]*-linux-x86_64\.tar\.gz\)$/\1/p' "$folder/SHA256SUMS")
[ -n "$tarball" ] || die "SHA256SUMS of $from names no tarball for Linux on x86-64"
fetch "$tarball"
(cd "$folder" && grep "  $tarball\$" SHA256SUMS | sha256sum -c - >/dev/null 2>&1) || die "$tarball is not what SHA256SUMS says; nothing was installed"
mkdir "$folder/hub" && tar -xzf "$folder/$tarball" -C "$folder/hub" --strip-components=1
"$folder/hub/bin/hub" version >/dev/null || die "hub does not start here: it needs glibc 2.31 or newer; nothing was installed"
if [ -f "$documents/files" ]; then uninstall; fi
(cd "$folder/hub" && find . -depth -type d) | while read -r path; do [ -d "$prefix/$path" ] || echo "$path"; done >"$folder/made"
mkdir -p "$prefix" && tar -xzf "$folder/$tarball" -C "$prefix" --strip-components=1 --no-same-owner --no-overwrite-dir
cp "$folder/made" "$documents/folders"
echo "Installed $("$prefix/bin/hub" version) in $prefix; install.sh --uninstall removes it."
[ "$(command -v hub)" = "$prefix/bin/hub" ] || echo "Typing hub runs $(command -v hub || echo nothing): put $prefix/bin first on the PATH." >&2
