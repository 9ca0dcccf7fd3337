#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# warpcheck interop: the reference stack with itself passes each test case, and what it said is a capture that conforms; a stack with
# a defect turns its own cells red and no others; a device of one's own is taken by its profile; devices that cannot be asked, die, or
# refuse are distinguished; the site takes the grid, and refuses a file that is torn.
# shellcheck disable=SC2016 # jq's variables
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# cells VERDICT...: "initiator responder test" of those exchanges of $WORK/grid
exchanges() { jq -r --arg of "$1" 'select(.type == "exchange" and (.verdict | IN($of | split(" ")[]))) | "\(.initiator) \(.responder) \(.test)"' "$WORK/$2/interop.jsonl"; }

# each FILE SELECTION CONDITION: there are such exchanges, and it holds for each of them
each() { jq -es "[.[] | select(.type == \"exchange\" and $2)] | length > 0 and all(.[]; $3)" "$1"; }

echo "== libiwarp with itself"
expect 0 "the test cases" "$WARPCHECK" interop --list
awk '{ print $2 }' "$WORK/stdout" >"$WORK/tests"
cases=$(wc -l <"$WORK/tests")
expect 0 "libiwarp with itself" "$WARPCHECK" interop -o "$WORK/good"
says "^$cases passed, 0 failed, 0 not supported, 0 not decided$"
says '^libiwarp +libiwarp '
holds "docs/interop.md shows this grid" test "$(grep -cxF -f <(head -n 3 "$WORK/stdout") docs/interop.md)" -eq 3
holds "each test case has a line that passed" cmp <(sort "$WORK/tests") <(exchanges PASS good | cut -d' ' -f3 | sort)
holds "each was done on the wire: start-ups and what the case is about are in the captures" \
	test "$(find "$WORK/good/evidence" -name 'libiwarp+libiwarp.*.pcapng' | wc -l)" -eq "$cases"
expect 0 "what they said conforms" "$WARPCHECK" audit "$WORK/good/evidence"
for words in 'RDMA Write [1-9]' 'Send with Solicited Event and Invalidate [1-9]' 'Atomic Response [1-9]' 'Immediate Data [1-9]' 'Terminate [1-9]'; do says "$words"; done
"$WARPCHECK" dump "$WORK/good/evidence/libiwarp+libiwarp.reject.pcapng" >"$WORK/dump"
holds "the rejection was one" grep -q 'MPA Reply rev2 .*R' "$WORK/dump"
holds "a letter for each case leads to its exchange" \
	test "$(grep -o '<a class="it pass" href="#libiwarp+libiwarp\.[a-z0-9-]*"' "$WORK/good/index.html" | sed 's/.*#//; s/"//' | while read -r id; do grep -cF "id=\"$id\"" "$WORK/good/index.html"; done | grep -c 1)" -eq "$cases"
expect 2 "the folder is not empty" "$WARPCHECK" interop -o "$WORK/good"
complains '--force removes'
echo mine >"$WORK/good/evidence/mine.txt"
expect 0 "--force, and a selection" "$WARPCHECK" interop -o "$WORK/good" --force --test send --test write --evidence fail
says '^2 passed'
holds "another's file stays, the captures are gone" test "$(ls "$WORK/good/evidence")" = mine.txt

echo "== a defect turns its cells red"
expect 1 "one of three is broken" "$WARPCHECK" interop libiwarp 'broken=libiwarp,mpa-crc-inverted' also=libiwarp --test send --test read --test no-crc --test reject -o "$WORK/red"
says '^FAIL  libiwarp to broken: send: '
exchanges FAIL red | sort >"$WORK/failed"
for i in libiwarp broken also; do
	for r in libiwarp broken also; do
		[ "$i$r" = "${i/broken/}${r/broken/}" ] || printf '%s\n' "$i $r read" "$i $r send"
	done
done | sort >"$WORK/due"
holds "the cells that have the broken one, in the cases that use CRCs, and no others" cmp "$WORK/due" "$WORK/failed"
holds "they are red, with what was seen" grep -q 'class="it fail" href="#broken+libiwarp.send"' "$WORK/red/index.html"
expect 1 "the evidence shows the CRC" "$WARPCHECK" audit "$WORK/red/evidence/broken+libiwarp.send.pcapng"
says '^FAIL  MPA-4\.4-14 '
# Defects of other layers, each with the case that has to find it.
while read -r defect test; do
	expect 1 "$defect fails $test" "$WARPCHECK" interop "broken=libiwarp,$defect" --test "$test" --seconds 3
	says "^FAIL  broken to broken: $test: "
done <<'DEFECTS'
ddp-last-missing-send send
rdmap-response-to-restarts large
ddp-end-unchecked bounds
rdmap-response-stag read
DEFECTS
expect 1 "a Terminate of the wrong layer" "$WARPCHECK" interop libiwarp 'broken=libiwarp,rdmap-terminate-layer-3' --test bad-stag
says 'expected  .*Tagged Buffer Error / Invalid STag'
says 'seen +libiwarp hears a Terminate '

echo "== a device of one's own"
profile() { # NAME PORT [MEMBERS]
	printf '{ "name": "%s", "address": "127.0.0.1", "port": 9999, "interface": "lo", "own_address": "127.0.0.9", "control": "127.0.0.1:%s"%s }\n' "$1" "$2" "${3:-}" >"$WORK/$1.json"
}
cat >"$WORK/upper.pl" <<'PERL'
# upper.pl HOW: an upper tester that says its port, and answers "capabilities"; then HOW: mute, dies, refuses, nonsense
use strict; use warnings; use IO::Socket::INET;
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 5) or die;
$| = 1; print $listener->sockport, "\n";
my $how = shift;
while (my $client = $listener->accept) {
	$client->autoflush(1);
	while (my $line = <$client>) {
		if ($line =~ /capabilities/) { print $client qq({"ok":true,"name":"scripted","protocol":1}\n); next }
		exit if $how eq 'dies';
		print $client $how eq 'nonsense' ? "[]\n" : qq({"ok":false,"error":"not now","unsupported":@{[$how eq 'lacks' ? 'true' : 'false']}}\n);
	}
}
PERL
cat >"$WORK/inside.sh" <<'INSIDE'
# inside.sh WARPCHECK WORK HOW...: a peer's control port goes into $WORK/port
ip link set lo up
peer() { rm -f "$2"; "$1" peer --control 0 >"$2" & while ! grep -q control= "$2" 2>/dev/null; do sleep 0.05; kill -0 $! || exit 99; done; }
peer "$1" "$2/first"
peer "$1" "$2/second"
for n in first second; do
	sed "s/@PORT@/$(sed -n 's/.*control=\([0-9]*\).*/\1/p' "$2/$n")/; s/@NAME@/mine/" "$2/template.json" >"$2/$n.json"
done
"$1" "${@:3}"
status=$?
kill %1 %2
exit $status
INSIDE
profile template @PORT@ ', "vendor": "Somebody", "firmware": "1.2"'
sed -i 's/"name": "template"/"name": "@NAME@"/' "$WORK/template.json"
inside=(unshare -rn bash "$WORK/inside.sh" "$WARPCHECK" "$WORK")
expect 0 "by its profile" "${inside[@]}" interop libiwarp "$WORK/first.json" --test send --test write --test rights -o "$WORK/own"
says '^9 passed, 0 failed, 3 not supported'
holds "with one upper tester it is not tried with itself, and it is said why" \
	each "$WORK/own/interop.jsonl" '.initiator == "mine" and .responder == "mine"' '.verdict == "SKIP" and (.actual | test("a second profile after a comma"))'
holds "the page says who it is" grep -q 'vendor Somebody, firmware 1.2' "$WORK/own/index.html"
holds "its frames are captured" test -s "$WORK/own/evidence/libiwarp+mine.write.pcapng"
expect 0 "two of them" "${inside[@]}" interop "mine=$WORK/first.json,$WORK/second.json" --test send --test markers
says '^2 passed'
jq '. + {hazards: [{requirement: "EMPA-9.2-01", role: "responder", note: "it hangs"}]}' "$WORK/template.json" >"$WORK/hazard.json" && cp "$WORK/template.json" "$WORK/safe.json"
cp "$WORK/hazard.json" "$WORK/template.json"
expect 0 "a hazard is not tried" "${inside[@]}" interop libiwarp "mine=$WORK/first.json" --test peer -o "$WORK/hazard"
holds "and it is said" each "$WORK/hazard/interop.jsonl" '.responder == "mine" and .initiator == "libiwarp"' '.verdict == "SKIP" and (.actual | test("it hangs .*--destructive"))'
holds "as initiator it is" each "$WORK/hazard/interop.jsonl" '.responder == "libiwarp" and .initiator == "mine"' '.verdict == "PASS"'
expect 0 "--destructive tries it" "${inside[@]}" interop libiwarp "mine=$WORK/first.json" --test peer --destructive
says '^3 passed'
jq '. + {known_deviations: [{requirement: "RDMAP-8.1.1-06", by: "check", outcome: "0123456789abcdef", review_by: "2027-06-30"}]}' "$WORK/safe.json" >"$WORK/template.json"
expect 1 "an outcome that is held back" "${inside[@]}" interop 'broken=libiwarp,mpa-crc-inverted' "mine=$WORK/first.json" --test rights -o "$WORK/held"
holds "the grid has the failure, and nothing of how it fails" each "$WORK/held/interop.jsonl" '.initiator == "broken" and .responder == "mine"' '.verdict == "FAIL" and .steps == [] and (has("capture") | not) and (.actual | test("held back"))'
holds "nor a capture" test ! -e "$WORK/held/evidence/broken+mine.rights.pcapng"

echo "== devices that fail"
scripted() { # HOW STATUS WHAT PATTERN
	cat >"$WORK/scripted.sh" <<-'SCRIPTED'
		ip link set lo up
		rm -f "$2/port"
		perl "$2/upper.pl" "$3" >"$2/port" &
		trap 'kill $! 2>/dev/null' EXIT
		while [ ! -s "$2/port" ]; do sleep 0.05; done
		sed "s/@PORT@/$(cat "$2/port")/; s/@NAME@/scripted/" "$2/safe.json" >"$2/scripted.json"
		"$1" interop libiwarp "$2/scripted.json" --test send --test write -o "$2/$3"
	SCRIPTED
	expect "$2" "$3" unshare -rn bash "$WORK/scripted.sh" "$WARPCHECK" "$WORK" "$1"
	holds "$3: it is told apart" each "$WORK/$1/interop.jsonl" '.responder == "scripted" and .initiator == "libiwarp" and .test == "send"' ".verdict == \"INCONCLUSIVE\" and (.actual | test(\"$4\"))"
}
scripted dies 4 "a device that dies" 'does not answer'
complains '^warpcheck interop: [0-9]+ exchanges were not decided'
says '^INCONCLUSIVE  [0-9]+ exchanges? of scripted after that: '
holds "what went before and beside is kept" each "$WORK/dies/interop.jsonl" '.initiator == "libiwarp" and .responder == "libiwarp" and .test == "write"' '.verdict == "PASS"'
holds "the page is there" grep -q 'class="it inc" href="#libiwarp+scripted.send"' "$WORK/dies/index.html"
scripted nonsense 4 "one that answers nonsense" 'not a JSON object'
scripted refuses 4 "one that refuses" 'not now'

echo "== wrong command lines"
expect 2 "no such defect" "$WARPCHECK" interop libiwarp,no-such-defect
complains 'no-such-defect'
expect 2 "no such profile" "$WARPCHECK" interop "$WORK/none.json"
complains 'none.json'
expect 2 "two of one name" "$WARPCHECK" interop libiwarp libiwarp
complains 'NAME=libiwarp gives one of them another name'
expect 2 "a name that cannot be" "$WARPCHECK" interop '../x=libiwarp'
complains "a device's name was expected"
expect 2 "no such case" "$WARPCHECK" interop --test nothing
complains 'interop --list'
profile mute 9 && jq 'del(.control)' "$WORK/mute.json" >"$WORK/silent.json"
expect 2 "a device without an upper tester" "$WARPCHECK" interop "$WORK/silent.json"
complains 'no "control"'
expect 2 "--force alone" "$WARPCHECK" interop --force

echo "== in a site"
rm -rf "$WORK/base"
mkdir -p "$WORK/base/run" "$WORK/base/interop"
cp reports/baselines/linux-siw-6.1/results.jsonl "$WORK/base/run/"
printf 'stack\tversion\trun\tfindings\nLinux siw\t6.1\trun\t\n' >"$WORK/base/site.tsv"
cp -r "$WORK/red/interop.jsonl" "$WORK/red/evidence" "$WORK/base/interop/"
expect 0 "the site has the grid" "$WARPCHECK" report --site "$WORK/base" -o "$WORK/site"
holds "it is linked to" grep -q 'href="interop/index.html"' "$WORK/site/index.html"
holds "and links back" grep -q 'href="../index.html"' "$WORK/site/interop/index.html"
holds "its captures are there" cmp "$WORK/red/evidence/broken+libiwarp.send.pcapng" "$WORK/site/interop/evidence/broken+libiwarp.send.pcapng"
bad() { # WHAT PATTERN: of $WORK/base/interop/interop.jsonl as it stands
	rm -rf "$WORK/none"
	expect 2 "$1" "$WARPCHECK" report --site "$WORK/base" -o "$WORK/none"
	complains "interop.jsonl:$2"
	holds "$1: nothing was made" test ! -e "$WORK/none"
}
file=$WORK/base/interop/interop.jsonl
head -c -20 "$WORK/red/interop.jsonl" >"$file"
bad "a torn file" '[0-9]+: the line is cut'
: >"$file"
bad "an empty one" ' the file is empty'
sed '2s/.*/not JSON/' "$WORK/red/interop.jsonl" >"$file"
bad "a line that is no JSON" '2: no JSON object'
sed '2p' "$WORK/red/interop.jsonl" >"$file"
bad "an exchange twice" '3: the exchange stands there twice'
jq -c 'if .type == "exchange" then .responder = "nobody" else . end' "$WORK/red/interop.jsonl" >"$file"
bad "a device that is none" '2: the exchange names a device'
jq -c 'if .type == "exchange" then .verdict = "WARN" else . end' "$WORK/red/interop.jsonl" >"$file"
bad "a verdict that is none" '2: "verdict" is "WARN"'
jq -c 'if .capture then .capture = "../../x" else . end' "$WORK/red/interop.jsonl" >"$file"
bad "a capture elsewhere" '[0-9]+: "capture" is no name'
jq -c 'if .version then .version = 9 else . end' "$WORK/red/interop.jsonl" >"$file"
bad "another version" '1: version 9'
sed '$d' "$WORK/red/interop.jsonl" >"$file"
rm -rf "$WORK/site"
expect 0 "a run that was stopped" "$WARPCHECK" report --site "$WORK/base" -o "$WORK/site"
holds "says so" grep -q 'stopped before its end' "$WORK/site/interop/index.html"
rm -r "$WORK/base/interop/evidence" "$WORK/site"
expect 4 "captures that are not there" "$WARPCHECK" report --site "$WORK/base" -o "$WORK/site"
complains 'no such file'
finish
