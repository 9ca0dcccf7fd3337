#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# How many of the stack's defects `warpcheck explore` finds, without any script: each is given so many sessions of a seed, in simulation.
# Defects that its sessions cannot show (tests/exploring/reach.tsv), or that have no meaning on the layer, are counted apart. A WARN counts as found.
usage() {
	cat <<'END'
usage: tools/recall.sh [-l LLP] [-n COUNT] [-s SEED] [-m SESSIONS] [-j JOBS] [DEFECT...]
  -l LLP       tcp (the default), sctp or sctp-draft02
  -n COUNT     a sample of so many defects, by the seed (default: all)
  -s SEED      of the sample and of the sessions (1)
  -m SESSIONS  at most so many for each defect (2000)
  -j JOBS      at once (the number of processors)
Prints a line for each: its name, and "found" with the session's number and what failed, "missed", "undecided", or "beyond" with the reason; then
the counts. WARPCHECK names the program (build/warpcheck).
END
	exit "$1"
}
llp=tcp count=0 seed=1 sessions=2000 jobs=$(nproc)
while getopts l:n:s:m:j:h option; do
	case $option in
	l) llp=$OPTARG ;;
	n) count=$OPTARG ;;
	s) seed=$OPTARG ;;
	m) sessions=$OPTARG ;;
	j) jobs=$OPTARG ;;
	h) usage 0 ;;
	*) usage 2 >&2 ;;
	esac
done
shift $((OPTIND - 1))
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export WARPCHECK=${WARPCHECK:-build/warpcheck} llp seed sessions

# Does VALUE fit one of the patterns, separated by commas?
fits() {
	local pattern
	local -a patterns
	IFS=, read -ra patterns <<<"$2"
	for pattern in "${patterns[@]}"; do
		# shellcheck disable=SC2053 # a pattern it is
		[[ $1 == $pattern ]] && return 0
	done
	return 1
}

# The reason why the sessions cannot show the defect; nothing: they can.
mapfile -t unreached < <(grep -v '^#' tests/exploring/reach.tsv | grep .)
beyond() { # HOOK TARGET VALUE
	local row hook target value reason layers
	for row in "${unreached[@]}"; do
		IFS=$'\t' read -r layers hook target value reason <<<"$row"
		fits "$llp" "$layers" && [ "$hook" = "$1" ] && fits "$2" "$target" && fits "$3" "$value" && echo "$reason" && return
	done
}

defects() {
	if [ $# -gt 0 ]; then
		local name
		for name; do grep -P "^\Q$name\E\t" reference-stack/defects/defects.tsv; done
	elif [ "$count" = 0 ]; then
		grep -v '^#' reference-stack/defects/defects.tsv | grep .
	else
		grep -v '^#' reference-stack/defects/defects.tsv | grep . | shuf -n "$count" --random-source=<(yes "$seed")
	fi
}

# What is of SCTP alone has no meaning over TCP.
of_sctp() { [ "$llp" = tcp ] && [[ $1 = sctp-* || ($2 =~ (^|,)(SCTP|SCTP5043)- && ! $2 =~ (^|,)(MPA|DDP|RDMAP|ATOM|EMPA)-) ]]; }

# Over SCTP `prove` says which defects have no meaning on this layer, before it runs anything.
meaningless() { # DEFECT
	local said
	[ "$llp" = tcp ] && return 1
	said=$("$WARPCHECK" prove --llp "$llp" "$1" 2>&1 >"/dev/null")
	[[ $said = *"has no meaning over SCTP"* ]] && printf '%s\tbeyond\tno meaning over %s: %s\n' "$1" "$llp" "${said##*is one: }"
}

try() { # DEFECT
	local text status
	meaningless "$1" && return
	# shellcheck disable=SC2046 # two words or none
	text=$("$WARPCHECK" explore --simulate $([ "$llp" = tcp ] || echo --llp "$llp") --warn --defect "$1" --seed "$seed" --sessions "$sessions" --first --whole -j 1 2>&1)
	status=$?
	case $status in
	1) sed -nE "1{s/^/$1\tfound\t/;h;d};/the first is number/{s/.*number ([0-9]+) of.*/\1/;H;x;s/\n/\t/;p;q}" <<<"$text" ;;
	0) printf '%s\tmissed\t\n' "$1" ;;
	*) printf '%s\tundecided\t%s\n' "$1" "$(tail -n 1 <<<"$text")" ;;
	esac
}
export -f try meaningless

out=$(mktemp) && trap 'rm -f "$out"' EXIT
# shellcheck disable=SC2016 # the argument is xargs'
while IFS=$'\t' read -r name requirement hook target operation value _; do
	reason=$(beyond "$hook" "$target" "$operation $value")
	of_sctp "$name" "$requirement" && reason="no meaning over tcp"
	if [ -n "$reason" ]; then
		printf '%s\tbeyond\t%s\n' "$name" "$reason" >>"$out"
	else
		echo "$name"
	fi
done < <(defects "$@") | xargs -r -P "$jobs" -n 1 bash -c 'try "$1"' x >>"$out"
sort "$out"
awk -F'\t' -v llp="$llp" -v sessions="$sessions" -v seed="$seed" '
	{ n[$2]++ }
	END {
		reached = n["found"] + n["missed"] + n["undecided"]
		printf "over %s, at most %d sessions of seed %d each: %d of %d found (%.1f %%), %d missed, %d undecided; %d beyond reach\n",
			llp, sessions, seed, n["found"], reached, reached ? 100 * n["found"] / reached : 0, n["missed"], n["undecided"], n["beyond"]
	}' "$out"
