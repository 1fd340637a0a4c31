/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Creates and shares the bytes of outgoing messages.
 */
#include "buffer.h"

#include <stdlib.h>
#include <string.h>

buffer *buffer_adopt(unsigned char *space, size_t size, bool is_binary) {
    buffer *made = space ? malloc(sizeof *made) : NULL;
    if (!made) {
        free(space);
        return NULL;
    }
    *made = (buffer){.references = 1, .is_binary = is_binary, .size = size, .space = space};
    return made;
}

buffer *buffer_copy(const void *bytes, size_t size, bool is_binary) {
    unsigned char *space = malloc(BUFFER_HEADROOM + size);
    if (space && size > 0) {
        memcpy(space + BUFFER_HEADROOM, bytes, size);
    }
    return buffer_adopt(space, size, is_binary);
}

buffer *buffer_share(buffer *shared) {
    shared->references++;
    return shared;
}

void buffer_release(buffer *released) {
    if (!released || --released->references > 0) {
        return;
    }
    free(released->space);
    free(released);
}

bool buffer_list_add(buffer_list *to, buffer *added) {
    if (!added) {
        return false;
    }
    if (to->count == to->capacity) {
        size_t capacity = to->capacity > 0 ? 2 * to->capacity : 1;
        buffer **items = realloc(to->items, capacity * sizeof(buffer *));
        if (!items) {
            buffer_release(added);
            return false;
        }
        to->items = items;
        to->capacity = capacity;
    }
    to->items[to->count++] = added;
    return true;
}

void buffer_list_free(buffer_list *freed) {
    for (size_t i = 0; i < freed->count; i++) {
        buffer_release(freed->items[i]);
    }
    free(freed->items);
    *freed = (buffer_list){0};
}

void text_stream_open(text_stream *opened) {
    static const char headroom[BUFFER_HEADROOM];
    *opened = (text_stream){0};
    opened->stream = open_memstream(&opened->space, &opened->size);
    if (opened->stream) {
        fwrite(headroom, 1, sizeof headroom, opened->stream);
    }
}

buffer *text_stream_finish(text_stream *finished) {
    if (!finished->stream) {
        return NULL;
    }
    bool is_whole = ferror(finished->stream) == 0;
    if (fclose(finished->stream) != 0 || !is_whole) {
        free(finished->space);
        return NULL;
    }
    return buffer_adopt((unsigned char *)finished->space, finished->size - BUFFER_HEADROOM, false);
}
