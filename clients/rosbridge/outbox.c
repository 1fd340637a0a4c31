/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues the outgoing messages of a peer, and drops the oldest data beyond the limits.
 */
#include "outbox.h"

#include <stdlib.h>

struct outbox_entry {
    outbox_entry *next;
    buffer *message;
    bool is_data;
    const void *source;
};

static bool append(outbox *to, buffer *message, bool is_data, const void *source) {
    outbox_entry *entry = message ? malloc(sizeof *entry) : NULL;
    if (!entry) {
        buffer_release(message);
        return false;
    }
    *entry = (outbox_entry){.message = message, .is_data = is_data, .source = source};
    if (to->last) {
        to->last->next = entry;
    } else {
        to->first = entry;
    }
    to->last = entry;
    *(is_data ? &to->data_messages : &to->control_messages) += 1;
    *(is_data ? &to->data_bytes : &to->control_bytes) += message->size;
    return true;
}

/* Removes the entry that `link` points to from the list and returns its message; `before` is the previous entry, or
 * NULL. */
static buffer *remove_entry(outbox *from, outbox_entry **link, outbox_entry *before) {
    outbox_entry *entry = *link;
    buffer *message = entry->message;
    *link = entry->next;
    if (from->last == entry) {
        from->last = before;
    }
    *(entry->is_data ? &from->data_messages : &from->control_messages) -= 1;
    *(entry->is_data ? &from->data_bytes : &from->control_bytes) -= message->size;
    free(entry);
    return message;
}

/* Drops the oldest data of one source, or of any (NULL). Returns false if there is none. */
static bool drop_oldest(outbox *from, const void *source) {
    outbox_entry *before = NULL;
    for (outbox_entry **link = &from->first; *link; before = *link, link = &(*link)->next) {
        if ((*link)->is_data && (!source || (*link)->source == source)) {
            buffer_release(remove_entry(from, link, before));
            from->lost++;
            return true;
        }
    }
    return false;
}

static size_t count_source(const outbox *of, const void *source) {
    size_t count = 0;
    for (const outbox_entry *entry = of->first; entry; entry = entry->next) {
        count += entry->is_data && entry->source == source;
    }
    return count;
}

void outbox_free(outbox *freed) {
    while (freed->first) {
        buffer_release(outbox_next(freed));
    }
}

bool outbox_add_control(outbox *to, buffer *message) {
    if (!append(to, message, false, NULL)) {
        return false;
    }
    if (to->control_messages > to->limits.control_messages || to->control_bytes > to->limits.control_bytes) {
        to->overflow = true;
    }
    return true;
}

bool outbox_add_data(outbox *to, buffer *message, const void *source, size_t source_limit) {
    if (!message) {
        return false;
    }
    if (source_limit > 0 && to->data_messages >= source_limit && count_source(to, source) >= source_limit) {
        drop_oldest(to, source);
    }
    while (to->data_bytes > 0 && to->data_bytes + message->size > to->limits.data_bytes) {
        drop_oldest(to, NULL);
    }
    return append(to, message, true, source);
}

void outbox_drop_source(outbox *from, const void *source) {
    outbox_entry *before = NULL;
    for (outbox_entry **link = &from->first; *link;) {
        if ((*link)->is_data && (*link)->source == source) {
            buffer_release(remove_entry(from, link, before));
        } else {
            before = *link;
            link = &(*link)->next;
        }
    }
}

buffer *outbox_next(outbox *from) {
    return from->first ? remove_entry(from, &from->first, NULL) : NULL;
}

size_t outbox_report_loss(outbox *from) {
    size_t lost = from->data_messages == 0 ? from->lost : 0;
    if (lost > 0) {
        from->lost = 0;
    }
    return lost;
}
