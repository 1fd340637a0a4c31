/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoder of CBOR messages. The library decodes one head after another and this file builds the tree, so that the depth
 * is bounded and no length is trusted before its bytes have arrived.
 */
#include <cbor.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base64.h"
#include "cbor_codec.h"

enum { MAX_DEPTH = 64 };

/* Tags of RFC 8746 that are accepted: typed arrays, little-endian. */
enum {
    TAG_FIRST_TYPED = 64,
    TAG_UINT8 = 64,
    TAG_UINT16 = 69,
    TAG_UINT32 = 70,
    TAG_INT8 = 72,
    TAG_INT16 = 77,
    TAG_INT32 = 78,
    TAG_INT64 = 79,
    TAG_FLOAT32 = 85,
    TAG_FLOAT64 = 86,
    TAG_LAST_TYPED = 87,
};

/* Array or map that is not complete. */
typedef struct level {
    json_t *container;
    size_t remaining; /* items still to come; for a map, keys and values */
    bool is_endless;  /* ends with a break */
    char *key;        /* key of a map, if its value comes next */
} level;

typedef struct tree {
    level levels[MAX_DEPTH];
    size_t depth;
    json_t *root; /* complete */
    uint64_t tag; /* before the next item; 0: none */
    size_t at;    /* index of the byte */
    char *error;
    bool failed;
} tree;

static void refuse(tree *of, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void refuse(tree *of, const char *format, ...) {
    if (of->failed) {
        return;
    }
    of->failed = true;
    int written = snprintf(of->error, CBOR_ERROR_SIZE, "CBOR, byte %zu: ", of->at);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(of->error + written, CBOR_ERROR_SIZE - (size_t)written, format, arguments);
    va_end(arguments);
}

static void close_complete(tree *of);

/* Adds a complete value to the innermost container, or makes it the root. */
static void place(tree *of, json_t *value) {
    of->tag = 0;
    if (!value) {
        refuse(of, "out of memory, or text that is not UTF-8");
        return;
    }
    if (of->depth == 0) {
        of->root = value;
        return;
    }
    level *top = &of->levels[of->depth - 1];
    int failed = 0;
    if (json_is_array(top->container)) {
        failed = json_array_append_new(top->container, value);
    } else if (!top->key) {
        if (json_is_string(value)) {
            top->key = strdup(json_string_value(value));
        } else {
            refuse(of, "a key is not text");
        }
        json_decref(value);
    } else {
        failed = json_object_set_new(top->container, top->key, value);
        free(top->key);
        top->key = NULL;
    }
    if (failed != 0) {
        refuse(of, "out of memory");
    }
    if (!top->is_endless) {
        top->remaining--;
    }
    close_complete(of);
}

/* Closes the innermost containers that are complete. */
static void close_complete(tree *of) {
    level *top = &of->levels[of->depth - 1];
    if (of->failed || top->is_endless || top->remaining > 0) {
        return;
    }
    of->depth--;
    place(of, top->container);
}

static void open(tree *of, json_t *container, size_t remaining, bool is_endless) {
    of->tag = 0;
    if (of->depth == MAX_DEPTH || !container) {
        json_decref(container);
        refuse(of, "nested deeper than %d", MAX_DEPTH);
        return;
    }
    of->levels[of->depth++] = (level){.container = container, .remaining = remaining, .is_endless = is_endless};
    close_complete(of);
}

/* ---- typed arrays ------------------------------------------------------------------------------------------------ */

static size_t width_of(uint64_t tag) {
    switch (tag) {
    case TAG_UINT8:
    case TAG_INT8:
        return 1;
    case TAG_UINT16:
    case TAG_INT16:
        return 2;
    case TAG_UINT32:
    case TAG_INT32:
    case TAG_FLOAT32:
        return 4;
    case TAG_INT64:
    case TAG_FLOAT64:
        return 8;
    default:
        return 0;
    }
}

/* Returns a number of JSON. NaN and infinity, which JSON lacks, become null. */
static json_t *real(double number) {
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *typed_element(uint64_t tag, const unsigned char *at) {
    uint64_t bits = 0;
    float single;
    double number;
    memcpy(&bits, at, width_of(tag));
    switch (tag) {
    case TAG_INT8:
        return json_integer((int8_t)bits);
    case TAG_INT16:
        return json_integer((int16_t)bits);
    case TAG_INT32:
        return json_integer((int32_t)bits);
    case TAG_INT64:
        return json_integer((int64_t)bits);
    case TAG_FLOAT32:
        memcpy(&single, at, sizeof single);
        return real((double)single);
    case TAG_FLOAT64:
        memcpy(&number, at, sizeof number);
        return real(number);
    default:
        return json_integer((json_int_t)bits);
    }
}

static json_t *typed_array(uint64_t tag, const unsigned char *bytes, size_t size) {
    json_t *list = json_array();
    for (size_t i = 0; i < size; i += width_of(tag)) {
        json_array_append_new(list, typed_element(tag, bytes + i));
    }
    return list;
}

/* ---- events of the decoder --------------------------------------------------------------------------------------- */

static void on_unsigned(tree *of, uint64_t number) {
    if (number > INT64_MAX) {
        refuse(of, "%llu is too large a number", (unsigned long long)number);
    } else {
        place(of, json_integer((json_int_t)number));
    }
}

static void on_negative(tree *of, uint64_t number) {
    if (number > INT64_MAX) {
        refuse(of, "-%llu - 1 is too small a number", (unsigned long long)number);
    } else {
        place(of, json_integer(-1 - (json_int_t)number));
    }
}

static void on_uint8(void *of, uint8_t number) {
    on_unsigned(of, number);
}

static void on_uint16(void *of, uint16_t number) {
    on_unsigned(of, number);
}

static void on_uint32(void *of, uint32_t number) {
    on_unsigned(of, number);
}

static void on_uint64(void *of, uint64_t number) {
    on_unsigned(of, number);
}

static void on_negint8(void *of, uint8_t number) {
    on_negative(of, number);
}

static void on_negint16(void *of, uint16_t number) {
    on_negative(of, number);
}

static void on_negint32(void *of, uint32_t number) {
    on_negative(of, number);
}

static void on_negint64(void *of, uint64_t number) {
    on_negative(of, number);
}

static void on_bytes(void *user, cbor_data bytes, size_t size) {
    tree *of = user;
    size_t width = width_of(of->tag);
    if (of->tag >= TAG_FIRST_TYPED && of->tag <= TAG_LAST_TYPED) {
        if (width == 0) {
            refuse(of, "typed arrays of tag %llu are not supported: send little-endian ones",
                   (unsigned long long)of->tag);
        } else if (size % width != 0) {
            refuse(of, "%zu bytes are no whole number of elements of %zu bytes", size, width);
        } else {
            place(of, typed_array(of->tag, bytes, size));
        }
        return;
    }
    char *text = base64_encode(bytes, size);
    place(of, text ? json_string(text) : NULL);
    free(text);
}

static void on_string(void *of, cbor_data text, size_t length) {
    if (length > 0 && memchr(text, 0, length)) {
        refuse(of, "text with a zero byte");
    } else {
        place(of, json_stringn((const char *)text, length));
    }
}

static void on_pieces(void *of) {
    refuse(of, "strings in pieces are not supported");
}

static void on_endless_array(void *of) {
    open(of, json_array(), 0, true);
}

static void on_array(void *of, size_t size) {
    open(of, json_array(), size, false);
}

static void on_endless_map(void *of) {
    open(of, json_object(), 0, true);
}

static void on_map(void *of, size_t size) {
    if (size > SIZE_MAX / 2) {
        refuse(of, "a map of %zu members", size);
    } else {
        open(of, json_object(), 2 * size, false);
    }
}

static void on_tag(void *user, uint64_t tag) {
    ((tree *)user)->tag = tag;
}

static void on_float(void *of, float number) {
    place(of, real((double)number));
}

static void on_double(void *of, double number) {
    place(of, real(number));
}

static void on_nothing(void *of) {
    place(of, json_null());
}

static void on_bool(void *of, bool truth) {
    place(of, json_boolean(truth));
}

static void on_break(void *user) {
    tree *of = user;
    level *top = of->depth > 0 ? &of->levels[of->depth - 1] : NULL;
    if (!top || !top->is_endless || top->key) {
        refuse(of, "a break where none can be");
        return;
    }
    of->depth--;
    place(of, top->container);
}

static const struct cbor_callbacks callbacks = {
    .uint8 = on_uint8,
    .uint16 = on_uint16,
    .uint32 = on_uint32,
    .uint64 = on_uint64,
    .negint8 = on_negint8,
    .negint16 = on_negint16,
    .negint32 = on_negint32,
    .negint64 = on_negint64,
    .byte_string_start = on_pieces,
    .byte_string = on_bytes,
    .string = on_string,
    .string_start = on_pieces,
    .indef_array_start = on_endless_array,
    .array_start = on_array,
    .indef_map_start = on_endless_map,
    .map_start = on_map,
    .tag = on_tag,
    .float2 = on_float,
    .float4 = on_float,
    .float8 = on_double,
    .undefined = on_nothing,
    .null = on_nothing,
    .boolean = on_bool,
    .indef_break = on_break,
};

json_t *cbor_decode_message(const uint8_t *bytes, size_t size, char error[CBOR_ERROR_SIZE]) {
    tree of = {.error = error};
    while (!of.root && !of.failed) {
        struct cbor_decoder_result result = cbor_stream_decode(bytes + of.at, size - of.at, &callbacks, &of);
        if (result.status == CBOR_DECODER_NEDATA) {
            refuse(&of, "the message ends too early");
        } else if (result.status == CBOR_DECODER_ERROR) {
            refuse(&of, "the byte 0x%02x begins no item", bytes[of.at]);
        }
        of.at += result.read;
    }
    if (of.root && of.at < size) {
        refuse(&of, "%zu bytes follow the message", size - of.at);
    }
    if (!of.failed) {
        return of.root;
    }
    json_decref(of.root);
    while (of.depth-- > 0) {
        json_decref(of.levels[of.depth].container);
        free(of.levels[of.depth].key);
    }
    return NULL;
}
