#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run -j: processes that run checks side by side leave what a single one leaves, octet for octet but for the times: standard output,
# results, evidence, reports, exit status. A run that is stopped keeps what it decided and can be resumed; a worker that dies is reported.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# Everything but the times, the command and the folder's name, which are the run's own.
lines() { jq -cS 'del(.started, .ended, .chain, .duration_ns, .command_line)' "$1"; }
timeless() { sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/TIME/g; s/warpcheck run [^"<]* -o [^"<]*/COMMAND/; s/(time=|duration_ns":)"?[0-9.]+"?/\1TIME/g; s/("crc32c":")[0-9a-f]+/\1TIME/; s/(side|one)\/(index.html)/\2/' "$1"; }
same() { # ONE SIDE WHAT
	local file
	holds "$3: the same lines" cmp <(lines "$1/results.jsonl") <(lines "$2/results.jsonl")
	holds "$3: the same evidence" diff -r "$1/evidence" "$2/evidence"
	for file in $(cd "$1" && find . -maxdepth 1 -type f ! -name results.jsonl ! -name SHA256SUMS); do
		holds "$3: the same $file" cmp <(timeless "$1/$file") <(timeless "$2/$file")
	done
	holds "$3: each as its list says" "$WARPCHECK" report --verify "$2" # times differ, and so do digests of results
	holds "$3: the same files" diff <(cd "$1" && find . | LC_ALL=C sort) <(cd "$2" && find . | LC_ALL=C sort)
}
# beside WHAT STATUS ARGUMENT...: one process, and three
beside() {
	local what=$1 status=$2
	shift 2
	rm -rf "$WORK/one" "$WORK/side"
	expect "$status" "$what" "$WARPCHECK" run "$@" -o "$WORK/one" -j 1
	cp "$WORK/stdout" "$WORK/said"
	cp "$WORK/stderr" "$WORK/complained"
	expect "$status" "$what, side by side" "$WARPCHECK" run "$@" -o "$WORK/side" -j 3
	holds "$what: the same standard output" cmp <(timeless "$WORK/said") <(timeless "$WORK/stdout")
	holds "$what: the same standard error" cmp "$WORK/complained" "$WORK/stderr"
	same "$WORK/one" "$WORK/side" "$what"
}

echo "== the results of one process"
beside "a defect, that rules see, too" 1 --simulate --defect mpa-pad-stale 'MPA-4.1-0*' 'MPA-4.4*' 'MPA-7.1-*' --all --evidence all
beside "one of the atomics, with skips" 1 --simulate --defect atom-request-reserved 'ATOM-5.2*'
beside "a part of a run" 1 --simulate --defect ddp-qn-wrong-code 'DDP-7*' --shard 1/2 --format jsonl
beside "checks that wait, and begin early" 1 --simulate --defect mpa-early-delivered 'MPA-A.4-*' 'MPA-1.2-*' 'MPA-6-0*' RDMAP-5.2.1-14 --evidence all
beside "a device that serves next to nothing" 1 --simulate --defect mpa-reply-key-wrong 'MPA-7.1.1-*' 'DDP-7.1-0*'

echo "== stopped at a line, and gone on with"
select=(run --simulate --defect ddp-qn-wrong-code 'DDP-7*' 'MPA-7.1-*')
expect 1 "the whole" "$WARPCHECK" "${select[@]}" -j 1 -o "$WORK/whole"
lines "$WORK/whole/results.jsonl" >"$WORK/wanted"
for part in 7 2; do
	rm -rf "$WORK/cut"
	cp -r "$WORK/whole" "$WORK/cut"
	head -n $(($(wc -l <"$WORK/wanted") * part / 8)) "$WORK/whole/results.jsonl" >"$WORK/cut/results.jsonl"
	expect 1 "gone on with from $part/8" "$WARPCHECK" "${select[@]}" -o "$WORK/cut" --resume -j 2
	same "$WORK/whole" "$WORK/cut" "from $part/8"
done

# Two checks that compute for a while, and so keep two workers, and what comes before and after them.
cat >"$WORK/long.lua" <<'LUA'
local function quick(id)
  check { id = id, purpose = "p", run = function(t) t:connect() end }
end
local function stays(id)
  check {
    id = id,
    purpose = "p",
    run = function(t)
      t:connect()
      local s = ("x"):rep(20000000)
      local a, b = s .. "a", s .. "b"
      for _ = 1, 100 do s = a < b end
    end,
  }
end
quick "A-1"
quick "A-2"
stays "A-3"
stays "A-4"
for i = 5, 9 do quick("A-" .. i) end
LUA
long=(run --simulate --script "$WORK/long.lua" --role responder --evidence all)

# begin FOLDER [ARGUMENT...]: the long run in the background with two workers, up to the checks that stay; $run, $workers.
begin() {
	local folder=$1
	shift
	[ $# -gt 0 ] || set -- -j 2
	rm -rf "$folder"
	"$WARPCHECK" "${long[@]}" "$@" -o "$folder" >"$WORK/stdout" 2>"$WORK/stderr" &
	run=$!
	eventually "$run" grep -qs '"id":"A-2".*"type":"result"\|"type":"result".*"id":"A-2"' "$folder/results.jsonl"
	mapfile -t workers < <(pgrep -P "$run")
	holds "${#workers[@]} workers" test "${#workers[@]}" -ge 2
}
gone() { ! kill -0 "$1" 2>/dev/null; }
ended() { # STATUS WHAT
	local status=0 worker
	last=$2
	wait "$run" || status=$?
	holds "$2: status $1" test "$status" -eq "$1"
	for worker in "${workers[@]}"; do holds "$2: no worker is left" eventually $$ gone "$worker"; done
}
# What a stopped run kept: the first results of the whole, in its order, and no evidence of others.
checks() { jq -cS 'select(.type == "result" and .by == "check") | del(.duration_ns)' "$1/results.jsonl"; }
kept() { # FOLDER WHAT
	local count
	count=$(checks "$1" | wc -l)
	holds "$2: it kept $count results" test "$count" -ge 2 -a "$count" -lt 9
	holds "$2: in the order of the plan" cmp <(checks "$1") <(checks "$WORK/long" | sed -n "1,${count}p")
	holds "$2: and their evidence alone" diff <(cd "$1" && find evidence -name '*.pcapng' ! -name 'served-*' | LC_ALL=C sort) \
		<(jq -r 'select(.type == "journal") | .evidence // empty' "$1/results.jsonl" | LC_ALL=C sort -u)
}

expect 0 "a long run" "$WARPCHECK" "${long[@]}" -j 1 -o "$WORK/long"
for signal in TERM INT; do
	echo "== interrupted by SIG$signal"
	begin "$WORK/stopped"
	kill -s "$signal" "$run"
	ended 4 "interrupted by SIG$signal"
	complains '^warpcheck run: interrupted; --resume continues the run$'
	kept "$WORK/stopped" "interrupted"
done
expect 0 "gone on with" "$WARPCHECK" "${long[@]}" -j 3 -o "$WORK/stopped" --resume
same "$WORK/long" "$WORK/stopped" "interrupted and gone on with"

if [ "$(nproc)" -ge 2 ]; then
	echo "== without -j: a process for each processor"
	begin "$WORK/each" --quiet
	kill -TERM "$run"
	ended 4 "one for each processor"
fi

echo "== a worker that is killed"
begin "$WORK/killed"
kill -KILL "${workers[1]}"
ended 4 "a worker was killed"
complains '^warpcheck run: a worker died \(signal 9\) while it ran A-[34] \(responder\)$'
kept "$WORK/killed" "a worker was killed"
expect 0 "gone on with" "$WARPCHECK" "${long[@]}" -j 2 -o "$WORK/killed" --resume
holds "it has all lines" cmp <(lines "$WORK/killed/results.jsonl") <(lines "$WORK/long/results.jsonl")
echo "== a worker that somebody stops"
begin "$WORK/halted"
kill -STOP "${workers[1]}"
ended 4 "a worker was stopped, and ended for it"
complains '^warpcheck run: a worker died \(it was stopped for [0-9]+ s\) while it ran A-[34] \(responder\)$'
kept "$WORK/halted" "a worker was stopped"
begin "$WORK/halted"
kill -STOP "${workers[0]}" "${workers[1]}"
kill -TERM "$run"
ended 4 "one SIGTERM ends a run whose workers are stopped"
begin "$WORK/killed"
kill -KILL "$run"
wait "$run" 2>/dev/null || true
holds "workers do not outlive the run" eventually "$$" bash -c '! kill -0 "$1" 2>/dev/null && ! kill -0 "$2" 2>/dev/null' sh "${workers[@]}"

echo "== the embedded device: one for each process"
verdicts() { jq -c 'select(.type == "result") | [.id, .role, .by, .verdict]' "$1/results.jsonl"; }
live=(run --defect ddp-qn-wrong-code 'DDP-7.1-*' 'MPA-7.1.1-*')
expect 1 "one process" "$WARPCHECK" "${live[@]}" -j 1 -o "$WORK/alone"
expect 1 "side by side" "$WARPCHECK" "${live[@]}" -j 3 -o "$WORK/beside"
# On a busy machine a live check may find no answer in time: INCONCLUSIVE in one of the two says nothing.
jq -r 'select(.type == "result" and .verdict == "INCONCLUSIVE") | .id' "$WORK"/{alone,beside}/results.jsonl | sort -u >"$WORK/late"
echo "no check" >>"$WORK/late"
holds "few were late: $(wc -l <"$WORK/late")" test "$(wc -l <"$WORK/late")" -le 5
holds "the same verdicts in the same order" diff <(verdicts "$WORK/alone" | grep -vFf "$WORK/late") <(verdicts "$WORK/beside" | grep -vFf "$WORK/late")
kept_files() { (cd "$1/evidence" && printf '%s\n' *) | grep -vFf "$WORK/late"; }
holds "the same evidence files" diff <(kept_files "$WORK/alone") <(kept_files "$WORK/beside")
# Without -j, the embedded device has at least eight checks at the same time, if there are so many.
"$WARPCHECK" run MPA-1.2-01 MPA-3-13 MPA-6-05 RDMAP-5.2.1-14 -o "$WORK/itself" >"$WORK/stdout" 2>"$WORK/stderr" &
run=$!
several() { [ "$(pgrep -c -P "$run")" -ge 6 ]; }
holds "without -j checks run side by side, too" eventually "$run" several
status=0
wait "$run" || status=$?
holds "and conform (status $status)" test "$status" -eq 0
# The second check of the plan that is run is a long one; by then each worker has its device.
"$WARPCHECK" run 'MPA-7.1.2-2*' -j 2 -o "$WORK/lost" >"$WORK/stdout" 2>"$WORK/stderr" &
run=$!
devices() {
	mapfile -t found < <(for worker in $(pgrep -P "$run"); do pgrep -P "$worker"; done)
	[ "${#found[@]}" -eq 2 ]
}
holds "the run has begun" eventually "$run" grep -qs '"type":"result"' "$WORK/lost/results.jsonl"
holds "each worker has a device" eventually "$run" devices
kill -KILL "${found[0]}" "${found[1]}"
workers=("${found[@]}")
ended 4 "the devices were killed"
holds "what could not be judged says so" jq -es '
	map(select(.type == "result" and .by == "check" and .verdict == "INCONCLUSIVE" and (.message | test("device|upper tester")))) | length > 0' \
	"$WORK/lost/results.jsonl"

# Where namespaces are few, the sentence says that one process needs fewer.
if unshare -Ur sh -c 'echo 3 >/proc/sys/user/max_net_namespaces' 2>"$WORK/said"; then
	# shellcheck disable=SC2016 # of the inner shell
	few=(unshare -Ur sh -c 'echo 3 >/proc/sys/user/max_net_namespaces && exec "$@"' sh "$WARPCHECK" run 'MPA-7.1-0*' 'DDP-7.2*' --quiet)
	expect 4 "too few namespaces" "${few[@]}"
	complains '\(-j 1 runs one check at a time'
	expect 0 "enough of them for one process" "${few[@]}" -j 1
fi

echo "== options"
for number in 0 65 x 2x ''; do
	expect 2 "-j '$number'" "$WARPCHECK" run --simulate -j "$number" MPA-7.1-01
	complains '^warpcheck run: -j ".*": a number from 1 to 64 was expected'
done
# A device has as many checks side by side as its profile has places for them.
device() { # MEMBER...: a profile with these
	printf '{ "address": "192.0.2.7", "port": 9999, "interface": "none0", "own_address": "192.0.2.9"%s }\n' "$1" >"$WORK/device.json"
}
places='"beside": [ { "own_address": "192.0.2.10", "port": 9998 }, { "own_address": "192.0.2.11", "port": 9997 } ]'
device ''
expect 2 "-j with a device that has no places" "$WARPCHECK" run --dut "$WORK/device.json" -j 2
complains '-j 2: .*device.json has places for 0 checks side by side \("beside", docs/profiles.md\)'
device ", $places"
expect 2 "-j with too few places" "$WARPCHECK" run --dut "$WORK/device.json" -j 3
complains '-j 3: .*device.json has places for 2 checks side by side'
device ", $places, \"wait_for_device\": 9"
expect 2 "-j with a device that may be lost" "$WARPCHECK" run --dut "$WORK/device.json" -j 2
complains '-j 2: the device of .*device.json may be lost and started again'
expect 0 "more processes than checks" "$WARPCHECK" run --simulate -j64 DDP-7.2-01
finish
