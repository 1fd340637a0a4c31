/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads files as a whole.
 */
#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest size of a file, in bytes. */
static const size_t MAX_FILE = (size_t)1 << 30;

/* Reads a stream to its end and appends a zero byte. Returns NULL and sets errno on failure. The caller frees the
 * text. */
static char *read_stream(FILE *stream, size_t *size) {
    size_t capacity = 1 << 16;
    char *text = malloc(capacity);
    *size = 0;
    while (text) {
        *size += fread(text + *size, 1, capacity - *size - 1, stream);
        if (ferror(stream) || *size + 1 < capacity) {
            break;
        }
        capacity *= 2;
        char *grown = capacity <= MAX_FILE ? realloc(text, capacity) : NULL;
        if (!grown) {
            free(text);
            errno = capacity <= MAX_FILE ? ENOMEM : EFBIG;
            return NULL;
        }
        text = grown;
    }
    if (text && ferror(stream)) {
        free(text);
        return NULL;
    }
    if (text) {
        text[*size] = '\0';
    }
    return text;
}

exit_code read_file(const char *path, char **bytes, size_t *size) {
    *size = 0;
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    *bytes = stream ? read_stream(stream, size) : NULL;
    int error = errno;
    if (stream && stream != stdin) {
        fclose(stream);
    }
    return *bytes ? EXIT_OK : complain(EXIT_USAGE, "%s cannot be read: %s", path, strerror(error));
}

exit_code read_text(const char *path, char **text, size_t *size) {
    exit_code code = read_file(path, text, size);
    if (code == EXIT_OK && strlen(*text) != *size) {
        return complain(EXIT_USAGE, "%s is no text: there is a zero byte at offset %zu", path, strlen(*text));
    }
    return code;
}

bool is_json_text(const char *argument) {
    return argument[0] == '{' || argument[0] == '[';
}

json_t *parse_json(const char *path, const char *text, size_t size) {
    json_error_t error;
    json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!value) {
        complain(EXIT_USAGE, "%s%snot JSON: line %d, column %d: %s", path ? path : "", path ? " is " : "", error.line,
                 error.column, error.text);
    }
    return value;
}

json_t *read_json(const char *argument) {
    char *text = NULL;
    size_t size;
    if (is_json_text(argument)) {
        return parse_json(NULL, argument, strlen(argument));
    }
    json_t *value = read_file(argument, &text, &size) == EXIT_OK ? parse_json(argument, text, size) : NULL;
    free(text);
    return value;
}
