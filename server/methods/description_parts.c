/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of descriptions of robots that joints and constraints share: errors of elements, and types of joints. */
#include "methods/description_parts.h"

#include <dynamics/urdf.h>
#include <string.h>

bool description_fail_element(call *c, const dyn_error *error) {
    /* An error with a line names the element in its message. */
    bool is_named = error->site.element.kind != DYN_ELEMENT_KIND_NONE && error->site.element.line == 0;
    call_fail_description(c, error, is_named ? error->place : "");
    if (error->site.cause == DYN_CAUSE_TOO_MANY && error->site.argument && strcmp(error->site.argument, "depth") == 0) {
        call_set_limit(c, BOUND_URDF_DEPTH, DYN_URDF_MAX_DEPTH, 0);
    } else if (error->site.cause == DYN_CAUSE_TOO_MANY) {
        call_set_limit(c, BOUND_ELEMENT_NAME_BYTES, DYN_MAX_NAME, 0);
    }
    return false;
}

bool description_refuse_derived(call *c, const char *path, const char *member, bool is_set) {
    if (is_set) {
        call_blame(c, "%s.%s", path, member);
        call_fail(c, REASON_UNUSED_FIELD, "%s follows from the description and is set in replies only; leave it out",
                  member);
    }
    return !is_set;
}

dyn_joint_type description_joint_type(Dynamics__V1__JointType wire) {
    return (dyn_joint_type)((int)wire - DYNAMICS__V1__JOINT_TYPE__JOINT_TYPE_FIXED);
}

Dynamics__V1__JointType description_write_joint_type(dyn_joint_type type) {
    return (Dynamics__V1__JointType)((int)type + DYNAMICS__V1__JOINT_TYPE__JOINT_TYPE_FIXED);
}

bool description_check_count(call *c, const char *field, size_t count, const part_limit *limit) {
    if (count > limit->most) {
        call_blame(c, "%s", field);
        call_fail(c, REASON_MODEL_TOO_LARGE, "the model has %zu %s; the limit is %u (%s)", count, limit->parts,
                  limit->most, limit->key);
        call_set_limit(c, limit->bound, limit->most, count);
    }
    return count <= limit->most;
}
