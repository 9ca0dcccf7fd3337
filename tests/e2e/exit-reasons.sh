#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What a command says in addition to its exit status: one sentence on standard error gives the reason for status 4 (docs/trust.md), every file
# of an audit stands in its account, and a corpus belongs to one command at a time.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# --- A run in which a check could not decide ----------------------------------------------------------------------------
cat >"$WORK/undecided.lua" <<'L'
-- SPDX-License-Identifier: BSD-2-Clause
check {
  id = "MPA-7.1.2-05", role = "responder", purpose = "decides nothing", sandwich = false,
  run = function(t) t:inconclusive("there is no weather today") end,
}
L
expect 4 "a run in which one check could not decide" "$WARPCHECK" run --simulate --script "$WORK/undecided.lua"
complains '^warpcheck run: inconclusive: 1 result could not be decided; each says why$'
passes=any expect 4 "the same for a machine" "$WARPCHECK" run --simulate --script "$WORK/undecided.lua" --format jsonl
complains '^warpcheck run: inconclusive: 1 result could not be decided; each says why$'

# --- Captures without a frame ---------------------------------------------------------------------------------------------
expect 0 "a capture" "$WARPCHECK" gen -e 'do packet(("x"):rep(100)) end' -o "$WORK/one.pcap"
mkdir "$WORK/captures"
head -c 24 "$WORK/one.pcap" >"$WORK/captures/head.pcap"
expect 3 "a capture without a frame" "$WARPCHECK" audit "$WORK/captures/head.pcap"
says 'foreign +1 file: captures without a frame, and empty files'
: >"$WORK/captures/empty.pcap"
lines=any expect 2 "a folder with both" "$WARPCHECK" audit "$WORK/captures"
says 'foreign +2 files: captures without a frame, and empty files'
lines=any expect 2 "by two processes" "$WARPCHECK" audit -j 2 "$WORK/captures" --format jsonl
holds "both are in the account" jq -es 'map(select(.type == "summary"))[0].account.foreign.empty.items == 2' "$WORK/stdout"

# --- gen --corpus: the folder itself is taken -----------------------------------------------------------------------------
cat >"$WORK/corpus.lua" <<'L'
-- SPDX-License-Identifier: BSD-2-Clause
corpus { folder = "below", format = "pcap", text = "# Captures\n" }
capture { name = "one", about = "one packet", run = function() packet(("x"):rep(100)) end }
L
locked() { # FOLDER COMMAND...: while another process holds the folder's lock
	local folder=$1 holder
	shift
	mkdir -p "$folder"
	coproc holder_of { exec perl -e 'use Fcntl; $| = 1; open(my $f, ">>", $ARGV[0]) or die; my $l = pack("s s x4 q q i x4", F_WRLCK, 0, 0, 0, 0); fcntl($f, F_SETLK, $l) or die "$!"; print "locked\n"; <STDIN>' "$folder/.lock"; }
	# shellcheck disable=SC2154 # set by coproc
	holder=$holder_of_PID
	read -r -t 20 _ <&"${holder_of[0]}"
	"$@"
	kill "$holder"
	wait "$holder" 2>/dev/null || true
}
for force in '' --force; do
	# shellcheck disable=SC2086 # one option, or none
	locked "$WORK/corpus" expect 4 "gen --corpus $force into a folder that another command fills" "$WARPCHECK" gen --corpus "$WORK/corpus" "$WORK/corpus.lua" $force
	complains 'another warpcheck .* writes into this folder'
	holds "nothing was made there" test ! -e "$WORK/corpus/below"
done
made() { "$WARPCHECK" gen --corpus "$WORK/corpus" "$WORK/corpus.lua" --force 2>"$WORK/stderr"; }
holds "afterwards it is filled" made
holds "and no lock is left" test -z "$(find "$WORK/corpus" -name .lock)"
finish
