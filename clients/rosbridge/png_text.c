/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts text to PNG images and back.
 */
#include "png_text.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base64.h"

enum { PIXEL_BYTES = 3 };

char *png_compress(const char *text, size_t length) {
    size_t pixels = (length + PIXEL_BYTES - 1) / PIXEL_BYTES;
    size_t width = pixels > 1 ? (size_t)sqrt((double)pixels) : 1;
    size_t height = pixels > 0 ? (pixels + width - 1) / width : 1;
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB,
                       .flags = PNG_IMAGE_FLAG_FAST};
    char *rows = malloc(width * height * PIXEL_BYTES), *encoded = NULL;
    unsigned char *file = NULL;
    if (!rows) {
        return NULL;
    }
    memset(rows, '\n', width * height * PIXEL_BYTES);
    memcpy(rows, text, length);
    size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    file = malloc(size);
    if (file && png_image_write_to_memory(&image, file, &size, 0, rows, 0, NULL)) {
        encoded = base64_encode(file, size);
    }
    free(file);
    free(rows);
    return encoded;
}

char *png_decompress(const char *text, size_t length, size_t max, size_t *text_length, const char **error) {
    size_t size;
    char *rows = NULL;
    png_image image = {.version = PNG_IMAGE_VERSION};
    uint8_t *file = base64_decode(text, length, &size);
    *error = "it is not base64";
    if (!file) {
        return NULL;
    }
    *error = "it is not a PNG image";
    if (png_image_begin_read_from_memory(&image, file, size)) {
        image.format = PNG_FORMAT_RGB;
        *text_length = PNG_IMAGE_SIZE(image);
        if ((double)image.width * image.height * PIXEL_BYTES > (double)max) {
            *error = "its pixels hold more bytes than a message may have";
        } else {
            rows = malloc(*text_length);
        }
        if (rows && !png_image_finish_read(&image, NULL, rows, 0, NULL)) {
            *error = "the PNG image is damaged";
            free(rows);
            rows = NULL;
        }
    }
    png_image_free(&image);
    free(file);
    return rows;
}
