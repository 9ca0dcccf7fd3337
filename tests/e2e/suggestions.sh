#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Misspelt commands, options, ids and defects get the name that was probably meant, and a far-fetched word gets none; help is found
# under each of its names, and on a terminal it goes through the pager.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# suggests STATUS NAME COMMAND...: the complaint names what was meant
suggests() {
	local status=$1 name=$2
	shift 2
	expect "$status" "${*#"$WARPCHECK"}" "$@"
	complains "did you mean \"$name\"\?"
	holds "nothing on stdout" test ! -s "$WORK/stdout"
}

echo "== misspelt words"
suggests 2 run "$WARPCHECK" rnu
suggests 2 audit "$WARPCHECK" help adit
suggests 2 --simulate "$WARPCHECK" run --simulat
suggests 2 --seed "$WARPCHECK" run --sed 4
suggests 2 --layer "$WARPCHECK" run --layr mpa
suggests 2 --seeds "$WARPCHECK" prove --seedss 4
suggests 2 --interface "$WARPCHECK" probe --interfce eth1
suggests 2 --allow-gaps "$WARPCHECK" audit --alow-gaps pcaps
suggests 2 --evidence "$WARPCHECK" monitor --evidense there
suggests 2 monitor "$WARPCHECK" monitr
suggests 2 --capture "$WARPCHECK" bridge a b --captur there
suggests 2 bridge "$WARPCHECK" brige
suggests 2 --merge "$WARPCHECK" report --merg here
suggests 2 --checks "$WARPCHECK" list --chekcs
suggests 2 --level "$WARPCHECK" list --levle must
suggests 2 --corpus "$WARPCHECK" gen --corups there
suggests 2 --format "$WARPCHECK" dump --fromat=text there
suggests 2 --requirements "$WARPCHECK" pics --requirments
suggests 2 --force "$WARPCHECK" new-check --forse DDP-8.3.2-07
suggests 2 --help "$WARPCHECK" explain --hepl
suggests 2 --listen "$WARPCHECK" peer --lisen 1
suggests 2 --listen "$IWARP_PEER" --lisen 1
suggests 2 --cm-answer "$IWARP_PEER" --cm --cm-answr 3
suggests 3 MPA-7.1.2-05 "$WARPCHECK" run --simulate MPA-7.1.2-055
suggests 3 MPA-7.1.2-05 "$WARPCHECK" list mpa-7.1.2-055
suggests 3 MPA-7.1.2-05 "$WARPCHECK" audit MPA-7.1.2-055 pcaps
suggests 2 ddp-qn-wrong-code "$WARPCHECK" run --simulate --defect ddp-qn-wrong-cod
suggests 2 ddp-qn-wrong-code "$WARPCHECK" prove ddp-qn-wrong-cod

echo "== beginnings"
suggests 2 ddp-qn-wrong-code "$WARPCHECK" run --simulate --defect ddp-qn-wrong
suggests 2 --simulate "$WARPCHECK" run --simu
suggests 2 explain "$WARPCHECK" expla

echo "== what is no misspelling"
for words in frobnicate 'run --frobnicate' 'list --frobnicate' 'audit --frobnicate' 'prove frobnicate' 'run -q' 'explain -q'; do
	read -ra arguments <<<"$words"
	expect 2 "$words" "$WARPCHECK" "${arguments[@]}"
	holds "no suggestion for $words" test -z "$(grep 'did you mean' "$WORK/stderr")"
done
expect 3 "a glob that takes nothing" "$WARPCHECK" list 'MPA-7.1.2-055*'
holds "a glob gets no suggestion" test -z "$(grep 'did you mean' "$WORK/stderr")"
suggests 2 linux-siw "$WARPCHECK" run --dut linux-siv
suggests 2 --version "$WARPCHECK" --verison
expect 2 "an option without its value" "$WARPCHECK" run --seed
complains -- '--seed needs a value'
expect 2 "an option with a value that it does not take" "$WARPCHECK" run --simulate=3
complains -- '--simulate takes no value'
expect 2 "an option of one letter with its value in one word" "$WARPCHECK" run -o=folder
complains -- '-o takes its value as the next word'
expect "0 4" "each other option may have its value in one word" "$WARPCHECK" list --layer=mpa --format=jsonl 'MPA-7.1-01'

echo "== help under each of its names"
expect 0 "--help" "$WARPCHECK" --help
commands=$(sed -nE 's/^  ([a-z][a-z-]*) +.*/\1/p' "$WORK/stdout")
for command in $commands; do
	"$WARPCHECK" "$command" --help >"$WORK/help"
	expect 0 "$command -h" "$WARPCHECK" "$command" -h
	holds "$command -h says what --help says" cmp "$WORK/help" "$WORK/stdout"
	expect 0 "help $command" "$WARPCHECK" help "$command"
	holds "help $command says what --help says" cmp "$WORK/help" "$WORK/stdout"
done
for last in help -h; do
	"$WARPCHECK" --help >"$WORK/help"
	expect 0 "$last" "$WARPCHECK" "$last"
	holds "$last says what --help says" cmp "$WORK/help" "$WORK/stdout"
done
expect 0 "iwarp-peer -h" "$IWARP_PEER" -h
says '^usage: '
holds "no line of it is wider than a terminal of 120 columns" test "$(awk 'length > 120' "$WORK/stdout" | wc -l)" -eq 0
exec {unread}> >(:)
wait $!
"$IWARP_PEER" --help 1>&"$unread" 2>"$WORK/stderr" || true
exec {unread}>&-
holds "help that nobody reads to its end is no error to tell of" test ! -s "$WORK/stderr"
expect 0 "warpcheck peer -h" "$WARPCHECK" peer -h
says '^usage: warpcheck peer '
expect 2 "warpcheck peer complains under its own name" "$WARPCHECK" peer --lisen 1
complains '^warpcheck peer: '
expect 0 "-h behind other options" "$WARPCHECK" run --simulate --seed 3 -h
says '^usage: warpcheck run'
expect 0 "-h as a word of another command line" "$WARPCHECK" complete -- warpcheck run -h
holds "is none of this one" test -z "$(grep '^usage' "$WORK/stdout")"

echo "== the pager"
# on_terminal PAGER COMMAND: runs it on a terminal of its own
on_terminal() {
	TERM=xterm PAGER=$1 timeout -k 5 60 script -qec "$2" /dev/null </dev/null >"$WORK/terminal"
}
numbered="sed 's/^/PAGED /'"
on_terminal "$numbered" "'$WARPCHECK' run --help"
holds "on a terminal every line of help goes through PAGER" \
	test "$(grep -c '^PAGED ' "$WORK/terminal")" -eq "$("$WARPCHECK" run --help | wc -l)"
on_terminal "$numbered" "'$WARPCHECK' help list"
holds "also that of 'help COMMAND'" grep -q '^PAGED usage: warpcheck list' "$WORK/terminal"
on_terminal "$numbered" "'$WARPCHECK' --help"
holds "also that of the program" grep -q '^PAGED usage: warpcheck' "$WORK/terminal"
on_terminal "$numbered" "'$WARPCHECK' list --layer cm"
holds "no other output" test -z "$(grep '^PAGED ' "$WORK/terminal")"
on_terminal '' "'$WARPCHECK' run --help"
holds "PAGER set and empty means none" grep -q '^usage: warpcheck run' "$WORK/terminal"
on_terminal "sed -n 1q" "'$WARPCHECK' run --help"
holds "a reader who leaves early hears of no error" test ! -s "$WORK/terminal"
PAGER=false expect 0 "off a terminal there is no pager" "$WARPCHECK" run --help
says '^usage: warpcheck run'
finish
