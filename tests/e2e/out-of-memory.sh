#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Each allocation of a command fails once, and then it and all that come after it: the exit status is 4 with one line on stderr,
# or the memory was not needed and everything is as with it. Never another status, never a crash. Small inputs, so that all
# of it is tried; `make chaos T='run report merge gen'` does the same with larger ones.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
export CHAOS=$B/chaos.so WORK

# chaotic AT DEED COMMAND...: its status in $status.
chaotic() {
	status=0
	timeout -k 5 60 env LD_PRELOAD="$CHAOS" CHAOS_CLASS=memory CHAOS_AT="$1" CHAOS_DO="$2" CHAOS_COUNT="$WORK/count" \
		MALLOC_PERTURB_=165 "${@:3}" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || status=$?
}

# What the last command wrote, without the time of day, and without the CRC over lines that have it.
timeless() { sed -E 's/"(started|ended|command_line)":"[^"]*"//g; s/("chain":\{"lines":[0-9]+,"crc32c":)"[^"]*"/\1/' "$WORK/stdout"; }

# each MIN STATUS COMMAND...: at least MIN allocations are made, and STATUS is what it ends with when none of them fails.
each() {
	local min=$1 undisturbed=$2 count at deed failed=0 before=$broken
	shift 2
	rm -f "$WORK/count"
	chaotic 0 '' "$@"
	count=$(cut -d' ' -f1 "$WORK/count")
	timeless >"$WORK/whole"
	holds "$*: ends with $undisturbed, not $status" test "$status" -eq "$undisturbed"
	holds "$*: $count allocations, at least $min" test "$count" -ge "$min"
	for deed in fail full; do
		for at in $(seq "$count"); do
			chaotic "$at" "$deed" "$@"
			checked=$((checked + 1))
			if [ "$status" -eq "$undisturbed" ] && cmp -s <(timeless) "$WORK/whole"; then
				continue
			elif [ "$status" -ne 4 ]; then
				wrong "$*: allocation $at ($deed): status $status" "$(head -n 3 "$WORK/stderr")"
			elif ! grep -q '^warpcheck' "$WORK/stderr" || grep -qv '^warpcheck' "$WORK/stderr"; then
				wrong "$*: allocation $at ($deed): status 4, and not a sentence" "$(head -n 3 "$WORK/stderr")"
			elif grep -q '^conforms' "$WORK/stdout"; then
				wrong "$*: allocation $at ($deed): status 4, and it says that the device conforms"
			fi
			failed=$((failed + 1))
		done
	done
	holds "$*: most allocations are needed" test "$failed" -gt "$count"
	[ "$broken" -ne "$before" ] || echo "ok    $*: $count allocations"
}

each 100 1 "$WARPCHECK" audit pcaps/generated/bad-crc.pcap
each 100 0 "$WARPCHECK" audit pcaps/generated/private-iser.pcap
each 200 1 "$WARPCHECK" audit --format jsonl pcaps/generated/bad-crc.pcap
each 10 0 "$WARPCHECK" dump pcaps/generated/bad-crc.pcap

echo "== between interfaces"
# An interface without iWARP: undisturbed they end with 3, which no allocation that fails turns into another status than 4.
cat >"$WORK/cables" <<'SHELL'
for side in a0 b0; do
	ip link add name "$side" type veth peer name "$side-end" && ip link set dev "$side" up && ip link set dev "$side-end" up || exit 99
done
at=$1 deed=$2
shift 2
exec env LD_PRELOAD="$CHAOS" CHAOS_CLASS=memory CHAOS_AT="$at" CHAOS_DO="$deed" CHAOS_COUNT="$WORK/count" MALLOC_PERTURB_=165 "$@"
SHELL
# between AT DEED COMMAND...
between() {
	status=0
	timeout -k 5 60 unshare -rn bash "$WORK/cables" "$1" "$2" "$WARPCHECK" "${@:3}" --duration 1s >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || status=$?
}
if unshare -rn true 2>/dev/null; then
	for command in 'monitor -i a0' 'bridge a0 b0' 'bridge a0 b0 --suite impairments'; do
		read -ra words <<<"$command"
		rm -f "$WORK/count"
		between 0 '' "${words[@]}"
		count=$(head -n 1 "$WORK/count" | cut -d' ' -f1)
		holds "$command: ends with 3, not $status" test "$status" -eq 3 -o "$status" -eq 4 -a "${words[3]:-}" = --suite # no impairment was applied
		undisturbed=$status failed=0
		for part in 1 2 3 5 8 13 21 34 55 89; do # hundredths of the way
			for deed in fail full; do
				between $((1 + count * part / 100)) "$deed" "${words[@]}"
				holds "$command: allocation $((1 + count * part / 100)) of $count ($deed): status $status" test "$status" -eq "$undisturbed" -o "$status" -eq 4
				[ "$status" -eq "$undisturbed" ] || failed=$((failed + 1))
				holds "with a sentence" grep -q '^warpcheck' "$WORK/stderr"
			done
		done
		[ "$undisturbed" -eq 4 ] || holds "$command: most of those are needed" test "$failed" -gt 10
	done
else
	echo "SKIP  monitor and bridge: no network namespace can be made here"
fi

echo "== libseccomp, which crashes or goes on for ever without memory"
asked=0 refused=0
for at in 1 2 3 25 200 1500 2499 2510 2545 2600; do
	status=0
	timeout -k 5 120 env LD_PRELOAD="$CHAOS" CHAOS_CLASS=memory CHAOS_WHO=forks CHAOS_FROM=/libseccomp. CHAOS_AT="$at" CHAOS_DO=fail \
		"$WARPCHECK" audit pcaps/generated/bad-crc.pcap >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || status=$?
	asked=$((asked + 1))
	[ "$status" -ne 4 ] || refused=$((refused + 1))
	holds "its allocation $at: the filter is made, or nothing is judged without" \
		test "$status" -eq 1 -o "$(cat "$WORK/stderr")" = "warpcheck audit: the filter of system calls cannot be made: memory or processes are short"
done
holds "$refused of $asked were needed" test "$refused" -gt 2
finish
