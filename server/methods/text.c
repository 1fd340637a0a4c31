/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of messages: external names made printable, and the known name closest to a wrong one. */
#include "methods/text.h"

#include <dynamics/text.h>
#include <stdio.h>
#include <string.h>

/* Largest number of bytes of a name that text_distance compares. */
enum { LONGEST = 63 };

const char *text_quote(const char *name, char quoted[TEXT_QUOTE_SIZE]) {
    quoted[0] = '"';
    size_t length = dyn_text_print(name, quoted + 1, TEXT_QUOTE_SIZE - 2);
    quoted[1 + length] = '"';
    quoted[2 + length] = '\0';
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
    /* Allows errors in a third of the letters. */
    return (text_guess){.wanted = wanted, .distance = (unsigned)strlen(wanted) / 3 + 2};
}

void text_guess_consider(text_guess *guess, const char *known) {
    unsigned distance = text_distance(guess->wanted, known);
    if (distance < guess->distance) {
        guess->distance = distance;
        guess->closest = known;
    }
}

const char *text_guess_hint(const text_guess *guess, const char *otherwise, char hint[TEXT_HINT_SIZE]) {
    char quoted[TEXT_QUOTE_SIZE];
    if (!guess->closest) {
        return otherwise;
    }
    snprintf(hint, TEXT_HINT_SIZE, "did you mean %s?", text_quote(guess->closest, quoted));
    return hint;
}
