# SPDX-License-Identifier: BSD-2-Clause
#
# The Wireshark plugin: dissector/ with the decoder and the rules inside, built for the Wireshark that pkg-config knows.
#
#   make plugin           build/dissector/warpcheck.so
#   make install-plugin   into PLUGIN_DIR: as root the system's folder, else the user's own (Wireshark started by root
#                         ignores users' folders)
#   make remove-plugin    out of there
#   make wireshark-check  builds and tests it with the Wireshark of other Debian suites (tools/wireshark-check.sh); SUITES='trixie forky'
#
# PLUGIN_CC, PLUGIN_CFLAGS: another compiler or further flags, for instance PLUGIN_CFLAGS='-O1 -fsanitize=address'.

.PHONY: plugin install-plugin remove-plugin wireshark-check

PLUGIN_CC ?= $(CC)
PLUGIN_CFLAGS ?= $(CFLAGS)
plugin_so := $(B)/dissector/warpcheck.so
plugin_src := $(call c_in,dissector base wire conformance/flow conformance/flow/* conformance/rules)
plugin_objects := $(plugin_src:%.c=$(B)/dissector/obj/%.o)
# Wireshark's headers are not written for our warnings.
plugin_cflags = $(call once,plugin_cflags,$(pkg_config) --cflags wireshark $(isal) | sed 's/-I/-isystem /g' && echo '$(no_isal) $(cross_cflags)')
plugin_libs = $(call once,plugin_libs,$(pkg_config) --libs wireshark $(isal) && echo '$(cross_libs)')
plugin_version = $(call once,plugin_version,$(pkg_config) --modversion wireshark | cut -d. -f1-2)
PLUGIN_DIR ?= $(if $(filter 0,$(shell id -u)),$(shell $(pkg_config) --variable=plugindir wireshark)/epan,$(HOME)/.local/lib/wireshark/plugins/$(plugin_version)/epan)

plugin: $(plugin_so)

$(B)/dissector/flags.stamp: FORCE | prerequisites $(B)/dissector/.made
	$(file >$@.new,$(PLUGIN_CC) $(PLUGIN_CFLAGS) $(place_flags) $(base_flags) $(plugin_cflags) $(plugin_libs))
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(B)/dissector/obj/%.o: %.c $(B)/dissector/flags.stamp
	@mkdir -p $(@D)
	@$(call say,CC,$@)
	$(Q)$(PLUGIN_CC) $(base_flags) $(plugin_cflags) $(PLUGIN_CFLAGS) $(place_flags) -fvisibility=hidden -MMD -MP -c -o $@ $<

$(eval $(call list_file,$(B)/dissector/objects,$(plugin_objects)))
$(plugin_so): $(B)/dissector/objects $(plugin_objects)
	@$(call say,LD,$@)
	$(Q)$(PLUGIN_CC) -shared -pthread $(PLUGIN_CFLAGS) $(LDFLAGS) -o $@ @$< $(if $(findstring sanitize,$(PLUGIN_CFLAGS)),,-Wl,--no-undefined) -Wl,--as-needed $(plugin_libs)

install-plugin: plugin
	install -D -m 644 '$(plugin_so)' '$(DESTDIR)$(PLUGIN_DIR)/warpcheck.so'
	@echo "installed for Wireshark $(plugin_version); 'tshark -G plugins' lists it, 'make remove-plugin' removes it"

remove-plugin: prerequisites
	rm -f '$(DESTDIR)$(PLUGIN_DIR)/warpcheck.so'

wireshark-check:
	@tools/deps.sh suites
	@tools/wireshark-check.sh $(SUITES)

-include $(plugin_objects:.o=.d)
