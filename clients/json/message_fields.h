/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the fields of a protobuf message lie in memory, as protobuf-c's generated code has them: a field is at its
 * descriptor's offset; the count of a repeated field, and the case of a oneof, is at quantifier_offset.
 */
#ifndef JSON_MESSAGE_FIELDS_H
#define JSON_MESSAGE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

/* Returns the address of the field's value, or of the pointer to the values of a repeated one. */
static inline void *field_place(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    return (char *)message + field->offset;
}

/* Returns the number of values of a repeated field. */
static inline size_t *field_count(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    return (size_t *)((char *)message + field->quantifier_offset);
}

/* Returns the number of the chosen field of a oneof; 0: none. */
static inline uint32_t *field_case(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    return (uint32_t *)((char *)message + field->quantifier_offset);
}

static inline bool field_is_choice(const ProtobufCFieldDescriptor *field) {
    return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
}

/* Returns whether a field is present: the chosen one of its oneof, or a message that is set. */
static inline bool field_is_present(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return true;
    if (field_is_choice(field))
        return *field_case(message, field) == field->id;
    return field->type != PROTOBUF_C_TYPE_MESSAGE || *(void *const *)field_place(message, field) != NULL;
}

/* Returns the bytes of one value. */
static inline size_t field_value_size(const ProtobufCFieldDescriptor *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    default:
        return 4;
    }
}

#endif
