# SPDX-License-Identifier: BSD-2-Clause
#
# The agent for devices with RDMA verbs (conformance/labs/linux/agent). It needs libibverbs-dev and librdmacm-dev, which nothing else
# does: tools/deps.sh lab installs them.
#
#   make agent           build/warpcheck-agent
#   make install-agent   the program and its manual page
#   make remove-agent    out of there

.PHONY: agent install-agent remove-agent

agent_src := $(call c_in,conformance/labs/linux/agent upper-tester)
agent_headers := $(wildcard conformance/labs/linux/agent/*.h upper-tester/*.h base/sentence.h base/exit_status.h)

agent: $(B)/warpcheck-agent

$(B)/warpcheck-agent: $(agent_src) $(agent_headers) $(B)/flags.stamp
	@$(call say,LD,$@)
	$(Q)$(CC) $(base_flags) $(CFLAGS) $(LDFLAGS) -o $@ $(agent_src) -lrdmacm -libverbs -ljansson

install-agent: agent
	install -D -m 755 '$(B)/warpcheck-agent' '$(bindir)/warpcheck-agent'
	install -D -m 644 packaging/warpcheck-agent.1 '$(datadir)/man/man1/warpcheck-agent.1'

remove-agent:
	rm -f '$(bindir)/warpcheck-agent' '$(datadir)/man/man1/warpcheck-agent.1'
