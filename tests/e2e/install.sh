#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# make install into a folder: what is there, and that programs can be built of that alone - with what pkg-config says,
# shared and static, every header by itself - and talk to each other.
# shellcheck disable=SC2154 # set by the files that are sourced
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
ROOT=$PWD
dest=$WORK/dest
prefix=$dest/opt/iwarp

# The programs are there already, made with the caller's flags: they are installed as they are.
expect 0 "make install" make -o programs install B="$B" DESTDIR="$dest" PREFIX=/opt/iwarp
for file in bin/warpcheck bin/iwarp-peer lib/libiwarp.a lib/libiwarp.so lib/libiwarp.so.0 lib/pkgconfig/libiwarp.pc \
	share/man/man1/warpcheck.1 share/man/man1/iwarp-peer.1 share/man/man3/libiwarp.3 \
	share/bash-completion/completions/warpcheck share/bash-completion/completions/iwarp-peer share/zsh/site-functions/_warpcheck \
	share/fish/vendor_completions.d/warpcheck.fish share/fish/vendor_completions.d/iwarp-peer.fish \
	share/warpcheck/templates/responder.lua share/warpcheck/templates/initiator.lua share/warpcheck/templates/startup.lua \
	share/doc/libiwarp/libiwarp.md share/doc/warpcheck/writing-checks.md share/doc/warpcheck/script-library.md \
	include/libiwarp/iwarp/verbs.h include/libiwarp/iwarp/stream.h include/libiwarp/iwarp/sctp.h include/libiwarp/iwarp/device.h; do
	holds "$file is there" test -s "$prefix/$file"
done
documents=$prefix/share/doc
while IFS=: read -r document link; do
	holds "${document#"$documents/"} leads to $link" test -s "$(dirname "$document")/$link"
done < <(grep -roE '\]\([^)#: ]+' --include='*.md' "$documents" | sed 's/:\](/:/' | sort -u)
while IFS=: read -r document page; do
	holds "${document#"$documents/"} names $page, which is there" test -s "$documents/warpcheck/${page#docs/}"
done < <(grep -roE '\b(docs|reports)/[a-zA-Z0-9/_-]+\.md' --include='*.md' "$documents/warpcheck" | sort -u)
holds "all is below the prefix" test "$(cd "$dest" && find . -maxdepth 2 | sort | paste -sd' ')" = '. ./opt ./opt/iwarp'
holds "all can be read by all" test -z "$(find "$prefix" ! -type l ! -perm -444)"
expect 0 "the installed warpcheck" "$prefix/bin/warpcheck" --version
says '^warpcheck [0-9]'
expect 0 "the installed iwarp-peer" "$prefix/bin/iwarp-peer" --help
passes=any
for template in "$prefix"/share/warpcheck/templates/*.lua; do
	expect 0 "the installed warpcheck runs $(basename "$template")" "$prefix/bin/warpcheck" run --simulate --script "$template"
done
# shellcheck disable=SC2034 # expect.bash looks at it
passes=none

# Where a distribution has its libraries in a folder of their own, and where they lie outside the prefix.
for libraries in /opt/iwarp/lib/x86_64-linux-gnu /elsewhere/lib64; do
	other=$WORK/other${libraries//\//-}
	expect 0 "make install LIBDIR=$libraries" make -o programs install B="$B" DESTDIR="$other" PREFIX=/opt/iwarp LIBDIR="$libraries"
	holds "the libraries are in $libraries, and only there" test "$(find "$other" -name 'libiwarp*' ! -path '*/share/*' ! -path '*/include/*' -printf '/%P\n' | LC_ALL=C sort | paste -sd' ')" = \
		"$(printf "$libraries/%s " libiwarp.a libiwarp.so libiwarp.so.0 "libiwarp.so.$("$prefix/bin/warpcheck" --version | sed -n 's/^warpcheck \([0-9.]*\).*/\1/p')" pkgconfig/libiwarp.pc | sed 's/ $//')"
	expect 0 "pkg-config tells where they are" env PKG_CONFIG_PATH="$other$libraries/pkgconfig" pkg-config --variable=libdir libiwarp
	says "^$libraries\$"
	expect 0 "make uninstall LIBDIR=$libraries" make --no-print-directory -o programs uninstall B="$B" DESTDIR="$other" PREFIX=/opt/iwarp LIBDIR="$libraries"
	holds "nothing is left" test -z "$(find "$other" ! -type d)"
done

# shellcheck disable=SC2016
expect 0 "the installed completion asks the installed program" env PATH="$prefix/bin:$PATH" bash --norc -c 'source "$0"
	COMP_WORDS=(warpcheck pi) COMP_CWORD=1; _warpcheck warpcheck; echo "${COMPREPLY[@]}"
	COMP_WORDS=(iwarp-peer --rev "") COMP_CWORD=2; _warpcheck iwarp-peer; echo "${COMPREPLY[@]}"' \
	"$prefix/share/bash-completion/completions/iwarp-peer"
says '^pics$'
says '^1 2$'

# From here on nothing of the tree.
mkdir -p "$WORK/away"
cp "$prefix"/share/doc/libiwarp/examples/{echo,kv}.c "$WORK/away"
cd "$WORK/away" || exit 1
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest
expect 0 "pkg-config knows libiwarp" pkg-config --modversion libiwarp
says "^$("$prefix/bin/warpcheck" --version | sed -n 's/^warpcheck \([0-9.]*\).*/\1/p')"
strict=(-std=c17 -Wall -Wextra -Werror -Wstrict-prototypes)
read -ra compile <<<"$(pkg-config --cflags libiwarp)"
read -ra shared <<<"$(pkg-config --libs libiwarp)"
read -ra static <<<"$(pkg-config --static --libs libiwarp | sed 's/-liwarp/-l:libiwarp.a/')"
for header in "$prefix"/include/libiwarp/*/*.h; do
	name=${header#"$prefix/include/libiwarp/"}
	printf '#include <%s>\n#include <%s>\nint main(void)\n{\n    return 0;\n}\n' "$name" "$name" >header.c
	holds "<$name> compiles by itself" "${cc[@]}" "${strict[@]}" "${compile[@]}" -c -o header.o header.c
done
for name in echo kv; do
	holds "$name, shared" "${cc[@]}" "${strict[@]}" "${compile[@]}" -o "$name-shared" "$name.c" "${shared[@]}"
	holds "$name, static" "${cc[@]}" "${strict[@]}" "${compile[@]}" -o "$name-static" "$name.c" "${static[@]}"
done
for example in "$prefix"/share/doc/libiwarp/examples/*.c; do
	holds "$(basename "$example") without extensions of GNU" "${cc[@]}" "${strict[@]}" "${compile[@]}" -o example "$example" "${shared[@]}"
done
needs() { [[ $(LD_LIBRARY_PATH=$prefix/lib ldd "$1") == *"libiwarp.so.0 => $prefix/lib/libiwarp.so.0"* ]]; }
holds "the shared one takes the library by its soname" needs kv-shared
needs_not() { [[ $(ldd "$1") != *libiwarp* ]]; }
holds "the static one does not" needs_not kv-static

serve() { # PROGRAM: sets `port` and `server`
	rm -f serve.out
	LD_LIBRARY_PATH=$prefix/lib "./$1" serve 0 >serve.out 2>&1 </dev/null &
	server=$!
	prints "$server" serve.out '^port [0-9]+$' || return 1
	port=$(sed -n 's/^port //p' serve.out)
}
for pair in 'shared static' 'static shared'; do
	read -r one other <<<"$pair"
	holds "the server starts, $one" serve "kv-$one"
	expect 0 "put, $other" env LD_LIBRARY_PATH="$prefix/lib" "./kv-$other" 127.0.0.1 "$port" put key value
	expect 0 "get, $other" env LD_LIBRARY_PATH="$prefix/lib" "./kv-$other" 127.0.0.1 "$port" get key
	says '^value$'
	kill "$server"
	wait "$server" || true
done
cd "$ROOT" || exit 1

touch "$prefix/include/libiwarp/iwarp/another.h" "$prefix/lib/another.so"
expect 0 "make uninstall" make --no-print-directory -o programs uninstall DESTDIR="$dest" PREFIX="${prefix#"$dest"}" B="$B"
holds "it leaves what is not its own" test "$(cd "$prefix" && find . ! -type d | sort | paste -sd' ')" = './include/libiwarp/iwarp/another.h ./lib/another.so'
holds "its folders are gone" test ! -e "$prefix/share/warpcheck" -a ! -e "$prefix/share/doc/libiwarp"
finish
