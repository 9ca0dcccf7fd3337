/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* pipe2 */
#include "reference-stack/program/help_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sentence.h"

enum { INDENT = 2, EXAMPLE_INDENT = 4, CONTINUATION = 7, HELP_OCTETS_MAX = 1 << 16 };

static const char usage_mark[] = "usage: ";

/* Where what a row means begins: after the first two blanks in a row. NULL: there are none. */
static char *meaning_find(char *line)
{
    char *gap = strstr(line, "  ");

    return gap != NULL ? gap + strspn(gap, " ") : NULL;
}

/* A row: an option, or any word with its meaning in a column of its own. */
static bool is_row(char *line)
{
    return strspn(line, " ") == INDENT && (line[INDENT] == '-' || meaning_find(line + INDENT) != NULL);
}

/*
 * Moves `line` after what the part says already: the arena has room, since it held both lines with a newline between.
 */
static void text_join(struct help_part *part, const char *line)
{
    char *text = (char *)part->text; /* it is of our arena, unless it is empty */
    size_t length = strlen(text);

    if (length == 0) {
        part->text = line;
        return;
    }
    text[length++] = ' ';
    memmove(text + length, line, strlen(line) + 1);
}

static void row_add(struct help_part *part, char *line)
{
    char *meaning = meaning_find(line);

    /* Without a meaning here it follows on the next line. */
    *part = (struct help_part){HELP_ROW, line, meaning != NULL ? meaning : ""};
    while (meaning != NULL && meaning[-1] == ' ')
        *--meaning = '\0';
}

static void line_add(struct help *help, char *line)
{
    size_t indent = strspn(line, " ");
    struct help_part *last = help->count > 0 ? &help->parts[help->count - 1] : NULL;
    struct help_part *part = &help->parts[help->count];

    if (line[indent] == '\0') {
        *part = (struct help_part){HELP_GAP, "", ""};
    } else if (strncmp(line, usage_mark, sizeof(usage_mark) - 1) == 0) {
        *part = (struct help_part){HELP_USAGE, "", line + sizeof(usage_mark) - 1};
    } else if (last != NULL && last->kind == HELP_USAGE && indent == CONTINUATION) {
        *part = (struct help_part){HELP_USAGE, "", line + indent};
    } else if (indent == EXAMPLE_INDENT) {
        *part = (struct help_part){HELP_EXAMPLE, "", line + indent};
    } else if (is_row(line)) {
        row_add(part, line + INDENT);
    } else if (last != NULL && last->kind == HELP_ROW && indent >= CONTINUATION) {
        text_join(last, line + indent);
        return;
    } else if (last != NULL && last->kind == HELP_PARAGRAPH) {
        text_join(last, line + indent);
        return;
    } else {
        *part = (struct help_part){HELP_PARAGRAPH, "", line + indent};
    }
    help->count++;
}

int help_parse(struct help *help, const char *text, struct iwarp_sentence *error)
{
    size_t lines = 1;
    char *rest, *line;

    memset(help, 0, sizeof(*help));
    for (const char *p = text; *p != '\0'; p++)
        lines += *p == '\n';
    help->text = strdup(text);
    help->parts = calloc(lines, sizeof(*help->parts));
    if (help->text == NULL || help->parts == NULL)
        return iwarp_sentence_set(error, "out of memory");
    rest = help->text;
    while ((line = strsep(&rest, "\n")) != NULL)
        line_add(help, line);
    while (help->count > 0 && help->parts[help->count - 1].kind == HELP_GAP)
        help->count--;
    for (size_t i = 0; i < help->count; i++)
        if (help->parts[i].kind == HELP_USAGE)
            return 0;
    return iwarp_sentence_set(error, "the help has no line \"usage: ...\": \"%.60s\"", text);
}

void help_free(struct help *help)
{
    free(help->parts);
    free(help->text);
    memset(help, 0, sizeof(*help));
}

bool help_option_next(const char **at, struct help_option *option)
{
    const char *p = *at + strspn(*at, ", ");

    if (*p != '-')
        return false;
    memset(option, 0, sizeof(*option));
    option->name = p;
    option->name_length = strcspn(p, " ,=");
    p += option->name_length;
    if ((*p == ' ' || *p == '=') && p[1] != '-' && p[1] != '\0') {
        option->value = p + 1;
        option->value_length = strcspn(p + 1, ", ");
        p = option->value + option->value_length;
    }
    *at = p;
    return true;
}

/* All that comes out of the pipe, at most HELP_OCTETS_MAX; NULL without memory. */
static char *output_read(int fd)
{
    char *text = malloc(HELP_OCTETS_MAX + 1);
    size_t count = 0;
    ssize_t got;

    while (text != NULL && count < HELP_OCTETS_MAX) {
        got = read(fd, text + count, HELP_OCTETS_MAX - count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        count += (size_t)got;
    }
    if (text != NULL)
        text[count] = '\0';
    return text;
}

char *help_ask(const char *program, const char *command, struct iwarp_sentence *error)
{
    char *const arguments[] = {(char *)program, (char *)(command != NULL ? command : "--help"),
                               command != NULL ? (char *)"--help" : NULL, NULL};
    int ends[2], status = 0;
    char *text;
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        (void)iwarp_sentence_set(error, "%.200s: %s", program, strerror(errno));
        return NULL;
    }
    child = fork();
    if (child == 0) {
        if (dup2(ends[1], STDOUT_FILENO) >= 0)
            (void)execv(program, arguments);
        _exit(127);
    }
    (void)close(ends[1]);
    text = child > 0 ? output_read(ends[0]) : NULL;
    (void)close(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (text != NULL && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return text;
    free(text);
    (void)iwarp_sentence_set(error, "%.200s%s%s --help did not end with exit status 0", program,
                             command != NULL ? " " : "", command != NULL ? command : "");
    return NULL;
}
