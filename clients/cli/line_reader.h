/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the lines of a file or of standard input one at a time, however long the input is.
 */
#ifndef CLI_LINE_READER_H
#define CLI_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

enum { MAX_LINE = 16 << 20 };

typedef struct line_reader {
    int descriptor;
    char *buffer;
    size_t start, end, capacity;
    bool at_end;
    int error; /* errno of a failed read, or EMSGSIZE for a line of more than MAX_LINE bytes */
} line_reader;

typedef enum line_result {
    LINE_READ,
    LINE_NONE_YET, /* no whole line has arrived yet */
    LINE_END,      /* end of the input */
    LINE_ERROR,    /* see `error` */
} line_result;

/* Opens a file, or standard input for "-". Returns false and sets errno on failure. */
bool line_reader_open(line_reader *opened, const char *path);
void line_reader_close(line_reader *closed);

/* Reads the next line without its end and appends a zero byte. The line is valid until the next call. If `may_wait` is
 * false, returns LINE_NONE_YET instead of waiting for input. */
line_result line_reader_next(line_reader *reader, bool may_wait, char **line, size_t *length);

#endif
