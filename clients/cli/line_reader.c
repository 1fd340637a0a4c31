/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the lines of a file or of standard input one at a time.
 */
#include "line_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool line_reader_open(line_reader *opened, const char *path) {
    *opened = (line_reader){.descriptor = -1};
    opened->descriptor = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    return opened->descriptor >= 0;
}

void line_reader_close(line_reader *closed) {
    if (closed->descriptor > STDIN_FILENO) {
        close(closed->descriptor);
    }
    free(closed->buffer);
    *closed = (line_reader){.descriptor = -1};
}

/* Makes room in the buffer for more input and a zero byte after it. Returns false and sets reader->error on failure. */
static bool make_room(line_reader *reader) {
    if (reader->start > 0) {
        memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
        reader->end -= reader->start;
        reader->start = 0;
    }
    if (reader->end + 1 < reader->capacity) {
        return true;
    }
    if (reader->end > MAX_LINE) {
        reader->error = EMSGSIZE;
        return false;
    }
    size_t capacity = reader->capacity > 0 ? 2 * reader->capacity : 64 << 10;
    char *grown = realloc(reader->buffer, capacity);
    if (!grown) {
        reader->error = ENOMEM;
        return false;
    }
    reader->buffer = grown;
    reader->capacity = capacity;
    return true;
}

/* Reads the available input into the buffer, or waits for input. Returns false and sets reader->error on failure. */
static bool read_more(line_reader *reader) {
    if (!make_room(reader)) {
        return false;
    }
    ssize_t got;
    do {
        got = read(reader->descriptor, reader->buffer + reader->end, reader->capacity - reader->end - 1);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        reader->error = errno;
        return false;
    }
    reader->at_end = got == 0;
    reader->end += (size_t)got;
    return true;
}

static bool has_input(const line_reader *reader) {
    struct pollfd poll_for = {.fd = reader->descriptor, .events = POLLIN};
    return poll(&poll_for, 1, 0) != 0;
}

/* Returns the unread part of the buffer up to `end` as a line, without its line break. */
static line_result return_line(line_reader *reader, char *end, char **line, size_t *length) {
    *line = reader->buffer + reader->start;
    reader->start = (size_t)(end - reader->buffer) + 1;
    if (end > *line && end[-1] == '\r') {
        end--;
    }
    *end = '\0';
    *length = (size_t)(end - *line);
    return LINE_READ;
}

line_result line_reader_next(line_reader *reader, bool may_wait, char **line, size_t *length) {
    size_t searched = 0;
    for (;;) {
        size_t held = reader->end - reader->start;
        char *from = held > 0 ? reader->buffer + reader->start : NULL;
        char *newline = held > searched ? memchr(from + searched, '\n', held - searched) : NULL;
        if (newline) {
            return return_line(reader, newline, line, length);
        }
        if (reader->at_end) {
            if (held == 0) {
                return LINE_END;
            }
            /* Return the last line, which has no line break. */
            line_result last = return_line(reader, reader->buffer + reader->end, line, length);
            reader->start = reader->end;
            return last;
        }
        searched = held;
        if (!may_wait && !has_input(reader)) {
            return LINE_NONE_YET;
        }
        if (!read_more(reader)) {
            return LINE_ERROR;
        }
    }
}
