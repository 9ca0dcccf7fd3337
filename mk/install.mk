# SPDX-License-Identifier: BSD-2-Clause
#
# make install: programs, library, headers, pkg-config file, manual pages, completion, templates of checks and what a user reads
# to write one, the library's guide and examples; those of them that exist. make uninstall removes what it puts there, and nothing else.
#   make install-python, remove-python    the library's Python binding, in PYTHON_DIR

bindir := $(DESTDIR)$(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
libdir := $(DESTDIR)$(LIBDIR)
includedir := $(DESTDIR)$(PREFIX)/include
datadir := $(DESTDIR)$(PREFIX)/share

# What a user reads. A link to a document that is not among them becomes its text.
installed_docs := writing-checks writing-rules why script-library upper-tester upper-tester-needs profiles testing-your-device lab-kernels interop ipsec writing-captures cm-agent sctp \
	exploring audit-regression monitor bridge trust what-is-judged dissector versions privileges fuzzing
# Scripts and templates that these documents name; a folder is installed as it is.
installed_folders := packaging/ci packaging/slurm upper-tester/skeleton
left_out := \[([^]]*)\]\((\.\./|findings/|images/|libiwarp\.md|design-notes\.md)[^)]*\)

# What the public headers include of base/ and wire/.
library_headers = $(sort $(filter base/% wire/%,$(shell $(CC) -std=gnu17 -I. -Ireference-stack/include -MM $(wildcard reference-stack/include/iwarp/*.h))))
.PHONY: library-headers
library-headers:
	@printf '%s\n' $(library_headers)

install: programs
	install -d '$(bindir)' '$(libdir)/pkgconfig' '$(includedir)/libiwarp/iwarp' '$(includedir)/libiwarp/base' '$(includedir)/libiwarp/wire'
	for p in warpcheck iwarp-peer; do [ ! -e '$(B)'/$$p ] || install -m 755 '$(B)'/$$p '$(bindir)'/; done
	install -m 644 '$(B)/libiwarp.a' '$(libdir)/'
	install -m 755 '$(B)/libiwarp.so' '$(libdir)/libiwarp.so.$(VERSION)'
	ln -sf libiwarp.so.$(VERSION) '$(libdir)/libiwarp.so.0'
	ln -sf libiwarp.so.0 '$(libdir)/libiwarp.so'
	for h in reference-stack/include/iwarp/*.h; do install -m 644 "$$h" '$(includedir)/libiwarp/iwarp/'; done
	for h in $(library_headers); do install -m 644 "$$h" '$(includedir)/libiwarp'/"$${h%/*}/"; done
	sed -e 's|@PREFIX@|$(PREFIX)|g; s|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|g; s|@VERSION@|$(VERSION)|g; s| *@ISAL@|$(isal:%= %)|g; s| *@USRSCTP@|$(usrsctp:%= %)|' packaging/libiwarp.pc.in >'$(libdir)/pkgconfig/libiwarp.pc'
	for p in $(manual_pages); do [ ! -e "$$p" ] || install -D -m 644 "$$p" '$(datadir)'/man/man$${p##*.}/$${p##*/}; done
	for p in warpcheck iwarp-peer; do \
		install -D -m 644 packaging/completion/warpcheck.bash '$(datadir)/bash-completion/completions'/$$p; done
	install -D -m 644 packaging/completion/_warpcheck '$(datadir)/zsh/site-functions/_warpcheck'
	for p in warpcheck iwarp-peer; do \
		install -D -m 644 packaging/completion/warpcheck.fish '$(datadir)/fish/vendor_completions.d'/$$p.fish; done
	for t in conformance/templates/*.lua; do install -D -m 644 "$$t" '$(datadir)'/warpcheck/templates/$${t##*/}; done
	for e in reference-stack/examples/*.c; do install -D -m 644 "$$e" '$(datadir)'/doc/libiwarp/examples/$${e##*/}; done
	install -D -m 644 packaging/systemd/warpcheck-monitor@.service '$(DESTDIR)$(PREFIX)/lib/systemd/system/warpcheck-monitor@.service'
	sed -i 's,/usr/bin/,$(PREFIX)/bin/,; s,/usr/share/,$(PREFIX)/share/,' '$(DESTDIR)$(PREFIX)/lib/systemd/system/warpcheck-monitor@.service'
	install -D -m 644 docs/libiwarp.md '$(datadir)/doc/libiwarp/libiwarp.md'
	for d in $(installed_docs); do install -D -m 644 docs/$$d.md '$(datadir)'/doc/warpcheck/$$d.md; done
	sed -i -E 's,!?$(left_out),\1,g' $(installed_docs:%='$(datadir)'/doc/warpcheck/%.md) '$(datadir)/doc/libiwarp/libiwarp.md'
	sed -i -E 's,\[([^]]*)\]\(sctp\.md\),\1,g' '$(datadir)/doc/libiwarp/libiwarp.md'
	install -d '$(datadir)/doc/warpcheck/lua'
	tools/script-meta.pl <docs/script-library.md >'$(datadir)/doc/warpcheck/lua/checks.lua'
	for d in $(installed_folders); do for f in $$d/*; do \
		[ ! -f "$$f" ] || install -D -m $$([ -x "$$f" ] && echo 755 || echo 644) "$$f" '$(datadir)'/doc/warpcheck/$$f; done; done
	install -D -m 644 reports/README.md '$(datadir)/doc/warpcheck/reports/README.md'
	sed -i 's,](\.\./docs/,](../,g' '$(datadir)/doc/warpcheck/reports/README.md'
	install -D -m 644 docs/dissector.png '$(datadir)'/doc/warpcheck/dissector.png
	for f in dissector/profile/*; do install -D -m 644 "$$f" '$(datadir)'/doc/warpcheck/wireshark-profile/$${f##*/}; done
	for d in docs/course/*; do install -D -m 644 "$$d" '$(datadir)'/doc/warpcheck/course/$${d##*/}; done
	for d in conformance/engine/course/situations.lua conformance/templates/responder.lua; do \
		install -D -m 644 $$d '$(datadir)'/doc/warpcheck/course/$${d##*/}; done

# The Python binding, which finds the installed library: where this machine's Python looks, or where PYTHON_DIR says.
PYTHON_DIR ?= $(shell python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
.PHONY: install-python remove-python
install-python:
	for f in reference-stack/python/iwarp/*.py reference-stack/python/iwarp/py.typed; do \
		install -D -m 644 "$$f" '$(DESTDIR)$(PYTHON_DIR)'/iwarp/$${f##*/}; done

remove-python:
	rm -rf '$(DESTDIR)$(PYTHON_DIR)/iwarp'

# What would be installed now, in a folder of its own, says what to remove; then the folders that only this project has, if empty.
uninstall: programs
	set -e; shadow=$$(mktemp -d); trap 'rm -rf "$$shadow"' EXIT; \
	$(MAKE) --no-print-directory -s -o programs install DESTDIR="$$shadow"; \
	(cd "$$shadow" && find . ! -type d -print0) | (cd '$(DESTDIR)/' && xargs -0 rm -f); \
	for d in '$(includedir)/libiwarp' '$(datadir)/warpcheck' '$(datadir)/doc/warpcheck' '$(datadir)/doc/libiwarp'; do \
		[ ! -d "$$d" ] || find "$$d" -depth -type d -empty -delete; done
