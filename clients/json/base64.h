/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts bytes to text and back: base64 of RFC 4648, with padding.
 */
#ifndef JSON_BASE64_H
#define JSON_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Encodes bytes to a string that the caller frees. Returns NULL when out of memory. */
char *base64_encode(const uint8_t *bytes, size_t size);

/* Decodes `length` characters to bytes and stores their number in `size`. Returns an array that the caller frees, also
 * for an empty text, or NULL if the text is not base64 or when out of memory. */
uint8_t *base64_decode(const char *text, size_t length, size_t *size);

#endif
