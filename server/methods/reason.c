/* SPDX-License-Identifier: BSD-2-Clause */
/* Reasons of errors. */
#include "methods/reason.h"

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

error_reason reason_of_status(dyn_status status) {
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
        return REASON_MEMORY_SHORT;
    case DYN_CANCELLED:
        return REASON_CANCELLED;
    }
    return REASON_DEFECT;
}
