/*
 * What a name may be: printable, valid UTF-8 of bounded length, so that it can stand in any log, message or table.
 */
#include "name_check.h"

#include <dynamics/builder.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "error.h"

size_t utf8_length(const unsigned char *text) {
    unsigned char lead = text[0];
    size_t length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : 4;
    if ((lead >= 0x80 && lead < 0xC2) || lead > 0xF4) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (lead == 0xE0 && text[1] < 0xA0) || (lead == 0xF0 && text[1] < 0x90);
    bool outside = (lead == 0xED && text[1] > 0x9F) || (lead == 0xF4 && text[1] > 0x8F);
    return overlong || outside ? 0 : length;
}

dyn_status name_check(const char *name, dyn_error *error, const char *place, const char *kind) {
    if (name == NULL || name[0] == '\0') {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, place, "the %s has no name; give it one", kind);
    }
    size_t length = strlen(name);
    if (length > DYN_MAX_NAME) {
        return dyn_error_set(error, DYN_RESOURCE_EXHAUSTED, place,
                             "the name of the %s has %zu bytes; give it at most %d", kind, length, DYN_MAX_NAME);
    }
    for (size_t i = 0; i < length;) {
        unsigned char byte = (unsigned char)name[i];
        size_t step = utf8_length((const unsigned char *)name + i);
        if (step == 0 || byte < 0x20 || byte == 0x7F) {
            return dyn_error_set(error, DYN_INVALID_ARGUMENT, place,
                                 "the name of the %s has the byte 0x%02x at place %zu; give it printable UTF-8", kind,
                                 byte, i);
        }
        i += step;
    }
    return DYN_OK;
}
