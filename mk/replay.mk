# SPDX-License-Identifier: BSD-2-Clause
#
# make replay: the fuzz targets without a fuzzer, in $(B)/replay, and all seeds of tests/fuzz/corpus through them; for processors that
# have neither clang's libFuzzer nor its sanitizers.

.PHONY: replay replay-programs

replay_programs := $(patsubst tests/fuzz/fuzz_%.c,$(B)/replay/%,$(filter tests/fuzz/fuzz_%,$(fuzz_src)))
replay_of = $(patsubst %.c,$(B)/replay/obj/%.o,$(1))
replay_shared := $(call replay_of,$(filter-out tests/fuzz/fuzz_% tests/fuzz/input.c tests/fuzz/compares.c,$(fuzz_src)) $(support_src) \
	tests/support/fuzz_replay.c)
replay_agent := $(call replay_of,$(filter-out %_main.c,$(call c_in,conformance/labs/linux/agent)))

$(B)/replay/obj/%.o: %.c $(B)/flags.stamp
	@mkdir -p $(@D)
	@$(call say,CC,$@)
	$(Q)$(CC) $(base_flags) $(package_cflags) $(CFLAGS) $(place_flags) $(replay_cflags) -MMD -MP -c -o $@ $<

# gcc sees less than clang, which the targets are otherwise compiled with.
replay_cflags := -Wno-maybe-uninitialized
$(replay_agent): replay_cflags += -include tests/fuzz/fake_verbs.h

$(B)/replay/libreplay.a: $(replay_shared)
	@$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

$(B)/replay/%: $(B)/replay/obj/tests/fuzz/fuzz_%.o $(B)/replay/libreplay.a $(call libraries,$(B))
	@$(call say,LD,$@)
	$(Q)$(CC) -pthread $(CFLAGS) $(LDFLAGS) $(replay_ldflags) -o $@ $(filter %.o,$^) \
		$(B)/replay/obj/tests/support/fuzz_replay.o -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -Wl,--as-needed $(package_libs) -lm

$(B)/replay/prove_merge: replay_ldflags += -Wl,--wrap=defect_list_embedded
$(B)/replay/agent: $(replay_agent)

replay-programs: $(replay_programs)

replay: $(replay_programs)
	@for program in $^; do \
		name=$${program##*/}; \
		echo "$$name: $$($(EXEC) "$$program" tests/fuzz/corpus/$$name | tail -n 1)"; \
	done

-include $(replay_shared:.o=.d) $(replay_agent:.o=.d) $(replay_programs:$(B)/replay/%=$(B)/replay/obj/tests/fuzz/fuzz_%.d)
