/* SPDX-License-Identifier: BSD-2-Clause */
/* What all pages share: words and signs of a standing, the head. */
#include "reports/page/html_parts.h"
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

static void head(struct markup *m, const char *title, const char *tool)
{
    markup_open(m, "head", NULL);
    markup_void(m, "meta", "charset", "utf-8", NULL);
    markup_void(m, "meta", "name", "viewport", "content", "width=device-width, initial-scale=1", NULL);
    markup_void(m, "meta", "name", "color-scheme", "content", "light dark", NULL);
    markup_void(m, "meta", "name", "referrer", "content", "no-referrer", NULL); /* for the links to the documents */
    markup_void(m, "meta", "http-equiv", "Content-Security-Policy", "content",
                "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
                "form-action 'none'",
                NULL);
    markup_void(m, "meta", "name", "generator", "content", tool, NULL);
    markup_element(m, "title", NULL, title);
    html_asset(m, "style", "reports/assets/style.css");
    markup_close(m);
}

void html_page(struct markup *m, const char *title, const char *tool, const char *css)
{
    markup_html(m);
    markup_open(m, "html", "xmlns", "http://www.w3.org/1999/xhtml", "lang", "en", NULL);
    head(m, title, tool);
    markup_open(m, "body", "class", css, NULL);
    markup_open(m, "header", NULL);
}

void html_cell_of(struct markup *markup, const char *of)
{
    markup_open(markup, "td", NULL);
    markup_open(markup, "span", "class", "dev", NULL);
    markup_textf(markup, "%s: ", of);
    markup_close(markup);
}

void html_table_head(struct markup *m, const char *const *names, size_t count)
{
    markup_open(m, "thead", NULL);
    markup_open(m, "tr", NULL);
    for (size_t i = 0; i < count; i++)
        markup_element(m, "th", NULL, names[i]);
    markup_close(m);
    markup_close(m);
}
