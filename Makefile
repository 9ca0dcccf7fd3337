# SPDX-License-Identifier: BSD-2-Clause
#
# warpcheck's build. GNU make 4.3, non-recursive, everything built goes under $(B) (default: build/).
#
#   make            the programs: build/warpcheck, build/iwarp-peer, build/libiwarp.a, build/libiwarp.so
#   make demo       a live run, a caught defect, an audited capture (tools/demo.sh)
#   make check      every test; ends with a table of times, and "N passed, N failed". QUICK=1: the rules of the tree, the unit tests,
#                   one simulated run and the demo, in three minutes; TIMES=1 makes tests/times.tsv of what was measured
#   make check-all  the same where each short form is whole: every variant meets every check, the linters are as deep as make lint's
#   make unit       the unit tests alone; T='ddp mpa' picks suites, IN='wire generator' builds only those folders
#   make e2e        the end-to-end scripts alone; T='audit' picks
#   make fuzz       every fuzz target for FUZZ_SECONDS (60), FUZZ_JOBS (1) at once; FUZZ_CORPUS=DIR continues with the
#                   inputs that are there, and leaves the fewest there that reach as much
#   make chaos      stops commands at counted moments and makes their calls fail, memory included; T='audit merge' picks
#   make mutation   puts faults into protocol code, judges and checks, one at a time, and says what sees them; ROOMS='flow-sctp' picks,
#                   COUNT (20) of each room, SEED (1); the page is $(B)/mutation/mutation.md (mk/mutation.mk)
#   make replay     the fuzz targets without a fuzzer, and their seeds through them (mk/replay.mk)
#   make lint       formatting, clang-tidy, cppcheck, shellcheck, Lua syntax, include arrows
#   make bench      the benchmarks' ratios
#   make bench-build   what make takes after a change, in seconds
#   make soak       make check-all, then SOAK_SECONDS (600) of connections that come and go, then 10,000 seeds of two stacks on a bad wire, over TCP and over SCTP;
#                  then every defect and variant over SCTP, and 50 seeds of the correct stack, by both texts (about an hour),
#                  and SOAK_DEVICES (200) legal devices that seeds draw, of each layer (hours)
#   make coverage   lines and branches by folder; fails below 95 % of the lines of base/, reference-stack/ and wire/
#   make format     clang-format -i
#   make deb        Debian packages, in build/deb; make packages-check builds, installs and removes them (mk/packages.mk)
#   make site       a static site of the judged implementations, from reports/baselines, into build/site
#   make course     the course of docs/course as one HTML page, build/course.html
#   make suites     what a new user does in fresh Debians, SUITES='trixie' (tools/systems.sh), and then what follows
#   make arch       other processors, emulated, ARCHES='s390x' (tools/arch.sh)
#   make lab        judges Linux siw in a virtual machine (conformance/labs/linux); report in build/lab/report
#   make install    PREFIX=/usr/local, DESTDIR=; make uninstall removes it
#   make plugin     the Wireshark plugin; make install-plugin, make remove-plugin, make wireshark-check (mk/plugin.mk)
#   make deps       every Debian package any of the above needs
#   make help       this list
#
# Variables: B=DIR (another build folder), V=1 (show commands), CC, CFLAGS, LDFLAGS, WERROR= (warnings stay warnings), ARCH=arm64
# (another processor, mk/cross.mk), WARPCHECK_NO_ISAL=1 (our own CRC32C instead of ISA-L's).

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif

.PHONY: all help deps demo check check-all check-programs quick-programs unit e2e fuzz chaos lint bench bench-build soak coverage lab site course format install uninstall clean prerequisites programs FORCE
.DEFAULT_GOAL := all

include mk/cross.mk

B ?= build
VERSION := 0.1.0
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
FUZZ_JOBS ?= 1
FUZZ_CORPUS ?=
SOAK_SECONDS ?= 600
SOAK_DEVICES ?= 200
QUICK ?=
TIMES ?=
V ?=
T ?=
IN ?=
Q := $(if $(V),,@)
say = $(if $(V),:,printf '  %-7s %s\n' $(1) $(2))

empty :=
space := $(empty) $(empty)
define newline


endef

# ---------------------------------------------------------------------------------------------------------------------
# Packages. Nothing is compiled before tools/deps.sh has seen to it that the goal's packages are there; and every
# use of pkg-config is expanded inside a recipe, hence after that.

deps_group := $(if $(filter-out plugin install-plugin remove-plugin course,$(or $(MAKECMDGOALS),all)),build)
ifneq ($(filter check check-all unit e2e fuzz chaos soak coverage mutation replay,$(MAKECMDGOALS)),)
deps_group += test
endif
ifneq ($(filter plugin install-plugin remove-plugin $(if $(QUICK),,check) check-all e2e lint soak,$(MAKECMDGOALS)),)
deps_group += plugin
endif
ifneq ($(filter bench,$(MAKECMDGOALS)),)
deps_group += bench
endif
ifneq ($(filter lint format $(if $(QUICK),,check) check-all soak,$(MAKECMDGOALS)),)
deps_group += lint
endif
ifneq ($(filter course,$(MAKECMDGOALS)),)
deps_group += course
endif
ifneq ($(filter deps,$(MAKECMDGOALS)),)
deps_group := all
endif
ifneq ($(cross),)
deps_group := cross-$(ARCH)
endif

prerequisites:
	@$(if $(cross),SYSROOT='$(sysroot)') tools/deps.sh $(deps_group)

deps: prerequisites

# $(call once,NAME,COMMAND): the command's output, asked for at the first use and kept in the variable NAME, which must
# be defined as nothing but this call.
once = $(eval $(1) := $$(shell $(2)))$($(1))
# SCTP in user space, where it is there: without it, what needs it says so (reference-stack/transport/user_sctp.h).
usrsctp = $(call once,usrsctp,$(pkg_config) --exists usrsctp && echo usrsctp)
iwarp_packages = libuv $(isal) $(usrsctp)
# ISA-L computes CRCs; where it is not there, or is not wanted (WARPCHECK_NO_ISAL=1), our own code does, at a hundredth of its speed.
WARPCHECK_NO_ISAL ?=
isal = $(call once,isal,test -n '$(WARPCHECK_NO_ISAL)' || ! $(pkg_config) --exists libisal || echo libisal)
no_isal = $(if $(isal),,-DWARPCHECK_NO_ISAL)
# The journal, where it is there: for `warpcheck monitor` alone.
systemd = $(call once,systemd,$(pkg_config) --exists libsystemd && echo libsystemd)
# Debian calls it lua5.4, other distributions lua.
lua = $(call once,lua,$(pkg_config) --exists lua5.4 && echo lua5.4 || echo lua)
packages = $(iwarp_packages) $(systemd) jansson libpcap libseccomp $(lua) libxml-2.0 zlib libzstd liblz4 minizip libmd
package_cflags = $(call once,package_cflags,$(pkg_config) --cflags $(packages) && echo '$(no_isal) $(if $(systemd),-DWARPCHECK_SYSTEMD) $(cross_cflags)')
package_libs = $(call once,package_libs,$(pkg_config) --libs $(packages) && echo '-lnet $(cross_libs)')
iwarp_libs = $(call once,iwarp_libs,$(pkg_config) --libs $(iwarp_packages) && echo '$(cross_libs)')
check_cflags = $(call once,check_cflags,$(pkg_config) --cflags check)
check_libs = $(call once,check_libs,$(pkg_config) --libs check)

# ---------------------------------------------------------------------------------------------------------------------
# Sources. A folder that is not there yet is an empty list.

c_in = $(sort $(foreach d,$(1),$(wildcard $(d)/*.c)))
mains := conformance/engine/main.c reference-stack/program/memory_main.c reference-stack/peer/iwarp_peer_main.c
# The library for programs of others, without a fault; the faults; the peer, which can have them and has an upper tester.
iwarp_src := $(call c_in,base wire $(addprefix reference-stack/,base validation core mpa sctp cm transport verbs))
defects_src := $(call c_in,reference-stack/defects)
peer_src := $(filter-out %_main.c,$(call c_in,upper-tester reference-stack/program reference-stack/peer))
warpcheck_src := $(filter-out $(mains) %_main.c,$(call c_in,generator generator/* conformance/* conformance/*/* reports/*))
# What unit tests and fuzz targets share; cov_exit.c is linked into programs of the variant cov, chaos.c is preloaded,
# fuzz_replay.c is a main() (mk/replay.mk).
support_src := $(filter-out %/cov_exit.c %/chaos.c %/fuzz_replay.c,$(call c_in,tests/support))
unit_src := $(call c_in,tests/unit tests/unit/*) $(support_src)
fuzz_src := $(call c_in,tests/fuzz)
bench_src := $(call c_in,tests/bench)
scripts := $(sort $(if $(wildcard conformance/scripts),$(shell find conformance/scripts -name '*.lua' -type f)))
all_c := $(sort $(iwarp_src) $(defects_src) $(peer_src) $(warpcheck_src) $(wildcard $(mains)) $(unit_src) $(fuzz_src) $(bench_src) \
	$(call c_in,tools packaging dissector tests/e2e tests/support reference-stack/examples))
all_h := $(sort $(wildcard $(patsubst %,%/*.h,base wire upper-tester generator generator/* reference-stack reference-stack/* \
	reference-stack/include/iwarp conformance/* conformance/*/* reports/* tests/* tools dissector)))

# Files carried inside the programs: table name -> files. tools/embedded.h declares the tables.
embedded_scripts := $(scripts)
embedded_requirements := $(sort $(wildcard conformance/requirements/*.tsv))
embedded_report_files := $(sort $(wildcard reports/assets/* reports/assets/*/*))
embedded_defects := $(wildcard $(addprefix reference-stack/defects/,defects.tsv defects-cm.tsv defects-llp.tsv defects-uncaught.tsv defects-warn.tsv variants.tsv choices.tsv))
embedded_no_defects := $(wildcard reference-stack/defects/defects-none.tsv)
embedded_captures := $(sort $(wildcard generator/lua/*.lua generator/corpus/*.lua))
embedded_impairments := $(sort $(wildcard conformance/impairments/*.lua))
# The course: the table of its exercises, and the exchanges that they show.
embedded_course_files := conformance/engine/course/exercises.tsv conformance/engine/course/situations.lua
defects_gen := embedded_defects
warpcheck_gen := embedded_scripts embedded_requirements embedded_report_files embedded_no_defects embedded_captures embedded_course_files embedded_impairments embedded_chunks

# IN= restricts a build to some folders, for work on one folder while another does not compile.
ifneq ($(IN),)
in_folders = $(filter $(addsuffix /%,$(IN)),$(1))
iwarp_src := $(call in_folders,$(iwarp_src))
defects_src := $(call in_folders,$(defects_src))
peer_src := $(call in_folders,$(peer_src))
warpcheck_src := $(call in_folders,$(warpcheck_src))
warpcheck_gen := $(filter $(if $(filter conformance% reports%,$(IN)),%),$(filter-out embedded_no_defects,$(warpcheck_gen))) embedded_no_defects
endif

# ---------------------------------------------------------------------------------------------------------------------
# Flags. CFLAGS and LDFLAGS are the caller's; what the code needs is added to them.

CLANG ?= clang
CFLAGS ?= -O2 -g
LDFLAGS ?=
WERROR ?= -Werror
warnings := -Wall -Wextra $(WERROR) -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes -Wvla
base_flags := -std=gnu17 $(warnings) -I. -Ireference-stack/include -D_FILE_OFFSET_BITS=64 -DWARPCHECK_VERSION='"$(VERSION)"' -pthread \
	-fPIC -fno-semantic-interposition -fno-strict-aliasing -fstack-protector-strong

# The variants: where, which compiler, which flags. The sanitised one is also what the fuzz targets are linked from:
# one more compiler reads the code, and it is compiled once for both.
variants := release asan cov tsan
release_dir := $(B)
release_cc := $(CC)
# Where it was built is no part of a program: two folders give the same octets. gdb finds the sources from the tree's root.
place_flags := -ffile-prefix-map=$(CURDIR)=.
release_cflags := $(CFLAGS) $(place_flags)
release_ldflags := $(LDFLAGS)
sanitizers := -fsanitize=address,undefined -fno-sanitize-recover=all
asan_dir := $(B)/asan
asan_cc := $(CLANG)
# What points into the frame of a function that has returned is found whatever ASAN_OPTIONS says. A report names functions and lines:
# SANITISED_DEBUG=-g has the variables too, for gdb.
SANITISED_DEBUG ?= -gline-tables-only
asan_cflags := -O1 $(SANITISED_DEBUG) -fno-omit-frame-pointer $(sanitizers) -fsanitize=fuzzer-no-link \
	-fsanitize-address-use-after-return=always
# Each fuzz target is a program with all of the libraries: LLVM's linker, where it is installed, takes a third of the time for one.
quick_linker := $(if $(shell command -v ld.lld),-fuse-ld=lld)
asan_ldflags := $(sanitizers) $(quick_linker)
tsan_dir := $(B)/tsan
tsan_cc := $(CLANG)
tsan_cflags := -O1 $(SANITISED_DEBUG) -fno-omit-frame-pointer -fsanitize=thread
tsan_ldflags := -fsanitize=thread
cov_dir := $(B)/cov
cov_cc := $(CC)
cov_cflags := -O0 -g --coverage -DCONFINE_FILES_OPEN
cov_exit := $(B)/cov/obj/tests/support/cov_exit.o
cov_ldflags := --coverage -Wl,--wrap=_exit $(cov_exit)
# Most of a test's time is spent in what it calls: the tests' own code is compiled without optimising, which takes a third of the time.
# A caller's CFLAGS stay as they are (_FORTIFY_SOURCE wants an optimising compiler).
test_cflags := $(if $(filter file,$(origin CFLAGS)),-O0)

include mk/variant.mk
include mk/embed.mk
include mk/manual.mk
$(foreach v,$(variants),$(eval $(call variant,$(v))))
$(cov_dir)/warpcheck $(cov_dir)/iwarp-peer $(cov_dir)/unit-tests: | $(cov_exit)

# ---------------------------------------------------------------------------------------------------------------------
# What one types.

programs_of = $(1)/libiwarp.a \
	$(if $(wildcard conformance/engine/main.c),$(1)/warpcheck) \
	$(if $(wildcard reference-stack/peer/iwarp_peer_main.c),$(1)/iwarp-peer)
fuzz_programs := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(filter tests/fuzz/fuzz_%,$(fuzz_src)))
bench_programs := $(patsubst tests/bench/%.c,$(B)/bench/%,$(filter tests/bench/bench_%,$(bench_src)))

test_env = B='$(abspath $(B))' T='$(T)' WARPCHECK='$(abspath $(B))/warpcheck' IWARP_PEER='$(abspath $(B))/iwarp-peer' \
	WARPCHECK_ASAN='$(abspath $(B))/asan/warpcheck' IWARP_PEER_ASAN='$(abspath $(B))/asan/iwarp-peer'

all: programs
programs: $(call programs_of,$(B)) $(B)/libiwarp.so $(manual_pages)

help:
	@sed -n '/^#   make/,/^$$/{/^#/!d;s/^# \{0,3\}//;p}' Makefile

demo: programs
	@$(test_env) bash tools/demo.sh

# What the tests need is compiled by one make, which is timed; then all tests stand in one queue.
check check-all: prerequisites | $(B)/.made
	+@tools/timed.sh '$(B)/build-times.tsv' $(MAKE) $(if $(QUICK),quick-programs,check-programs)
	@$(test_env) CC='$(CC)' BUILD_TIMES='$(B)/build-times.tsv' WHOLE='$(if $(filter check-all,$@),1)' TIMES='$(TIMES)' $(lint_env) \
		tools/check.sh $(if $(QUICK),quick,all)

check-programs: quick-programs plugin $(B)/tools/lua-syntax $(B)/mutation.commands $(B)/chaos.so $(B)/asan/unit-tests $(B)/tsan/thread-tests $(call programs_of,$(B)/asan) $(fuzz_programs)
quick-programs: programs $(B)/unit-tests

unit: $(B)/unit-tests
	@$(B)/unit-tests $(T)

e2e: programs plugin $(B)/unit-tests $(B)/tools/lua-syntax $(B)/mutation.commands $(B)/chaos.so $(call programs_of,$(B)/asan)
	@$(test_env) CC='$(CC)' tools/check.sh e2e

fuzz: $(fuzz_programs)
	@B='$(abspath $(B))' T='$(T)' FUZZ_JOBS='$(FUZZ_JOBS)' FUZZ_CORPUS='$(FUZZ_CORPUS)' tools/fuzz.sh -max_total_time=$(FUZZ_SECONDS)

chaos: programs $(B)/chaos.so
	@$(test_env) tools/chaos.sh $(T)

# What is preloaded into programs has no other part of the project in it.
$(B)/chaos.so: tests/support/chaos.c $(B)/flags.stamp
	@$(call say,LD,$@)
	$(Q)$(CC) -std=gnu17 $(warnings) $(CFLAGS) -shared -fPIC -o $@ $< -ldl -pthread

bench-build: programs
	+@B='$(B)' tools/bench-build.sh

bench: programs $(bench_programs)
	@$(test_env) tools/bench.sh

# A device that does not conform is no fault of the build: exit status 1 or 5 of the run is not one of make.
lab: programs
	@status=0; '$(B)/warpcheck' run --dut linux-siw -o '$(B)/lab/report' --force || status=$$?; case $$status in 0 | 1 | 5) ;; *) exit 1 ;; esac

# A site is made in a new folder: what an older one had may be gone from the baselines.
site: programs
	@rm -rf '$(B)/site'
	@'$(B)/warpcheck' report --site reports/baselines -o '$(B)/site'

course: prerequisites | $(B)/.made
	@tools/course-page.sh '$(B)/course.html'
	@echo '$(B)/course.html'

soak: prerequisites
	+@$(MAKE) check-all && $(MAKE) $(B)/bench/bench_soak
	@$(B)/bench/bench_soak $(SOAK_SECONDS)
	@CK_RUN_SUITE=stack_sim STACK_SIM_SEEDS=10000 $(B)/unit-tests
	@CK_RUN_SUITE=sctp_sim STACK_SIM_SEEDS=10000 $(B)/unit-tests
	@for llp in sctp sctp-draft02; do $(B)/warpcheck prove --llp $$llp --seeds 50 && $(B)/warpcheck prove --variants --llp $$llp || exit 1; done
	@for llp in tcp sctp sctp-draft02 cm; do $(B)/warpcheck prove --devices $(SOAK_DEVICES) --llp $$llp || exit 1; done

coverage: $(B)/cov/unit-tests $(B)/cov/warpcheck $(B)/cov/iwarp-peer
	@B='$(B)' CC='$(CC)' tools/coverage.sh

lint_env = CLANG_FLAGS="$(base_flags) $(package_cflags) $(check_cflags) $(plugin_cflags)"
lint: programs plugin $(B)/tools/lua-syntax $(B)/flags.stamp
	@$(lint_env) B='$(abspath $(B))' LUA_SYNTAX='$(B)/tools/lua-syntax' T='$(T)' tools/lint.sh

format: prerequisites
	@clang-format -i $(all_c) $(all_h)

clean:
	@rm -rf '$(B)'

include mk/install.mk
include mk/agent.mk
include mk/packages.mk
include mk/plugin.mk
include mk/replay.mk
include mk/mutation.mk

# Every .d file that a compiler wrote.
-include $(foreach v,$(variants),$(patsubst %.o,%.d,$($(v)_objects)))
