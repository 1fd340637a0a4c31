/* SPDX-License-Identifier: BSD-2-Clause */
/* Refusals: the reason, the field and the message of an error, before it ends a call or becomes an event. */
#include "methods/refusal.h"

#include <dynamics/text.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill_refusal(refusal *why, error_reason reason, const char *field, const char *format, va_list arguments) {
    char message[sizeof why->message];
    why->reason = reason;
    why->exceeded = (excess){0};
    dyn_text_print(field, why->field, sizeof why->field);
    vsnprintf(message, sizeof message, format, arguments);
    dyn_text_print(message, why->message, sizeof why->message);
}

bool refuse(refusal *why, error_reason reason, const char *field, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill_refusal(why, reason, field, format, arguments);
    va_end(arguments);
    return false;
}

void refuse_within(refusal *why, const char *part) {
    size_t length = strlen(part), rest = strlen(why->field);
    if (rest > 0 && length + 1 + rest < sizeof why->field) {
        memmove(why->field + length + 1, why->field, rest + 1);
        memcpy(why->field, part, length);
        why->field[length] = '.';
    }
}

bool refuse_limit(refusal *why, error_reason reason, excess exceeded, const char *field, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fill_refusal(why, reason, field, format, arguments);
    va_end(arguments);
    why->exceeded = exceeded;
    return false;
}

bool refuse_memory(refusal *why) {
    return refuse(why, REASON_MEMORY_SHORT, "", "the daemon is short of memory; try again");
}
