/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Encodes and decodes base64.
 */
#include "base64.h"

#include <stdlib.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const uint8_t *bytes, size_t size) {
    char *text = malloc((size + 2) / 3 * 4 + 1), *at = text;
    if (!text) {
        return NULL;
    }
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)bytes[i + 2] : 0);
        *at++ = digits[group >> 18];
        *at++ = digits[group >> 12 & 63];
        *at++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[group & 63] : '=';
    }
    *at = '\0';
    return text;
}

/* Returns the value of a base64 digit, from 0 to 63, or -1 for any other character. */
static int value_of(char digit) {
    if (digit >= 'A' && digit <= 'Z') {
        return digit - 'A';
    }
    if (digit >= 'a' && digit <= 'z') {
        return digit - 'a' + 26;
    }
    if (digit >= '0' && digit <= '9') {
        return digit - '0' + 52;
    }
    return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

uint8_t *base64_decode(const char *text, size_t length, size_t *size) {
    *size = 0;
    if (length % 4 != 0) {
        return NULL;
    }
    size_t padding = length == 0 ? 0 : (text[length - 1] == '=') + (size_t)(text[length - 2] == '=');
    uint8_t *bytes = malloc(length / 4 * 3 + 1);
    if (!bytes) {
        return NULL;
    }
    uint32_t group = 0;
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        int value = i < length - padding ? value_of(text[i]) : 0;
        if (value < 0) {
            free(bytes);
            return NULL;
        }
        group = group << 6 | (uint32_t)value;
        if (i % 4 == 3) {
            bytes[written++] = (uint8_t)(group >> 16);
            bytes[written++] = (uint8_t)(group >> 8);
            bytes[written++] = (uint8_t)group;
        }
    }
    *size = written - padding;
    return bytes;
}
