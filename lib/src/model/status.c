/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Status names and error descriptions.
 */
#include "error.h"

#include <stdio.h>

#include <dynamics/text.h>

const char *dyn_status_name(dyn_status status) {
    switch (status) {
    case DYN_OK:
        return "ok";
    case DYN_INVALID_ARGUMENT:
        return "invalid argument";
    case DYN_NOT_FOUND:
        return "not found";
    case DYN_FAILED_PRECONDITION:
        return "failed precondition";
    case DYN_RESOURCE_EXHAUSTED:
        return "resource exhausted";
    case DYN_CANCELLED:
        return "cancelled";
    }
    return "unknown status";
}

dyn_status dyn_error_set_list(dyn_error *error, dyn_status status, const char *place, const char *format,
                              va_list list) {
    if (error == NULL) {
        return status;
    }
    /* Twice the room: dyn_text_print cuts, and marks the cut. */
    char message[2 * DYN_MESSAGE_SIZE];
    vsnprintf(message, sizeof message, format, list);
    error->status = status;
    dyn_text_print(place, error->place, sizeof error->place);
    dyn_text_print(message, error->message, sizeof error->message);
    return status;
}

dyn_status dyn_error_set(dyn_error *error, dyn_status status, const char *place, const char *format, ...) {
    va_list list;
    va_start(list, format);
    dyn_error_set_list(error, status, place, format, list);
    va_end(list);
    return status;
}

dyn_status dyn_error_memory(dyn_error *error) {
    return dyn_error_set(error, DYN_RESOURCE_EXHAUSTED, "memory", "out of memory");
}
