/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue of outgoing messages of one peer.
 *
 * Control messages (answers, status) are never dropped: when more of them pile up than allowed, the peer is to be cut.
 * Data (of topics) may be dropped, the oldest first.
 */
#ifndef ROSBRIDGE_OUTBOX_H
#define ROSBRIDGE_OUTBOX_H

#include "buffer.h"

typedef struct outbox_limits {
    size_t control_messages, control_bytes; /* beyond either the peer is cut */
    size_t data_bytes;                      /* beyond it the oldest data is dropped */
} outbox_limits;

typedef struct outbox_entry outbox_entry;

typedef struct outbox {
    outbox_limits limits;
    outbox_entry *first, *last;
    size_t control_messages, control_bytes, data_messages, data_bytes;
    size_t lost;   /* data dropped since outbox_take_loss */
    bool overflow; /* control messages have piled up */
} outbox;

void outbox_free(outbox *freed);

/* Adds an answer; takes the reference. Sets `overflow` beyond the limits. False when out of memory. */
bool outbox_add_control(outbox *to, buffer *message);

/* Adds data of a source (a subscription), of which at most `source_limit` messages wait (0: any number). Takes the
 * reference. */
bool outbox_add_data(outbox *to, buffer *message, const void *source, size_t source_limit);

/* Forgets the data of a source. */
void outbox_drop_source(outbox *from, const void *source);

/* The next message, whose reference the caller takes; NULL: none. */
buffer *outbox_next(outbox *from);

/* The messages lost in an episode that is over (nothing waits any more), once; else 0. */
size_t outbox_take_loss(outbox *from);

#endif
