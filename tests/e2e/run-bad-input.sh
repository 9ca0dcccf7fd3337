#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What `run` makes of bad scripts, profiles, devices and disks: one clear line, the right exit status, results so far
# kept; never a crash, a hang or a PASS. And --resume goes on where a killed run was torn.
set -euo pipefail

work=${WORK:-$(mktemp -d)}
: "${IWARP_PEER:=${WARPCHECK%/*}/iwarp-peer}"
cable=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/cable.bash
checked=0
wrong=0

# Runs a command; its exit status, and a text that stands in what it says (stdout and stderr together).
want() {
    local status=$1 text=$2 got=0
    shift 2
    timeout -k 5 120 "$@" >"$work/out" 2>"$work/err" </dev/null || got=$?
    checked=$((checked + 1))
    if [ "$got" -ne "$status" ] || ! grep -qF -- "$text" "$work/out" "$work/err"; then
        wrong=$((wrong + 1))
        printf 'WRONG exit %s (wanted %s, and "%s"): %s\n' "$got" "$status" "$text" "$*"
        head -c 600 "$work/out" "$work/err"
    fi
}

no_pass() {
    checked=$((checked + 1))
    if jq -e 'select(.type == "result" and .verdict == "PASS" and .by == "check")' "$1" >/dev/null; then
        wrong=$((wrong + 1))
        echo "WRONG a PASS in $1"
        jq -c 'select(.verdict == "PASS")' "$1" | sed -n '1,3p'
    fi
}

# Scripts
printf 'check {\n  id = "A",\n' >"$work/syntax.lua"
want 2 "syntax.lua:3" "$WARPCHECK" run --simulate --script "$work/syntax.lua"
printf 'nothing.there()\n' >"$work/load.lua"
want 2 "load.lua:1" "$WARPCHECK" run --simulate --script "$work/load.lua"
printf 'check { id = "A", purpose = "p", run = function(t)\n  local x = nil .. "y"\nend }\n' >"$work/runtime.lua"
want 2 "runtime.lua:2" "$WARPCHECK" run --simulate --script "$work/runtime.lua"
printf 'check { id = "A", purpose = "p", run = function(t) while true do end end }\n' >"$work/loop.lua"
want 2 "does not end" "$WARPCHECK" run --simulate --script "$work/loop.lua"
printf 'check { id = "A", purpose = "p", run = function(t)\n  t:conect()\nend }\n' >"$work/method.lua"
want 2 'method.lua:2: attempt to call a nil value (method '"'conect'), did you mean \"connect\"?" "$WARPCHECK" run --simulate --script "$work/method.lua"
printf 'check { id = "A", purpose = "p", run = function(t)\n  local c = t:connect()\n  c:start_as_initiator()\n  c:expect_terminate("DDP_INVALID_QM")\nend }\n' >"$work/terminate.lua"
want 2 'terminate.lua:4: no error of the registries is called '"'DDP_INVALID_QM', did you mean \"DDP_INVALID_QN\"?" "$WARPCHECK" run --simulate --script "$work/terminate.lua"
printf 'check { id = "A", purpose = "p", run = function(t)\n  t:connect():send(rdmap.send { MSNN = 2 })\nend }\n' >"$work/field.lua"
want 2 'field.lua:2: Send has no field called '"'MSNN', did you mean \"MSN\"?" "$WARPCHECK" run --simulate --script "$work/field.lua"
printf 'check { id = "A", purpose = "p", run = function(t) t:note("n") end }\n' >"$work/empty.lua"
want 2 "empty.lua:1: the check ends without having asked the device" "$WARPCHECK" run --simulate --script "$work/empty.lua"
want 2 "--dry-run prints text" "$WARPCHECK" run --simulate --dry-run --format jsonl
want 2 "no-such.lua" "$WARPCHECK" run --simulate --script "$work/no-such.lua"
want 3 "no check is selected" "$WARPCHECK" run --simulate --layer sctp --level may 'MPA-7.1-02'
want 2 "no-such-defect" "$WARPCHECK" run --defect no-such-defect

# Profiles
echo '{ "name": "x", "interface": "lo" }' >"$work/no-address.json"
want 2 '"address" is missing' "$WARPCHECK" run --dut "$work/no-address.json"
want 2 "no-such.json" "$WARPCHECK" run --dut "$work/no-such.json"
echo '{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "nowhere0", "port": 9 }' >"$work/nowhere.json"
want 4 "nowhere0" "$WARPCHECK" run --dut "$work/nowhere.json"

# Devices that do not answer, or answer nonsense: a namespace with a kernel TCP and a perl program behind it.
echo '{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "bad1", "port": 7 }' >"$work/device.json"
cat >"$work/server.pl" <<'PERL'
use IO::Socket::INET;
my $how = shift;
my $s = IO::Socket::INET->new(LocalAddr => "10.99.0.2", LocalPort => 7, Listen => 64, ReuseAddr => 1) or die "$!";
$| = 1;
print "LISTENS\n";
my @kept;
while (my $c = $s->accept) {
    if ($how eq "silent") { push @kept, $c; }
    elsif ($how eq "reset") { setsockopt($c, SOL_SOCKET, SO_LINGER, pack("ii", 1, 0)); close $c; }
    else { $c->autoflush(1); print $c "HTTP/1.1 200 OK\r\n\r\n" . ("\0\xff" x 600); push @kept, $c; }
}
PERL
for how in silent reset garbage none; do
    cat >"$work/device.sh" <<SHELL
source "$cable" && cable bad0 bad1 10.99.0.2/24 || exit 99
source tests/e2e/wait.bash
rm -f "$work/server.out"
[ $how = none ] || { perl "$work/server.pl" $how >"$work/server.out" & prints \$! "$work/server.out" LISTENS || exit 99; }
"$WARPCHECK" run --dut "$work/device.json" MPA-7.1-02 DDP-7.1-01 MPA-7.1.1-18 -o "$work/device-$how"
status=\$?
kill %1 2>/dev/null
exit \$status
SHELL
    got=0
    timeout -k 5 200 unshare -rn bash "$work/device.sh" >"$work/out" 2>&1 </dev/null || got=$?
    checked=$((checked + 1))
    case $how in none | silent | reset | garbage) [ "$got" -eq 1 ] || [ "$got" -eq 4 ] ;; esac || {
        wrong=$((wrong + 1))
        echo "WRONG exit $got from a device that is $how"
        head -c 600 "$work/out"
    }
    # A server of another protocol is named, not shown as octets.
    if [ $how = garbage ] && ! grep -q 'octets that are no MPA reply, but HTTP: HTTP/1.1 200 OK' "$work/device-$how/results.jsonl"; then
        wrong=$((wrong + 1))
        echo "WRONG HTTP is not named"
        head -c 600 "$work/out"
    fi
    [ ! -s "$work/device-$how/results.jsonl" ] || no_pass "$work/device-$how/results.jsonl"
done

# An upper tester that dies when the check has all that it needs, and the device stays alive: no PASS.
echo '{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "bad1", "port": 9, "control": "10.99.0.2:8" }' >"$work/dying.json"
cat >"$work/dying.lua" <<'LUA'
check { id = "MPA-7.1-02", purpose = "p", run = function(t) t.dut:capabilities { tag = TAG } end }
LUA
cat >"$work/dying.pl" <<'PERL'
use IO::Socket::INET;
my $s = IO::Socket::INET->new(LocalAddr => "10.99.0.2", LocalPort => 8, Listen => 4, ReuseAddr => 1) or die "$!";
$| = 1;
print "LISTENS\n";
while (my $c = $s->accept) {
    my $peer = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => 10) or die "$!";
    $_->autoflush(1) for $c, $peer;
    while (my $line = <$c>) {
        print $peer $line;
        print $c scalar <$peer>;
        exit if $line =~ /"die"/;
    }
}
PERL
for tag in live die; do
    sed "s/TAG/\"$tag\"/" "$work/dying.lua" >"$work/dying-$tag.lua"
    cat >"$work/device.sh" <<SHELL
source "$cable" && cable bad0 bad1 10.99.0.2/24 || exit 99
source tests/e2e/wait.bash
rm -f "$work/peer.out" "$work/dying.out"
"$IWARP_PEER" --listen 9 --bind 10.99.0.2 --control 10 >"$work/peer.out" 2>&1 </dev/null &
prints \$! "$work/peer.out" READY || exit 99
perl "$work/dying.pl" >"$work/dying.out" 2>&1 </dev/null &
prints \$! "$work/dying.out" LISTENS || exit 99
"$WARPCHECK" run --dut "$work/dying.json" --script "$work/dying-$tag.lua" -o "$work/dying-$tag" --all
status=\$?
kill %1 %2 2>/dev/null
exit \$status
SHELL
    if [ $tag = live ]; then
        want 0 "PASS  MPA-7.1-02" unshare -rn bash "$work/device.sh"
    else
        want 4 "the upper tester was lost" unshare -rn bash "$work/device.sh"
        no_pass "$work/dying-$tag/results.jsonl"
    fi
done

# A disk that fills while results are written: what was written stays whole
got=0
unshare -rm bash -c "mount -t tmpfs -o size=96k none '$work' && mkdir '$work/o' && '$WARPCHECK' run --simulate 'MPA-7.1*' -o '$work/o' >/tmp/\$\$.out 2>/tmp/\$\$.err; s=\$?
    head -n -1 '$work/o/results.jsonl' | jq -e . >/dev/null || s=99; cat /tmp/\$\$.err >&2; rm -f /tmp/\$\$.*; exit \$s" 2>"$work/full.err" || got=$?
checked=$((checked + 1))
if [ "$got" -ne 4 ] || ! grep -qi "space\|written\|write" "$work/full.err"; then
    wrong=$((wrong + 1))
    echo "WRONG exit $got from a full disk"
    head -c 600 "$work/full.err"
fi

# --resume: a run torn in the middle of a line
"$WARPCHECK" run --simulate 'MPA-7.1-*' -o "$work/resumed" >"$work/out" 2>&1 || true
cp "$work/resumed/results.jsonl" "$work/whole.jsonl"
head -n 3 "$work/whole.jsonl" >"$work/resumed/results.jsonl"
sed -n 4p "$work/whole.jsonl" | head -c 40 >>"$work/resumed/results.jsonl"
want 0 "PASS" "$WARPCHECK" run --simulate 'MPA-7.1-*' -o "$work/resumed" --resume
ids() { jq -r 'select(.type == "result") | [.id, .role, .verdict] | join(" ")' "$1" | sort; }
checked=$((checked + 1))
if ! diff <(ids "$work/whole.jsonl") <(ids "$work/resumed/results.jsonl") >"$work/diff"; then
    wrong=$((wrong + 1))
    echo "WRONG a resumed run differs"
    head "$work/diff"
fi
want 2 "--resume" "$WARPCHECK" run --simulate --resume
want 4 "seed" "$WARPCHECK" run --simulate 'MPA-7.1-*' -o "$work/resumed" --resume --seed 7

echo "$checked checked, $wrong wrong"
[ "$wrong" -eq 0 ]
