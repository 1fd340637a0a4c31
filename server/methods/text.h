/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words for messages: names from outside made printable, and the known name that is closest to a wrong one.
 */
#ifndef SERVER_METHODS_TEXT_H
#define SERVER_METHODS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { TEXT_QUOTE_SIZE = 128 };

/* Writes a name in double quotes, made printable (dynamics/text.h), a long one cut. Returns `quoted`. */
const char *text_quote(const char *name, char quoted[TEXT_QUOTE_SIZE]);

/* Number of insertions, deletions and replacements of a byte that turn one name into the other; at most 255, as long
 * names count. */
unsigned text_distance(const char *a, const char *b);

/* Keeps the closest of several names, if it is close enough to be meant. */
typedef struct text_guess {
    const char *wanted;
    const char *closest; /* NULL: none */
    unsigned distance;
} text_guess;

text_guess text_guess_start(const char *wanted);
void text_guess_consider(text_guess *guess, const char *known);

#endif
