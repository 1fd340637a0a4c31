/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/link_parameters.h"

#include <stdint.h>

/* Names of the inertial parameters of a body, as on the regressor's axis in the replies of Evaluate. */
static const char *const names[LINK_PARAMETERS] = {"m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"};

char *link_parameter_name(uint32_t column) {
    return (char *)(uintptr_t)names[column % LINK_PARAMETERS];
}

char *link_parameter_unit(uint32_t column) {
    uint32_t parameter = column % LINK_PARAMETERS;
    return (char *)(uintptr_t)(parameter == 0 ? "kg" : parameter < 4 ? "kg m" : "kg m^2");
}

char **link_parameter_bodies(call *c, const dyn_model *model) {
    size_t count = (size_t)dyn_model_joint_count(model);
    char **bodies = call_allocate(c, count + 1, sizeof *bodies);
    for (size_t i = 0; bodies && i < count; i++) {
        int link = dyn_model_joint(model, (int)i)->child_link;
        bodies[i] = call_string(c, dyn_model_link(model, link)->name);
    }
    return call_has_ended(c) ? NULL : bodies;
}
