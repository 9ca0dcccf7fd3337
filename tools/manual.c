/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * manual TEMPLATE PROGRAM: a manual page (mdoc) out of what is written by hand and what the program itself says to
 * --help, so that no option is declared twice. Lines of the template that it replaces:
 *
 *     @commands@    the program's commands, each with what it is for
 *     @details@     each command: its usage, what it does, its options
 *     @selection@   the options that select requirements, which several commands have (rows from SELECT on)
 *     @options@     usage and options of a program without commands
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference-stack/program/help_text.h"
#include "base/sentence.h"

enum { LINE_WIDTH = 72, COMMANDS_MAX = 64, LINE_MAX_OCTETS = 1024 };

struct command {
    char name[32];
    const char *what;
    struct help help;
};

struct manual {
    const char *program;
    struct help root;
    struct command commands[COMMANDS_MAX];
    size_t command_count;
};

static int fail(const char *path, const char *why)
{
    fprintf(stderr, "manual: %s: %s\n", path, why);
    return EXIT_FAILURE;
}

/*
 * A word of running text or of a macro's line: nothing in it is markup, and a hyphen that begins an option stays one.
 */
static void word_write(const char *word, size_t length)
{
    bool option = word[strspn(word, "(\"[")] == '-';

    if (word[0] == '.')
        fputs("\\&", stdout);
    for (size_t i = 0; i < length; i++)
        if (word[i] == '\\')
            fputs("\\e", stdout);
        else if (word[i] == '\'')
            fputs("\\(aq", stdout);
        else if (word[i] == '"')
            fputs("\\(dq", stdout);
        else if (word[i] == '-' && option)
            fputs("\\-", stdout);
        else
            putchar(word[i]);
}

/* Does a sentence end with this word? Then a new line begins, as mdoc wants it. */
static bool ends_sentence(const char *word, size_t length)
{
    while (length > 0 && strchr(")\"'", word[length - 1]) != NULL)
        length--;
    return length > 2 && strchr(".!?", word[length - 1]) != NULL && strncmp(word, "e.g.", 4) != 0;
}

static void text_write(const char *text)
{
    size_t column = 0;

    while (*text != '\0') {
        size_t length = strcspn(text, " ");

        if (column > 0 && column + 1 + length > LINE_WIDTH) {
            putchar('\n');
            column = 0;
        }
        if (column > 0)
            column += (size_t)(putchar(' ') != EOF);
        word_write(text, length);
        column += length;
        if (ends_sentence(text, length) && text[length] != '\0') {
            putchar('\n');
            column = 0;
        }
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* An argument of a macro: the name of another macro in it must not be taken for that. */
static void argument_write(const char *text, size_t length)
{
    fputs(" \\&", stdout);
    word_write(text, length);
}

static void row_write(const struct help_part *row)
{
    const char *at = row->term;
    struct help_option option;
    bool first = true;

    fputs(".It", stdout);
    while (help_option_next(&at, &option)) {
        fputs(first ? " Fl" : " , Fl", stdout);
        /* Fl sets the first hyphen; a second one is the name's. */
        fputs(option.name[1] == '-' ? " \\-" : " ", stdout);
        printf("%.*s", (int)(option.name_length - strspn(option.name, "-")), option.name + strspn(option.name, "-"));
        if (option.value != NULL) {
            fputs(" Ar", stdout);
            argument_write(option.value, option.value_length);
        }
        first = false;
    }
    if (first) {
        fputs(" Ar", stdout);
        argument_write(row->term, strlen(row->term));
    }
    putchar('\n');
    text_write(row->text[0] != '\0' ? row->text : "\\&");
}

/* Words in one line, after a macro. */
static void line_write(const char *macro, const char *text)
{
    fputs(macro, stdout);
    while (*(text += strspn(text, " ")) != '\0') {
        putchar(' ');
        word_write(text, strcspn(text, " "));
        text += strcspn(text, " ");
    }
    putchar('\n');
}

/* The program's usage names it as it was called, which is a path of the build; a page names it as it is installed. */
static void usage_write(const struct manual *manual, const char *command, const char *usage)
{
    const char *slash = strrchr(manual->program, '/');
    const char *name = slash != NULL ? slash + 1 : manual->program;
    const char *rest = usage + strcspn(usage, " ");

    printf(".Dl %s", name);
    if (strncmp(usage, name, strlen(name)) != 0 && command != NULL)
        printf(" %s", command);
    line_write("", rest);
}

static size_t selection_begin(const struct help *help)
{
    for (size_t i = 0; i < help->count; i++)
        if (help->parts[i].kind == HELP_ROW && strcmp(help->parts[i].term, "SELECT") == 0)
            return i;
    return help->count;
}

/* The first help that has the options of a selection; the others' are compared with it. */
static const struct help *selection_of(const struct manual *manual)
{
    for (size_t i = 0; i < manual->command_count; i++)
        if (selection_begin(&manual->commands[i].help) < manual->commands[i].help.count)
            return &manual->commands[i].help;
    return NULL;
}

static bool is_of_selection(const struct help *selection, const struct help_part *part)
{
    for (size_t i = selection != NULL ? selection_begin(selection) : 0; selection != NULL && i < selection->count; i++)
        if (strcmp(selection->parts[i].term, part->term) == 0 && strcmp(selection->parts[i].text, part->text) == 0)
            return true;
    return false;
}

/*
 * Usage, paragraphs, rows, in their order; rows that follow each other make one list. Rows of `selection` are left out.
 */
static void help_write(const struct manual *manual, const char *command, const struct help *help,
                       const struct help *selection)
{
    bool list = false, selects = false;

    for (size_t i = 0; i < help->count; i++) {
        const struct help_part *part = &help->parts[i];

        if (part->kind == HELP_ROW && is_of_selection(selection, part)) {
            selects = true;
            continue;
        }
        if (part->kind == HELP_ROW && !list)
            puts(".Bl -tag -width Ds");
        else if (list && (part->kind == HELP_PARAGRAPH || part->kind == HELP_EXAMPLE))
            puts(".El");
        list = part->kind == HELP_ROW || (list && part->kind == HELP_GAP);
        if (part->kind == HELP_ROW) {
            row_write(part);
        } else if (part->kind == HELP_USAGE) {
            usage_write(manual, command, part->text);
        } else if (part->kind == HELP_EXAMPLE) {
            line_write(".Dl", part->text);
        } else if (part->kind == HELP_PARAGRAPH) {
            puts(".Pp");
            text_write(part->text);
        }
    }
    if (list)
        puts(".El");
    if (selects)
        puts(".Pp\nand the options of\n.Sx SELECTING REQUIREMENTS .");
}

static void commands_write(const struct manual *manual)
{
    puts(".Bl -tag -width complete");
    for (size_t i = 0; i < manual->command_count; i++) {
        printf(".It Cm %s\n", manual->commands[i].name);
        text_write(manual->commands[i].what);
    }
    puts(".El");
}

static void details_write(const struct manual *manual)
{
    for (size_t i = 0; i < manual->command_count; i++) {
        printf(".Ss %s\n", manual->commands[i].name);
        help_write(manual, manual->commands[i].name, &manual->commands[i].help, selection_of(manual));
    }
}

static void selection_write(const struct manual *manual)
{
    const struct help *selection = selection_of(manual);

    puts(".Bl -tag -width Ds");
    for (size_t i = selection != NULL ? selection_begin(selection) : 0; selection != NULL && i < selection->count; i++)
        if (selection->parts[i].kind == HELP_ROW)
            row_write(&selection->parts[i]);
    puts(".El");
}

static int template_write(const struct manual *manual, FILE *template)
{
    char line[LINE_MAX_OCTETS];

    while (fgets(line, sizeof(line), template) != NULL) {
        if (strcmp(line, "@commands@\n") == 0)
            commands_write(manual);
        else if (strcmp(line, "@details@\n") == 0)
            details_write(manual);
        else if (strcmp(line, "@selection@\n") == 0)
            selection_write(manual);
        else if (strcmp(line, "@options@\n") == 0)
            help_write(manual, NULL, &manual->root, NULL);
        else if (line[0] == '@')
            return -1;
        else
            fputs(line, stdout);
    }
    return 0;
}

static int help_of(const char *program, const char *command, struct help *help, struct iwarp_sentence *error)
{
    char *text = help_ask(program, command, error);
    int result = text != NULL ? help_parse(help, text, error) : -1;

    free(text);
    return result;
}

/* The program's commands are the rows of its own help that are no options. */
static int commands_load(struct manual *manual, struct iwarp_sentence *error)
{
    for (size_t i = 0; i < manual->root.count; i++) {
        const struct help_part *part = &manual->root.parts[i];
        struct command *command = &manual->commands[manual->command_count];

        if (part->kind != HELP_ROW || part->term[0] == '-')
            continue;
        if (manual->command_count == COMMANDS_MAX || strlen(part->term) >= sizeof(command->name))
            return iwarp_sentence_set(error, "too many commands, or one with too long a name: %.40s", part->term);
        manual->command_count++;
        (void)snprintf(command->name, sizeof(command->name), "%s", part->term);
        command->what = part->text;
        if (help_of(manual->program, command->name, &command->help, error) != 0)
            return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct manual manual = {0};
    struct iwarp_sentence error = {{0}};
    FILE *template;
    int result;

    if (argc != 3)
        return fail("usage", "manual TEMPLATE PROGRAM");
    manual.program = argv[2];
    if (help_of(manual.program, NULL, &manual.root, &error) != 0 || commands_load(&manual, &error) != 0)
        return fail(argv[2], error.text);
    template = fopen(argv[1], "r");
    if (template == NULL)
        return fail(argv[1], "cannot be read");
    result = template_write(&manual, template);
    (void)fclose(template);
    for (size_t i = 0; i < manual.command_count; i++)
        help_free(&manual.commands[i].help);
    help_free(&manual.root);
    if (result != 0)
        return fail(argv[1], "a line that begins with @ is none of @commands@, @details@, @selection@, @options@");
    return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_SUCCESS : fail("standard output", "cannot be written");
}
