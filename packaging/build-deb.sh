#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# build-deb.sh [DIR]: Debian packages, for ARCH (this machine's), of COMMIT (the one that is checked out), in DIR (build/deb). The source is copied there, so that
# nothing of the working tree gets in, and the packages do not depend on where they were built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${1:-${B:-build}/deb}
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' packaging/debian/changelog)
rm -rf "$out"
mkdir -p "$out/warpcheck-$version"
git archive "${COMMIT:-HEAD}" | tar -x -C "$out/warpcheck-$version"
cp -a packaging/debian "$out/warpcheck-$version/debian"
sysroot=$(realpath -m "${SYSROOT:-${B:-build}/sysroot}")
cd "$out/warpcheck-$version"
log=../build.txt
# The packages that a cross build needs are those of tools/deps.sh, as far as dpkg cannot say so.
cross=()
if [ -n "${ARCH:-}" ] && [ "$ARCH" != "$(dpkg --print-architecture)" ]; then
	cross=("--host-arch=$ARCH" "--build-profiles=cross,nocheck" --no-check-builddeps)
	export SYSROOT=$sysroot
fi
if ! dpkg-buildpackage --build=binary --no-sign "${cross[@]}" >"$log" 2>&1 </dev/null; then
	tail -n 30 "$log" >&2
	echo "build-deb.sh: the packages could not be built; $PWD/$log has all that was said" >&2
	exit 1
fi
cd ..
ls -1 ./*.deb
