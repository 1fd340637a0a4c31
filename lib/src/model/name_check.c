/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules for names: printable, valid UTF-8 of bounded length, so that a name can appear in any log, message or table.
 */
#include "name_check.h"

#include <dynamics/builder.h>
#include <dynamics/text.h>

#include <stddef.h>
#include <string.h>

#include "error.h"

dyn_status name_check(const char *name, dyn_error *error, const char *place, const char *kind) {
    if (!name || name[0] == '\0') {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_NAME, place, "the %s has no name; set one",
                                 kind);
    }
    size_t length = strlen(name);
    if (length > DYN_MAX_NAME) {
        return dyn_error_because(error, DYN_RESOURCE_EXHAUSTED, DYN_CAUSE_TOO_MANY, place,
                                 "the name of the %s has %zu bytes; use at most %d", kind, length, DYN_MAX_NAME);
    }
    if (!dyn_text_is_printable(name)) {
        char printed[128];
        size_t at = 0;
        for (size_t step; (step = dyn_text_character(name + at)) > 0;) {
            at += step;
        }
        dyn_text_print(name, printed, sizeof printed);
        return dyn_error_because(
            error, DYN_INVALID_ARGUMENT, DYN_CAUSE_NAME, place,
            "the name of the %s, \"%s\", is not printable at byte %zu; use printable UTF-8 without "
            "control, invisible or direction characters",
            kind, printed, at);
    }
    return DYN_OK;
}
