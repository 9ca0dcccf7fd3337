# SPDX-License-Identifier: BSD-2-Clause
#
# The manual pages: docs/man/*.in with what the programs say to --help put in (tools/manual.c), the others as they are.

manual_pages := $(patsubst docs/man/%.in,$(B)/man/%,$(wildcard docs/man/*.in)) \
	$(patsubst docs/man/%,$(B)/man/%,$(wildcard docs/man/*.[1-8]))

$(B)/tools/manual: tools/manual.c reference-stack/program/help_text.c reference-stack/program/help_text.h $(B)/flags.stamp
	@mkdir -p $(@D)
	@$(call say,CC,$@)
	$(Q)$(HOST_CC) $(base_flags) $(host_flags) -o $@ $(filter %.c,$^)

$(B)/man/%.1: docs/man/%.1.in $(B)/tools/manual $(B)/%
	@mkdir -p $(@D)
	@$(call say,MAN,$@)
	$(if $(EXEC),$(Q)printf '#!/bin/sh\nexec %s "$$@"\n' '$(EXEC) $(B)/$*' >$(B)/tools/emulated-$* && chmod +x $(B)/tools/emulated-$*)
	$(Q)$(B)/tools/manual $< $(B)/$(if $(EXEC),tools/emulated-)$* >$@

$(B)/man/%: docs/man/%
	@mkdir -p $(@D)
	@$(call say,MAN,$@)
	$(Q)cp $< $@
