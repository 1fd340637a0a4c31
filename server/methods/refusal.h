/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Refusal of a value: the reason, the field and the message of an error, before it ends a call or becomes an event.
 */
#ifndef SERVER_METHODS_REFUSAL_H
#define SERVER_METHODS_REFUSAL_H

#include <stdbool.h>
#include <stdint.h>

#include "methods/bounds.h"
#include "methods/reason.h"

/* Sizes of the field and the message of a refusal, in bytes. */
enum { REFUSAL_FIELD_SIZE = 128, REFUSAL_MESSAGE_SIZE = 512 };

/* Reason for a refusal; `field` is relative to the method's message. */
typedef struct refusal {
    error_reason reason;
    excess exceeded; /* limit that is exceeded, as in Status */
    char field[REFUSAL_FIELD_SIZE];
    char message[REFUSAL_MESSAGE_SIZE];
} refusal;

/* Prepends `part`, the name of a message, to a refusal's field: "q" within "state" becomes "state.q". Leaves an empty
 * field, and one that would be too long, unchanged. */
void refuse_within(refusal *why, const char *part);

/* Fills a refusal, and returns false. */
bool refuse(refusal *why, error_reason reason, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Fills a refusal of a value that exceeds a bound, and returns false. */
bool refuse_limit(refusal *why, error_reason reason, excess exceeded, const char *field, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Fills a refusal for lack of memory, and returns false. */
bool refuse_memory(refusal *why);

#endif
