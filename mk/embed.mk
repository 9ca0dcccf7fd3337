# SPDX-License-Identifier: BSD-2-Clause
#
# Files inside the programs: $(B)/gen/TABLE.c is made by tools/embed.c of the files named by the variable TABLE.

$(B)/tools/embed: tools/embed.c $(B)/flags.stamp
	@mkdir -p $(@D)
	@$(call say,CC,$@)
	$(Q)$(CC) $(base_flags) $(CFLAGS) $(LDFLAGS) -o $@ $<

$(B)/tools/lua-syntax: tools/lua_syntax.c $(B)/flags.stamp
	@mkdir -p $(@D)
	@$(call say,CC,$@)
	$(Q)$(CC) $(base_flags) $(package_cflags) $(CFLAGS) $(LDFLAGS) -o $@ $< -Wl,--as-needed $(package_libs) -lm

define embedded_table
$(call list_file,$(B)/gen/$(1).list,$($(1)))
$(B)/gen/$(1).c: $(B)/gen/$(1).list $(B)/tools/embed $($(1))
	@$$(call say,EMBED,$$@)
	$$(Q)$(B)/tools/embed $(1) $$< >$$@
endef
$(foreach t,embedded_scripts embedded_requirements embedded_report_files embedded_defects \
	embedded_no_defects embedded_captures,$(eval $(call embedded_table,$(t))))
