/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suggests an existing name for one that does not exist.
 */
#ifndef CLI_SUGGESTION_H
#define CLI_SUGGESTION_H

#include <stddef.h>

/* The word that was typed, its length, and the closest name so far; `closest` is NULL while no name resembles the word.
 */
typedef struct suggestion {
    const char *wanted;
    size_t length;
    const char *closest;
    size_t distance;
} suggestion;

/* Compares the word with an existing name, and stores the name if it is the closest so far. A name resembles the word
 * if it begins with the word, or if their distance (Levenshtein 1966: letters inserted, removed or exchanged) is at
 * most a third of the word's letters plus one, and less than all of them. */
void suggestion_consider(suggestion *made, const char *name);

#endif
