#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The command line: help, unknown commands and options, exit statuses; list, explain and dump against the catalogue's
# own files.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

echo "== the command itself"
expect 0 "--help" "$WARPCHECK" --help
says '^usage: warpcheck '
commands=$(sed -nE 's/^  ([a-z][a-z-]*) +.*/\1/p' "$WORK/stdout")
holds "--help names eight commands or more" test "$(wc -w <<<"$commands")" -ge 8
for command in run audit prove peer dump list explain pics report; do
	holds "--help names $command" grep -qw "$command" <<<"$commands"
done
expect 0 "--version" "$WARPCHECK" --version
says '^warpcheck [0-9]'
expect 2 "an unknown command" "$WARPCHECK" frobnicate
complains "frobnicate"
status=0
"$WARPCHECK" >"$WORK/stdout" 2>"$WORK/stderr" || status=$?
holds "no command at all is a usage error (status $status), told on stderr alone" \
	test "$status" -eq 2 -a -s "$WORK/stderr" -a ! -s "$WORK/stdout"

echo "== every command's help and unknown options"
lines=any
for command in $commands; do
	expect 0 "$command --help" "$WARPCHECK" "$command" --help
	says 'usage: '
	holds "$command --help leaves stderr empty" test ! -s "$WORK/stderr"
	expect 2 "$command --no-such-option" "$WARPCHECK" "$command" --no-such-option
	complains 'no-such-option'
	holds "$command --no-such-option leaves stdout empty" test ! -s "$WORK/stdout"
done
for command in run list; do # which read no file
	expect 2 "$command -" timeout 60 "$WARPCHECK" "$command" -
	complains 'unknown option -'
done
# shellcheck disable=SC2034 # expect.bash looks at it
lines=one

echo "== list"
rows=$(cat conformance/requirements/{mpa,empa,ddp,rdmap,atom,sctp,a11,smbd,rpcrdma,iser,nvmeof}.tsv | grep -v '^#' | grep -cvE '^(id[[:blank:]]|$)')
expect 0 "list" "$WARPCHECK" list
holds "list shows each of the $rows requirements in the files" test "$(wc -l <"$WORK/stdout")" -eq "$rows"
cut -d' ' -f1 "$WORK/stdout" | LC_ALL=C sort >"$WORK/ids"
holds "no id twice" test -z "$(uniq -d "$WORK/ids")"
expect 0 "list --format jsonl" "$WARPCHECK" list --format jsonl
jq -r .id "$WORK/stdout" | LC_ALL=C sort >"$WORK/json-ids"
holds "as JSON the same ids" cmp -s "$WORK/ids" "$WORK/json-ids"
holds "each object has check, rule and defects" \
	jq -es 'all(.[]; has("check") and has("rule") and (.defects | type == "array"))' "$WORK/stdout"
holds "80 checks and 60 rules or more" \
	jq -es '(map(select(.check != null)) | length) >= 80 and (map(select(.rule != null)) | length) >= 60' "$WORK/stdout"
expect 0 "list by glob" "$WARPCHECK" list 'MPA-7.*'
holds "only what the glob takes, and all of it" \
	cmp -s <(cut -d' ' -f1 "$WORK/stdout" | LC_ALL=C sort) <(grep '^MPA-7\.' "$WORK/ids")
expect 0 "list by level" "$WARPCHECK" list --level should --layer ddp
says '^DDP-'
expect 3 "a glob that takes nothing" "$WARPCHECK" list 'NOPE-*'
complains 'NOPE'
expect 3 "options that exclude each other" "$WARPCHECK" list 'MPA-7.*' --layer rdmap
expect 2 "an unknown layer" "$WARPCHECK" list --layer session
complains 'session'
expect 2 "an unknown format" "$WARPCHECK" list --format yaml
complains 'yaml'
# shellcheck disable=SC2016
expect 4 "list into a full disk" bash -c '"$0" list >/dev/full' "$WARPCHECK"

echo "== explain"
id=$(grep -m1 '^MPA-7\.1' "$WORK/ids")
expect 0 "explain $id" "$WARPCHECK" explain "$id"
says "^$id "
says 'RFC ?5044 section 7\.1'
holds "no escape sequences away from a terminal" test -z "$(grep -c $'\033' "$WORK/stdout" | grep -v '^0$')"
expect 0 "explain draws the Terminate header" "$WARPCHECK" explain RDMAP-4.8-02
says '\+-\+-'
expect 2 "explain without an id" "$WARPCHECK" explain
expect 2 "explain of an unknown id" "$WARPCHECK" explain MPA-99-01
complains 'MPA-99-01'
broken_ids=0
while IFS= read -r id; do
	"$WARPCHECK" explain "$id" >"$WORK/stdout" 2>&1 && grep -qF "$id" "$WORK/stdout" || broken_ids=$((broken_ids + 1))
done <"$WORK/ids"
holds "explain knows all $rows ids" test "$broken_ids" -eq 0

echo "== dump"
generator gen
"$WORK/gen" "$WORK/capture.pcap" 1
expect 0 "dump" "$WARPCHECK" dump "$WORK/capture.pcap"
says 'MPA Request rev2 S C ird 8 ord 8'
says 'RDMA Read Request qn 1 msn 1 '
says 'Terminate '
expect 0 "dump --format jsonl" "$WARPCHECK" dump --format jsonl "$WORK/capture.pcap"
holds "every line is an object with type and frame" \
	jq -es 'length > 500 and all(.[]; has("type") and has("frame"))' "$WORK/stdout"
expect 2 "dump without a file" "$WARPCHECK" dump
expect 2 "dump in an unknown format" "$WARPCHECK" dump --format xml "$WORK/capture.pcap"
# shellcheck disable=SC2016
expect 4 "dump into a full disk" bash -c '"$0" dump "$1" >/dev/full' "$WARPCHECK" "$WORK/capture.pcap"
complains 'standard output cannot be written'

echo "== report"
expect 2 "report of a folder that is not there" "$WARPCHECK" report "$WORK/nowhere"
complains 'nowhere'
printf 'not json\n' >"$WORK/results.jsonl"
expect 2 "a matrix of nothing" "$WARPCHECK" report --matrix
expect 2 "a matrix of a folder that is not there" "$WARPCHECK" report --matrix "$WORK/nowhere" -o "$WORK/m.html"
expect 2 "report of something else" "$WARPCHECK" report "$WORK/results.jsonl"
for help in --help 'run --help' 'audit --help' 'report --help'; do
	read -ra words <<<"$help"
	expect 0 "$help" "$WARPCHECK" "${words[@]}"
	tr -s ' \n' ' ' <"$WORK/stdout" >"$WORK/help"
	holds "$help says what an exit status means" grep -qiE 'exit status.* 0 conforms, 1 fails,.* 3 nothing .*, 4 +inconclusive' "$WORK/help"
done
expect 0 "help" "$WARPCHECK" --help
tr -s ' \n' ' ' <"$WORK/stdout" >"$WORK/help"
holds "what is not judged, and what is known, have a status and an option" \
	grep -q 'was not judged (audit --allow-gaps accepts that), 5 deviates as known (--accept-known: 0)' "$WORK/help"
finish
