# SPDX-License-Identifier: BSD-2-Clause
#
# Debian packages of the tree as it is committed. debhelper, lintian and the build dependencies of packaging/debian/control have to be
# installed (tools/deps.sh packages).
#
#   make deb              the packages, in build/deb; ARCH=arm64: those of another processor, in build/arm64/deb
#   make abi              compares libiwarp's binary interface with the one that is kept (packaging/abi.sh)
#   make packages-check   builds them twice and compares, runs lintian, installs and removes them (packaging/check.sh)

.PHONY: deb abi packages-check

# Debian has no two architectures of libwireshark-dev at once: a cross build takes the other one's alone.
deb:
	@tools/deps.sh packages build $(if $(cross),cross-$(ARCH) cross-packages-$(ARCH),plugin)
	@B='$(abspath $(B))' ARCH='$(ARCH)' packaging/build-deb.sh

abi: programs
	@tools/deps.sh abi
	@B='$(abspath $(B))' packaging/abi.sh

packages-check:
	@tools/deps.sh packages build plugin
	@B='$(abspath $(B))' packaging/check.sh
