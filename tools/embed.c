/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * embed TABLE LIST: writes to stdout a C file that defines the table TABLE (see tools/embedded.h) of the files whose
 * paths stand in the file LIST, one a line, in that order. Runs on the building machine only.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what, const char *path)
{
    fprintf(stderr, "embed: %s: %s: %s\n", path, what, strerror(errno));
    exit(1);
}

/* Writes one file's content as an array and returns its size in octets. */
static size_t embed_content(size_t index, const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        die("cannot open", path);
    printf("\nstatic const unsigned char content_%zu[] = {", index);
    size_t size = 0;
    for (int c; (c = getc(in)) != EOF; size++)
        printf("%s%d,", size % 32 ? "" : "\n", c);
    if (ferror(in))
        die("cannot read", path);
    fclose(in);
    printf("%s0};\n", size % 32 ? "" : "\n");
    return size;
}

/* Writes a C string literal. */
static void write_literal(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            putchar('\\');
        putchar(*s);
    }
    putchar('"');
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: embed TABLE LIST\n");
        return 2;
    }
    const char *table = argv[1];
    FILE *list = fopen(argv[2], "r");
    if (!list)
        die("cannot open", argv[2]);

    printf("/* Made by tools/embed.c; not to be edited. */\n#include \"tools/embedded.h\"\n");
    char **paths = NULL;
    size_t *sizes = NULL;
    size_t count = 0;
    char line[4096];
    while (fgets(line, sizeof(line), list)) {
        line[strcspn(line, "\n")] = '\0';
        if (!line[0])
            continue;
        char **more_paths = realloc(paths, (count + 1) * sizeof(*paths));
        if (more_paths)
            paths = more_paths;
        size_t *more_sizes = realloc(sizes, (count + 1) * sizeof(*sizes));
        if (more_sizes)
            sizes = more_sizes;
        if (!more_paths || !more_sizes || !(paths[count] = strdup(line)))
            die("out of memory", line);
        sizes[count] = embed_content(count, line);
        count++;
    }
    fclose(list);

    printf("\nconst struct embedded_file %s[] = {\n", table);
    for (size_t i = 0; i < count; i++) {
        printf("    {");
        write_literal(paths[i]);
        printf(", content_%zu, %zu},\n", i, sizes[i]);
        free(paths[i]);
    }
    /* embedded_scripts -> embedded_script_count */
    printf("    {NULL, NULL, 0},\n};\nconst size_t %.*s_count = %zu;\n", (int)strlen(table) - 1, table, count);
    free(paths);
    free(sizes);
    if (fflush(stdout) || ferror(stdout))
        die("cannot write", "standard output");
    return 0;
}
