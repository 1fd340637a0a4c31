/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue of outgoing messages of one peer.
 *
 * Control messages (answers, status) are never dropped; a peer for which too many of them accumulate is disconnected.
 * Data (of topics) may be dropped, the oldest first.
 */
#ifndef ROSBRIDGE_OUTBOX_H
#define ROSBRIDGE_OUTBOX_H

#include "buffer.h"

typedef struct outbox_limits {
    size_t control_messages, control_bytes; /* beyond either the peer is disconnected */
    size_t data_bytes;                      /* beyond it the oldest data is dropped */
} outbox_limits;

typedef struct outbox_entry outbox_entry;

typedef struct outbox {
    outbox_limits limits;
    outbox_entry *first, *last;
    size_t control_messages, control_bytes, data_messages, data_bytes;
    size_t lost;   /* data dropped since outbox_report_loss */
    bool overflow; /* control messages exceed a limit */
} outbox;

void outbox_free(outbox *freed);

/* Appends a control message and consumes the reference. Sets `overflow` beyond the limits. Returns false when out of
 * memory. */
bool outbox_add_control(outbox *to, buffer *message);

/* Appends data of a source (a subscription), of which at most `source_limit` messages wait (0: any number). Consumes
 * the reference. Returns false when out of memory. */
bool outbox_add_data(outbox *to, buffer *message, const void *source, size_t source_limit);

/* Drops the data of a source. */
void outbox_drop_source(outbox *from, const void *source);

/* Returns the next message, whose reference passes to the caller, or NULL. */
buffer *outbox_next(outbox *from);

/* Returns once the number of messages lost in an episode that is over (the queue is empty), else 0. */
size_t outbox_report_loss(outbox *from);

#endif
