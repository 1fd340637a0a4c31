/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Determines the width of the output, and breaks paragraphs into lines that fit it.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Number of columns of the help, which fits any terminal. */
enum { HELP_COLUMNS = 80 };

/* Returns the number of columns of standard output: that of the environment variable COLUMNS, or of the terminal.
 * Returns SIZE_MAX if there is neither, or after page_set_wide. */
size_t page_columns(void);

/* Makes page_columns return SIZE_MAX. */
void page_set_wide(void);

/* Returns the number of code points of a UTF-8 text, which approximates its width on a terminal. */
size_t page_width_of(const char *text);

/* Returns the bytes at the start of `text` that fill a line of at most `width` columns and end between words, or
 * within a word that alone is wider. *next receives the number of bytes up to the next line. */
size_t page_line(const char *text, size_t width, size_t *next);

/* Writes a text in lines of at most `columns`. The first line continues one that has `used` columns; the others begin
 * with `indent` blanks. */
void page_print(const char *text, size_t used, size_t indent, size_t columns);

/* Writes paragraphs in lines of at most `columns`. Lines that begin without a blank are joined and broken again. Others
 * are entries of lists: their continuation is indented to the text that follows two blanks, if there is one. */
void page_print_paragraphs(const char *text, size_t columns);

/* Writes a text, formatted as printf does, in lines that fit page_columns; all but the first begin with `indent`
 * blanks. Returns false when out of memory. */
bool page_printf(size_t indent, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
