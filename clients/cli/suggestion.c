/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suggests an existing name for one that does not exist.
 */
#include "suggestion.h"

#include <string.h>

enum { MOST_LETTERS = 32 };

/* Returns the distance of two words of at most MOST_LETTERS: the number of letters to insert, remove or exchange. */
static size_t distance_of(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t row[MOST_LETTERS + 1];
    for (size_t j = 0; j <= b_length; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t above = row[j], left = row[j - 1];
            size_t exchanged = diagonal + (a[i - 1] != b[j - 1]);
            size_t least = above < left ? above + 1 : left + 1;
            row[j] = exchanged < least ? exchanged : least;
            diagonal = above;
        }
    }
    return row[b_length];
}

void suggestion_consider(suggestion *made, const char *name) {
    size_t length = strlen(name);
    if (made->length == 0 || made->length > MOST_LETTERS || length > MOST_LETTERS) {
        return;
    }
    size_t distance = distance_of(made->wanted, made->length, name, length);
    if (distance > 0 && strncmp(made->wanted, name, made->length) == 0) {
        distance = 1;
    } else if (distance >= made->length) {
        return;
    }
    if (distance <= 1 + made->length / 3 && (!made->closest || distance < made->distance)) {
        made->closest = name;
        made->distance = distance;
    }
}
