/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Characters of UTF-8.
 */
#ifndef DYNAMICS_MODEL_UTF8_H
#define DYNAMICS_MODEL_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Decodes the character at `text`, which ends with a zero byte. Returns the number of its bytes, or 0 if it is invalid
 * (overlong forms, surrogates and numbers beyond U+10FFFF are invalid). */
size_t utf8_decode(const unsigned char *text, uint32_t *number);

#endif
