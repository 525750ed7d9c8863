#!/usr/bin/env bash
# Tries README's packages and its two commands as a new user would: in a fresh root folder that holds a bare system only.
#
#     sudo bash .ci/bare_root.sh SUITE [MIRROR]
#
# SUITE is a release that debootstrap knows (bookworm, trixie, noble), MIRROR where its packages come from (left out:
# debootstrap's own). What is tried is the last commit. Needs root, the network, and debootstrap, Xvfb and xwininfo.
set -euo pipefail
suite=${1:?"usage: bare_root.sh SUITE [MIRROR]"}
mirror=${2:-}
repository=$(cd "$(dirname "$0")/.." && pwd)
if [ "${GEMMVIZ_OWN_MOUNTS:-}" != yes ]; then # what is mounted below is gone with this script
    GEMMVIZ_OWN_MOUNTS=yes exec unshare --mount --propagation private bash "$0" "$@"
fi
say() { printf '\n== %s\n' "$*"; }
for tool in debootstrap Xvfb xwininfo; do
    command -v "$tool" >/dev/null || { echo "this needs $tool: apt-get install debootstrap xvfb x11-utils" >&2; exit 2; }
done

work=$(mktemp -d)
root=$work/root
screen=
tidy() {
    [ -z "$screen" ] || kill "$screen" 2>/dev/null || true
    for place in proc dev tmp/.X11-unix; do umount -l "$root/$place" 2>/dev/null || true; done
    rm -rf --one-file-system "$work"
}
trap tidy EXIT

say "A bare $suite"
# shellcheck disable=SC2086  # without a mirror there is no such argument
debootstrap --variant=minbase "$suite" "$root" $mirror >"$work/debootstrap" || { tail "$work/debootstrap"; exit 1; }
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
# Names are resolved, and pip asks, as on this machine.
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
[ ! -f /etc/pip.conf ] || cp -L /etc/pip.conf "$root/etc/"
certificates=/etc/ssl/certs/ca-certificates.crt
if [ -f $certificates ]; then cp -L $certificates "$root/etc/certificates.crt"; else certificates=; fi
mkdir "$root/gemmviz"
git -C "$repository" archive HEAD | tar -x -C "$root/gemmviz"
inside() { chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"; }

say "README's packages"
packages=$(sed -n '/^sudo apt-get install/,/[^\\]$/p' "$root/gemmviz/README.md" | sed 's/^sudo //')
# Only Debian's apt is known to take the old name.
[ "$suite" != noble ] || packages=${packages/libglib2.0-0/libglib2.0-0t64}
echo "$packages"
inside apt-get update -q >"$work/apt"
inside DEBIAN_FRONTEND=noninteractive bash -euc "$packages" >>"$work/apt" || { tail "$work/apt"; exit 1; }

say "README's two commands"
commands=$(awk '/^## Two commands/ {begun = 1} begun && /^```/ {if (inside) exit; inside = 1; next} inside' "$root/gemmviz/README.md")
echo "$commands"
install=$(head -n 1 <<<"$commands") start=$(tail -n 1 <<<"$commands")
inside ${certificates:+PIP_CERT=/etc/certificates.crt} bash -euc "cd /gemmviz && ($install)" >"$work/pip" 2>&1 ||
    { tail -n 40 "$work/pip"; exit 1; }
inside bash -c '. /etc/os-release; echo "$PRETTY_NAME"; python3 --version'

say "The window without a display"
inside QT_QPA_PLATFORM=offscreen bash -euc "cd /gemmviz && $start render gputiled --window -o /tmp/window.png"
test -s "$root/tmp/window.png"

say "The window on X11"
mkdir -p /tmp/.X11-unix "$root/tmp/.X11-unix"
mount --bind /tmp/.X11-unix "$root/tmp/.X11-unix"
Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp 3>"$work/display" 2>"$work/xvfb" &
screen=$!
for _ in $(seq 100); do [ -s "$work/display" ] && break; sleep 0.1; done
display=:$(cat "$work/display")
inside DISPLAY="$display" bash -euc "cd /gemmviz && .venv/bin/gemmviz doctor"
inside DISPLAY="$display" bash -euc "cd /gemmviz && exec $start" >"$work/window" 2>&1 &
window=$!
seen=
for _ in $(seq 60); do
    seen=$(xwininfo -display "$display" -root -tree | grep -E '"[^"]*gemmviz[^"]*".* [0-9]{3,}x[0-9]{3,}' | head -n 1 || true)
    [ -n "$seen" ] || ! kill -0 "$window" 2>/dev/null || { sleep 1; continue; }
    break
done
kill "$window" 2>/dev/null || true
wait "$window" 2>/dev/null || true
cat "$work/window"
[ -n "$seen" ] || { echo "no window was opened" >&2; exit 1; }
echo "$seen"
say "$suite: README's line and its two commands are enough"
