/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The name that may be meant by one that does not exist.
 */
#ifndef CLI_SUGGESTION_H
#define CLI_SUGGESTION_H

#include <stddef.h>

/* Begins with the word that was given and its length; `closest` is NULL while no name resembles it. */
typedef struct suggestion {
    const char *wanted;
    size_t length;
    const char *closest;
    size_t distance;
} suggestion;

/* Considers one of the names that there are: one that begins with the word, or differs from it by a third of its
 * letters, inserted, left out or exchanged (Levenshtein 1966), and one more, but not by all of them. */
void suggestion_consider(suggestion *made, const char *name);

#endif
