/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * URDF documents in files.
 */
#include <dynamics/urdf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../model/error.h"

/* Room for the first part of a file, in bytes. It doubles until the file fits. */
enum { FIRST_ROOM = 1 << 16 };

/* Returns an error about a file that cannot be opened or read, for the reason `number` of errno. */
static dyn_status fail_with_reason(const char *path, int number, dyn_error *error) {
    char buffer[128];
    if (number == ENOMEM) {
        return dyn_error_memory(error);
    }
    dyn_status status = number == ENOENT || number == ENOTDIR ? DYN_NOT_FOUND : DYN_FAILED_PRECONDITION;
    return dyn_error_set(error, status, "path", "%s cannot be read: %s", path,
                         strerror_r(number, buffer, sizeof buffer));
}

/* Doubles the room of a text, up to one byte more than a document may have. Returns false when out of memory. */
static bool grow(char **text, size_t *room) {
    size_t more = *room == 0 ? FIRST_ROOM : 2 * *room;
    more = more > DYN_URDF_MAX_BYTES + 1 ? DYN_URDF_MAX_BYTES + 1 : more;
    char *grown = realloc(*text, more);
    if (grown) {
        *text = grown;
        *room = more;
    }
    return grown != NULL;
}

/* Reads a stream to its end, or up to one byte more than a document may have. The caller frees the text, also after an
 * error. Returns 0 or the number of errno. */
static int read_stream(FILE *stream, char **text, size_t *length) {
    size_t room = 0;
    *length = 0;
    while (*length <= DYN_URDF_MAX_BYTES && !feof(stream)) {
        if (*length == room && !grow(text, &room)) {
            return ENOMEM;
        }
        errno = 0;
        *length += fread(*text + *length, 1, room - *length, stream);
        if (ferror(stream)) {
            return errno != 0 ? errno : EIO;
        }
    }
    return 0;
}

dyn_status dyn_model_load_file(const char *path, const dyn_build_options *options, dyn_report *report,
                               dyn_model **model, dyn_error *error) {
    char *text = NULL;
    size_t length = 0;
    *model = NULL;
    if (!path) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "path", "path is NULL");
    }
    FILE *stream = fopen(path, "rbe");
    int number = stream ? read_stream(stream, &text, &length) : errno;
    if (stream) {
        fclose(stream);
    }
    dyn_status status = DYN_OK;
    if (number != 0) {
        status = fail_with_reason(path, number, error);
    } else if (length > DYN_URDF_MAX_BYTES) {
        status = dyn_error_set(error, DYN_RESOURCE_EXHAUSTED, "path",
                               "%s has more than %d bytes, the most that are read", path, DYN_URDF_MAX_BYTES);
    } else {
        status = dyn_urdf_load(text, length, options, report, model, error);
    }
    free(text);
    return status;
}
