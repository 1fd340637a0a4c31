/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Escapes untrusted text so that terminals and logs may show it.
 */
#include "printable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad}, {0x061c, 0x061c}, {0x180e, 0x180e},   {0x200b, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
};

size_t printable_decode(const char *text, size_t length, uint32_t *number) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)text[0];
    size_t size = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
    if (size > length) {
        return 0;
    }
    *number = size < 2 ? lead : lead & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte >> 6 != 2) {
            return 0;
        }
        *number = *number << 6 | (byte & 0x3f);
    }
    bool is_surrogate = *number >= 0xd800 && *number <= 0xdfff;
    return size == 0 || *number < smallest[size] || is_surrogate || *number > 0x10ffff ? 0 : size;
}

bool printable_is(uint32_t number) {
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        if (number >= hidden[i].first && number <= hidden[i].last) {
            return false;
        }
    }
    return true;
}

size_t printable_next(const char *text, size_t length, char escaped[PRINTABLE_ESCAPE]) {
    uint32_t number;
    size_t size = printable_decode(text, length, &number);
    if (size > 0 && printable_is(number)) {
        memcpy(escaped, text, size);
        escaped[size] = '\0';
    } else if (size < 2) {
        snprintf(escaped, PRINTABLE_ESCAPE, "\\x%02x", (unsigned)(unsigned char)text[0]);
    } else {
        snprintf(escaped, PRINTABLE_ESCAPE, number > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)number);
    }
    return size > 0 ? size : 1;
}

void printable_text(const char *text, char *printed, size_t size) {
    size_t used = 0, left = strlen(text);
    while (left > 0) {
        char escaped[PRINTABLE_ESCAPE];
        size_t consumed = printable_next(text, left, escaped), length = strlen(escaped);
        if (used + length >= size) {
            break;
        }
        memcpy(printed + used, escaped, length);
        used += length;
        text += consumed;
        left -= consumed;
    }
    printed[used] = '\0';
}

char *printable_copy(const char *text) {
    size_t size = 5 * strlen(text) + 1; /* the longest escapes have four bytes for one, and ten for four */
    char *printed = malloc(size);
    if (printed) {
        printable_text(text, printed, size);
    }
    return printed;
}

char *printable_format(const char *format, va_list arguments) {
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) {
        return NULL;
    }
    char *printed = printable_copy(text);
    free(text);
    return printed;
}
