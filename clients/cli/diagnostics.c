/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports errors of dynamicsctl on standard error.
 */
#include "diagnostics.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error_fields.h"
#include "printable.h"

enum { DETAILS_SIZE = 512 };

const char PROTOCOL_FORM[] = "the request";

exit_code complain(exit_code code, const char *format, ...) {
    fflush(stdout);
    va_list arguments;
    va_start(arguments, format);
    char *text = printable_format(format, arguments);
    va_end(arguments);
    fprintf(stderr, "dynamicsctl: %s\n", text ? text : "out of memory");
    free(text);
    return code;
}

exit_code complain_memory(void) {
    return complain(EXIT_FAILED, "out of memory");
}

/* Writes details of an error, such as "INVALID_ARGUMENT, NOT_FINITE, state 4, joint elbow". */
static void write_details(const dyn_client_error *error, char *text, size_t size) {
    const char *status = dyn_client_status_name(error->status);
    bool has_reason = error->reason[0] != '\0' && strcmp(error->reason, status) != 0;
    size_t used =
        (size_t)snprintf(text, size, "%s%s%s", status, has_reason ? ", " : "", has_reason ? error->reason : "");
    if (error->has_sample && used < size) {
        used += (size_t)snprintf(text + used, size - used, ", state %llu", (unsigned long long)error->sample + 1);
    }
    if (error->joint[0] != '\0' && used < size) {
        used += (size_t)snprintf(text + used, size - used, ", joint %s", error->joint);
    }
    if (error->limit > 0 && used < size) {
        used += (size_t)snprintf(text + used, size - used, ", limit %llu", (unsigned long long)error->limit);
    }
    if (error->requested > 0 && used < size) {
        used += (size_t)snprintf(text + used, size - used, ", requested %llu", (unsigned long long)error->requested);
    }
    if (error->request > 0 && used < size) {
        used += (size_t)snprintf(text + used, size - used, ", request %llu", (unsigned long long)error->request);
    }
    if (error->retry_after > 0 && used < size) {
        snprintf(text + used, size - used, ", try again after %g s", error->retry_after);
    }
}

exit_code complain_call(const dyn_client_error *error, const char *place) {
    exit_code code = EXIT_REFUSED;
    const char *kind = "refused", *advice = "";
    switch (error->status) {
    case DYN_CLIENT_UNREACHABLE:
        code = EXIT_UNREACHABLE;
        kind = "unreachable";
        break;
    case DYN_CLIENT_TIMEOUT:
        advice = "; wait longer with --timeout SECONDS";
        code = EXIT_TIMED_OUT;
        kind = "timeout";
        break;
    case DYN_CLIENT_DEADLINE_EXCEEDED:
        code = EXIT_TIMED_OUT;
        kind = "timeout";
        break;
    case DYN_CLIENT_BAD_REPLY:
    case DYN_CLIENT_OUT_OF_MEMORY:
        code = EXIT_FAILED;
        kind = "failed";
        break;
    default:
        break;
    }
    char details[DETAILS_SIZE], field[DYN_CLIENT_FIELD_SIZE + 64], message[DYN_CLIENT_MESSAGE_SIZE + 64];
    write_details(error, details, sizeof details);
    if (place == PROTOCOL_FORM) {
        place = NULL;
        snprintf(field, sizeof field, "%s", error->field);
        snprintf(message, sizeof message, "%s", error->message);
    } else {
        write_typed_field(error->field, place != NULL, field, sizeof field);
        write_typed_advice(error->message, message, sizeof message);
    }
    return complain(code, "%s: %s%s%s%s%s%s (%s)", kind, place ? place : "", place && field[0] != ':' ? ": " : "",
                    field, field[0] != '\0' ? ": " : "", message, advice, details);
}

exit_code check_output(void) {
    bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
    if (!failed) {
        return EXIT_OK;
    }
    /* Report no error if the reader has closed the pipe. */
    if (errno == EPIPE) {
        return EXIT_FAILED;
    }
    return complain(EXIT_FAILED, "standard output cannot be written: %s", strerror(errno));
}
