#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the lessons show is what the commands print (but for the numbers of lines in scripts, which move), the teacher's table is the program's, and the
# figures are drawn from its tables: tools/course.sh on a copy changes nothing. The commands without a shown output do what the text says. Each exercise
# stands in a lesson, each link leads somewhere, each word of the glossary stands in the lessons that it names.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
export XDG_STATE_HOME=$WORK/state HOME=$WORK/home
mkdir -p "$HOME" "$WORK/bin"
ln -s "$WARPCHECK" "$WORK/bin/warpcheck"
cp -r docs/course "$WORK/course"
cp -r docs/course "$WORK/shown"
expect 0 "the outputs are renewed" tools/course.sh "$WORK/course"
checked=$((checked + 1))
sed -i -E 's/(\.lua):[0-9]+$/\1/' "$WORK"/{course,shown}/*.md
diff -r "$WORK/shown" "$WORK/course" >"$WORK/diff" || wrong "docs/course is not what the commands print: run tools/course.sh" "$(sed -n 1,40p "$WORK/diff")"
cat >"$WORK/mute" <<END
#!/bin/sh
[ "\$1" = explain ] || exec '$WARPCHECK' "\$@"
END
chmod +x "$WORK/mute"
cp -r docs/course "$WORK/again"
expect 1 "a figure without a drawing is no figure" env WARPCHECK="$WORK/mute" tools/course.sh "$WORK/again"

# block FILE PATTERN: the lines of the block of code that has the pattern
block() { awk -v want="$2" '/^```/ { if (on && text ~ want) printf "%s", text; on = !on; text = ""; next } on { text = text $0 "\n" }' "$1"; }
block docs/course/README.md 'mkdir' | grep -vE '^(make|export .*)$' >"$WORK/prepare"
expect 0 "the folder is made as README says" bash -e "$WORK/prepare"
# shellcheck disable=SC2013 # words are meant
for file in $(grep -h '^\$ ' docs/course/*.md | grep -oE '[a-z-]+\.lua' | sort -u); do
	holds "the lessons' $file is in that folder" test -f "$HOME/iwarp-course/$file"
done

# Lesson 2 live, line by line, as a student types it: each background program is waited for as the text says.
block docs/course/2-start-up.md 'unshare' >"$WORK/lines"
holds "it begins with a network of one's own" test "$(sed -n 1p "$WORK/lines")" = 'unshare -rn bash'
cat >"$WORK/typed.sh" <<'TYPED'
source tests/e2e/wait.bash
cd "$WORK/live" || exit 1
replied() { warpcheck dump live.pcapng 2>/dev/null | grep -c 'MPA Reply' >replies; }
while IFS= read -r line <&3; do
	case $line in
	kill*) eventually $$ replied || exit 1 ;;
	exit) wait ;;
	esac
	rm -f said
	eval "$line" >said 2>&1 || { cat said; exit 1; }
	case $line in
	dumpcap*) prints $! said '^File: live.pcapng' || exit 1 ;;
	*--listen*) prints $! said '^READY listen=9999' || exit 1 ;;
	esac
done 3< <(sed 1d "$WORK/lines")
TYPED
# live WORDS: what the commands capture, with these words in place of those of the listening peer
live() {
	rm -rf "$WORK/live" && mkdir "$WORK/live"
	lines=any expect 0 "lesson 2, live: $1" unshare -rn env PATH="$WORK/bin:$PATH" WORK="$WORK" bash "$WORK/typed.sh"
}
if unshare -rn true 2>"$WORK/unshare" && command -v dumpcap >"$WORK/dumpcap"; then
	live "warpcheck peer"
	expect 0 "the capture is good" "$WARPCHECK" audit "$WORK/live/live.pcapng"
	sed -i 's/^warpcheck peer --listen/warpcheck course peer 4 --listen/' "$WORK/lines"
	live "warpcheck course peer 4"
	expect 1 "the one of exercise 4 is not" "$WARPCHECK" audit "$WORK/live/live.pcapng"
	says '^FAIL  EMPA-6-03 '
else
	echo "no network namespaces or no dumpcap: the live part of lesson 2 is not tried"
fi

# Commands within sentences that are whole: none is refused.
# shellcheck disable=SC2016 # grave accents
grep -ohE '`warpcheck (course|explain|list) [^`]*`' docs/course/[1-9]-*.md | tr -d '`' | grep -vE '[A-Z] [A-Z]|answer|course peer' | sort -u >"$WORK/commands"
holds "there are some" test "$(wc -l <"$WORK/commands")" -ge 4
cd "$HOME/iwarp-course" || exit 1
while IFS= read -r command; do
	eval "words=($command)" # quoted for a shell, as a student types it
	# shellcheck disable=SC2154 # the line above sets it
	expect "0 1" "$command" "$WARPCHECK" "${words[@]:1}"
done <"$WORK/commands"
cd "$OLDPWD" || exit 1

for lesson in 1 2 3 4 5 6; do
	holds "lesson $lesson shows outputs of commands" test "$(grep -c '^\$ ' docs/course/"$lesson"-*.md)" -ge 1
	holds "lesson $lesson has exercises" grep -q '^## Exercises' docs/course/"$lesson"-*.md
done
links() { grep -oE '\]\([^)#:]+\)' docs/course/*.md | sed -E 's/.*\]\(([^)]+)\)/\1/' | sort -u; }
while read -r link; do holds "docs/course: $link is there" test -e "docs/course/$link"; done < <(links)
for figure in docs/course/*.svg; do holds "$figure is well formed" xmllint --noout "$figure"; done
for figure in docs/course/*.svg; do holds "$figure stands in a lesson" grep -q "($(basename "$figure"))" docs/course/[1-9]-*.md; done
for lesson in docs/course/[1-9]-*.md; do holds "$lesson has a figure" grep -q '^!\[.*\]([a-z-]*\.svg)$' "$lesson"; done
while IFS='|' read -r _ words _ lessons _; do
	for lesson in ${lessons//,/ }; do
		while IFS= read -r word; do
			holds "glossary: lesson $lesson has \"$word\"" grep -qiwE -- "${word}s?" docs/course/"$lesson"-*.md
		done < <(sed -E 's/^ +| +$//g; s/, /\n/g' <<<"$words")
	done
done < <(grep -E '^\| .* \| [0-9, ]+ \|$' docs/course/glossary.md)
# What a lesson sets in bold is a word of the glossary.
while IFS= read -r term; do
	holds "glossary: \"$term\" is in it" grep -qiE "^\| ([^|]*, )?(${term#RDMA }|${term%s})(,[^|]*)? \|" docs/course/glossary.md
done < <(grep -ohE '\*\*[^*]+\*\*' docs/course/[1-9]-*.md | tr -d '*' | sed 's/^RDMA Read .*/Read/; s/^queue$/QN/; s/^Tagged Offset$/TO/' | sort -u)
finish
