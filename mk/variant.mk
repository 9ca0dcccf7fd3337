# SPDX-License-Identifier: BSD-2-Clause
#
# The rules of one variant (release, asan, cov): $(call variant,NAME), with NAME_dir, NAME_cc, NAME_cflags and
# NAME_ldflags set. Objects keep their source's path under $(NAME_dir)/obj; generated sources live in $(B)/gen and are
# the same for all variants.

object_of = $(patsubst $(B)/gen/%.c,$($(1)_dir)/gen/%.o,$(patsubst %.c,$($(1)_dir)/obj/%.o,$(filter-out $(B)/gen/%,$(2)))\
	$(filter $(B)/gen/%,$(2)))

# The libraries of a variant, each before those that it uses: what iwarp-peer is linked from, and all.
peer_libraries = $(addprefix $(1)/,libpeer.a libdefects.a libiwarp.a)
libraries = $(addprefix $(1)/,libwarpcheck.a libpeer.a libdefects.a libiwarp.a)

# A file whose content is a list of words, one a line, touched only when the list changes: what is made of "all files
# that match" depends on it, so that a file's coming or going is noticed, and reads it, so that no command line grows
# too long.
define list_file
$(1): FORCE | $(dir $(1)).made
	$$(file >$$@.new,$$(subst $$(space),$$(newline),$(strip $(2))))
	@if cmp -s $$@.new $$@; then rm $$@.new; else mv $$@.new $$@; fi
endef

%/.made:
	@mkdir -p $(@D) && touch $@
.PRECIOUS: %/.made

FORCE:

# The functions of the C library that allocate and that the program calls (reference-stack/program/memory_main.c).
watched_allocators := malloc calloc realloc strdup strndup asprintf vasprintf fopen fdopen opendir fdopendir \
	tmpfile realpath scandir fopen64 tmpfile64 scandir64

define variant
$(1)_iwarp_objects := $$(call object_of,$(1),$$(iwarp_src))
$(1)_defects_objects := $$(call object_of,$(1),$$(defects_src) $$(defects_gen:%=$$(B)/gen/%.c))
$(1)_peer_objects := $$(call object_of,$(1),$$(peer_src))
$(1)_warpcheck_objects := $$(call object_of,$(1),$$(warpcheck_src) $$(warpcheck_gen:%=$$(B)/gen/%.c))
$(1)_unit_objects := $$(call object_of,$(1),$$(unit_selected) $$(B)/gen/suites.c)
$(1)_main_objects := $$(call object_of,$(1),$$(wildcard $$(mains)) $$(fuzz_src) $$(bench_src))
$(1)_objects := $$($(1)_iwarp_objects) $$($(1)_defects_objects) $$($(1)_peer_objects) $$($(1)_warpcheck_objects) $$($(1)_unit_objects) $$($(1)_main_objects)

$$($(1)_dir)/flags.stamp: FORCE | prerequisites $$($(1)_dir)/.made
	$$(file >$$@.new,$$($(1)_cc) $$(base_flags) $$($(1)_cflags) $$(test_cflags) $$(package_cflags) $$($(1)_ldflags) $$(package_libs))
	@if cmp -s $$@.new $$@; then rm $$@.new; else mv $$@.new $$@; fi

$$($(1)_dir)/obj/%.o: %.c $$($(1)_dir)/flags.stamp
	@mkdir -p $$(@D)
	@$$(call say,CC,$$@)
	$$(Q)$$($(1)_cc) $$(base_flags) $$(package_cflags) $$($(1)_cflags) -MMD -MP -c -o $$@ $$<

$$($(1)_dir)/obj/tests/unit/%.o: tests/unit/%.c $$($(1)_dir)/flags.stamp
	@mkdir -p $$(@D)
	@$$(call say,CC,$$@)
	$$(Q)$$($(1)_cc) $$(base_flags) $$(package_cflags) $$(check_cflags) $$($(1)_cflags) $$(test_cflags) -MMD -MP -c -o $$@ $$<

$$($(1)_dir)/gen/%.o: $$(B)/gen/%.c $$($(1)_dir)/flags.stamp
	@mkdir -p $$(@D)
	@$$(call say,CC,$$@)
	$$(Q)$$($(1)_cc) $$(base_flags) $$(package_cflags) $$($(1)_cflags) -MMD -MP -c -o $$@ $$<

$$($(1)_dir)/gen/suites.o: $$(B)/gen/suites.c $$($(1)_dir)/flags.stamp
	@mkdir -p $$(@D)
	@$$(call say,CC,$$@)
	$$(Q)$$($(1)_cc) $$(base_flags) $$(package_cflags) $$(check_cflags) $$($(1)_cflags) -MMD -MP -c -o $$@ $$<

$$(foreach l,iwarp defects peer warpcheck unit,$$(eval $$(call list_file,$$($(1)_dir)/lists/$$(l),$$($(1)_$$(l)_objects))))
$$($(1)_dir)/libiwarp.a: $$($(1)_iwarp_objects)
$$($(1)_dir)/libdefects.a: $$($(1)_defects_objects)
$$($(1)_dir)/libpeer.a: $$($(1)_peer_objects)
$$($(1)_dir)/libwarpcheck.a: $$($(1)_warpcheck_objects)
$(call libraries,$$($(1)_dir)): $$($(1)_dir)/lib%.a: $$($(1)_dir)/lists/%
	@$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && $$(AR) rcsD $$@ @$$<

$$($(1)_dir)/libiwarp.so: $$($(1)_dir)/lists/iwarp $$($(1)_iwarp_objects) packaging/libiwarp.map
	@$$(call say,LD,$$@)
	$$(Q)$$($(1)_cc) -shared -Wl,-soname,libiwarp.so.0 -Wl,--no-undefined -Wl,--version-script=packaging/libiwarp.map -pthread $$($(1)_cflags) $$($(1)_ldflags) \
		-o $$@ @$$< -Wl,--as-needed $$(iwarp_libs)

# Every allocation of the programs' own objects goes through reference-stack/program/memory_main.c.
$$($(1)_dir)/warpcheck: $$(call object_of,$(1),conformance/engine/main.c reference-stack/program/memory_main.c) \
		$(call libraries,$$($(1)_dir))
	@$$(call say,LD,$$@)
	$$(Q)$$($(1)_cc) -pthread $$($(1)_cflags) $$($(1)_ldflags) $$(watched_allocators:%=-Wl,--wrap=%) -o $$@ $$^ -Wl,--as-needed $$(package_libs) -lm

$$($(1)_dir)/iwarp-peer: $$(call object_of,$(1),reference-stack/peer/iwarp_peer_main.c reference-stack/program/memory_main.c) \
		$(call peer_libraries,$$($(1)_dir))
	@$$(call say,LD,$$@)
	$$(Q)$$($(1)_cc) -pthread $$($(1)_cflags) $$($(1)_ldflags) $$(watched_allocators:%=-Wl,--wrap=%) -o $$@ $$^ -Wl,--as-needed $$(package_libs) -lm

$$($(1)_dir)/unit-tests: $$($(1)_dir)/lists/unit $$($(1)_unit_objects) $(call libraries,$$($(1)_dir))
	@$$(call say,LD,$$@)
	$$(Q)$$($(1)_cc) -pthread $$($(1)_cflags) $$($(1)_ldflags) -o $$@ @$$< $(call libraries,$$($(1)_dir)) \
		-Wl,--as-needed $$(package_libs) $$(check_libs) -lm
endef

# The unit tests: every .c of tests/unit/ and its rooms, and the table of suites; the runner takes the names that T='ddp mpa' gives.
suite_src := $(foreach f,$(filter tests/unit/%,$(unit_src)),$(if $(filter test_%,$(notdir $(f))),$(f)))
suite_names := $(patsubst test_%.c,%,$(notdir $(suite_src)))
ifneq ($(filter unit,$(MAKECMDGOALS)),)
ifneq ($(filter-out $(suite_names),$(T)),)
$(error no tests/unit/*/test_NAME.c for: $(filter-out $(suite_names),$(T)); the suites are: $(suite_names))
endif
endif
unit_selected := $(unit_src)

$(eval $(call list_file,$(B)/gen/suites.list,$(suite_names)))
$(B)/gen/suites.c: $(B)/gen/suites.list tools/suites.sh
	@tools/suites.sh $< >$@

# What uses threads, under ThreadSanitizer: a runner of that suite alone, so that nothing else is compiled once more.
thread_objects := $(call object_of,tsan,tests/unit/main.c tests/unit/verbs_talk.c tests/unit/reference-stack/test_threads.c \
	$(B)/gen/suites_threads.c)
$(B)/gen/suites_threads.c: tools/suites.sh | $(B)/gen/.made
	@tools/suites.sh <(echo threads) >$@
$(B)/tsan/thread-tests: $(thread_objects) $(B)/tsan/libiwarp.a
	@$(call say,LD,$@)
	$(Q)$(tsan_cc) -pthread $(tsan_cflags) $(tsan_ldflags) -o $@ $^ -Wl,--as-needed $(iwarp_libs) $(check_libs) -lm

# Fuzz targets come from the sanitised objects, benchmarks from the release ones; each is one .c with the libraries.
# tests/fuzz and tests/bench may hold further .c files that all of their programs share; so do tests/support's. A
# fuzz target gets what it uses of them, so that it may have its own recv().
fuzz_input_src := $(addprefix tests/fuzz/,input.c compares.c valid.c)
fuzz_shared := $(call object_of,asan,$(filter-out tests/fuzz/fuzz_% $(fuzz_input_src),$(fuzz_src)) $(support_src))
$(eval $(call list_file,$(B)/asan/lists/fuzz,$(fuzz_shared)))
$(B)/asan/libfuzz.a: $(B)/asan/lists/fuzz $(fuzz_shared)
	@$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ @$<

# What stands between the project's code and malloc(), and libFuzzer, while an input runs (tests/fuzz/input.c): the linker
# wraps the calls. It works on memory that the sanitizers keep others from, and is not seen by them.
fuzz_input := $(call object_of,asan,$(fuzz_input_src))
$(fuzz_input): $(B)/asan/obj/%.o: %.c $(B)/asan/flags.stamp
	@mkdir -p $(@D)
	@$(call say,CC,$@)
	$(Q)$(asan_cc) $(base_flags) $(package_cflags) -O2 -g -MMD -MP -c -o $@ $<

fuzz_ldflags := $(foreach f,malloc calloc realloc free LLVMFuzzerTestOneInput lua_sandbox_open \
	$(foreach n,1 2 4 8,__sanitizer_cov_trace_cmp$(n) __sanitizer_cov_trace_const_cmp$(n)),-Wl,--wrap=$(f))

$(B)/fuzz/%: $(B)/asan/obj/tests/fuzz/%.o $(fuzz_input) $(B)/asan/libfuzz.a $(call libraries,$(B)/asan)
	@mkdir -p $(@D)
	@$(call say,LD,$@)
	$(Q)$(asan_cc) -pthread -fsanitize=fuzzer $(asan_ldflags) $(fuzz_ldflags) -o $@ $(filter %.o,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group -Wl,--as-needed $(package_libs) -lm

# Its table of defects, which is read at each merge, is a short one.
$(B)/fuzz/fuzz_prove_merge: fuzz_ldflags += -Wl,--wrap=defect_list_embedded

# The agent is compiled for the guest by its own script; here its parts stand on a device that a fuzz target plays.
fuzz_agent_objects := $(call object_of,asan,$(filter-out %_main.c,$(call c_in,conformance/labs/linux/agent)))
$(fuzz_agent_objects): asan_cflags += -include tests/fuzz/fake_verbs.h
$(B)/fuzz/fuzz_agent: $(fuzz_agent_objects)
asan_objects += $(fuzz_agent_objects)

bench_shared := $(call object_of,release,$(filter-out tests/bench/bench_%,$(bench_src)) tests/support/many.c)
$(B)/bench/%: $(B)/obj/tests/bench/%.o $(bench_shared) $(call libraries,$(B))
	@mkdir -p $(@D)
	@$(call say,LD,$@)
	$(Q)$(CC) -pthread $(CFLAGS) $(LDFLAGS) -o $@ $^ -Wl,--as-needed $(package_libs) -lm
.SECONDARY:
