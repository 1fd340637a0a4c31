/* Words for messages. */
#include "methods/text.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 63 };

/* Length of the UTF-8 character at the start of the text, 0 if there is none. */
static size_t character_length(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    size_t length = c[0] < 0x80 ? 1 : c[0] >> 5 == 6 ? 2 : c[0] >> 4 == 14 ? 3 : c[0] >> 3 == 30 ? 4 : 0;
    for (size_t i = 1; i < length; i++) {
        if (c[i] >> 6 != 2) {
            return 0;
        }
    }
    bool is_overlong = (length == 2 && c[0] < 0xc2) || (length == 3 && c[0] == 0xe0 && c[1] < 0xa0) ||
                       (length == 4 && c[0] == 0xf0 && c[1] < 0x90);
    bool is_beyond = (length == 3 && c[0] == 0xed && c[1] >= 0xa0) ||
                     (length == 4 && (c[0] > 0xf4 || (c[0] == 0xf4 && c[1] >= 0x90)));
    return is_overlong || is_beyond ? 0 : length;
}

bool text_is_utf8(const char *text) {
    while (*text) {
        size_t length = character_length(text);
        if (length == 0) {
            return false;
        }
        text += length;
    }
    return true;
}

void text_make_utf8(char *text) {
    while (*text) {
        size_t length = character_length(text);
        if (length == 0) {
            *text = '?';
            length = 1;
        }
        text += length;
    }
}

const char *text_quote(const char *name, char quoted[TEXT_QUOTE_SIZE]) {
    size_t used = 0;
    quoted[used++] = '"';
    while (*name && used < TEXT_QUOTE_SIZE - 12) {
        size_t length = character_length(name);
        unsigned char c = (unsigned char)*name;
        if (length == 0 || c < 0x20 || c == 0x7f) {
            used += (size_t)snprintf(quoted + used, 5, "\\x%02x", c);
            name++;
        } else {
            memcpy(quoted + used, name, length);
            used += length;
            name += length;
        }
    }
    snprintf(quoted + used, TEXT_QUOTE_SIZE - used, "%s\"", *name ? "..." : "");
    return quoted;
}

unsigned text_distance(const char *a, const char *b) {
    size_t rows = strlen(a), columns = strlen(b);
    unsigned distance[LONGEST + 1];
    if (rows > LONGEST || columns > LONGEST) {
        return 255;
    }
    for (size_t j = 0; j <= columns; j++) {
        distance[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= rows; i++) {
        unsigned diagonal = distance[0];
        distance[0] = (unsigned)i;
        for (size_t j = 1; j <= columns; j++) {
            unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
            unsigned changed = (distance[j] < distance[j - 1] ? distance[j] : distance[j - 1]) + 1;
            diagonal = distance[j];
            distance[j] = replaced < changed ? replaced : changed;
        }
    }
    return distance[columns];
}

text_guess text_guess_start(const char *wanted) {
    /* A third of the letters may be wrong. */
    return (text_guess){.wanted = wanted, .distance = (unsigned)strlen(wanted) / 3 + 2};
}

void text_guess_consider(text_guess *guess, const char *known) {
    unsigned distance = text_distance(guess->wanted, known);
    if (distance < guess->distance) {
        guess->distance = distance;
        guess->closest = known;
    }
}
