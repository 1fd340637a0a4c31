/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preparation of a document for expat: removes text around the XML and chooses the encoding.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../model/utf8.h"
#include "reader.h"

/* Bytes of the longest XML declaration that is searched for an encoding, and of the longest name of one. */
enum { MAX_DECLARATION = 512, MAX_ENCODING = 40 };

static const char byte_order_mark[] = "\xEF\xBB\xBF";

static bool starts_with(const prologue *p, size_t at, const char *word) {
    size_t length = strlen(word);
    return at + length <= p->length && memcmp(p->text + at, word, length) == 0;
}

static bool is_white(char c) {
    return strchr(" \t\r\n", c) && c != '\0';
}

static bool is_declaration(const prologue *p, size_t at) {
    return starts_with(p, at, "<?xml") && at + 5 < p->length && is_white(p->text[at + 5]);
}

/* Returns the offset of the next tag that begins at or after `from`, or the length. */
static size_t next_tag(const prologue *p, size_t from) {
    const char *tag = from < p->length ? memchr(p->text + from, '<', p->length - from) : NULL;
    return tag ? (size_t)(tag - p->text) : p->length;
}

/* Returns the offset after a comment. */
static size_t comment_end(const prologue *p, size_t comment) {
    const char *end = memmem(p->text + comment, p->length - comment, "-->", 3);
    return end ? (size_t)(end - p->text) + 3 : p->length;
}

/* Returns the offset of the XML declaration, which may follow comments and text; without one, that of the first tag
 * after text, or 0. */
static size_t find_start(const prologue *p) {
    size_t first = starts_with(p, 0, byte_order_mark) ? 3 : 0, tag = next_tag(p, first);
    for (size_t i = tag; i < p->length; i = next_tag(p, i)) {
        if (is_declaration(p, i)) {
            return i == first ? 0 : i;
        }
        if (!starts_with(p, i, "<!--")) {
            break;
        }
        i = comment_end(p, i);
    }
    while (first < tag && is_white(p->text[first])) {
        first++;
    }
    return first < tag && tag < p->length ? tag : 0;
}

static int count_lines(const char *text, size_t length) {
    int lines = 0;
    for (const char *end; (end = memchr(text, '\n', length)); lines++) {
        length -= (size_t)(end + 1 - text);
        text = end + 1;
    }
    return lines;
}

/* Copies the encoding that the XML declaration at the beginning states; "" without one. */
static void declared_encoding(const prologue *p, char encoding[MAX_ENCODING + 1]) {
    size_t start = starts_with(p, 0, byte_order_mark) ? 3 : 0;
    char declaration[MAX_DECLARATION + 1];
    size_t length = p->length - start < MAX_DECLARATION ? p->length - start : MAX_DECLARATION;
    encoding[0] = '\0';
    if (!is_declaration(p, start)) {
        return;
    }
    memcpy(declaration, p->text + start, length);
    declaration[length] = '\0';
    char *end = strstr(declaration, "?>"), *found;
    if (end) {
        *end = '\0';
    }
    found = strstr(declaration, "encoding");
    if (!found || sscanf(found, "encoding%*[ \t\r\n=]%*[\"']%40[A-Za-z0-9._-]", encoding) != 1) {
        encoding[0] = '\0';
    }
}

static bool is_one_of(const char *encoding, const char *const *names) {
    while (*names && strcasecmp(encoding, *names) != 0) {
        names++;
    }
    return *names != NULL;
}

/* Returns the offset of the first byte that is not ASCII, or the length. */
static size_t first_beyond_ascii(const prologue *p) {
    size_t i = 0;
    while (i < p->length && (unsigned char)p->text[i] < 0x80) {
        i++;
    }
    return i;
}

/* Returns the offset of the first byte that begins no UTF-8 character, or the length. */
static size_t first_beyond_utf8(const prologue *p) {
    size_t i = first_beyond_ascii(p);
    while (i < p->length) {
        char character[5] = {0};
        memcpy(character, p->text + i, p->length - i < 4 ? p->length - i : 4);
        uint32_t number;
        size_t step = utf8_decode((const unsigned char *)character, &number);
        if (step == 0) {
            break;
        }
        i += step;
    }
    return i;
}

/* Chooses the encoding of a document that states UTF-8 or none. */
static void choose_utf8(reader *r, prologue *p) {
    size_t bad = first_beyond_utf8(p);
    if (bad < p->length) {
        p->encoding = "ISO-8859-1";
        report_add(r->report, DYN_SEVERITY_WARNING, r->skipped_lines + 1 + count_lines(p->text, bad), "document",
                   "the byte 0x%02x is no UTF-8: the document is read as ISO-8859-1", (unsigned char)p->text[bad]);
    }
}

/* Chooses the encoding of a document that declares an encoding which expat does not know, or which its bytes
 * contradict. */
static void choose_other(reader *r, prologue *p, const char *declared) {
    static const char *const latin[] = {"ISO_8859-1", "ISO8859-1", "LATIN1",       "LATIN-1", "L1",
                                        "CP1252",     "CP-1252",   "WINDOWS-1252", NULL};
    size_t byte = first_beyond_ascii(p);
    if (byte < p->length && is_one_of(declared, latin)) {
        p->encoding = "ISO-8859-1";
    } else if (first_beyond_utf8(p) == p->length) {
        p->encoding = "UTF-8";
    } else {
        r->skipped_lines += count_lines(p->text, byte);
        reader_fail(r, DYN_INVALID_ARGUMENT,
                    "the document declares the encoding %s and has the byte 0x%02x; convert it to UTF-8 (iconv -f %s "
                    "-t UTF-8) and correct its first line",
                    declared, (unsigned char)p->text[byte], declared);
        return;
    }
    report_add(r->report, DYN_SEVERITY_WARNING, r->skipped_lines + 1, "document",
               "it declares the encoding %s; its bytes are read as %s", declared, p->encoding);
}

/* Removes zero bytes at the end, such as the terminator of a C string. */
static void skip_zeros(reader *r, prologue *p) {
    size_t length = p->length;
    while (length > 0 && p->text[length - 1] == '\0') {
        length--;
    }
    if (length > 0 && length < p->length) {
        report_add(r->report, DYN_SEVERITY_WARNING, 1 + count_lines(p->text, length), "document",
                   "the zero bytes at its end, %zu, are ignored", p->length - length);
        p->length = length;
    }
}

/* Skips text before the XML. */
static void skip_text(reader *r, prologue *p) {
    size_t start = find_start(p);
    if (start > 0) {
        report_add(r->report, DYN_SEVERITY_WARNING, 1, "document",
                   "the text before the XML, %zu bytes, is ignored: XML has nothing there", start);
        r->skipped_lines = count_lines(p->text, start);
        p->text += start;
        p->length -= start;
    }
}

void prologue_read(reader *r, prologue *p) {
    static const char *const known[] = {"ISO-8859-1", "US-ASCII", NULL}, *const utf8[] = {"", "UTF-8", NULL};
    char declared[MAX_ENCODING + 1];
    if (starts_with(p, 0, "\xFF\xFE") || starts_with(p, 0, "\xFE\xFF")) {
        return; /* UTF-16, which expat detects */
    }
    skip_zeros(r, p);
    if (memchr(p->text, '\0', p->length)) {
        return; /* not a text */
    }
    skip_text(r, p);
    declared_encoding(p, declared);
    if (is_one_of(declared, utf8)) {
        choose_utf8(r, p);
    } else if (!is_one_of(declared, known)) {
        choose_other(r, p, declared);
    }
}
