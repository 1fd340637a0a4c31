/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fills errors of the client, and names their status codes.
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

dyn_client_status fail(dyn_client_error *error, dyn_client_status status, const char *field, const char *format, ...) {
    if (!error) {
        return status;
    }
    *error = (dyn_client_error){.status = status};
    snprintf(error->field, sizeof error->field, "%s", field ? field : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

dyn_client_status fail_memory(dyn_client_error *error) {
    return fail(error, DYN_CLIENT_OUT_OF_MEMORY, NULL, "out of memory");
}

const char *dyn_client_status_name(dyn_client_status status) {
    switch (status) {
    case DYN_CLIENT_OK:
        return "OK";
    case DYN_CLIENT_CANCELLED:
        return "CANCELLED";
    case DYN_CLIENT_UNKNOWN:
        return "UNKNOWN";
    case DYN_CLIENT_INVALID_ARGUMENT:
        return "INVALID_ARGUMENT";
    case DYN_CLIENT_DEADLINE_EXCEEDED:
        return "DEADLINE_EXCEEDED";
    case DYN_CLIENT_NOT_FOUND:
        return "NOT_FOUND";
    case DYN_CLIENT_ALREADY_EXISTS:
        return "ALREADY_EXISTS";
    case DYN_CLIENT_PERMISSION_DENIED:
        return "PERMISSION_DENIED";
    case DYN_CLIENT_RESOURCE_EXHAUSTED:
        return "RESOURCE_EXHAUSTED";
    case DYN_CLIENT_FAILED_PRECONDITION:
        return "FAILED_PRECONDITION";
    case DYN_CLIENT_ABORTED:
        return "ABORTED";
    case DYN_CLIENT_OUT_OF_RANGE:
        return "OUT_OF_RANGE";
    case DYN_CLIENT_UNIMPLEMENTED:
        return "UNIMPLEMENTED";
    case DYN_CLIENT_INTERNAL:
        return "INTERNAL";
    case DYN_CLIENT_UNAVAILABLE:
        return "UNAVAILABLE";
    case DYN_CLIENT_DATA_LOSS:
        return "DATA_LOSS";
    case DYN_CLIENT_UNAUTHENTICATED:
        return "UNAUTHENTICATED";
    case DYN_CLIENT_UNREACHABLE:
        return "UNREACHABLE";
    case DYN_CLIENT_TIMEOUT:
        return "TIMEOUT";
    case DYN_CLIENT_BAD_REPLY:
        return "BAD_REPLY";
    case DYN_CLIENT_OUT_OF_MEMORY:
        return "OUT_OF_MEMORY";
    }
    return "UNKNOWN";
}
