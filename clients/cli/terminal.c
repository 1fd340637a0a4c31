/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Escapes control characters in all that goes to standard output and standard error.
 */
#include "terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "printable.h"

enum { BUFFER_SIZE = 4096, CHARACTER = 4 };

/* One of the two streams, with an incomplete character and the buffer of escaped output. */
typedef struct output {
    int descriptor;
    size_t held; /* number of bytes of an incomplete character in `begun` */
    char begun[CHARACTER];
    char buffer[BUFFER_SIZE];
    size_t used;
} output;

/* Function that is called before text goes to standard error; NULL: none. */
static void (*before_messages)(void *context);
static void *before_context;

static output outputs[] = {{.descriptor = STDOUT_FILENO}, {.descriptor = STDERR_FILENO}};

static bool write_all(int descriptor, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return false;
        }
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

static bool flush(output *to) {
    size_t size = to->used;
    to->used = 0;
    return write_all(to->descriptor, to->buffer, size);
}

/* Returns the number of bytes at the start of the text that need no escape: printable ASCII, line breaks and tabs. */
static size_t plain_length(const char *text, size_t length) {
    size_t plain = 0;
    while (plain < length &&
           ((text[plain] >= ' ' && text[plain] <= '~') || text[plain] == '\n' || text[plain] == '\t')) {
        plain++;
    }
    return plain;
}

/* Appends a run of plain bytes, or the next character escaped, to the buffer. Returns the number of bytes consumed, or
 * 0 after an error. */
static size_t write_next(output *to, const char *text, size_t length) {
    char escaped[PRINTABLE_ESCAPE];
    size_t plain = plain_length(text, length < sizeof to->buffer ? length : sizeof to->buffer);
    size_t written = plain > 0 ? plain : printable_next(text, length, escaped);
    size_t size = plain > 0 ? plain : strlen(escaped);
    if (to->used + size > sizeof to->buffer && !flush(to)) {
        return 0;
    }
    memcpy(to->buffer + to->used, plain > 0 ? text : escaped, size);
    to->used += size;
    return written;
}

/* Returns true if the bytes are the beginning of a character that later output may complete. */
static bool is_begun(const char *text, size_t length) {
    unsigned char lead = (unsigned char)text[0];
    size_t size = lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 1;
    for (size_t i = 1; i < length; i++) {
        if ((unsigned char)text[i] >> 6 != 2) {
            return false;
        }
    }
    return length < size;
}

/* Appends bytes, escaped, up to an incomplete character at their end. Returns the number of bytes of this character, or
 * SIZE_MAX after an error. */
static size_t write_escaped(output *to, const char *bytes, size_t size) {
    while (size > 0 && !is_begun(bytes, size)) {
        size_t written = write_next(to, bytes, size);
        if (written == 0) {
            return SIZE_MAX;
        }
        bytes += written;
        size -= written;
    }
    return size;
}

static ssize_t write_printable(void *cookie, const char *bytes, size_t size) {
    output *to = cookie;
    size_t next = 0, left;
    if (to->descriptor == STDERR_FILENO && before_messages) {
        before_messages(before_context);
    }
    /* Add single bytes to the incomplete character until it is a whole character or malformed. */
    while (to->held > 0 && next < size) {
        to->begun[to->held++] = bytes[next++];
        if ((left = write_escaped(to, to->begun, to->held)) == SIZE_MAX) {
            return -1;
        }
        memmove(to->begun, to->begun + to->held - left, left);
        to->held = left;
    }
    if (next < size) {
        if ((left = write_escaped(to, bytes + next, size - next)) == SIZE_MAX) {
            return -1;
        }
        memcpy(to->begun, bytes + size - left, left);
        to->held = left;
    }
    return flush(to) ? (ssize_t)size : -1;
}

void terminal_open(void) {
    const cookie_io_functions_t functions = {.write = write_printable};
    FILE *out = fopencookie(&outputs[0], "w", functions), *error = fopencookie(&outputs[1], "w", functions);
    if (!out || !error) {
        /* Close both streams, since unescaped output could do harm. */
        fclose(stdout);
        fclose(stderr);
        return;
    }
    setvbuf(out, NULL, isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF, BUFSIZ);
    setvbuf(error, NULL, _IOLBF, BUFSIZ);
    stdout = out;
    stderr = error;
}

void terminal_before_messages(void (*called)(void *context), void *context) {
    before_messages = called;
    before_context = context;
}

void terminal_control(FILE *to, const char *format, ...) {
    char sequence[64];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(sequence, sizeof sequence, format, arguments);
    va_end(arguments);
    fflush(to);
    if (length > 0 && (size_t)length < sizeof sequence) {
        (void)write_all(to == stdout ? STDOUT_FILENO : STDERR_FILENO, sequence, (size_t)length);
    }
}
