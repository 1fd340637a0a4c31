/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects the fragments of messages and joins them.
 */
#include "fragments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct piece {
    char *data; /* NULL: not received yet */
    size_t length;
} piece;

struct partial_message {
    partial_message *next;
    char *id;
    double since;
    size_t total, arrived, bytes;
    piece pieces[];
};

static void free_partial(partial_message *freed) {
    for (size_t i = 0; i < freed->total; i++) {
        free(freed->pieces[i].data);
    }
    free(freed->id);
    free(freed);
}

/* Removes the message that `link` points to from the list and frees it. */
static void forget(fragments *of, partial_message **link) {
    partial_message *gone = *link;
    *link = gone->next;
    of->count--;
    of->bytes -= gone->bytes;
    free_partial(gone);
}

static partial_message **find(fragments *of, const char *id) {
    partial_message **link = &of->partial;
    while (*link && strcmp((*link)->id, id) != 0) {
        link = &(*link)->next;
    }
    return link;
}

static partial_message *begin(fragments *of, const char *id, size_t total, double now) {
    partial_message *begun = calloc(1, sizeof *begun + total * sizeof(piece));
    if (!begun) {
        return NULL;
    }
    begun->id = strdup(id);
    if (!begun->id) {
        free(begun);
        return NULL;
    }
    begun->total = total;
    begun->since = now;
    begun->next = of->partial;
    of->partial = begun;
    of->count++;
    return begun;
}

static char *join(const partial_message *of) {
    char *whole = malloc(of->bytes + 1), *at = whole;
    for (size_t i = 0; i < of->total && whole; i++) {
        memcpy(at, of->pieces[i].data, of->pieces[i].length);
        at += of->pieces[i].length;
    }
    return whole;
}

/* Returns the error text for a bad fragment, or NULL. */
static const char *check(const fragments *of, const fragment_limits *limits, const partial_message *known,
                         const fragment *added) {
    long long number = added->number, total = added->total;
    if (total < 1 || (size_t)total > limits->fragments) {
        return "\"total\" is not from 1 to limits.fragments";
    }
    if (number < 0 || number >= total) {
        return "\"num\" is not from 0 to total - 1";
    }
    if (!known && of->count >= limits->messages) {
        return "too many messages are incomplete (limits.partial_messages)";
    }
    if (known && known->total != (size_t)total) {
        return "\"total\" is another than in the fragments before";
    }
    if (known && known->pieces[number].data) {
        return "this fragment came twice";
    }
    return of->bytes + added->length > limits->bytes
               ? "what is incomplete is larger than allowed (limits.message_bytes)"
               : NULL;
}

fragment_result fragments_add(fragments *of, const fragment_limits *limits, double now, const fragment *added,
                              char **message, size_t *size, char error[FRAGMENT_ERROR_SIZE]) {
    partial_message **link = find(of, added->id), *known = *link;
    const char *wrong = check(of, limits, known, added);
    if (!wrong && !known) {
        known = begin(of, added->id, (size_t)added->total, now);
        link = &of->partial;
    }
    piece *piece_added = !wrong && known ? &known->pieces[added->number] : NULL;
    if (piece_added) {
        piece_added->data = malloc(added->length + 1);
    }
    if (!piece_added || !piece_added->data) {
        snprintf(error, FRAGMENT_ERROR_SIZE, "fragment %lld of %lld: %s", added->number, added->total,
                 wrong ? wrong : "out of memory");
        if (known) {
            forget(of, link);
        }
        return FRAGMENT_REFUSED;
    }
    memcpy(piece_added->data, added->data, added->length);
    piece_added->length = added->length;
    known->bytes += added->length;
    of->bytes += added->length;
    if (++known->arrived < known->total) {
        return FRAGMENT_STORED;
    }
    *message = join(known);
    *size = known->bytes;
    forget(of, link);
    if (*message) {
        return FRAGMENT_COMPLETE;
    }
    snprintf(error, FRAGMENT_ERROR_SIZE, "out of memory");
    return FRAGMENT_REFUSED;
}

size_t fragments_expire(fragments *of, const fragment_limits *limits, double now) {
    size_t expired = 0;
    for (partial_message **link = &of->partial; *link;) {
        if (now - (*link)->since > limits->time) {
            forget(of, link);
            expired++;
        } else {
            link = &(*link)->next;
        }
    }
    return expired;
}

void fragments_free(fragments *freed) {
    while (freed->partial) {
        forget(freed, &freed->partial);
    }
}
