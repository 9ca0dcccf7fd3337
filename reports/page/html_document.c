/* SPDX-License-Identifier: BSD-2-Clause */
/* The documents: their titles, and where the public ones are read, by section. */
#include "conformance/requirements/catalogue.h"
#include "reports/page/html_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define RFC   "https://www.rfc-editor.org/rfc/"
#define DRAFT "https://datatracker.ietf.org/doc/html/"
#define MS    "https://learn.microsoft.com/openspecs/windows_protocols/"

static const struct {
    const char *source, *title, *url; /* url NULL: not public */
} documents[] = {
    {"RFC5044", "RFC 5044: Marker PDU Aligned Framing (MPA)", RFC "rfc5044"},
    {"RFC6581", "RFC 6581: Enhanced RDMA Connection Establishment", RFC "rfc6581"},
    {"RFC5041", "RFC 5041: Direct Data Placement (DDP)", RFC "rfc5041"},
    {"RFC5040", "RFC 5040: Remote Direct Memory Access Protocol (RDMAP)", RFC "rfc5040"},
    {"RFC6580", "RFC 6580: IANA registries", RFC "rfc6580"},
    {"RFC7306", "RFC 7306: RDMAP extensions", RFC "rfc7306"},
    {"RFC5043", "RFC 5043: DDP over SCTP", RFC "rfc5043"},
    {"draft-ietf-storm-rdmap-ext-03", "draft-ietf-storm-rdmap-ext-03: atomics and immediate data",
     DRAFT "draft-ietf-storm-rdmap-ext-03"},
    {"draft-stewart-rddp-sctp-02", "draft-stewart-rddp-sctp-02: DDP over SCTP", DRAFT "draft-stewart-rddp-sctp-02"},
    {"IBTA-A11", "IBTA Annex A11: RDMA IP CM Service", NULL},
    {"RFC7145", "RFC 7145: iSCSI Extensions for RDMA (iSER)", RFC "rfc7145"},
    {"RFC8166", "RFC 8166: RPC-over-RDMA Version 1", RFC "rfc8166"},
    {"RFC8797", "RFC 8797: RDMA Connection Manager Private Data for RPC-over-RDMA Version 1", RFC "rfc8797"},
    {"NVMEOF", "NVM Express over Fabrics 1.1: RDMA transport", "https://nvmexpress.org/specifications/"},
    {"MS-SMBD", "[MS-SMBD]: SMB2 Remote Direct Memory Access Transport Protocol", MS "ms-smbd"},
};

const char *html_document_title(const char *source)
{
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        if (strcmp(documents[i].source, source) == 0)
            return documents[i].title;
    }
    return source;
}

/* "#section-4.4", "#appendix-A.1"; the catalogue calls an appendix "A.1", "Appendix B" or "App. B". */
static bool section_url(const struct requirement *requirement, char url[HTML_URL_OCTETS])
{
    const char *base = NULL, *section = requirement->section;
    for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
        if (strcmp(documents[i].source, requirement->source) == 0)
            base = documents[i].url;
    }
    if (!base)
        return false;
    if (strncmp(base, MS, sizeof(MS) - 1) == 0) { /* its sections have addresses without their numbers */
        (void)snprintf(url, HTML_URL_OCTETS, "%s", base);
        return true;
    }
    if (strncmp(section, "App", 3) == 0)
        section += strcspn(section, " ") + strspn(section + strcspn(section, " "), " ");
    const char *kind = isdigit((unsigned char)*section) ? "section" : "appendix";
    (void)snprintf(url, HTML_URL_OCTETS, "%s#%s-%.20s", base, kind, section);
    return true;
}

void html_section_link(struct markup *markup, const struct requirement *requirement, const char *text)
{
    char url[HTML_URL_OCTETS];
    if (section_url(requirement, url)) {
        markup_open(markup, "a", "class", "src", "href", url, NULL);
        markup_text(markup, text);
        markup_close(markup);
    } else {
        markup_element(markup, "span", "src", text);
    }
}
