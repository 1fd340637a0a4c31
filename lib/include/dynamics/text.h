/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Printable text: names and messages that a terminal or a log shows unchanged.
 *
 * These are not printable: bytes that are not UTF-8, control characters (U+0000-001F, U+007F-009F), line and paragraph
 * separators (U+2028, U+2029), characters that change the direction of text (U+061C, U+200E, U+200F, U+202A-202E,
 * U+2066-206F) and invisible characters (U+00AD, U+180E, U+200B-200D, U+2060-2065, U+FEFF, U+FFF9-FFFB, U+E0000-E0FFF).
 * A terminal acts on some of them, and with others two different names look alike.
 */
#ifndef DYNAMICS_TEXT_H
#define DYNAMICS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the length in bytes of the printable character at the start of the text, or 0 at the end of the text and
 * where the next character is not printable. Thread-safe. */
DYN_API size_t dyn_text_character(const char *text);

/* Returns whether all of the text is printable. Cost O(length). Thread-safe. */
DYN_API bool dyn_text_is_printable(const char *text);

/* Writes the text with every unprintable character escaped: as \u202e by its number (\U000e0001 beyond U+FFFF), control
 * characters below U+0080 and bytes that are not UTF-8 as \x1b. Does not escape backslashes, so that escaping twice
 * changes nothing. Writes at most `size` - 1 bytes and a zero byte; text that is too long is cut between characters and
 * ends in "..." where that fits. Returns the length of the written text. `size` is at least 1. Cost O(length).
 * Thread-safe. */
DYN_API size_t dyn_text_print(const char *text, char *printed, size_t size);

/* Frees a text that a function of the library wrote for its caller; NULL is allowed. Thread-safe. */
DYN_API void dyn_text_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
