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
    if (!error) {
        return status;
    }
    /* Twice the size of the message, so that dyn_text_print does the cut and marks it. */
    char message[2 * DYN_MESSAGE_SIZE];
    vsnprintf(message, sizeof message, format, list);
    error->status = status;
    error->site = (dyn_error_site){0};
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

dyn_status dyn_error_because(dyn_error *error, dyn_status status, dyn_cause cause, const char *place,
                             const char *format, ...) {
    va_list list;
    va_start(list, format);
    dyn_error_set_list(error, status, place, format, list);
    va_end(list);
    if (error) {
        error->site.cause = cause;
    }
    return status;
}

/* Writes "[i]" for an index if `is_there`. Returns the length of the written text. */
static size_t write_index(bool is_there, size_t index, char *text, size_t size) {
    return is_there ? (size_t)snprintf(text, size, "[%zu]", index) : 0;
}

/* Writes the place of a site, such as "external_forces[2].force[4]". The longest place fits. */
static void write_place(const dyn_error_site *site, char place[DYN_PLACE_SIZE]) {
    size_t used = (size_t)snprintf(place, DYN_PLACE_SIZE, "%.64s", site->argument ? site->argument : "");
    used += write_index(site->has_item, site->item, place + used, DYN_PLACE_SIZE - used);
    if (site->part) {
        used += (size_t)snprintf(place + used, DYN_PLACE_SIZE - used, ".%.64s", site->part);
    }
    write_index(site->has_index, site->index, place + used, DYN_PLACE_SIZE - used);
}

dyn_status dyn_error_at(dyn_error *error, dyn_status status, const dyn_error_site *site, const char *format, ...) {
    char place[DYN_PLACE_SIZE];
    va_list list;
    write_place(site, place);
    va_start(list, format);
    dyn_error_set_list(error, status, place, format, list);
    va_end(list);
    if (error) {
        error->site = *site;
    }
    return status;
}

dyn_status dyn_error_of_argument(dyn_error *error, dyn_status status, const char *argument) {
    if (error && status != DYN_OK && !error->site.argument) {
        error->site.argument = argument;
    }
    return status;
}

dyn_status dyn_error_of_element(dyn_error *error, dyn_status status, const dyn_element *element) {
    if (error && status != DYN_OK) {
        error->site.element = *element;
    }
    return status;
}

dyn_status dyn_error_memory(dyn_error *error) {
    return dyn_error_because(error, DYN_RESOURCE_EXHAUSTED, DYN_CAUSE_MEMORY, "memory", "out of memory");
}
