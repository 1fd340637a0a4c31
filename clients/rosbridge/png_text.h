/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text in a PNG image, as rosbridge compresses: the bytes are the pixels of an RGB image, filled up with line breaks.
 */
#ifndef ROSBRIDGE_PNG_TEXT_H
#define ROSBRIDGE_PNG_TEXT_H

#include <stddef.h>

/* Base64 of the image, to be freed; NULL when out of memory. */
char *png_compress(const char *text, size_t length);

/* The text in base64 of an image, of at most `max` bytes, to be freed; NULL: `error` says why. */
char *png_decompress(const char *image, size_t length, size_t max, size_t *text_length, const char **error);

#endif
