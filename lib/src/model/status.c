/*
 * Status names and error descriptions.
 */
#include "error.h"

#include <stdio.h>
#include <string.h>

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

/* Ends a text that vsnprintf has cut in "...", without leaving half a UTF-8 character before it. */
static void mark_cut(char *text, size_t size) {
    size_t end = size - sizeof "...";
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) {
        end--;
    }
    memcpy(text + end, "...", sizeof "...");
}

dyn_status dyn_error_set_list(dyn_error *error, dyn_status status, const char *place, const char *format,
                              va_list list) {
    if (error == NULL) {
        return status;
    }
    error->status = status;
    if (snprintf(error->place, sizeof error->place, "%s", place) >= (int)sizeof error->place) {
        mark_cut(error->place, sizeof error->place);
    }
    if (vsnprintf(error->message, sizeof error->message, format, list) >= (int)sizeof error->message) {
        mark_cut(error->message, sizeof error->message);
    }
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
