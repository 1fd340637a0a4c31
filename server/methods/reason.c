/* SPDX-License-Identifier: BSD-2-Clause */
/* Reasons of errors: their tokens and codes, and the reasons of the library's errors. */
#include "methods/reason.h"

#include <string.h>

static const struct {
    const char *token;
    Dynamics__V1__Code code;
    double retry_after; /* s */
} reasons[] = {[REASON_NONE] = {"", DYNAMICS__V1__CODE__CODE_OK, 0},
#define REASON_ROW(name, status, seconds) [REASON_##name] = {#name, DYNAMICS__V1__CODE__CODE_##status, seconds},
               REASONS(REASON_ROW)
#undef REASON_ROW
};

Dynamics__V1__Code reason_code(error_reason r) {
    return reasons[r].code;
}

char *reason_token(error_reason r) {
    return (char *)(uintptr_t)reasons[r].token;
}

double reason_retry_after(error_reason r) {
    return reasons[r].retry_after;
}

/* Checks that a status of the library has the number of the protocol's code. */
#define SAME_NUMBER(name) _Static_assert((int)DYN_##name == (int)DYNAMICS__V1__CODE__CODE_##name, #name)
SAME_NUMBER(OK);
SAME_NUMBER(CANCELLED);
SAME_NUMBER(INVALID_ARGUMENT);
SAME_NUMBER(NOT_FOUND);
SAME_NUMBER(RESOURCE_EXHAUSTED);
SAME_NUMBER(FAILED_PRECONDITION);
#undef SAME_NUMBER

/* Returns the reason of a library status without a more specific cause. Its code has the number of the status. */
static error_reason reason_of_status(dyn_status status) {
    switch (status) {
    case DYN_OK:
        return REASON_NONE;
    case DYN_INVALID_ARGUMENT:
        return REASON_INVALID_VALUE;
    case DYN_NOT_FOUND:
        return REASON_FRAME_NOT_FOUND;
    case DYN_FAILED_PRECONDITION:
        return REASON_MODEL_UNSUITABLE;
    case DYN_RESOURCE_EXHAUSTED:
        return REASON_MODEL_TOO_LARGE;
    case DYN_CANCELLED:
        return REASON_CANCELLED;
    }
    return REASON_DEFECT;
}

error_reason reason_of_error(const dyn_error *error) {
    switch (error->site.cause) {
    case DYN_CAUSE_OTHER:
        break;
    case DYN_CAUSE_MISSING:
        return REASON_MISSING_VALUE;
    case DYN_CAUSE_NOT_FINITE:
        return REASON_NOT_FINITE;
    case DYN_CAUSE_PRECISION:
        return error->status == DYN_INVALID_ARGUMENT ? REASON_VALUE_BEYOND_PRECISION : REASON_PRECISION_TOO_LOW;
    case DYN_CAUSE_NOT_UNIT:
        return REASON_INVALID_ROTATION;
    case DYN_CAUSE_INERTIA:
        return REASON_INVALID_INERTIA;
    case DYN_CAUSE_OVERFLOW:
        return REASON_RESULT_OVERFLOW;
    case DYN_CAUSE_FRAME:
        return REASON_FRAME_NOT_FOUND;
    case DYN_CAUSE_JOINT:
        return REASON_JOINT_NOT_FOUND;
    case DYN_CAUSE_NAME:
        return REASON_INVALID_NAME;
    case DYN_CAUSE_SINGULAR_MASS_MATRIX:
        return REASON_SINGULAR_MASS_MATRIX;
    case DYN_CAUSE_SINGULAR_TASK:
        return REASON_SINGULAR_TASK;
    case DYN_CAUSE_NO_MASS:
        return REASON_NO_MASS;
    case DYN_CAUSE_MEMORY:
        return REASON_MEMORY_SHORT;
    case DYN_CAUSE_TOO_MANY:
        return REASON_TOO_MANY_ENTRIES;
    }
    return reason_of_status(error->status);
}

error_reason reason_of_description(const dyn_error *error) {
    error_reason reason = reason_of_error(error);
    if (error->status == DYN_NOT_FOUND && error->site.element.kind == DYN_ELEMENT_KIND_JOINT) {
        return REASON_JOINT_NOT_FOUND;
    }
    if (error->status == DYN_NOT_FOUND && error->site.element.kind == DYN_ELEMENT_KIND_LINK) {
        return REASON_LINK_NOT_FOUND;
    }
    if (error->site.cause == DYN_CAUSE_TOO_MANY) {
        bool is_depth = error->site.argument && strcmp(error->site.argument, "depth") == 0;
        return is_depth ? REASON_MODEL_TOO_LARGE : REASON_TEXT_TOO_LONG;
    }
    return reason == REASON_INVALID_VALUE ? REASON_INVALID_DESCRIPTION : reason;
}
