/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text in a PNG image, as rosbridge compresses it: the bytes are the pixels of an RGB image, padded with line breaks.
 */
#ifndef ROSBRIDGE_PNG_TEXT_H
#define ROSBRIDGE_PNG_TEXT_H

#include <stddef.h>

/* Returns the image in base64, which the caller frees, or NULL when out of memory. */
char *png_compress(const char *text, size_t length);

/* Returns the text, of at most `max` bytes, of an image in base64; the caller frees it. On failure returns NULL and
 * sets `error` to a constant text. */
char *png_decompress(const char *image, size_t length, size_t max, size_t *text_length, const char **error);

#endif
