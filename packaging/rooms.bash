# Sourced by packaging/check: clean systems to try a release in, and what is done there.
# shellcheck shell=bash
# shellcheck disable=SC2154 # rooms, from and version are packaging/check's

# room DEBIAN: makes $room anew, the smallest system of that release. What debootstrap made is kept for the next time.
room() {
    local kept=.build/release-check/$1.tar
    room=$rooms/$1
    if [ ! -e "$kept" ]; then
        mkdir -p "$(dirname "$kept")"
        debootstrap --variant=minbase "$1" "$room" "$(mirror Debian)" >"$rooms/log" 2>&1 || die 1 "debootstrap:" "$(tail "$rooms/log")"
        tar -C "$room" -cf "$kept.new" . && mv "$kept.new" "$kept"
    fi
    rm -rf "$room"
    mkdir -p "$room"
    tar -C "$room" -xpf "$kept"
    mkdir -p "$room"/{models,dist,fake}
    files >"$rooms/before"
}

# inside COMMAND...: runs it in $room, with a /proc, a /dev and processes of its own, as root or as the user with the
# number AS. The network is this machine's, for loopback. HF_ENDPOINT is passed on.
inside() {
    setpriv --reuid="${AS-0}" --regid="${AS-0}" --clear-groups bwrap --bind "$room" / --proc /proc --dev /dev --ro-bind "$rooms/models" /models --ro-bind "$from" /dist \
        --ro-bind "$rooms/fake" /fake --ro-bind /etc/resolv.conf /etc/resolv.conf --unshare-pid --die-with-parent --clearenv \
        --setenv HOME "${HOME_THERE-/root}" --setenv PATH "${PATH_THERE-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}" \
        --setenv TERM xterm-256color --setenv DEBIAN_FRONTEND noninteractive --setenv HF_ENDPOINT "${HF_ENDPOINT-}" "$@"
}

# files: what is in $room, but for what the package manager and a user's hub keep.
files() {
    (cd "$room" && find . -xdev \( -path './var/cache/*' -o -path './var/log/*' -o -path './var/lib/apt/*' -o -path './var/lib/dpkg/*' \
        -o -path './root/.cache*' -o -path './root/.local*' -o -path './tmp/*' -o -path './proc/*' -o -path './dev/*' \
        -o -path './var/lib/systemd*' -o -path ./etc/ld.so.cache \) -prune -o -print | sort)
}

ok() { say "ok    $*"; }

# clean WHAT: fails if anything is in $room that was not before.
clean() {
    files >"$rooms/after"
    diff "$rooms/before" "$rooms/after" >"$rooms/left" || die 1 "$1 leaves:" "$(cat "$rooms/left")"
    ok "$1: nothing of it is left"
}

# main_job HUB: version, doctor, a pull from a Hub on loopback, a try, a deletion chosen in a terminal.
main_job() {
    local hub=$1 server model=hub-demo/tiny-shakespeare
    inside "$hub" version >"$rooms/out"
    grep -qx "hub $version" "$rooms/out" || die 1 "hub version says: $(cat "$rooms/out")"
    : >"$rooms/address"
    inside "$hub" serve /models >"$rooms/address" 2>"$rooms/server" </dev/null &
    server=$!
    for ((i = 0; i < 1200; i++)); do
        if IFS= read -r HF_ENDPOINT <"$rooms/address" || ! kill -0 $server 2>/dev/null; then break; fi
        sleep 0.1
    done
    step "$hub" doctor "nothing is wrong"
    step "$hub" pull $model "every digest checked"
    step "$hub" try $model --raw --greedy --max-tokens 16 ROMEO: "be so"
    # The first row, and yes.
    printf '1\ny\n' >"$rooms/answers"
    export -f inside
    room=$room rooms=$rooms from=$from HF_ENDPOINT=$HF_ENDPOINT HOME_THERE=${HOME_THERE-/root} AS=${AS-0} \
        script -qec "bash -c 'inside $hub gc --plain'" /dev/null <"$rooms/answers" >"$rooms/out" 2>&1 || die 1 "hub gc --plain:" "$(cat "$rooms/out")"
    inside "$hub" ls --quiet >"$rooms/out"
    [ ! -s "$rooms/out" ] || die 1 "hub gc --plain left a model:" "$(cat "$rooms/out")"
    kill $server
    wait $server 2>/dev/null || true
    HF_ENDPOINT=
    ok "version, doctor, pull, try, gc --plain"
}

# step HUB WORDS... TEXT: hub with those words prints that text.
step() {
    local words=("${@:1:$#-1}") text=${*:$#}
    inside "${words[@]}" >"$rooms/out" 2>&1 </dev/null || die 1 "${words[*]} failed:" "$(cat "$rooms/out")"
    grep -qF "$text" "$rooms/out" || die 1 "${words[*]} does not say \"$text\":" "$(cat "$rooms/out")"
}

# refused TEXT COMMAND...: it fails, and says why.
refused() {
    local text=$1
    shift
    if inside "$@" >"$rooms/out" 2>&1 </dev/null; then die 1 "$* should have failed:" "$(cat "$rooms/out")"; fi
    grep -qF -- "$text" "$rooms/out" || die 1 "$* does not say \"$text\":" "$(cat "$rooms/out")"
    ok "refused: $(grep -F -- "$text" "$rooms/out" | head -n 1 | cut -c1-110)"
}
