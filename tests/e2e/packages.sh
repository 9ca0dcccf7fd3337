#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# packaging/debian and packaging/rpm, as far as they can be judged without building packages: libraries of others are not named by
# their soname (a package that is built on another suite needs another one), and the build finds Lua by either of its names.
# (Packages are built, installed and removed by `make packages-check`.)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash
PLUGIN=${PLUGIN:-$B/dissector/warpcheck.so}
[ -e "$PLUGIN" ] || make -s plugin B="$B"

# Depends and its like of the binary packages: lib...NUMBER of other packages.
awk '/^[A-Z][A-Za-z-]*:/ { field = $1 } field ~ /^(Pre-)?Depends:$/ { print }' packaging/debian/control | tr ', ' '\n\n' >"$WORK/depends"
holds "the packages depend on something" test -s "$WORK/depends"
holds "no soname of another's library" test -z "$(grep -E '^lib[a-z0-9.+-]*[0-9]$' "$WORK/depends" | grep -vx libiwarp0)"
mkdir -p "$WORK/deb/debian"
cp packaging/debian/control "$WORK/deb/debian/control"
expect 0 "what dpkg-shlibdeps says of the plugin" env -C "$WORK/deb" dpkg-shlibdeps -O "$(realpath "$PLUGIN")"
says '^shlibs:Depends=.*libwireshark[0-9]'

# `make deb` exports the folder of its own build. What the package's make cleans is another.
expect 0 "what a package's build cleans" env B="$WORK/mine" make -n -f packaging/debian/rules override_dh_auto_clean
says "^rm -rf 'build'$"
holds "it is the package's own folder" test -z "$(grep -F "$WORK/mine" "$WORK/stdout")"

# Reading the Makefile runs no pkg-config: on a bare machine the packages that it would tell of come later, by the first recipe.
mkdir -p "$WORK/no-packages"
# shellcheck disable=SC2016 # the stub expands it
printf '#!/bin/sh\necho "$*" >>"%s"\nexit 1\n' "$WORK/asked-early" >"$WORK/no-packages/pkg-config"
chmod +x "$WORK/no-packages/pkg-config"
for goal in help clean; do
	expect 0 "make $goal on a bare machine" env PATH="$WORK/no-packages:$PATH" make "$goal" B="$WORK/bare"
done
holds "pkg-config is not run before the packages are there: $(head -c 200 "$WORK/asked-early" 2>/dev/null)" test ! -e "$WORK/asked-early"

# `make plugin` installs the plugin's packages and no others; the plugin includes a header of each that is no tool.
make -n plugin B="$B" >"$WORK/asked" 2>"$WORK/stderr" || wrong "make plugin" "$(head -c 300 "$WORK/stderr")"
holds "the plugin's packages alone" test "$(grep -o 'tools/deps.sh .*' "$WORK/asked")" = "tools/deps.sh plugin"
read -ra wanted < <(sed -n "s/^plugin='\(.*\)'/\1/p" tools/deps.sh)
holds "they are some" test "${#wanted[@]}" -ge 5
read -ra include < <(pkg-config --cflags wireshark libisal)
"${cc[@]}" -std=gnu17 -I. "${include[@]}" -M dissector/*.c base/*.c wire/*.c conformance/flow/*.c conformance/flow/*/*.c conformance/rules/*.c 2>"$WORK/stderr" |
	grep -oE '/[^ ]+' | LC_ALL=C sort -u >"$WORK/headers"
for package in "${wanted[@]}"; do
	case $package in gcc | pkg-config) continue ;; esac
	# A package may have been divided: then it brings the headers along.
	mapfile -t parts < <(dpkg-query -W -f '${Depends}' "$package" | tr ',|' '\n\n' | sed -n 's/^ *\(lib[^ :]*-dev\).*/\1/p' | sort -u)
	dpkg -L "$package" "${parts[@]}" >"$WORK/files" 2>"$WORK/stderr" || true
	holds "$package has a header that the plugin includes" grep -qxFf "$WORK/files" "$WORK/headers"
done

# A system whose Lua is called lua: what pkg-config knows here, with that one renamed.
mkdir -p "$WORK/pc"
pkg-config --variable pc_path pkg-config | tr : '\n' | while IFS= read -r folder; do
	[ ! -d "$folder" ] || find "$folder" -name '*.pc' -exec cp -L {} "$WORK/pc/" \;
done
mv "$WORK/pc/lua5.4.pc" "$WORK/pc/lua.pc"
rm -f "$WORK"/pc/lua5*.pc "$WORK"/pc/lua-5*.pc
# shellcheck disable=SC2016 # make's
show='show-lua: ; @echo $(lua) $(package_libs)'
expect 0 "the build with Debian's name of Lua" make -s --eval "$show" show-lua
says '^lua5\.4 .*-llua'
expect 0 "the build with the name that others have" env PKG_CONFIG_LIBDIR="$WORK/pc" make -s --eval "$show" show-lua
says '^lua .*-llua'

# The spec file, where rpm is (tools/deps.sh packages); its packages are those of Debian, by the names that are usual there.
if command -v rpmspec >"$WORK/rpmspec"; then
	expect 0 "rpm reads the spec file" rpmspec -q --qf '%{name}\n' packaging/rpm/warpcheck.spec
	holds "its packages" test "$(LC_ALL=C sort "$WORK/stdout" | paste -sd' ')" = 'libiwarp libiwarp-devel python3-iwarp warpcheck warpcheck-agent warpcheck-wireshark'
else
	echo "no rpm here: the spec file was not read"
fi
finish
