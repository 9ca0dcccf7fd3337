#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A run on a real interface as sudo starts it: root opens the interface, and the caller owns what is written; every form of
# results works after root was given up.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
[ "$(id -u)" -eq 0 ] || { echo "only root can be what sudo makes of a user"; exit 77; }
unshare -n true 2>/dev/null || { echo "no network namespace can be made here"; exit 77; }

user=65534
home=$(mktemp -d) # the folders above $WORK need not be open to that user
trap 'rm -rf "$home"' EXIT
chmod 711 "$home"
mkdir "$home/of-user"
chown "$user:$user" "$home/of-user"
echo '{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "sudo1", "port": 9, "control": "10.99.0.2:8" }' \
	>"$home/device.json"
cat >"$WORK/inside.bash" <<'SHELL'
source tests/e2e/cable.bash
cable sudo0 sudo1 10.99.0.2/24 || exit 99
mkfifo "$WORK/ready-$$"
"$IWARP_PEER" --listen 9 --bind 10.99.0.2 --control 10.99.0.2:8 >"$WORK/ready-$$" </dev/null &
peer=$!
read -r _ <"$WORK/ready-$$"
status=0
SUDO_UID=65534 SUDO_GID=65534 "$WARPCHECK" run --dut "$home/device.json" 'MPA-7.1-0*' "$@" || status=$?
kill "$peer"
exit "$status"
SHELL
export WORK IWARP_PEER WARPCHECK home
expect 0 "a run into the user's folder" unshare -n bash "$WORK/inside.bash" -o "$home/of-user/out"
holds "all of it is the user's" test -z "$(find "$home/of-user/out" ! -user "$user")"
holds "evidence, results and page are there" test -s "$home/of-user/out/index.html" -a -n "$(ls "$home/of-user/out/evidence")"
holds "no lock is left" test ! -e "$home/of-user/out/.lock"
expect 0 "--resume" unshare -n bash "$WORK/inside.bash" -o "$home/of-user/out" --resume
for format in text jsonl html junit tap sarif md; do
	expect 0 "--format $format" unshare -n bash "$WORK/inside.bash" --format "$format"
	holds "something was written" test -s "$WORK/stdout"
done
mkdir -m 755 "$home/of-root"
expect 0 "a run into root's folder" unshare -n bash "$WORK/inside.bash" -o "$home/of-root/out"
holds "all of it is root's" test -z "$(find "$home/of-root/out" ! -user 0)"
finish
