#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# course-page.sh OUT: the course of docs/course as one HTML page, which needs no other file: the lessons, the glossary and the figures, in the
# style of the reports. Markdown is translated by cmark-gfm (Debian package cmark-gfm). Each document is a fold; a link to another one leads to its fold.
set -euo pipefail
out=$(realpath -m "${1:?usage: course-page.sh OUT}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v cmark-gfm >/dev/null || { echo "course-page.sh: cmark-gfm is missing: apt-get install cmark-gfm" >&2; exit 2; }

# One heading level lower, anchors in place of files of the course, the rest of the manual as text; code can be scrolled by keyboard.
translated() {
	cmark-gfm --extension table "$1" | sed -E '
		1{/^<h1>.*<\/h1>$/d}
		s/<(\/?)h2>/<\1h3>/g
		s/href="([a-z0-9-]+)\.md"/href="#\1"/g
		s/<a href="\.\.[^"]*">([^<]*)<\/a>/<em>\1<\/em>/g
		s/<a href="#solutions">([^<]*)<\/a>/<em>\1<\/em>/g
		s/<pre>/<pre tabindex="0">/g
		s/<table>/<div class="wide" tabindex="0"><table>/g
		s/<\/table>/<\/table><\/div>/g' | awk '
		match($0, /<img src="[a-z-]+\.svg"/) { # a figure of the course stands in the page itself
			name = substr($0, RSTART + 10, RLENGTH - 11)
			print "<figure>"
			while ((getline line < ("docs/course/" name)) > 0) print line
			close("docs/course/" name)
			print "</figure>"
			next
		}
		{ print }'
}
title_of() { sed -n '1s/^# //p' "$1"; }
fold() {
	printf '<details id="%s"%s><summary><h2>%s</h2></summary>\n' "$(basename "$1" .md)" "$2" "$(title_of "$1")"
	translated "$1"
	echo '</details>'
}
page() {
	cat <<'HEAD'
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>A course: iWARP on the wire</title>
<style>
HEAD
	cat reports/assets/style.css
	cat <<'STYLE'
details { border-top: 1px solid var(--line); padding: .4rem 0; }
summary { cursor: pointer; }
.wide table { border-collapse: collapse; }
summary h2 { display: inline; font-size: 1.2rem; }
.wide, pre { overflow-x: auto; max-width: 100%; }
pre { background: var(--shade); color: var(--ink); padding: .7rem; border-radius: 6px; }
@media screen { pre { white-space: pre; overflow-wrap: normal; } }
.wide td, .wide th { padding: .2rem .7rem .2rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
h1 { font-size: 1.7rem; color: var(--ink); }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; display: block; }
</style></head><body>
<header><h1>A course: iWARP on the wire</h1>
STYLE
	translated docs/course/README.md
	echo '</header><main>'
	fold docs/course/1-on-the-wire.md ' open'
	for document in docs/course/[2-9]-*.md docs/course/glossary.md; do fold "$document" ''; done
	echo '<details id="figures" class="screen"><summary><h2>Figures</h2></summary>'
	for figure in docs/course/*.svg; do
		echo "<figure><figcaption>$(basename "$figure" .svg)</figcaption>"
		cat "$figure"
		echo '</figure>'
	done
	printf '</details></main>\n<script>\n'
	# A link to a fold opens it: one that is followed, even for the second time, and the address with which the page is opened.
	cat <<'SCRIPT'
const show = (hash) => { const fold = document.getElementById(hash.slice(1)); if (fold) { fold.open = true; fold.scrollIntoView(); } };
addEventListener("hashchange", () => show(location.hash));
addEventListener("click", (event) => { const link = event.target.closest('a[href^="#"]'); if (link) show(link.hash); });
show(location.hash);
SCRIPT
	cat reports/assets/print.js
	echo '</script></body></html>'
}
page >"$out.part"
mv "$out.part" "$out"
