/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of a file or of standard input, one at a time, however long the input is.
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
    LINE_NONE_YET, /* no whole line has arrived so far */
    LINE_END,      /* the input is over */
    LINE_ERROR,    /* see `error` */
} line_result;

/* "-" is standard input. False: errno says why. */
bool line_reader_open(line_reader *opened, const char *path);
void line_reader_close(line_reader *closed);

/* Gives the next line without its end, followed by a zero byte; it holds until the next call. With `may_wait` false,
 * LINE_NONE_YET comes in place of waiting for input. */
line_result line_reader_next(line_reader *reader, bool may_wait, char **line, size_t *length);

#endif
