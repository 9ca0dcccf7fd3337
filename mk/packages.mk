# SPDX-License-Identifier: BSD-2-Clause
#
# Debian packages of the tree as it is committed. debhelper, lintian and the build dependencies of packaging/debian/control have to be
# installed (tools/deps.sh packages).
#
#   make deb              the packages, in build/deb
#   make packages-check   builds them twice and compares, runs lintian, installs and removes them (packaging/check.sh)

.PHONY: deb packages-check

deb:
	@tools/deps.sh packages build plugin
	@B='$(abspath $(B))' packaging/build-deb.sh

packages-check:
	@tools/deps.sh packages build plugin
	@B='$(abspath $(B))' packaging/check.sh
