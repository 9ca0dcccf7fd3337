# SPDX-License-Identifier: BSD-2-Clause
#
# Builds for another processor: make ARCH=arm64, with Debian's cross compiler and the libraries of that architecture (multiarch).
#
#   make ARCH=arm64                  the programs, in build/arm64; also s390x, i386, armhf, ppc64el, riscv64
#   make deps ARCH=arm64             the packages for that: tools/deps.sh cross-arm64 (it adds the architecture to dpkg)
#   make deb ARCH=arm64              its packages
#   make arch                        unit tests, corpora and audits on arm64, s390x and i386 under emulation (tools/arch.sh)
#
# HOST_CC compiles what runs while the build goes on. EXEC runs a program of the other architecture: QEMU's user emulation makes the
# manual pages of what the programs say, and the chunks of scripts, which differ with the byte order.

.PHONY: arch suites

ARCH ?=
gnu_amd64 := x86_64-linux-gnu
gnu_arm64 := aarch64-linux-gnu
gnu_armhf := arm-linux-gnueabihf
gnu_i386 := i686-linux-gnu
gnu_ppc64el := powerpc64le-linux-gnu
gnu_riscv64 := riscv64-linux-gnu
gnu_s390x := s390x-linux-gnu
# QEMU's names
qemu_amd64 := x86_64
qemu_arm64 := aarch64
qemu_armhf := arm
qemu_i386 := i386
qemu_ppc64el := ppc64le
qemu_riscv64 := riscv64
qemu_s390x := s390x

cross :=
ifneq ($(ARCH),)
ifeq ($(gnu_$(ARCH)),)
$(error ARCH=$(ARCH): expected $(patsubst gnu_%,%,$(sort $(filter gnu_%,$(.VARIABLES)))))
endif
cross := $(filter-out $(shell dpkg --print-architecture 2>/dev/null),$(ARCH))
endif

PKG_CONFIG ?= pkg-config
ifneq ($(cross),)
B ?= build/$(ARCH)
CC := $(if $(filter default,$(origin CC)),$(gnu_$(ARCH))-gcc,$(CC))
AR := $(if $(filter default,$(origin AR)),$(gnu_$(ARCH))-ar,$(AR))
HOST_CC ?= gcc
# Debian's folder of i386 has another name than its compiler.
multiarch := $(patsubst i686-%,i386-%,$(gnu_$(ARCH)))
emulator = $(firstword $(wildcard $(addprefix /usr/bin/qemu-$(qemu_$(ARCH)),-static)) $(wildcard /usr/bin/qemu-$(qemu_$(ARCH))))
EXEC ?= $(if $(emulator),$(emulator) -E LD_LIBRARY_PATH=$(sysroot)/usr/lib/$(multiarch))
# What Debian cannot have installed for two architectures at once lies here (tools/deps.sh); a package's copy of the source has it elsewhere.
sysroot := $(abspath $(or $(SYSROOT),$(B)/sysroot))
pkg_config := PKG_CONFIG_LIBDIR=$(sysroot)/usr/lib/$(multiarch)/pkgconfig:/usr/lib/$(multiarch)/pkgconfig:/usr/share/pkgconfig $(PKG_CONFIG)
cross_cflags := -I$(sysroot)/usr/include
cross_libs := -L$(sysroot)/usr/lib/$(multiarch) -Wl,-rpath-link,$(sysroot)/usr/lib/$(multiarch)
else
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
HOST_CC ?= $(CC)
EXEC ?=
pkg_config := $(PKG_CONFIG)
endif

SUITES ?=

arch:
	@tools/deps.sh arch
	@B='$(abspath $(B))' tools/arch.sh $(ARCHES)

# What is said of other processors belongs to it.
suites:
	@tools/deps.sh suites arch
	@status=0; B='$(abspath $(B))' tools/systems.sh $(SUITES) || status=$$?; \
	B='$(abspath $(B))' tools/arch.sh $(ARCHES) || { other=$$?; [ "$$status" -eq 1 ] || status=$$other; }; exit "$$status"
