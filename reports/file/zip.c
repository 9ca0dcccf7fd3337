/* SPDX-License-Identifier: BSD-2-Clause */
#include "reports/file/zip.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <minizip/zip.h>

#include "reports/file/save.h"

enum {
    MADE_BY_UNIX = 3 << 8 | 30, /* so that the upper half of the attributes is a file's mode */
    NAMES_ARE_UTF8 = 1 << 11,
    PIECE = 1 << 30, /* minizip counts a piece in 32 bits */
};

struct zip {
    struct save save;
    FILE *out;
    zipFile file;
    bool failed;
    int cause; /* errno of the first write that failed */
};

/*
 * ---- minizip's view of the stream -----------------------------------------------------------------------------------
 */

static voidpf ZCALLBACK stream_open(voidpf user, const void *name, int mode)
{
    (void)name;
    (void)mode;
    return user;
}

static uLong ZCALLBACK stream_read(voidpf user, voidpf stream, void *octets, uLong count)
{
    (void)stream;
    return (uLong)fread(octets, 1, (size_t)count, ((struct zip *)user)->out);
}

static uLong ZCALLBACK stream_write(voidpf user, voidpf stream, const void *octets, uLong count)
{
    struct zip *zip = user;
    size_t written = fwrite(octets, 1, (size_t)count, zip->out);

    (void)stream;
    if (written != count && zip->cause == 0)
        zip->cause = errno;
    return (uLong)written;
}

static ZPOS64_T ZCALLBACK stream_tell(voidpf user, voidpf stream)
{
    (void)stream;
    return (ZPOS64_T)ftello(((struct zip *)user)->out);
}

static long ZCALLBACK stream_seek(voidpf user, voidpf stream, ZPOS64_T offset, int origin)
{
    int whence = origin == ZLIB_FILEFUNC_SEEK_SET ? SEEK_SET : origin == ZLIB_FILEFUNC_SEEK_CUR ? SEEK_CUR : SEEK_END;

    (void)stream;
    return fseeko(((struct zip *)user)->out, (off_t)offset, whence);
}

/* The stream is closed by zip_end(), which has to know whether that worked. */
static int ZCALLBACK stream_close(voidpf user, voidpf stream)
{
    (void)user;
    (void)stream;
    return 0;
}

static int ZCALLBACK stream_error(voidpf user, voidpf stream)
{
    (void)stream;
    return ferror(((struct zip *)user)->out);
}

/*
 * ---- the archive ----------------------------------------------------------------------------------------------------
 */

struct zip *zip_begin(const struct place *place, struct iwarp_sentence *error)
{
    struct zip *zip = calloc(1, sizeof(*zip));
    zlib_filefunc64_def stream = {stream_open, stream_read,  stream_write, stream_tell,
                                  stream_seek, stream_close, stream_error, zip};
    int fd = -1;

    if (zip == NULL) {
        (void)iwarp_sentence_set(error, "%s: out of memory", place->path);
        return NULL;
    }
    if (save_begin(&zip->save, place, error) != 0) {
        free(zip);
        return NULL;
    }
    fd = dup(zip->save.fd);
    zip->out = fd >= 0 ? fdopen(fd, "w") : NULL;
    zip->file = zip->out != NULL ? zipOpen2_64(place->name, APPEND_STATUS_CREATE, NULL, &stream) : NULL;
    if (zip->file != NULL)
        return zip;
    (void)iwarp_sentence_set(error, "%s: cannot write: %s", place->path, strerror(errno));
    if (zip->out != NULL)
        (void)fclose(zip->out);
    else if (fd >= 0)
        close(fd);
    (void)save_end(&zip->save, false, NULL);
    free(zip);
    return NULL;
}

int zip_add(struct zip *zip, const char *name, const void *octets, size_t count, bool program)
{
    zip_fileinfo about = {.tmz_date = {.tm_mday = 1, .tm_year = 1980},
                          .external_fa = (0100000ul | (program ? 0755 : 0644)) << 16};
    const char *rest = octets;

    if (zip->failed)
        return -1;
    if (zipOpenNewFileInZip4_64(zip->file, name, &about, NULL, 0, NULL, 0, NULL, Z_DEFLATED, Z_DEFAULT_COMPRESSION, 0,
                                -MAX_WBITS, DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, NULL, 0, MADE_BY_UNIX, NAMES_ARE_UTF8,
                                count > UINT32_MAX / 2) != ZIP_OK) {
        zip->failed = true;
        return -1;
    }
    for (size_t piece; count > 0 && !zip->failed; count -= piece, rest += piece) {
        piece = count < PIECE ? count : PIECE;
        zip->failed = zipWriteInFileInZip(zip->file, rest, (unsigned)piece) != ZIP_OK;
    }
    if (zipCloseFileInZip(zip->file) != ZIP_OK)
        zip->failed = true;
    return zip->failed ? -1 : 0;
}

int zip_end(struct zip *zip, bool keep, struct iwarp_sentence *error)
{
    struct place place = zip->save.place;
    bool failed = zipClose(zip->file, NULL) != ZIP_OK || zip->failed;
    int rc;

    errno = zip->cause;
    if (fclose(zip->out) != 0 && zip->cause == 0)
        zip->cause = errno;
    failed = failed || zip->cause != 0;
    rc = save_end(&zip->save, keep && !failed, error);
    if (rc == 0 && failed && keep)
        rc = iwarp_sentence_set(error, "%s: cannot write: %s", place.path,
                                zip->cause != 0 ? strerror(zip->cause) : "out of memory");
    free(zip);
    return rc;
}
