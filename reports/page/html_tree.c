/* SPDX-License-Identifier: BSD-2-Clause */
/* The requirement tree: document, section, requirement; every row of the catalogue, exercised or not. */
#include "conformance/requirements/catalogue.h"
#include "reports/page/html_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Requirements of one section, as a list through `next`. */
struct group {
    const char *source, *section;
    size_t first, last; /* catalogue indices */
    size_t count, standing[STANDING_COUNT];
};

struct tree {
    struct group *groups;
    size_t group_count;
    size_t *next;            /* of each requirement within its group, SIZE_MAX at the end */
    unsigned char *standing; /* of each requirement */
};

unsigned html_standing(const struct html *html, const struct requirement *requirement)
{
    size_t count;
    struct report_entry *const *entries = report_find(html->report, requirement, &count);
    if (entries) {
        enum verdict worst = entries[0]->worst;
        for (size_t i = 1; i < count; i++)
            worst = verdict_worse(worst, entries[i]->worst);
        return worst;
    }
    if (requirement->observability == REQUIREMENT_SPEC)
        return STANDING_DOCUMENT;
    const struct report_coverage *coverage = html->coverage;
    if (coverage && coverage->covers && !coverage->covers(coverage->user, requirement->id))
        return STANDING_NO_CHECK;
    return STANDING_NOT_EXERCISED;
}

static struct group *group_of(struct tree *tree, const struct requirement *requirement)
{
    for (size_t i = tree->group_count; i-- > 0;) { /* the newest is the likeliest */
        struct group *group = &tree->groups[i];
        if (strcmp(group->section, requirement->section) == 0 && strcmp(group->source, requirement->source) == 0)
            return group;
    }
    struct group *group = &tree->groups[tree->group_count++]; /* room for one a requirement */
    *group = (struct group){.source = requirement->source, .section = requirement->section, .first = SIZE_MAX};
    return group;
}

static int tree_build(const struct html *html, struct tree *tree)
{
    const struct catalogue *catalogue = html->report->catalogue;
    size_t total = catalogue_count(catalogue);
    tree->groups = calloc(total + 1, sizeof(*tree->groups));
    tree->next = calloc(total + 1, sizeof(*tree->next));
    tree->standing = calloc(total + 1, 1);
    if (!tree->groups || !tree->next || !tree->standing)
        return -1;
    for (size_t i = 0; i < total; i++) {
        const struct requirement *requirement = catalogue_at(catalogue, i);
        struct group *group = group_of(tree, requirement);
        if (group->first == SIZE_MAX)
            group->first = i;
        else
            tree->next[group->last] = i;
        group->last = i;
        tree->next[i] = SIZE_MAX;
        tree->standing[i] = (unsigned char)html_standing(html, requirement);
        group->count++;
        group->standing[tree->standing[i]]++;
    }
    return 0;
}

static void segment(struct markup *m, const char *css, size_t part, size_t whole)
{
    char style[32];
    if (!part)
        return;
    snprintf(style, sizeof(style), "width:%.2f%%", 100.0 * (double)part / (double)whole);
    markup_open(m, "i", "class", css, "style", style, NULL);
    markup_close(m);
}

/* "12 of 30 decided, 1 FAIL" and the same as a bar. */
static void bar(struct markup *m, const size_t standing[STANDING_COUNT], size_t count)
{
    size_t decided = standing[VERDICT_PASS] + standing[VERDICT_FAIL] + standing[VERDICT_KNOWN] +
                     standing[VERDICT_WARN] + standing[VERDICT_AMBIGUOUS];
    markup_open(m, "span", "class", "cov", NULL);
    markup_textf(m, "%zu of %zu decided", decided, count);
    for (unsigned i = 1; i < VERDICT_COUNT; i++) { /* all but PASS */
        if (standing[i])
            markup_textf(m, ", %zu %s", standing[i], standing_word(i));
    }
    markup_close(m);
    markup_open(m, "span", "class", "bar", "aria-hidden", "true", NULL);
    segment(m, "fail", standing[VERDICT_FAIL], count);
    segment(m, "known", standing[VERDICT_KNOWN], count);
    segment(m, "warn", standing[VERDICT_WARN], count);
    segment(m, "amb", standing[VERDICT_AMBIGUOUS], count);
    segment(m, "inc", standing[VERDICT_INCONCLUSIVE], count);
    segment(m, "pass", standing[VERDICT_PASS], count);
    segment(m, "skip", standing[VERDICT_SKIP], count);
    markup_close(m);
}

/* Roles and counts after a requirement, where there is more to say than the badge says. */
static void details_of(const struct html *html, const struct requirement *requirement)
{
    struct markup *m = html->markup;
    size_t count;
    struct report_entry *const *entries = report_find(html->report, requirement, &count);
    if (!entries)
        return;
    markup_open(m, "span", "class", "who", NULL);
    for (size_t i = 0; i < count; i++) {
        uint64_t results = 0;
        for (unsigned v = 0; v < VERDICT_COUNT; v++)
            results += entries[i]->counts[v];
        if (*entries[i]->role || results > 1 || count > 1)
            markup_textf(m, "%s%.20s", i ? " · " : "", entries[i]->role);
        for (unsigned v = 0; v < VERDICT_COUNT; v++) {
            if (entries[i]->counts[v] && (results > 1 || count > 1))
                markup_textf(m, " %s%llu", standing_sign(v), (unsigned long long)entries[i]->counts[v]);
        }
    }
    markup_close(m);
}

/* The badge leads to the card of the worst verdict. */
static void badge_link(const struct html *html, const struct requirement *requirement, unsigned standing)
{
    size_t count;
    struct report_entry *const *entries = report_find(html->report, requirement, &count);
    for (size_t i = 0; entries && i < count; i++) {
        if (html_has_card(entries[i], (enum verdict)standing)) {
            char anchor[65] = "#";
            html_anchor(anchor + 1, (size_t)(entries - html->report->entries) + i, (enum verdict)standing);
            markup_open(html->markup, "a", "href", anchor, NULL);
            html_badge(html->markup, standing);
            markup_close(html->markup);
            return;
        }
    }
    html_badge(html->markup, standing);
}

static void line(const struct html *html, const struct requirement *requirement, unsigned standing)
{
    struct markup *m = html->markup;
    markup_open(m, "li", "data-v", standing_class(standing), "id", requirement->id, NULL);
    badge_link(html, requirement, standing);
    markup_element(m, "b", NULL, requirement->id);
    markup_element(m, "i", NULL, requirement_level_name(requirement->level));
    markup_open(m, "p", NULL);
    markup_text(m, requirement->text);
    details_of(html, requirement);
    markup_close(m);
    markup_close(m);
}

/* Where the section stands, once for all its lines. */
static void place(const struct html *html, const struct group *group)
{
    struct markup *m = html->markup;
    char text[80];
    snprintf(text, sizeof(text), "%.20s §\u00a0%.40s", group->source, group->section);
    markup_open(m, "p", "class", "place", NULL);
    html_section_link(m, catalogue_at(html->report->catalogue, group->first), text);
    markup_close(m);
}

static void section_part(const struct html *html, const struct tree *tree, const struct group *group)
{
    struct markup *m = html->markup;
    markup_open(m, "details", "class", "sec", NULL);
    markup_open(m, "summary", NULL);
    markup_open(m, "span", "class", "name", NULL);
    markup_textf(m, strncmp(group->section, "App", 3) == 0 ? "%s" : "Section %s", group->section);
    markup_close(m);
    bar(m, group->standing, group->count);
    markup_close(m);
    place(html, group);
    markup_open(m, "ul", NULL);
    for (size_t i = group->first; i != SIZE_MAX; i = tree->next[i])
        line(html, catalogue_at(html->report->catalogue, i), tree->standing[i]);
    markup_close(m);
    markup_close(m);
}

static void document_part(const struct html *html, const struct tree *tree, const char *source)
{
    struct markup *m = html->markup;
    size_t standing[STANDING_COUNT] = {0}, count = 0;
    for (size_t i = 0; i < tree->group_count; i++) {
        if (strcmp(tree->groups[i].source, source) != 0)
            continue;
        count += tree->groups[i].count;
        for (unsigned s = 0; s < STANDING_COUNT; s++)
            standing[s] += tree->groups[i].standing[s];
    }
    markup_open(m, "details", "class", "docu", NULL);
    markup_open(m, "summary", NULL);
    markup_element(m, "span", "name", html_document_title(source));
    bar(m, standing, count);
    markup_close(m);
    for (size_t i = 0; i < tree->group_count; i++) {
        if (strcmp(tree->groups[i].source, source) == 0)
            section_part(html, tree, &tree->groups[i]);
    }
    markup_close(m);
}

static void documents(const struct html *html, const struct tree *tree)
{
    for (size_t i = 0; i < tree->group_count; i++) {
        bool seen = false;
        for (size_t k = 0; k < i && !seen; k++)
            seen = strcmp(tree->groups[k].source, tree->groups[i].source) == 0;
        if (!seen)
            document_part(html, tree, tree->groups[i].source);
    }
}

void html_tree(const struct html *html)
{
    struct tree tree = {0};
    if (!html->report->catalogue)
        return;
    markup_open(html->markup, "section", "id", "tree", NULL);
    markup_element(html->markup, "h2", NULL, "Requirements");
    markup_element(html->markup, "p", "lead",
                   "Every requirement of the catalogue, by document and section, with its verdict in this run.");
    if (tree_build(html, &tree) == 0)
        documents(html, &tree);
    else
        markup_element(html->markup, "p", "notice", "Out of memory: the tree is left out.");
    markup_close(html->markup);
    free(tree.groups);
    free(tree.next);
    free(tree.standing);
}
