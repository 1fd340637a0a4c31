/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds: names of the limits that errors report. */
#include "methods/bounds.h"

#include <stddef.h>

#include "dynamics/v1/server.pb-c.h"

/* Names of the limits. The offset makes the compiler refuse a name that is no field of the message Limits. */
static const struct {
    const char *name;
    size_t offset;
} bounds[] = {[BOUND_NONE] = {"", 0},
#define BOUND_ROW(identifier, field) [BOUND_##identifier] = {#field, offsetof(Dynamics__V1__Limits, field)},
#define LIMIT_ROW(identifier, field, ...) BOUND_ROW(identifier, field)
              LIMITS(LIMIT_ROW) FIXED_BOUNDS(BOUND_ROW)
#undef LIMIT_ROW
#undef BOUND_ROW
};

char *bound_name(bound b) {
    return (char *)(uintptr_t)bounds[b].name;
}
