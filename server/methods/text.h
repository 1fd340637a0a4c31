/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts of messages: external names made printable, and the known name closest to a wrong one.
 */
#ifndef SERVER_METHODS_TEXT_H
#define SERVER_METHODS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes of a quoted name and of a hint, in bytes. */
enum { TEXT_QUOTE_SIZE = 128, TEXT_HINT_SIZE = TEXT_QUOTE_SIZE + 16 };

/* Returns the text without const, for a message of protobuf-c. The text stays read-only. */
static inline char *text_constant(const char *text) {
    return (char *)(uintptr_t)text;
}

/* Writes a name in double quotes, made printable (dynamics/text.h) and truncated if it is long. Returns `quoted`. */
const char *text_quote(const char *name, char quoted[TEXT_QUOTE_SIZE]);

/* Returns the least number of insertions, deletions and replacements of a byte that turn one name into the other; 255
 * if a name is longer than 63 bytes. */
unsigned text_distance(const char *a, const char *b);

/* Search for the closest of several names to a wanted one, if it is close enough. */
typedef struct text_guess {
    const char *wanted;
    const char *closest; /* NULL: no name is close so far */
    unsigned distance;
} text_guess;

/* Starts a search. `wanted` must live as long as the result. */
text_guess text_guess_start(const char *wanted);

/* Compares a known name with the wanted one. `known` must live as long as the guess. */
void text_guess_consider(text_guess *guess, const char *known);

/* Returns the end of an error message: "did you mean" and the closest name, written to `hint`, or `otherwise` if no
 * name is close. */
const char *text_guess_hint(const text_guess *guess, const char *otherwise, char hint[TEXT_HINT_SIZE]);

#endif
