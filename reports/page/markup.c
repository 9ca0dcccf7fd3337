/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/page/markup.h"

#include "reports/file/save.h"
#include "reports/file/text.h"
#include "base/out_of_memory.h"

#include <libxml/xmlwriter.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct markup {
    xmlBufferPtr buffer;
    xmlTextWriterPtr writer;
    bool failed;
};

/*
 * Some functions of libxml2 report success without memory, and its message is the one sign: it is kept off standard
 * error.
 */
static bool library_failed;

static void on_message(void *user, const char *format, ...)
{
    (void)user;
    (void)format;
    library_failed = true;
}

void markup_library_begin(void)
{
    (void)xmlMemSetup(free, out_of_memory_malloc, out_of_memory_realloc, out_of_memory_strdup);
    xmlSetGenericErrorFunc(NULL, on_message);
}

struct markup *markup_new(void)
{
    struct markup *markup = calloc(1, sizeof(*markup));
    if (!markup)
        return NULL;
    library_failed = false;
    markup->buffer = xmlBufferCreateSize(1 << 16);
    if (markup->buffer) {
        xmlBufferSetAllocationScheme(markup->buffer, XML_BUFFER_ALLOC_DOUBLEIT);
        markup->writer = xmlNewTextWriterMemory(markup->buffer, 0);
    }
    if (!markup->writer) {
        markup_free(markup);
        return NULL;
    }
    return markup;
}

void markup_free(struct markup *markup)
{
    if (!markup)
        return;
    if (markup->writer)
        xmlFreeTextWriter(markup->writer); /* flushes into the buffer, which must still be there */
    if (markup->buffer)
        xmlBufferFree(markup->buffer);
    free(markup);
}

static void check(struct markup *markup, int rc)
{
    if (rc < 0)
        markup->failed = true;
}

void markup_xml(struct markup *markup)
{
    check(markup, xmlTextWriterStartDocument(markup->writer, NULL, "UTF-8", NULL));
    check(markup, xmlTextWriterSetIndent(markup->writer, 1));
}

void markup_html(struct markup *markup)
{
    check(markup, xmlTextWriterWriteRaw(markup->writer, BAD_CAST "<!DOCTYPE html>\n"));
}

static void attribute(struct markup *markup, const char *name, const char *value)
{
    char *clean = text_clean(value);
    check(markup, clean ? xmlTextWriterWriteAttribute(markup->writer, BAD_CAST name, BAD_CAST clean) : -1);
    free(clean);
}

static void open_element(struct markup *markup, const char *name, va_list arguments)
{
    check(markup, xmlTextWriterStartElement(markup->writer, BAD_CAST name));
    for (const char *key = va_arg(arguments, const char *); key && !markup->failed;
         key = va_arg(arguments, const char *)) {
        const char *value = va_arg(arguments, const char *);
        if (value)
            attribute(markup, key, value);
    }
}

void markup_open(struct markup *markup, const char *name, ...)
{
    va_list arguments;
    if (markup->failed)
        return;
    va_start(arguments, name);
    open_element(markup, name, arguments);
    va_end(arguments);
}

void markup_close(struct markup *markup)
{
    if (!markup->failed)
        check(markup, xmlTextWriterFullEndElement(markup->writer));
}

void markup_void(struct markup *markup, const char *name, ...)
{
    va_list arguments;
    if (markup->failed)
        return;
    va_start(arguments, name);
    open_element(markup, name, arguments);
    va_end(arguments);
    if (!markup->failed)
        check(markup, xmlTextWriterEndElement(markup->writer));
}

void markup_text(struct markup *markup, const char *text)
{
    if (markup->failed || !text || !*text)
        return;
    char *clean = text_clean(text);
    check(markup, clean ? xmlTextWriterWriteString(markup->writer, BAD_CAST clean) : -1);
    free(clean);
}

void markup_textf(struct markup *markup, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    markup_text(markup, text);
}

void markup_element(struct markup *markup, const char *name, const char *css, const char *text)
{
    markup_open(markup, name, "class", css, NULL);
    markup_text(markup, text);
    markup_close(markup);
}

void markup_raw(struct markup *markup, const char *octets, size_t size)
{
    if (!markup->failed)
        check(markup, xmlTextWriterWriteRawLen(markup->writer, BAD_CAST octets, (int)size));
}

size_t markup_size(const struct markup *markup)
{
    /* The writer holds back some 4 KiB before it fills the buffer: near enough for a budget. */
    return (size_t)xmlBufferLength(markup->buffer);
}

const char *markup_octets(struct markup *markup)
{
    if (!markup->failed)
        check(markup, xmlTextWriterFlush(markup->writer));
    return markup->failed || library_failed ? NULL : (const char *)xmlBufferContent(markup->buffer);
}

int markup_save(struct markup *markup, const struct place *to, struct iwarp_sentence *error)
{
    if (!markup->failed)
        check(markup, xmlTextWriterEndDocument(markup->writer));
    const char *octets = markup_octets(markup);
    if (!octets)
        return iwarp_sentence_set(error, "%s: out of memory while the report was made", to->path);
    return save_file(to, octets, (size_t)xmlBufferLength(markup->buffer), error);
}
