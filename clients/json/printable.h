/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Escapes untrusted text so that terminals and logs may show it. This file is the clients' counterpart of
 * dynamics/text.h, which the library and the daemon use: the same characters are printable, and escapes look alike.
 */
#ifndef JSON_PRINTABLE_H
#define JSON_PRINTABLE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PRINTABLE_ESCAPE = 16 };

/* Decodes the UTF-8 character at the start of `length` bytes. Returns its number of bytes, or 0 if the bytes are not
 * UTF-8 or end within a character. */
size_t printable_decode(const char *text, size_t length, uint32_t *number);

/* Returns true if a terminal shows the character unchanged: no control, invisible or direction character. */
bool printable_is(uint32_t number);

/* Writes the character or byte at the start of `length` > 0 bytes, escaped if it is not printable: \u202e, \U000e0001,
 * or \x1b for a byte below 0x80 or one that is not UTF-8. Returns the number of bytes of the text that it consumed. */
size_t printable_next(const char *text, size_t length, char escaped[PRINTABLE_ESCAPE]);

/* Makes a text printable, writes it to `printed` and cuts it between characters if it exceeds `size` bytes with its
 * zero byte. `size` is at least 1. */
void printable_text(const char *text, char *printed, size_t size);

/* Returns a printable copy of the text, which the caller frees, or NULL when out of memory. */
char *printable_copy(const char *text);

/* Formats a text as printf does and makes it printable. Returns a text that the caller frees, or NULL when out of
 * memory. */
char *printable_format(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

#endif
