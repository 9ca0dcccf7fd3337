#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `warpcheck run` without a profile needs no privileges: as an ordinary user it makes a user and a network namespace of
# its own and judges the embedded reference stack over a real link in there. As root this runs as nobody.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

as_user=()
if [ "$(id -u)" -eq 0 ]; then
	# nobody can neither read the tree of root, perhaps, nor write here: the program and a folder of his own will do.
	home=$(mktemp -d /tmp/warpcheck-rootless.XXXXXX)
	trap 'rm -rf "$home"' EXIT
	cp "$WARPCHECK" "$home/warpcheck"
	chown -R 65534:65534 "$home"
	as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs env "HOME=$home")
else
	home=$WORK/home
	mkdir -p "$home"
	cp "$WARPCHECK" "$home/warpcheck"
fi
# Containers and hardened kernels forbid what is tested: then there is nothing to test here.
if ! "${as_user[@]}" unshare --user --map-root-user --net true 2>"$WORK/why"; then
	echo "an ordinary user may not make namespaces here: $(head -n 1 "$WORK/why")"
	exit 77
fi

before=$(ip -o link | sed "s/<.*//")
cd "$home" || exit 1
expect 0 "run as uid $("${as_user[@]}" id -u), MPA start-up checks" "${as_user[@]}" ./warpcheck run 'MPA-7.*' -o "$home/out"
results=$home/out/results.jsonl
holds "results.jsonl is there" test -s "$results"
holds "it ran, it passed, nothing failed, nothing was inconclusive" \
	jq -es 'map(select(.type == "summary"))[0] | .pass >= 10 and .fail == 0 and .inconclusive == 0' "$results"
holds "over a real link, not in simulation" jq -es '.[0].target | test("embedded")' "$results"
holds "the page is there" test -s "$home/out/index.html"
holds "the interfaces of this host are as before" test "$(ip -o link | sed "s/<.*//")" = "$before"
finish
