# SPDX-License-Identifier: BSD-2-Clause
#
# Debian packages of the tree as it is committed. debhelper, lintian and the build dependencies of packaging/debian/control have to be
# installed (tools/deps.sh packages).
#
#   make deb              the packages, in build/deb
#   make abi              compares libiwarp's binary interface with the one that is kept (packaging/abi.sh)
#   make packages-check   builds them twice and compares, runs lintian, installs and removes them (packaging/check.sh)

.PHONY: deb abi packages-check

deb:
	@tools/deps.sh packages build plugin
	@B='$(abspath $(B))' packaging/build-deb.sh

abi: programs
	@tools/deps.sh abi
	@B='$(abspath $(B))' packaging/abi.sh

packages-check:
	@tools/deps.sh packages build plugin
	@B='$(abspath $(B))' packaging/check.sh
