/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the file of a recording message by message.
 */
#include "recording_file.h"

#include <stdlib.h>
#include <string.h>

/* MOST_BYTES: size of the largest message that a daemon writes. VARINT_BYTES: size of the longest varint. */
enum { MOST_BYTES = 64 << 20, VARINT_BYTES = 10 };

/* Fetches the next part of the file and appends it to the buffered bytes. Reports errors. */
static exit_code fetch(recording_file *file) {
    dyn_client_error error;
    dyn_client_recording_part *part;
    if (dyn_client_fetch_recording(file->client, file->name, file->fetched, 0, file->timeout, &part, &error) !=
        DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    exit_code code = EXIT_OK;
    if (file->buffered > 0) {
        memmove(file->bytes, file->bytes + file->begin, file->buffered);
    }
    file->begin = 0;
    if (file->buffered + part->count > file->capacity) {
        size_t capacity = 2 * (file->buffered + part->count);
        uint8_t *bytes = realloc(file->bytes, capacity);
        file->bytes = bytes ? bytes : file->bytes;
        file->capacity = bytes ? capacity : file->capacity;
        code = bytes ? EXIT_OK : complain_memory();
    }
    if (code == EXIT_OK && part->count > 0) {
        memcpy(file->bytes + file->buffered, part->bytes, part->count);
        file->buffered += part->count;
    }
    file->fetched += part->count;
    file->size = part->count > 0 ? part->size : file->fetched;
    file->has_fetched = true;
    dyn_client_recording_part_free(part);
    return code;
}

/* Fetches parts until at least `count` bytes, or all remaining bytes of the file, are buffered. Reports errors. */
static exit_code buffer(recording_file *file, size_t count) {
    exit_code code = EXIT_OK;
    while (code == EXIT_OK && file->buffered < count && (!file->has_fetched || file->fetched < file->size)) {
        code = fetch(file);
    }
    return code;
}

static exit_code complain_damage(const recording_file *file) {
    return complain(EXIT_FAILED, "recording %s is damaged at byte %llu", file->name,
                    (unsigned long long)(file->fetched - file->buffered));
}

/* Reads the length of a message, a varint, without consuming it. Returns the number of its bytes, or 0 if it is cut
 * off, malformed, or larger than MOST_BYTES. */
static size_t read_length(const recording_file *file, size_t *length) {
    uint64_t value = 0;
    for (size_t i = 0; i < VARINT_BYTES && i < file->buffered; i++) {
        uint8_t byte = file->bytes[file->begin + i];
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) == 0) {
            *length = (size_t)value;
            return value <= MOST_BYTES ? i + 1 : 0;
        }
    }
    return 0;
}

/* Reads the next message. `message` is NULL at the end of the file, and if the last message is incomplete. Reports
 * damage and other errors. */
static exit_code read_message(recording_file *file, const ProtobufCMessageDescriptor *type,
                              ProtobufCMessage **message) {
    size_t length = 0;
    *message = NULL;
    exit_code code = buffer(file, VARINT_BYTES);
    if (code != EXIT_OK || file->buffered == 0) {
        return code;
    }
    size_t prefix = read_length(file, &length);
    if (prefix == 0) {
        return file->buffered >= VARINT_BYTES || length > 0 ? complain_damage(file) : EXIT_OK;
    }
    code = buffer(file, prefix + length);
    if (code != EXIT_OK || file->buffered < prefix + length) {
        return code;
    }
    *message = protobuf_c_message_unpack(type, NULL, length, file->bytes + file->begin + prefix);
    if (!*message) {
        return complain_damage(file);
    }
    file->begin += prefix + length;
    file->buffered -= prefix + length;
    return EXIT_OK;
}

exit_code recording_file_open(dyn_client *client, const char *name, double timeout, recording_file *opened) {
    *opened = (recording_file){.client = client, .name = name, .timeout = timeout};
    ProtobufCMessage *header;
    exit_code code = read_message(opened, &dynamics__v1__recording_header__descriptor, &header);
    opened->header = (Dynamics__V1__RecordingHeader *)header;
    return code == EXIT_OK && !header ? complain(EXIT_FAILED, "recording %s is empty", name) : code;
}

exit_code recording_file_next(recording_file *file, Dynamics__V1__RecordingEntry **entry) {
    ProtobufCMessage *message;
    exit_code code = read_message(file, &dynamics__v1__recording_entry__descriptor, &message);
    *entry = (Dynamics__V1__RecordingEntry *)message;
    return code;
}

void recording_file_close(recording_file *closed) {
    if (closed->header) {
        dynamics__v1__recording_header__free_unpacked(closed->header, NULL);
    }
    free(closed->bytes);
    *closed = (recording_file){0};
}
