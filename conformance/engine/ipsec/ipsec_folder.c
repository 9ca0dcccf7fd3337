/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "conformance/engine/ipsec/ipsec_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "conformance/engine/process/temporary_folder.h"

enum { FILE_OCTETS = 65536, SECRET_OCTETS = 1024, PATH_OCTETS = 128 };

static const char *path_of(const struct ipsec_folder *folder, const char *name, char path[PATH_OCTETS])
{
    (void)snprintf(path, PATH_OCTETS, "%s/%s", folder->path, name);
    return path;
}

/* All of a small file. Its octets; -1 with a sentence. */
static ssize_t read_file(const char *path, unsigned char *octets, size_t room, struct iwarp_sentence *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t count = 0;
    ssize_t got = 0;

    while (file >= 0 && count < room && (got = read(file, octets + count, room - count)) > 0)
        count += (size_t)got;
    if (file < 0 || got < 0)
        (void)iwarp_sentence_set(error, "%.200s: %s", path, strerror(errno));
    else if (count == room)
        (void)iwarp_sentence_set(error, "%.200s has %zu octets or more, fewer were expected", path, room);
    if (file >= 0)
        close(file);
    return file < 0 || got < 0 || count == room ? -1 : (ssize_t)count;
}

static int write_file(const char *path, const unsigned char *octets, size_t count, struct iwarp_sentence *error)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = file >= 0 && write(file, octets, count) == (ssize_t)count;

    if (!good)
        (void)iwarp_sentence_set(error, "%s: %s", path, strerror(errno));
    if (file >= 0 && close(file) != 0 && good)
        good = iwarp_sentence_set(error, "%s: %s", path, strerror(errno)) == 0;
    return good ? 0 : -1;
}

/* A file of the profile under another name; NULL: the profile does not have it. */
static int copy(const struct ipsec_folder *folder, const char *from, const char *name, struct iwarp_sentence *error)
{
    static unsigned char octets[FILE_OCTETS];
    char path[PATH_OCTETS];
    ssize_t count = from != NULL ? read_file(from, octets, sizeof(octets), error) : 0;
    int status = from == NULL ? 0
                 : count < 0  ? -1
                              : write_file(path_of(folder, name, path), octets, (size_t)count, error);

    explicit_bzero(octets, sizeof(octets));
    return status;
}

/* The pre-shared key, without the end of its line. */
static int write_secret(const struct ipsec_folder *folder, const char *from, struct iwarp_sentence *error)
{
    unsigned char secret[SECRET_OCTETS];
    char text[SECRET_OCTETS * 2], path[PATH_OCTETS], conf[SECRET_OCTETS * 2 + 64];
    ssize_t count = read_file(from, secret, sizeof(secret), error);
    int status = -1;

    while (count > 0 && (secret[count - 1] == '\n' || secret[count - 1] == '\r'))
        count--;
    if (count == 0)
        (void)iwarp_sentence_set(error, "%.200s is empty, a pre-shared key was expected", from);
    if (count > 0 && ipsec_secret_text(secret, (size_t)count, text, sizeof(text)) == 0) {
        int octets = snprintf(conf, sizeof(conf), "secrets {\n  ike-tester {\n    secret = %s\n  }\n}\n", text);

        status = write_file(path_of(folder, "secrets.conf", path), (const unsigned char *)conf, (size_t)octets, error);
    }
    explicit_bzero(secret, sizeof(secret));
    explicit_bzero(text, sizeof(text));
    explicit_bzero(conf, sizeof(conf));
    return status;
}

static int make_folders(const struct ipsec_folder *folder, struct iwarp_sentence *error)
{
    static const char *const names[] = {"swanctl", "swanctl/private", "swanctl/x509ca"};
    char path[PATH_OCTETS];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (mkdir(path_of(folder, names[i], path), 0700) != 0)
            return iwarp_sentence_set(error, "%s: %s", path, strerror(errno));
    return 0;
}

int ipsec_folder_daemon(const struct ipsec_folder *folder, bool in_kernel, struct iwarp_sentence *error)
{
    char path[PATH_OCTETS];
    FILE *out = fopen(path_of(folder, "strongswan.conf", path), "we");
    int status = out != NULL ? ipsec_write_daemon(out, folder->path, in_kernel) : -1;

    if (out == NULL || fclose(out) != 0 || status != 0)
        return iwarp_sentence_set(error, "%s: %s", path, strerror(errno));
    return 0;
}

int ipsec_folder_make(struct ipsec_folder *folder, const struct profile_ipsec *settings, struct iwarp_sentence *error)
{
    *folder = (struct ipsec_folder){.path = "/tmp/warpcheck-ipsec.XXXXXX"};
    if (mkdtemp(folder->path) == NULL)
        return iwarp_sentence_set(error, "a folder in /tmp: %s", strerror(errno));
    if (make_folders(folder, error) == 0 &&
        (settings->secret_file == NULL || write_secret(folder, settings->secret_file, error) == 0) &&
        copy(folder, settings->certificate_file, "certificate.pem", error) == 0 &&
        copy(folder, settings->key_file, "swanctl/private/key.pem", error) == 0 &&
        copy(folder, settings->ca_file, "swanctl/x509ca/ca.pem", error) == 0 &&
        copy(folder, settings->revoked_certificate_file, "revoked.pem", error) == 0 &&
        copy(folder, settings->revoked_key_file, "swanctl/private/revoked-key.pem", error) == 0)
        return 0;
    ipsec_folder_remove(folder);
    return -1;
}

int ipsec_folder_offer(const struct ipsec_folder *folder, const struct ipsec_offer *offer,
                       const struct ipsec_ends *ends, struct iwarp_sentence *error)
{
    char path[PATH_OCTETS];
    FILE *out = fopen(path_of(folder, "swanctl/swanctl.conf", path), "we");
    int status = out != NULL ? ipsec_write_connection(out, offer, ends, folder->path) : -1;

    if (out == NULL || fclose(out) != 0 || status != 0)
        return iwarp_sentence_set(error, "%s: %s", path, strerror(errno));
    return 0;
}

void ipsec_folder_mark(struct ipsec_folder *folder)
{
    char path[PATH_OCTETS];
    struct stat file;

    folder->log_from = stat(path_of(folder, "log", path), &file) == 0 ? file.st_size : 0;
}

void ipsec_folder_print(char *text)
{
    for (; *text != '\0'; text++)
        if (*text != '\n' && (*text < ' ' || *text > '~'))
            *text = '?';
}

void ipsec_folder_log(const struct ipsec_folder *folder, char *text, size_t room)
{
    char path[PATH_OCTETS];
    int file = open(path_of(folder, "log", path), O_RDONLY | O_CLOEXEC);
    struct stat now;
    ssize_t got = 0;

    text[0] = '\0';
    if (file < 0)
        return;
    if (fstat(file, &now) == 0) {
        off_t from = folder->log_from;

        if (now.st_size - from >= (off_t)room)
            from = now.st_size - (off_t)room + 1;
        got = pread(file, text, room - 1, from);
    }
    text[got > 0 ? got : 0] = '\0';
    ipsec_folder_print(text);
    close(file);
}

bool ipsec_folder_ready(const struct ipsec_folder *folder)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    int socket_file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ready;

    (void)snprintf(place.sun_path, sizeof(place.sun_path), "%s/vici", folder->path);
    ready = socket_file >= 0 && connect(socket_file, (const struct sockaddr *)&place, sizeof(place)) == 0;
    if (socket_file >= 0)
        close(socket_file);
    return ready;
}

void ipsec_folder_remove(const struct ipsec_folder *folder)
{
    temporary_folder_remove(folder->path);
}
