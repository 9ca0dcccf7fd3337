/* SPDX-License-Identifier: BSD-2-Clause */
/* What all pages share: words and signs of a standing, the head, the documents' titles. */
#include "reports/html_parts.h"
#include "tools/embedded.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *word, *css, *sign;
} standings[STANDING_COUNT] = {
    [VERDICT_PASS] = {"PASS", "pass", "✓"},
    [VERDICT_FAIL] = {"FAIL", "fail", "✗"},
    [VERDICT_KNOWN] = {"KNOWN", "known", "≠"},
    [VERDICT_WARN] = {"WARN", "warn", "!"},
    [VERDICT_INCONCLUSIVE] = {"INCONCLUSIVE", "inc", "?"},
    [VERDICT_SKIP] = {"SKIP", "skip", "»"},
    [VERDICT_AMBIGUOUS] = {"AMBIGUOUS", "amb", "≈"},
    [STANDING_NOT_EXERCISED] = {"not exercised", "none", "·"},
    [STANDING_NO_CHECK] = {"no check yet", "todo", "–"},
    [STANDING_DOCUMENT] = {"binds a document", "doc", "§"},
};

const char *standing_word(unsigned standing)
{
    return standing < STANDING_COUNT ? standings[standing].word : "?";
}

const char *standing_class(unsigned standing)
{
    return standing < STANDING_COUNT ? standings[standing].css : "none";
}

const char *standing_sign(unsigned standing)
{
    return standing < STANDING_COUNT ? standings[standing].sign : "?";
}

void html_badge(struct markup *markup, unsigned standing)
{
    char css[24];
    snprintf(css, sizeof(css), "b %s", standing_class(standing));
    markup_open(markup, "span", "class", css, NULL);
    markup_textf(markup, "%s %s", standing_sign(standing), standing_word(standing));
    markup_close(markup);
}

/* An asset, between lines that make it CDATA for an XML parser and a comment for CSS or JavaScript. */
void html_asset(struct markup *markup, const char *element, const char *path)
{
    static const char open[] = "/*<![CDATA[*/\n", close[] = "\n/*]]>*/";
    const struct embedded_file *file = embedded_find(embedded_report_files, embedded_report_file_count, path);
    if (!file)
        return;
    markup_open(markup, element, NULL);
    markup_raw(markup, open, sizeof(open) - 1);
    markup_raw(markup, (const char *)file->octets, file->size);
    markup_raw(markup, close, sizeof(close) - 1);
    markup_close(markup);
}

void html_head(struct markup *m, const char *title, const char *tool, const char *style)
{
    markup_open(m, "head", NULL);
    markup_void(m, "meta", "charset", "utf-8", NULL);
    markup_void(m, "meta", "name", "viewport", "content", "width=device-width, initial-scale=1", NULL);
    markup_void(m, "meta", "name", "color-scheme", "content", "light dark", NULL);
    markup_void(m, "meta", "http-equiv", "Content-Security-Policy", "content",
                "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
                "form-action 'none'",
                NULL);
    markup_void(m, "meta", "name", "generator", "content", tool, NULL);
    markup_element(m, "title", NULL, title);
    html_asset(m, "style", style);
    markup_close(m);
}

static const struct {
    const char *source, *title;
} titles[] = {
    {"RFC5044", "RFC 5044: Marker PDU Aligned Framing (MPA)"},
    {"RFC6581", "RFC 6581: Enhanced RDMA Connection Establishment"},
    {"RFC5041", "RFC 5041: Direct Data Placement (DDP)"},
    {"RFC5040", "RFC 5040: Remote Direct Memory Access Protocol (RDMAP)"},
    {"RFC6580", "RFC 6580: IANA registries"},
    {"RFC7306", "RFC 7306: RDMAP extensions"},
    {"RFC5043", "RFC 5043: DDP over SCTP"},
    {"draft-ietf-storm-rdmap-ext-03", "draft-ietf-storm-rdmap-ext-03: atomics and immediate data"},
    {"draft-stewart-rddp-sctp-02", "draft-stewart-rddp-sctp-02: DDP over SCTP"},
    {"IBTA-A11", "IBTA Annex A11: RDMA IP CM Service"},
};

const char *html_document_title(const char *source)
{
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        if (strcmp(titles[i].source, source) == 0)
            return titles[i].title;
    }
    return source;
}
