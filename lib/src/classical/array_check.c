/* SPDX-License-Identifier: BSD-2-Clause */
#include "array_check.h"

#include <math.h>

#include "../model/error.h"

dyn_status dyn_check_array(const char *name, const double *x, size_t count, dyn_error *error) {
    if (!x) {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_MISSING, name, "%s is NULL", name);
    }
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) {
            const dyn_error_site site = {
                .cause = DYN_CAUSE_NOT_FINITE, .argument = name, .has_index = true, .index = i};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "the value is %g; pass a finite number", x[i]);
        }
    }
    return DYN_OK;
}

bool dyn_are_finite(const double *x, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += x[i] * 0;
    }
    return sum == 0;
}
