/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes in text: base64 of RFC 4648, with padding.
 */
#ifndef JSON_BASE64_H
#define JSON_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* A string to be freed; NULL when out of memory. */
char *base64_encode(const uint8_t *bytes, size_t size);

/* Bytes to be freed, of which there may be none. NULL: the text is not base64, or memory ran out. */
uint8_t *base64_decode(const char *text, size_t length, size_t *size);

#endif
