#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Completion in bash, zsh and fish: every command and every option of --help is offered and taken, and so are
# requirements, defects, capabilities, devices, formats and files where they belong.
# shellcheck disable=SC2154 # set by the files that are sourced
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# What bash would do: the words so far, the last of them unfinished; what is offered, one a line.
cat >"$WORK/bash.sh" <<'BASH'
source packaging/completion/warpcheck.bash
program=$1
shift
COMP_WORDS=("$program" "$@") COMP_CWORD=$#
_warpcheck "$program" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
[ "${#COMPREPLY[@]}" -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
BASH
offered() { bash --norc "$WORK/bash.sh" "$WARPCHECK" "$@" >"$WORK/offered" 2>"$WORK/complaints" </dev/null; }
peer_offered() { bash --norc "$WORK/bash.sh" "$IWARP_PEER" "$@" >"$WORK/offered" 2>"$WORK/complaints" </dev/null; }
# offers WHAT [WORD...]: all of these words, each in a line of its own, and nothing was complained about
offers() {
	local what=$1 word missing=
	shift
	for word in "$@"; do grep -qxF -- "$word" "$WORK/offered" || missing+=" $word"; done
	holds "$what${missing:+: missing$missing}" test -z "$missing" -a ! -s "$WORK/complaints"
}
only() { # WHAT WORD...
	holds "$1" cmp <(printf '%s\n' "${@:2}" | LC_ALL=C sort) <(LC_ALL=C sort "$WORK/offered")
}
# The options of a help text, read in another way than the program does.
options_of() {
	sed -nE '/^  -/{s/^  //;s/   *[^-].*//;p}' | { grep -oE -- '(^|[ ,])--?[a-z][a-z0-9-]*' || true; } | tr -d ' ,' |
		LC_ALL=C sort -u
}

echo "== commands and options"
commands=$("$WARPCHECK" --help | sed -nE 's/^  ([a-z][a-z-]*) +.*/\1/p')
offered ''
# shellcheck disable=SC2086
only "each command" $commands
offered -
only "the options without a command" --help --version
options=0
for command in $commands; do
	"$WARPCHECK" "$command" --help | options_of >"$WORK/options"
	options=$((options + $(wc -l <"$WORK/options")))
	offered "$command" -
	holds "$command: its $(wc -l <"$WORK/options") options" cmp "$WORK/options" <(LC_ALL=C sort -u "$WORK/offered")
	while IFS= read -r option; do
		[ "$option" != --help ] || continue
		offered "$command" "$option" ''
		value=$(head -n 1 "$WORK/offered")
		timeout 60 "$WARPCHECK" "$command" "$option" "${value:-1}" --no-such-option >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || true
		! grep -qE "(unknown|unrecognized) option .?$option\b|option $option is unknown or|^usage: " "$WORK/stderr" ||
			wrong "$command --help tells of $option, which $command does not take" "$(head -n 2 "$WORK/stderr")"
	done <"$WORK/options"
done
holds "these are 60 options or more" test "$options" -ge 60
"$IWARP_PEER" --help | options_of >"$WORK/options"
peer_offered -
holds "iwarp-peer: its $(wc -l <"$WORK/options") options" cmp "$WORK/options" <(LC_ALL=C sort -u "$WORK/offered")
holds "these are 20 or more" test "$(wc -l <"$WORK/options")" -ge 20
offered run --dr
only "what has been typed goes on" --dry-run
offered frobnicate ''
holds "an unknown command has nothing" test ! -s "$WORK/offered"

echo "== what a value may be"
"$WARPCHECK" list --format jsonl >"$WORK/rows.jsonl"
offered explain ''
holds "explain: every requirement" cmp <(jq -r .id "$WORK/rows.jsonl") "$WORK/offered"
offered run ''
holds "run: every requirement with a check" cmp <(jq -r 'select(.check != null).id' "$WORK/rows.jsonl") "$WORK/offered"
offered list MPA-7.1.1-
holds "list: those that begin so" cmp <(jq -r .id "$WORK/rows.jsonl" | grep '^MPA-7\.1\.1-') "$WORK/offered"
grep -hvE '^(#|$)' reference-stack/defects/defects.tsv reference-stack/defects/defects-cm.tsv | cut -f1 | grep -v '^id$' >"$WORK/defects"
offered prove ''
holds "prove: every defect, beside the files that --merge takes" \
	cmp "$WORK/defects" <(grep -xFf "$WORK/defects" "$WORK/offered")
grep -vE '^(#|$)' reference-stack/defects/variants.tsv | cut -f1 >"$WORK/variants"
for words in 'run --variant' 'peer --variant'; do
	# shellcheck disable=SC2086
	offered $words ''
	holds "$words: every variant" cmp "$WORK/variants" "$WORK/offered"
done
for words in 'run --defect' 'peer --defect'; do
	# shellcheck disable=SC2086
	offered $words ''
	[ "$words" != prove ] || grep -xFf "$WORK/defects" "$WORK/offered" >"$WORK/of-them" # beside files, for --merge
	[ "$words" != prove ] || mv "$WORK/of-them" "$WORK/offered"
	holds "$words: every defect" cmp "$WORK/defects" "$WORK/offered"
done
offered course ''
only "course: what it can be told" answer hint peer run start
offered course s
only "course: the one that begins so" start
offered course start 3 -
offers "course start: its options" -o
offered course run 3 DDP-7.2-0
offers "course run: requirements" DDP-7.2-01
offered course answer 3 D
holds "course answer: it does not tell" test ! -s "$WORK/offered"
offered pics ''
holds "pics: every capability" cmp <("$WARPCHECK" pics --format jsonl | jq -r .item) "$WORK/offered"
mkdir -p "$WORK/folder/inner folder"
touch "$WORK/folder/my device.json" "$WORK/folder/capture.pcapng"
offered run --dut linux
offers "the devices that come with the project" linux-siw linux-siw-6.12
offered run --dut "$WORK/folder/my"
only "profiles are files, with blanks in their names too" "$WORK/folder/my device.json"
offered dump "$WORK/folder/c"
only "captures" "$WORK/folder/capture.pcapng"
offered run -o "$WORK/folder/"
only "-o of run takes a folder" "$WORK/folder/inner folder"
for command in $commands; do
	grep -qx -- --format < <("$WARPCHECK" "$command" --help | options_of) || continue
	offered "$command" --format ''
	holds "$command --format: two words or more" test "$(wc -l <"$WORK/offered")" -ge 2
	refused=
	while IFS= read -r word; do
		"$WARPCHECK" "$command" --format "$word" --no-such-option >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || true
		grep -q 'no-such-option' "$WORK/stderr" || refused+=" $word"
	done <"$WORK/offered"
	holds "$command takes each of them${refused:+, but not$refused}" test -z "$refused"
done
offered report --format ''
offers "report --format" html junit tap sarif md text
offered list --layer ''
read -ra layers < <("$WARPCHECK" list --layer none 2>&1 | sed -n 's/^.*is unknown, \(.*\) was expected.*$/\1/p' | sed 's/ or / /; s/,//g')
holds "there are layers" test "${#layers[@]}" -gt 1
only "--layer" "${layers[@]}"
offered list --layer mpa,d
only "--layer, a list" mpa,ddp
offered pics --format = m
only "--format=m, of which bash makes three words" markdown
offered pics --format =
offers "--format=" text markdown
peer_offered --rtr send,
offers "--rtr, a list" send,write send,read
peer_offered --rev ''
only "--rev" 1 2
offered run --seed ''
holds "a number is not guessed" test ! -s "$WORK/offered"
holds "the script sets completion up for both programs" \
	bash --norc -c 'source packaging/completion/warpcheck.bash; complete -p warpcheck && complete -p iwarp-peer'

echo "== the command behind it"
expect 2 "complete without words" "$WARPCHECK" complete
expect 2 "complete without --" "$WARPCHECK" complete warpcheck run
expect 2 "complete with an option" "$WARPCHECK" complete --frobnicate
expect 0 "complete" "$WARPCHECK" complete -- warpcheck run --dry
says $'^--dry-run\tshows what would be run$'
# shellcheck disable=SC2016
expect 4 "complete into a full disk" bash -c '"$0" complete -- warpcheck run - >/dev/full' "$WARPCHECK"

echo "== zsh"
# zsh completes within its line editor alone: its functions are stood in for, and tell what they are given.
cat >"$WORK/zsh.sh" <<'ZSH'
_describe() { local name=$4 each; for each in ${(P)name}; do print -r -- "${${each%%:*}//\\/}"; done }
_files() { print -r -- "files $*" }
words=("$@") CURRENT=$# PREFIX=${@[-1]}
source packaging/completion/_warpcheck
ZSH
zsh_offered() { zsh -f "$WORK/zsh.sh" "$@" >"$WORK/offered" 2>"$WORK/complaints" </dev/null; }
zsh_offered "$WARPCHECK" ''
# shellcheck disable=SC2086
only "each command" $commands
zsh_offered "$WARPCHECK" run --format=js
only "--format=js" --format=jsonl
zsh_offered "$WARPCHECK" run --dut ''
offers "devices and files" linux-siw 'files '
zsh_offered "$WARPCHECK" run -o ''
only "folders" 'files -/'
zsh_offered "$IWARP_PEER" --rtr ''
only "iwarp-peer" send write read

echo "== fish"
mkdir -p "$WORK/bin" "$WORK/home"
ln -sf "$WARPCHECK" "$WORK/bin/warpcheck"
ln -sf "$IWARP_PEER" "$WORK/bin/iwarp-peer"
fish_offered() {
	# shellcheck disable=SC2016
	HOME=$WORK/home XDG_CONFIG_HOME=$WORK/home PATH=$WORK/bin:$PATH fish --no-config -c \
		'source packaging/completion/warpcheck.fish; complete -C "$argv[1]"' "$1" 2>"$WORK/complaints" </dev/null |
		cut -f1 >"$WORK/offered"
}
fish_offered 'warpcheck '
# shellcheck disable=SC2086
only "each command" $commands
fish_offered 'warpcheck pics --format m'
only "--format m" markdown
fish_offered 'warpcheck run --dut linux-siw-6.1'
offers "devices" linux-siw-6.1 linux-siw-6.12
fish_offered "warpcheck dump $WORK/folder/c"
only "files" "$WORK/folder/capture.pcapng"
fish_offered 'iwarp-peer --accept '
only "iwarp-peer" auto manual reject
finish
