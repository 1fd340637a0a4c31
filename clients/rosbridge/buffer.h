/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes of one WebSocket message, shared by all peers to which it is sent.
 */
#ifndef ROSBRIDGE_BUFFER_H
#define ROSBRIDGE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes before the message, in which libwebsockets writes its header. */
enum { BUFFER_HEADROOM = 16 };

typedef struct buffer {
    unsigned references;
    bool is_binary;
    size_t size;
    unsigned char *space; /* BUFFER_HEADROOM bytes, then the message's */
} buffer;

static inline unsigned char *buffer_bytes(const buffer *of) {
    return of->space + BUFFER_HEADROOM;
}

/* Returns a buffer with one reference that owns `space`, a block of malloc with BUFFER_HEADROOM and `size` bytes.
 * Returns NULL when out of memory; `space` is then freed. */
buffer *buffer_adopt(unsigned char *space, size_t size, bool is_binary);
buffer *buffer_copy(const void *bytes, size_t size, bool is_binary);
buffer *buffer_share(buffer *shared);
void buffer_release(buffer *released);

/* Messages in the order in which they will be sent. */
typedef struct buffer_list {
    size_t count, capacity;
    buffer **items;
} buffer_list;

/* Appends a buffer and consumes the caller's reference, also on failure. Returns false when out of memory, or for NULL.
 */
bool buffer_list_add(buffer_list *to, buffer *added);
void buffer_list_free(buffer_list *freed);

/* Stream of text that becomes a buffer. Its first bytes are the headroom. */
typedef struct text_stream {
    FILE *stream; /* NULL: out of memory */
    char *space;
    size_t size;
} text_stream;

void text_stream_open(text_stream *opened);

/* Closes the stream and returns its buffer, or NULL if memory ran out. */
buffer *text_stream_finish(text_stream *finished);

#endif
