/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Error messages of dynamicsctl.
 */
#include "diagnostics.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printable.h"

exit_code complain(exit_code code, const char *format, ...) {
    fflush(stdout);
    va_list arguments;
    va_start(arguments, format);
    char *text = printable_format(format, arguments);
    va_end(arguments);
    fprintf(stderr, "dynamicsctl: %s\n", text != NULL ? text : "out of memory");
    free(text);
    return code;
}

exit_code complain_memory(void) {
    return complain(EXIT_FAILED, "out of memory");
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
    return complain(code, "%s: %s%s%s%s%s%s (%s)", kind, place != NULL ? place : "", place != NULL ? ": " : "",
                    error->field, error->field[0] != '\0' ? ": " : "", error->message, advice,
                    dyn_client_status_name(error->status));
}

exit_code check_output(void) {
    bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
    if (!failed)
        return EXIT_OK;
    /* A reader that went away needs no message. */
    if (errno == EPIPE)
        return EXIT_FAILED;
    return complain(EXIT_FAILED, "standard output cannot be written: %s", strerror(errno));
}
