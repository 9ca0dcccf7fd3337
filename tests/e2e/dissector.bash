# SPDX-License-Identifier: BSD-2-Clause
#
# tshark with the plugin; to be sourced behind expect.bash. Root's Wireshark ignores WIRESHARK_PLUGIN_DIR, hence another
# user; all that it reads lies in $WORK.
#
#   ours ARGUMENT...           tshark with the plugin; as a command of its own "${with_plugin[@]}"
#   builtin_only ARGUMENT...   the same one without it
: "${PLUGIN:=$B/dissector/warpcheck.so}"
plugins=$WORK/plugins
version=$(pkg-config --modversion wireshark | cut -d. -f1-2)
mkdir -p "$plugins/$version/epan" "$WORK/none"
cp "$PLUGIN" "$plugins/$version/epan/warpcheck.so"
chmod -R a+rX "$WORK"
as_user=()
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
with_plugin=("${as_user[@]}" env HOME=/nonexistent WIRESHARK_PLUGIN_DIR="$plugins" "$TSHARK")
without_plugin=("${as_user[@]}" env HOME=/nonexistent WIRESHARK_PLUGIN_DIR="$WORK/none" "$TSHARK")
ours() { "${with_plugin[@]}" "$@"; }
builtin_only() { "${without_plugin[@]}" "$@"; }

# corpus: the generated captures into $WORK/corpus, and the committed ones beside them.
corpus() {
	mkdir -p "$WORK/corpus"
	"$CC" -std=gnu17 -O1 -I. -o "$WORK/dissector_corpus" tests/e2e/dissector_corpus.c tests/e2e/dissector_talk.c wire/*.c -lisal
	"$WORK/dissector_corpus" "$WORK/corpus"
	cp pcaps/linux-siw/*.pcap "$WORK/corpus/"
	chmod -R a+rX "$WORK"
}

# values: how many values stand in the output of tshark -T fields.
values() { awk -F'\t' '{ for (i = 1; i <= NF; i++) if ($i != "") n += split($i, a, ",") } END { print n + 0 }'; }
