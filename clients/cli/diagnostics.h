/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports errors of dynamicsctl and defines its exit codes.
 */
#ifndef CLI_DIAGNOSTICS_H
#define CLI_DIAGNOSTICS_H

#include <dynamics_client.h>

/* Exit codes; the help text lists them. */
typedef enum exit_code {
    EXIT_OK = 0,
    EXIT_REFUSED = 1,     /* the daemon answered with an error */
    EXIT_USAGE = 2,       /* wrong arguments, or an input file that cannot be read */
    EXIT_UNREACHABLE = 3, /* no connection to the daemon */
    EXIT_TIMED_OUT = 4,   /* no answer in time */
    EXIT_FAILED = 5,      /* anything else: out of memory, output cannot be written, a reply that makes no sense */
} exit_code;

/* Writes "dynamicsctl: " and the sentence to standard error. Returns `code`. */
exit_code complain(exit_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Value of `place` for complain_call if the user wrote the request in the protocol's form: the error then names fields
 * and methods as the protocol does. */
extern const char PROTOCOL_FORM[];

/* Reports why a call failed: "dynamicsctl: refused: --q[2]: ... (INVALID_ARGUMENT, NOT_FINITE)". `place` (may be NULL)
 * is the file and line of the state that caused the error, or PROTOCOL_FORM. Returns the exit code of the error's
 * status. */
exit_code complain_call(const dyn_client_error *error, const char *place);

exit_code complain_memory(void);

/* Flushes standard output and reports an error, except if the reader has closed the pipe. Returns EXIT_FAILED after an
 * error. */
exit_code check_output(void);

#endif
