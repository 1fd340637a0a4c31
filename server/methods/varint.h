/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Variable-length integers of protobuf: seven bits a byte, the lowest first.
 */
#ifndef SERVER_METHODS_VARINT_H
#define SERVER_METHODS_VARINT_H

#include <stddef.h>
#include <stdint.h>

/* Largest number of bytes of a varint. */
enum { VARINT_SIZE = 10 };

/* Writes a number and returns the number of its bytes. */
static inline size_t varint_write(uint8_t *bytes, uint64_t value) {
    size_t i = 0;
    for (; value >= 0x80; value >>= 7) {
        bytes[i++] = (uint8_t)(value | 0x80);
    }
    bytes[i++] = (uint8_t)value;
    return i;
}

#endif
