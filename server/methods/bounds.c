/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of limits. */
#include "methods/bounds.h"

#include <stddef.h>

#include "dynamics/v1/server.pb-c.h"

/* The offset is there so that the compiler refuses a name that is no field of Limits. */
static const struct {
    const char *name;
    size_t offset;
} bounds[] = {[BOUND_NONE] = {"", 0},
#define BOUND_ROW(identifier, field) [BOUND_##identifier] = {#field, offsetof(Dynamics__V1__Limits, field)},
              BOUNDS(BOUND_ROW)
#undef BOUND_ROW
};

char *bound_name(bound b) {
    return (char *)(uintptr_t)bounds[b].name;
}
