/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two decodings of a capture's CM messages, field by field. With --names it prints the options by which tshark prints
 * its fields (-T fields); with a capture it reads what tshark printed of that, and compares each number and string with
 * what wire/'s tables find in the same octets. RoCEv2 over Ethernet only. Status 1: they differ, or there was nothing
 * to compare.
 */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/cm.h"
#include "wire/roce.h"

enum { ETHERNET = 14, UDP = 8, LINE = 65536, TEXT = 1024 };

/* What tshark calls the fields of wire/'s layouts: R(tshark's name, attribute, 0: any, layout, field) */
#define CM "infiniband.cm."
static const struct row {
    const char *name;
    uint16_t attribute;
    const struct wire_layout *layout;
    const char *field;
} rows[] = {
    {"infiniband.mad.baseversion", 0, &mad_layout, "BaseVersion"},
    {"infiniband.mad.mgmtclass", 0, &mad_layout, "MgmtClass"},
    {"infiniband.mad.classversion", 0, &mad_layout, "ClassVersion"},
    {"infiniband.mad.method", 0, &mad_layout, "Method"},
    {"infiniband.mad.status", 0, &mad_layout, "Status"},
    {"infiniband.mad.transactionid", 0, &mad_layout, "TransactionID"},
    {"infiniband.mad.attributeid", 0, &mad_layout, "AttributeID"},
    {CM "req", CM_REQ, &cm_req_layout, "LocalID"},
    {CM "req.localcaguid", CM_REQ, &cm_req_layout, "CAGUID"},
    {CM "req.localqkey", CM_REQ, &cm_req_layout, "QKey"},
    {CM "req.localqpn", CM_REQ, &cm_req_layout, "QPN"},
    {CM "req.responderres", CM_REQ, &cm_req_layout, "Resources"},
    {CM "req.initdepth", CM_REQ, &cm_req_layout, "Depth"},
    {CM "req.remoteresptout", CM_REQ, &cm_req_layout, "RemoteTimeout"},
    {CM "req.transpsvctype", CM_REQ, &cm_req_layout, "ServiceType"},
    {CM "req.e2eflowctrl", CM_REQ, &cm_req_layout, "FlowControl"},
    {CM "req.startpsn", CM_REQ, &cm_req_layout, "PSN"},
    {CM "req.localresptout", CM_REQ, &cm_req_layout, "LocalTimeout"},
    {CM "req.retrcount", CM_REQ, &cm_req_layout, "Retry"},
    {CM "req.pkey", CM_REQ, &cm_req_layout, "P_Key"},
    {CM "req.pppmtu", CM_REQ, &cm_req_layout, "MTU"},
    {CM "req.rnrretrcount", CM_REQ, &cm_req_layout, "RNRRetry"},
    {CM "req.maxcmretr", CM_REQ, &cm_req_layout, "MaxRetries"},
    {CM "req.srq", CM_REQ, &cm_req_layout, "SRQ"},
    {CM "req.prim_locallid", CM_REQ, &cm_req_layout, "PrimaryLocalLID"},
    {CM "req.prim_remotelid", CM_REQ, &cm_req_layout, "PrimaryRemoteLID"},
    {CM "req.serviceid.protocol", CM_REQ, &ip_cm_service_layout, "Protocol"},
    {CM "req.serviceid.dport", CM_REQ, &ip_cm_service_layout, "Port"},
    {CM "req.ip_cm.majv", CM_REQ, &ip_cm_private_layout, "MajV"},
    {CM "req.ip_cm.minv", CM_REQ, &ip_cm_private_layout, "MinV"},
    {CM "req.ip_cm.ipv", CM_REQ, &ip_cm_private_layout, "IPV"},
    {CM "req.ip_cm.reserved", CM_REQ, &ip_cm_private_layout, "Res"},
    {CM "req.ip_cm.sport", CM_REQ, &ip_cm_private_layout, "SourcePort"},
    {CM "rep", CM_REP, &cm_rep_layout, "LocalID"},
    {CM "rep.remotecommid", CM_REP, &cm_rep_layout, "RemoteID"},
    {CM "rep.localqpn", CM_REP, &cm_rep_layout, "QPN"},
    {CM "rep.startpsn", CM_REP, &cm_rep_layout, "PSN"},
    {CM "rep.respres", CM_REP, &cm_rep_layout, "Resources"},
    {CM "rep.initdepth", CM_REP, &cm_rep_layout, "Depth"},
    {CM "rep.e2eflowctrl", CM_REP, &cm_rep_layout, "FlowControl"},
    {CM "rep.rnrretrcount", CM_REP, &cm_rep_layout, "RNRRetry"},
    {CM "rep.localcaguid", CM_REP, &cm_rep_layout, "CAGUID"},
    {CM "rtu.localcommid", CM_RTU, &cm_ids_layout, "LocalID"},
    {CM "rtu.remotecommid", CM_RTU, &cm_ids_layout, "RemoteID"},
    {CM "rej.localcommid", CM_REJ, &cm_rej_layout, "LocalID"},
    {CM "rej.remotecommid", CM_REJ, &cm_rej_layout, "RemoteID"},
    {CM "rej.msgrej", CM_REJ, &cm_rej_layout, "Message"},
    {CM "rej.rejinfolen", CM_REJ, &cm_rej_layout, "InfoLength"},
    {CM "rej.reason", CM_REJ, &cm_rej_layout, "Reason"},
    {CM "rej.ari", CM_REJ, &cm_rej_layout, "ARI"},
    {CM "dreq.localcommid", CM_DREQ, &cm_dreq_layout, "LocalID"},
    {CM "dreq.remotecommid", CM_DREQ, &cm_dreq_layout, "RemoteID"},
    {CM "req.remoteqpneecn", CM_DREQ, &cm_dreq_layout, "RemoteQPN"},
    {CM "drsp.localcommid", CM_DREP, &cm_ids_layout, "LocalID"},
    {CM "drsp.remotecommid", CM_DREP, &cm_ids_layout, "RemoteID"},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static unsigned compared, different, messages;

/* The MAD of a frame, or NULL. */
static const uint8_t *mad_of(const uint8_t *frame, size_t count)
{
    size_t ip = count < ETHERNET ? 0 : octets_get16(frame + 12) == 0x0800 ? 20 : 40;

    if (ip == 0 || count < ETHERNET + ip + UDP + UD_MAD_OCTETS || frame[ETHERNET + (ip == 20 ? 9 : 6)] != 17)
        return NULL;
    return ud_mad_parse(frame + ETHERNET + ip + UDP, UD_MAD_OCTETS);
}

static const uint8_t *header_of(const struct row *row, const uint8_t *mad)
{
    const uint8_t *body = mad + MAD_HEADER_OCTETS;

    if (row->layout == &mad_layout)
        return mad;
    if (row->layout == &ip_cm_service_layout)
        return body + 8;
    return row->layout == &ip_cm_private_layout ? body + cm_attribute_row(CM_REQ)->private_at : body;
}

static void compare(size_t frame, const struct row *row, const uint8_t *mad, const char *theirs)
{
    const struct wire_field *field = wire_layout_field(row->layout, row->field);
    const uint8_t *header = header_of(row, mad);
    char ours[TEXT] = "";
    bool same;

    if (field == NULL) {
        fprintf(stderr, "wire/ has no field %s\n", row->field);
        exit(1);
    }
    if (field->kind == WIRE_OCTETS) {
        for (size_t i = 0; i < field->bits / 8; i++)
            (void)snprintf(ours + 2 * i, 3, "%02x", header[field->bit / 8 + i]);
        same = strcmp(ours, theirs) == 0;
    } else {
        (void)snprintf(ours, sizeof(ours), "%llu", (unsigned long long)wire_field_get(field, header));
        same = theirs[0] != '\0' && wire_field_get(field, header) == strtoull(theirs, NULL, 0);
    }
    compared++;
    if (same)
        return;
    different++;
    printf("frame %zu, %s: tshark '%s', wire/ '%s'\n", frame, row->name, theirs, ours);
}

static void take(size_t frame, const uint8_t *mad, char *line)
{
    struct cm_message message;
    char *at = line;

    line[strcspn(line, "\n")] = '\0';
    (void)cm_parse(mad, MAD_OCTETS, &message);
    messages++;
    for (size_t i = 0; i < ROWS; i++) {
        char *tab = strchr(at, '\t');
        bool service = rows[i].layout == &ip_cm_service_layout || rows[i].layout == &ip_cm_private_layout;

        if (tab != NULL)
            *tab = '\0';
        if ((rows[i].attribute == 0 || rows[i].attribute == message.attribute) && (!service || message.has_ip))
            compare(frame, &rows[i], mad, at);
        at = tab != NULL ? tab + 1 : at + strlen(at);
    }
}

int main(int argc, char **argv)
{
    static char line[LINE], why[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *head;
    const uint8_t *frame;
    pcap_t *file;

    if (argc == 2 && strcmp(argv[1], "--names") == 0) {
        for (size_t i = 0; i < ROWS; i++)
            printf("-e\n%s\n", rows[i].name);
        return 0;
    }
    file = argc == 2 ? pcap_open_offline(argv[1], why) : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: cm_fields --names | CAPTURE <FIELDS: %s\n", why);
        return 1;
    }
    for (size_t number = 1; pcap_next_ex(file, &head, &frame) == 1; number++) {
        const uint8_t *mad = mad_of(frame, head->caplen);

        if (fgets(line, sizeof(line), stdin) == NULL) {
            fprintf(stderr, "tshark has no frame %zu\n", number);
            return 1;
        }
        if (mad != NULL)
            take(number, mad, line);
    }
    pcap_close(file);
    printf("%u messages, %u fields compared, %u different\n", messages, compared, different);
    return different != 0 || compared == 0;
}
