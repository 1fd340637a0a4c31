/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Determines the width of the output, and breaks paragraphs into lines that fit it.
 */
#include "page.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "numbers.h"

/* NARROWEST: smallest number of columns that page_columns returns; narrower terminals wrap the lines. WIDEST: largest
 * valid value of COLUMNS. */
enum { NARROWEST = 40, WIDEST = 100000 };

static bool is_wide;

void page_set_wide(void) {
    is_wide = true;
}

size_t page_columns(void) {
    struct winsize size = {0};
    const char *set = getenv("COLUMNS");
    long columns = 0;
    if (is_wide) {
        return SIZE_MAX;
    }
    if (set && parse_integer(set, 1, WIDEST, &columns)) {
        return columns < NARROWEST ? NARROWEST : (size_t)columns;
    }
    if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return SIZE_MAX;
    }
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
}

static bool begins_character(char byte) {
    return ((unsigned char)byte & 0xc0) != 0x80;
}

size_t page_width_of(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; text++) {
        width += begins_character(*text);
    }
    return width;
}

size_t page_line(const char *text, size_t width, size_t *next) {
    size_t at = 0, columns = 0, end = 0;
    while (text[at] != '\0' && text[at] != '\n') {
        if (text[at] == ' ' && columns > 0 && text[at - 1] != ' ') {
            end = at; /* a line may end before this blank */
        }
        if (begins_character(text[at]) && columns++ == width) {
            break;
        }
        at++;
    }
    bool is_whole = text[at] == '\0' || text[at] == '\n';
    if (is_whole || end == 0) {
        end = at;
    }
    *next = end + strspn(text + end, " ");
    if (is_whole && text[*next] == '\n') {
        ++*next;
    }
    return end;
}

void page_print(const char *text, size_t used, size_t indent, size_t columns) {
    size_t next;
    do {
        size_t length = page_line(text, columns > used ? columns - used : 1, &next);
        printf("%.*s\n", (int)length, text);
        text += next;
        used = indent;
        if (*text != '\0') {
            printf("%*s", (int)indent, "");
        }
    } while (*text != '\0');
}

/* Returns the indentation of the lines that continue an entry of a list of `length` bytes: the column of the text after
 * two blanks, unless it is too far right, or two more than the entry's own. */
static size_t hanging_of(const char *entry, size_t length) {
    enum { FARTHEST = 36, STEP = 2 };
    size_t lead = strspn(entry, " ");
    for (size_t i = lead; i + 2 < length; i++) {
        if (strncmp(entry + i, "  ", 2) == 0) {
            size_t at = i + strspn(entry + i, " ");
            return at <= FARTHEST ? at : lead + STEP;
        }
    }
    return lead + STEP;
}

void page_print_paragraphs(const char *text, size_t columns) {
    while (*text != '\0') {
        size_t length = strcspn(text, "\n"), hanging = *text == ' ' ? hanging_of(text, length) : 0;
        while (hanging == 0 && text[length] == '\n' && !strchr(" \n", text[length + 1])) {
            length += 1 + strcspn(text + length + 1, "\n");
        }
        char *paragraph = strndup(text, length);
        for (char *c = paragraph; c && *c != '\0'; c++) {
            *c = *c == '\n' ? ' ' : *c;
        }
        page_print(paragraph ? paragraph : "", 0, hanging, columns);
        free(paragraph);
        text += length + (text[length] == '\n');
    }
}

bool page_printf(size_t indent, const char *format, ...) {
    char *text;
    va_list values;
    va_start(values, format);
    int length = vasprintf(&text, format, values);
    va_end(values);
    if (length < 0) {
        return false;
    }
    page_print(text, 0, indent, page_columns());
    free(text);
    return true;
}
