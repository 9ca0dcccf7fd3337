# SPDX-License-Identifier: BSD-2-Clause
#
# Files inside the programs: $(B)/gen/TABLE.c is made by tools/embed.c of the files named by the variable TABLE.

# What runs while the build goes on is compiled for the machine that builds; the compiler of scripts is of the other one, whose
# chunks it makes.
host_flags = $(if $(cross),-O1,$(CFLAGS) $(LDFLAGS))

$(B)/tools/embed: tools/embed.c $(B)/flags.stamp
	@mkdir -p $(@D)
	@$(call say,CC,$@)
	$(Q)$(HOST_CC) $(base_flags) $(host_flags) -o $@ $<

$(B)/tools/lua-syntax $(B)/tools/lua-compile: $(B)/tools/lua-%: tools/lua_%.c $(B)/flags.stamp
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
	embedded_no_defects embedded_captures embedded_course_files embedded_impairments,$(eval $(call embedded_table,$(t))))

# The scripts again, as chunks that Lua loads without compiling them: a start of the program takes milliseconds then.
lua_embedded := $(embedded_scripts) $(embedded_captures)
$(eval $(call list_file,$(B)/gen/embedded_chunks.list,$(lua_embedded) lua_ident))
$(B)/gen/embedded_chunks.c: $(B)/gen/embedded_chunks.list $(B)/tools/embed $(B)/tools/lua-compile $(lua_embedded)
	@$(call say,EMBED,$@)
	@mkdir -p $(addprefix $(B)/gen/chunks/,$(sort $(dir $(lua_embedded))))
	$(Q)$(EXEC) $(B)/tools/lua-compile $(B)/gen/chunks <$<
	$(Q)cd $(B)/gen/chunks && $(abspath $(B)/tools/embed) embedded_chunks $(abspath $<) >$(abspath $@)
