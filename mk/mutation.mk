# SPDX-License-Identifier: BSD-2-Clause
#
# make mutation: faults that a seed puts into protocol code, judges and checks, one at a time, and what sees them (tools/mutation.pl,
# tests/mutation). ROOMS='flow-sctp rules-sctp' picks rooms or files; COUNT (20) of each, 0: all; SEED (1); JOBS at once. The page is
# $(B)/mutation/mutation.md.

ROOMS ?=
COUNT ?= 20
SEED ?= 1

# What a mutant is compiled and linked with: NAME VALUE, one a line. It is compiled once and runs for seconds: without optimisation.
main_object = $(call object_of,release,conformance/engine/main.c reference-stack/program/memory_main.c)
define mutation_commands
COMPILE $(CC) $(filter-out -Werror,$(base_flags)) -w $(package_cflags) -O0
LINK $(CC) -pthread $(LDFLAGS)
LINK_UNIT @$(B)/lists/unit -- $(call libraries,$(B)) -Wl,--as-needed $(package_libs) $(check_libs) -lm
LINK_MAIN $(watched_allocators:%=-Wl,--wrap=%) $(main_object) -- $(call libraries,$(B)) -Wl,--as-needed $(package_libs) -lm
endef
$(B)/mutation.commands: mk/mutation.mk $(B)/flags.stamp
	$(file >$@,$(mutation_commands))

.PHONY: mutation
mutation: programs $(B)/unit-tests $(B)/tools/lua-syntax $(B)/mutation.commands
	@B='$(abspath $(B))' tools/mutation.pl -n $(COUNT) -s $(SEED) $(if $(JOBS),-j $(JOBS)) $(ROOMS)
