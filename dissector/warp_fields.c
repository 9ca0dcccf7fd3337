/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fields. Those of headers come out of wire/'s tables: each has the filter name "warp.PREFIX.id" in lower case, with a
 * prefix for each layout. Fields that two layouts share under one name and width (the first octet of both DDP headers)
 * are registered once.
 */
#include "dissector/warp.h"

#include <epan/tfs.h>
#include <string.h>

#include "wire/infiniband.h"
#include "wire/sctp.h"

#define WARP_FIELD_DEFINE_(id, name, abbrev, type, base, strings, blurb) int hf_warp_##id = -1;
WARP_FIELDS(WARP_FIELD_DEFINE_)
#define WARP_EXPERT_DEFINE_(id, abbrev, group, severity, text) expert_field ei_warp_##id = EI_INIT;
WARP_EXPERTS(WARP_EXPERT_DEFINE_)

int ett_warp = -1, ett_warp_part = -1, ett_warp_detail = -1;

/* Fields of up to so many bits keep their items' texts. */
enum { TEXT_BITS = 4 };

/* Texts of a field that is not made of whole octets, by value; NULL: not written yet. */
struct bits_text {
    char *of[1 << TEXT_BITS];
};

/* One layout's fields, in its order: pointers, because layouts share some. */
struct layout_fields {
    const struct wire_layout *layout;
    int **hf;     /* NULL: never drawn */
    int **quoted; /* the same inside a Terminate, under names of their own; NULL: never there */
    struct bits_text *texts;
};

enum { LAYOUTS_MAX = 64 };
static struct layout_fields layouts[LAYOUTS_MAX];
static GArray *registered; /* hf_register_info */

static const char *prefix_of(const char *layout)
{
    static const char *const prefixes[][2] = {
        {"mpa_start", "mpa"},
        {"mpa_enhanced", "mpa.enhanced"},
        {"ddp_tagged", "ddp"},
        {"ddp_untagged", "ddp"},
        {"rdmap_control", "rdmap"},
        {"rdmap_untagged", "rdmap"},
        {"read_request", "read"},
        {"terminate_length", "terminate"},
        {"atomic_request", "atomic"},
        {"atomic_response", "atomic"},
        {"sctp_chunk", "sctp.chunk"},
        {"sctp_data", "sctp.data"},
        {"sctp_init", "sctp.init"},
        {"sctp_adaptation", "sctp.adaptation"},
        {"ddp_sctp_segment", "ddp_sctp"},
        {"ddp_sctp_control", "session"},
        {"ddp_sctp_draft_control", "session.draft"},
        {"cm_ids", "cm"},
        {"cm_req", "cm.req"},
        {"cm_rep", "cm.rep"},
        {"cm_mra", "cm.mra"},
        {"cm_rej", "cm.rej"},
        {"cm_dreq", "cm.dreq"},
        {"cm_sidr_req", "cm.sidr_req"},
        {"cm_sidr_rep", "cm.sidr_rep"},
        {"ip_cm_private", "ipcm"},
        {"ip_cm_service", "ipcm.service"},
        {"ip_cm_ari", "ipcm.ari"},
        {"smbd_request", "smbd.request"},
        {"smbd_response", "smbd.response"},
        {"smbd_data", "smbd.data"},
        {"rpcrdma_header", "rpcrdma"},
        {"rpcrdma_segment", "rpcrdma.segment"},
        {"rpcrdma_read_segment", "rpcrdma.read_segment"},
        {"nvme_command", "nvme.command"},
        {"nvme_response", "nvme.response"},
        {"iser_control", "iser"},
        {"iser_hello", "iser.hello"},
        {"iser_hello_reply", "iser.hello_reply"},
        {"nvme_host_private", "private.nvme"},
        {"nvme_controller_private", "private.nvme"},
        {"port_mapper_mapped", "port_mapper"},
        {"iser_private", "private.iser"},
        {"iscsi_request", "iser.request"},
        {"iscsi_response", "iser.response"},
    };

    for (size_t i = 0; i < array_length(prefixes); i++)
        if (strcmp(prefixes[i][0], layout) == 0)
            return prefixes[i][1];
    return layout;
}

static enum ftenum type_of(const struct wire_field *field)
{
    if (field->kind == WIRE_OCTETS)
        return FT_BYTES;
    if (field->kind == WIRE_FLAG)
        return FT_BOOLEAN;
    return field->bits <= 8 ? FT_UINT8 : field->bits <= 16 ? FT_UINT16 : field->bits <= 32 ? FT_UINT32 : FT_UINT64;
}

static const value_string *strings_of(const struct wire_name *names)
{
    size_t count = 0;
    value_string *strings;

    while (names[count].name != NULL)
        count++;
    strings = g_new0(value_string, count + 1);
    for (size_t i = 0; i < count; i++) {
        strings[i].value = (guint32)names[i].value;
        strings[i].strptr = names[i].name;
    }
    return strings;
}

static const true_false_string *words_of(const struct wire_name *names)
{
    true_false_string *words = g_new0(true_false_string, 1);

    words->true_string = wire_name_of(names, 1);
    words->false_string = wire_name_of(names, 0);
    return words;
}

/* Values that mean something besides their number. */
static const value_string depth_strings[] = {{MPA_DEPTH_NOT_NEGOTIATED, "no automatic negotiation"}, {0, NULL}};

static bool is_depth(const struct wire_field *field)
{
    return strcmp(field->id, "IRD") == 0 || strcmp(field->id, "ORD") == 0;
}

static hf_register_info describe(const struct wire_field *field, const char *abbrev)
{
    enum ftenum type = type_of(field);
    hf_register_info info = {NULL, {field->name, abbrev, type, BASE_DEC, NULL, 0, NULL, HFILL}};

    info.hfinfo.blurb = g_strdup_printf("%s (%s)", field->meaning, field->section);
    if (type == FT_BOOLEAN)
        info.hfinfo.display = BASE_NONE;
    else if (type == FT_BYTES)
        info.hfinfo.display = BASE_SHOW_ASCII_PRINTABLE;
    else if (field->kind == WIRE_HEX || field->kind == WIRE_RESERVED)
        info.hfinfo.display = BASE_HEX;
    if (is_depth(field)) {
        info.hfinfo.display |= BASE_SPECIAL_VALS;
        info.hfinfo.strings = VALS(depth_strings);
    } else if (field->names != NULL && type == FT_BOOLEAN) {
        info.hfinfo.strings = TFS(words_of(field->names));
    } else if (field->names != NULL && field->bits <= 32) {
        info.hfinfo.strings = VALS(strings_of(field->names));
    }
    return info;
}

static int *field_register(const struct wire_layout *layout, const struct wire_field *field, const char *in)
{
    char *id = g_ascii_strdown(field->id, -1);
    char *abbrev = g_strdup_printf("warp.%s%s.%s", in, prefix_of(layout->id), id);
    hf_register_info info;

    for (guint i = 0; i < registered->len; i++) {
        const hf_register_info *other = &g_array_index(registered, hf_register_info, i);

        if (strcmp(other->hfinfo.abbrev, abbrev) != 0)
            continue;
        if (other->hfinfo.type == type_of(field)) {
            g_free(id);
            g_free(abbrev);
            return other->p_id;
        }
        g_free(abbrev); /* another width under the same name: add the layout to the name */
        abbrev = g_strdup_printf("warp.%s%s.%s", in, layout->id, id);
        i = (guint)-1;
    }
    g_free(id);
    info = describe(field, abbrev);
    info.p_id = g_new(int, 1);
    *info.p_id = -1;
    g_array_append_val(registered, info);
    return info.p_id;
}

/*
 * What is not drawn from these tables has no fields here, for a filter with one would never find anything: headers that
 * Wireshark's own dissectors draw, SMB Direct's descriptors, the Private Data of RPC-over-RDMA (warp_private.c draws it,
 * with sizes in octets), RsvdULP, in which RDMAP's control octet and Invalidate STag are drawn, and the reserved octets
 * of a MAD.
 */
static bool is_drawn(const struct wire_layout *layout, const struct wire_field *field)
{
    static const struct wire_layout *const undrawn[] = {
        &sctp_common_layout,     &sctp_sack_layout,      &lrh_layout, &bth_layout, &deth_layout,
        &smbd_descriptor_layout, &rpcrdma_private_layout};

    for (size_t i = 0; i < array_length(undrawn); i++)
        if (layout == undrawn[i])
            return false;
    if (layout == &ddp_tagged_layout || layout == &ddp_untagged_layout)
        return strcmp(field->id, "RsvdULP") != 0;
    return layout != &mad_layout || strcmp(field->id, "Reserved1") != 0;
}

static int **fields_register(const struct wire_layout *layout, const char *in)
{
    int **hf = g_new0(int *, layout->field_count);

    for (size_t i = 0; i < layout->field_count; i++)
        if (is_drawn(layout, &layout->fields[i]))
            hf[i] = field_register(layout, &layout->fields[i], in);
    return hf;
}

static bool may_be_quoted(const struct wire_layout *layout)
{
    return layout == &ddp_tagged_layout || layout == &ddp_untagged_layout || layout == &rdmap_control_layout ||
           layout == &rdmap_untagged_layout || layout == &read_request_layout;
}

static void layouts_register(void)
{
    registered = g_array_new(FALSE, FALSE, sizeof(hf_register_info));
    for (size_t i = 0; i < LAYOUTS_MAX - 1 && wire_layouts[i] != NULL; i++) {
        layouts[i].layout = wire_layouts[i];
        layouts[i].hf = fields_register(wire_layouts[i], "");
        layouts[i].texts = g_new0(struct bits_text, wire_layouts[i]->field_count);
        layouts[i].quoted = may_be_quoted(wire_layouts[i]) ? fields_register(wire_layouts[i], "terminate.") : NULL;
    }
    /* Wireshark keeps pointers into the array. */
    proto_register_field_array(warp_proto, (hf_register_info *)(void *)registered->data, (int)registered->len);
}

void warp_fields_register(void)
{
#define WARP_FIELD_ROW_(id, name, abbrev, type, base, strings, blurb)                                                  \
    {&hf_warp_##id, {name, abbrev, type, base, strings, 0, blurb, HFILL}},
    static hf_register_info fields[] = {WARP_FIELDS(WARP_FIELD_ROW_)};
#define WARP_EXPERT_ROW_(id, abbrev, group, severity, text) {&ei_warp_##id, {abbrev, group, severity, text, EXPFILL}},
    static ei_register_info experts[] = {WARP_EXPERTS(WARP_EXPERT_ROW_)};
    static gint *subtrees[] = {&ett_warp, &ett_warp_part, &ett_warp_detail};

    proto_register_field_array(warp_proto, fields, array_length(fields));
    layouts_register();
    proto_register_subtree_array(subtrees, array_length(subtrees));
    expert_register_field_array(expert_register_protocol(warp_proto), experts, array_length(experts));
    for (size_t i = 0; i < array_length(experts); i++) {
        header_field_info *field = proto_registrar_get_byname(experts[i].eiinfo.name);

        if (field != NULL)
            field->blurb = experts[i].eiinfo.summary;
    }
}

static bool is_in_list(const char *list, const char *id)
{
    size_t octets;

    if (list == NULL)
        return false;
    octets = strlen(id);
    for (const char *at = list; (at = strstr(at, id)) != NULL; at += octets)
        if ((at == list || at[-1] == ' ') && (at[octets] == ' ' || at[octets] == '\0'))
            return true;
    return false;
}

/*
 * A field that is not made of whole octets, `at` bits after the tvb's beginning. Wireshark writes the item's text as
 * soon as it is added to a tree that may be seen (that of -T fields is one), and that costs more than all the rest of
 * it. The text depends on the value alone, so that of a few bits is kept once Wireshark has written it.
 */
static void draw_bits(proto_tree *tree, int hf, tvbuff_t *tvb, unsigned at, const struct wire_field *field,
                      struct bits_text *texts)
{
    bool kept = field->bits <= TEXT_BITS && PTREE_DATA(tree)->visible;
    guint32 value = kept ? tvb_get_bits8(tvb, at, field->bits) : 0;
    int offset = (int)(at / 8), octets = (int)((at % 8 + field->bits + 7) / 8);
    proto_item *item;

    if (!kept || texts->of[value] == NULL) {
        item = proto_tree_add_bits_item(tree, hf, tvb, at, field->bits, ENC_BIG_ENDIAN);
        if (kept && item != NULL && PITEM_FINFO(item) != NULL && PITEM_FINFO(item)->rep != NULL)
            texts->of[value] = g_strdup(PITEM_FINFO(item)->rep->representation);
        return;
    }
    if (field->kind == WIRE_FLAG)
        item = proto_tree_add_boolean_format(tree, hf, tvb, offset, octets, value, "%s", texts->of[value]);
    else
        item = proto_tree_add_uint_format(tree, hf, tvb, offset, octets, value, "%s", texts->of[value]);
    if (item != NULL && PITEM_FINFO(item) != NULL) { /* the bits to mark, as proto_tree_add_bits_item() says them */
        FI_SET_FLAG(PITEM_FINFO(item), FI_BITS_OFFSET(at));
        FI_SET_FLAG(PITEM_FINFO(item), FI_BITS_SIZE(field->bits));
    }
}

static bool draw(proto_tree *tree, tvbuff_t *tvb, int offset, size_t have, const struct wire_layout *layout,
                 const char *skip, bool quoted)
{
    int *const *hf;
    size_t i = 0;

    while (layouts[i].layout != layout && layouts[i].layout != NULL)
        i++;
    hf = quoted ? layouts[i].quoted : layouts[i].hf;
    if (hf == NULL)
        return false;
    for (size_t j = 0; tree != NULL && j < layout->field_count; j++) {
        const struct wire_field *field = &layout->fields[j];

        if (hf[j] == NULL || (field->bit + field->bits + 7u) / 8 > have || is_in_list(skip, field->id))
            continue;
        if (field->bit % 8 == 0 && field->bits % 8 == 0)
            proto_tree_add_item(tree, *hf[j], tvb, offset + field->bit / 8, field->bits / 8,
                                field->kind == WIRE_OCTETS ? ENC_NA
                                : field->little            ? ENC_LITTLE_ENDIAN
                                                           : ENC_BIG_ENDIAN);
        else
            draw_bits(tree, *hf[j], tvb, (unsigned)offset * 8 + field->bit, field, &layouts[i].texts[j]);
    }
    return have >= layout->octets;
}

bool warp_fields_draw(proto_tree *tree, tvbuff_t *tvb, int offset, size_t have, const struct wire_layout *layout,
                      const char *skip)
{
    return draw(tree, tvb, offset, have, layout, skip, false);
}

bool warp_fields_draw_quoted(proto_tree *tree, tvbuff_t *tvb, int offset, size_t have, const struct wire_layout *layout,
                             const char *skip)
{
    return draw(tree, tvb, offset, have, layout, skip, true);
}
