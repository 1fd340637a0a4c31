/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Printable text, and escapes for other characters.
 */
#include <dynamics/text.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

enum { ESCAPE_SIZE = 16 };

static const struct {
    uint32_t first, last;
} unprintable[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x00ad, 0x00ad}, {0x061c, 0x061c}, {0x180e, 0x180e},   {0x200b, 0x200f},
    {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
};

size_t utf8_decode(const unsigned char *text, uint32_t *number) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = text[0];
    size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
    *number = length < 2 ? lead : lead & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 2) {
            return 0;
        }
        *number = *number << 6 | (text[i] & 0x3f);
    }
    bool is_surrogate = *number >= 0xd800 && *number <= 0xdfff;
    return length == 0 || *number < smallest[length] || is_surrogate || *number > 0x10ffff ? 0 : length;
}

static bool is_printable(uint32_t number) {
    for (size_t i = 0; i < sizeof unprintable / sizeof unprintable[0]; i++) {
        if (number >= unprintable[i].first && number <= unprintable[i].last) {
            return false;
        }
    }
    return true;
}

size_t dyn_text_character(const char *text) {
    uint32_t number;
    size_t length = utf8_decode((const unsigned char *)text, &number);
    return length > 0 && is_printable(number) ? length : 0;
}

bool dyn_text_is_printable(const char *text) {
    size_t length;
    while ((length = dyn_text_character(text)) > 0) {
        text += length;
    }
    return *text == '\0';
}

/* Writes the next character of the text, escaped if it is not printable. Returns the length of the character in the
 * text. */
static size_t escape_character(const char *text, char escaped[ESCAPE_SIZE]) {
    uint32_t number;
    size_t length = utf8_decode((const unsigned char *)text, &number);
    if (length > 0 && is_printable(number)) {
        memcpy(escaped, text, length);
        escaped[length] = '\0';
    } else if (length < 2) {
        snprintf(escaped, ESCAPE_SIZE, "\\x%02x", (unsigned)(unsigned char)text[0]);
    } else {
        snprintf(escaped, ESCAPE_SIZE, number > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)number);
    }
    return length > 0 ? length : 1;
}

size_t dyn_text_print(const char *text, char *printed, size_t size) {
    size_t used = 0, cut = 0; /* `cut`: length up to which "..." still fits */
    while (*text != '\0') {
        char escaped[ESCAPE_SIZE];
        text += escape_character(text, escaped);
        size_t length = strlen(escaped);
        if (used + length >= size) {
            used = cut;
            length = size > sizeof "..." ? 3 : 0;
            memcpy(printed + used, "...", length);
            used += length;
            break;
        }
        memcpy(printed + used, escaped, length);
        used += length;
        cut = used + sizeof "..." <= size ? used : cut;
    }
    printed[used] = '\0';
    return used;
}

void dyn_text_free(char *text) {
    free(text);
}
