/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes JSON values to a stream.
 */
#include "json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "printable.h"

/* Writes the comma and line break before a value or key. Writes nothing between a key and its value. */
static void separate(json_writer *writer) {
    if (writer->has_key) {
        writer->has_key = false;
        return;
    }
    if (writer->follows) {
        fputs(writer->pretty ? "," : ", ", writer->stream);
    }
    if (writer->pretty && writer->depth > 0) {
        fprintf(writer->stream, "\n%*s", (int)(2 * writer->depth), "");
    }
    writer->follows = true;
}

static void begin(json_writer *writer, char bracket) {
    separate(writer);
    fputc(bracket, writer->stream);
    writer->depth++;
    writer->follows = false;
}

static void end(json_writer *writer, char bracket) {
    writer->depth--;
    if (writer->pretty && writer->follows) {
        fprintf(writer->stream, "\n%*s", (int)(2 * writer->depth), "");
    }
    fputc(bracket, writer->stream);
    writer->follows = true;
}

void emit_begin_object(json_writer *writer) {
    begin(writer, '{');
}

void emit_end_object(json_writer *writer) {
    end(writer, '}');
}

void emit_begin_array(json_writer *writer) {
    begin(writer, '[');
}

void emit_end_array(json_writer *writer) {
    end(writer, ']');
}

/* Writes the character at the start of `length` bytes of a string and returns its number of bytes. JSON escapes
 * unprintable characters in UTF-16 and cannot represent bytes that are not UTF-8: each of them becomes U+FFFD. */
static size_t write_character(FILE *stream, const char *text, size_t length) {
    uint32_t number;
    size_t size = printable_decode(text, length, &number);
    if (size == 0) {
        fputs("\\ufffd", stream);
    } else if (number == '"' || number == '\\') {
        fprintf(stream, "\\%c", (int)number);
    } else if (printable_is(number)) {
        fwrite(text, 1, size, stream);
    } else if (number > 0xffff) {
        fprintf(stream, "\\u%04x\\u%04x", 0xd800 + (unsigned)((number - 0x10000) >> 10),
                0xdc00 + (unsigned)(number & 0x3ff));
    } else {
        fprintf(stream, "\\u%04x", (unsigned)number);
    }
    return size > 0 ? size : 1;
}

static void write_string(json_writer *writer, const char *text) {
    fputc('"', writer->stream);
    size_t left = text ? strlen(text) : 0;
    while (left > 0) {
        size_t consumed = write_character(writer->stream, text, left);
        text += consumed;
        left -= consumed;
    }
    fputc('"', writer->stream);
}

/* Writes a number with 17 significant digits; NaN and infinity become null. Negative zero becomes -0.0, since many
 * readers read -0 as an integer without a sign. */
static void write_double(json_writer *writer, double number) {
    if (number == 0 && signbit(number)) {
        fputs("-0.0", writer->stream);
    } else if (isfinite(number)) {
        fprintf(writer->stream, "%.17g", number);
    } else {
        fputs("null", writer->stream);
    }
}

void emit_key(json_writer *writer, const char *key) {
    separate(writer);
    write_string(writer, key);
    fputs(": ", writer->stream);
    writer->has_key = true;
}

void emit_string(json_writer *writer, const char *text) {
    separate(writer);
    write_string(writer, text);
}

void emit_double(json_writer *writer, double number) {
    separate(writer);
    write_double(writer, number);
}

void emit_unsigned(json_writer *writer, uint64_t number) {
    separate(writer);
    fprintf(writer->stream, "%" PRIu64, number);
}

void emit_signed(json_writer *writer, int64_t number) {
    separate(writer);
    fprintf(writer->stream, "%" PRId64, number);
}

void emit_bool(json_writer *writer, bool truth) {
    separate(writer);
    fputs(truth ? "true" : "false", writer->stream);
}

void emit_doubles(json_writer *writer, size_t count, const double *numbers) {
    separate(writer);
    fputc('[', writer->stream);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            fputs(", ", writer->stream);
        }
        write_double(writer, numbers[i]);
    }
    fputc(']', writer->stream);
}

void emit_matrix(json_writer *writer, size_t rows, size_t columns, const double *numbers) {
    emit_begin_array(writer);
    for (size_t i = 0; i < rows; i++) {
        emit_doubles(writer, columns, numbers + i * columns);
    }
    emit_end_array(writer);
}

void emit_finish(json_writer *writer) {
    fputc('\n', writer->stream);
    writer->follows = false;
}
