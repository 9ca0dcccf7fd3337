# SPDX-License-Identifier: BSD-2-Clause
#
# tshark with the plugin; to be sourced after expect.bash. Root's Wireshark ignores WIRESHARK_PLUGIN_DIR, hence another
# user; all that it reads lies in $WORK, which is another folder from here on where that user does not come to the build folder (a checkout
# in root's home).
#
#   ours ARGUMENT...           tshark with the plugin; as a command of its own "${with_plugin[@]}"
#   builtin_only ARGUMENT...   the same one without it
# A run by hand never meets a stale plugin; make check has just built it, and says so by PLUGIN.
if [ -z "${PLUGIN:-}" ]; then
	PLUGIN=$B/dissector/warpcheck.so
	make -s plugin B="$B"
fi
as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
chmod a+rx "$WORK"
if ! "${as_user[@]}" test -x "$WORK"; then
	WORK=$(mktemp -d "${TMPDIR:-/tmp}/warpcheck-dissector.XXXXXX")
	trap 'rm -rf "$WORK"' EXIT
	chmod a+rx "$WORK"
fi
plugins=$WORK/plugins
version=$(pkg-config --modversion wireshark | cut -d. -f1-2)
mkdir -p "$plugins/$version/epan" "$WORK/none"
cp "$PLUGIN" "$plugins/$version/epan/warpcheck.so"
chmod -R a+rX "$WORK"
with_plugin=("${as_user[@]}" env HOME=/nonexistent WIRESHARK_PLUGIN_DIR="$plugins" "$TSHARK")
without_plugin=("${as_user[@]}" env HOME=/nonexistent WIRESHARK_PLUGIN_DIR="$WORK/none" "$TSHARK")
ours() { "${with_plugin[@]}" "$@"; }
builtin_only() { "${without_plugin[@]}" "$@"; }

# units ARGUMENT...: frames as JSON, each unit with its layers in it.
units() { ours "$@" -T json -J 'warp warp.mpa warp.ddp warp.rdmap warp.cm _ws.malformed _ws.unreassembled' | tests/e2e/dissector_units.py; }

# generated FOLDER: the generated captures, and sent.tsv with how many FPDUs each has.
generated() {
	rm -rf "$WORK/made"
	"$WARPCHECK" gen --corpus "$WORK/made" 2>/dev/null
	mkdir -p "$1"
	cp "$WORK"/made/generated/*.pcap "$1/"
	cp tests/e2e/dissector_sent.tsv "$1/sent.tsv"
}

# corpus: all captures into $WORK/corpus, the generated ones made anew.
corpus() {
	generated "$WORK/corpus"
	cp pcaps/linux-*/*.pcap "$WORK/corpus/"
	chmod -R a+rX "$WORK"
}

# values: how many values stand in the output of tshark -T fields.
values() { awk -F'\t' '{ for (i = 1; i <= NF; i++) if ($i != "") n += split($i, a, ",") } END { print n + 0 }'; }

# One line a frame. Payloads that are what the corpus sends (octet i is 7i + 1) are shown by their length, other long ones by
# their first octets too.
# shellcheck disable=SC2016,SC2034
fields='
def octets: split(":") | map(explode | map(if . > 96 then . - 87 else . - 48 end) | .[0] * 16 + .[1]);
def short: octets as $o | if $o == [range($o | length) | (. * 7 + 1) % 256] then "\($o | length) octets as sent"
	elif ($o | length) > 100 then "\(.[0:47])... \($o | length) octets" else . end;
def payloads: walk(if type == "object" and has("warp.payload") and (.["warp.payload"] | type) == "string"
	then .["warp.payload"] |= short else . end | if type == "object" and has("warp.data")
	then .["warp.data"] |= "\(length / 3 | ceil) octets" else . end |
	if type == "object" and (.["warp.message"] | type) == "string"
	then .["warp.message"] |= "\(length / 3 | ceil) octets" else . end |
	if type == "object" then del(.["warp.finding"]) else . end);
to_entries[] | select(.value._source.layers.warp) |
	{frame: (.key + 1), warp: ([.value._source.layers.warp] | flatten | map(payloads))}'
# What one pass cannot know: links to later frames, octets of units that turn out later to be ones; and units that had
# to wait are shown where they could be decoded. So the units are compared in any order.
# shellcheck disable=SC2016,SC2034
one_pass='
[.[].warp[] | select((has("warp.data") or has("warp.at_end")) | not) | walk(if type == "object" then del(.["warp.response_in",
	"warp.response_last", "warp.message.last_frame", "warp.shown_in", "warp.terminated_by", "warp.waited_since"])
	else . end)] | sort | .[]'
