/* SPDX-License-Identifier: BSD-2-Clause */
#include "methods/joint_motions.h"

#include <stdio.h>
#include <string.h>

#include "methods/geometry.h"

/* Copies a list of as many numbers as there are knots. */
static bool read_list(call *c, const char *path, const char *name, size_t count, const double *from, size_t knots,
                      double *to) {
    if (count != knots) {
        call_blame(c, "%s.%s", path, name);
        call_fail(c, REASON_INVALID_VALUE, "there are %zu %s for %zu knots; pass one for each knot", count, name,
                  knots);
        return false;
    }
    memcpy(to, from, count * sizeof *to);
    return true;
}

static bool read_spline(call *c, const char *path, const Dynamics__V1__JointFunction *from, dyn_joint_function *to) {
    size_t knots = from->n_knots;
    bool is_quintic = from->n_slopes > 0 || from->n_curvatures > 0;
    to->kind = is_quintic ? DYN_FUNCTION_KIND_QUINTIC_SPLINE : DYN_FUNCTION_KIND_CUBIC_SPLINE;
    if (knots < 2 || knots > DYN_MAX_KNOTS) {
        call_blame(c, "%s.knots", path);
        call_fail(c, REASON_INVALID_VALUE, "the function has %zu knots and no coefficients; pass 2 to %d knots", knots,
                  DYN_MAX_KNOTS);
        return false;
    }
    to->count = (int)knots;
    memcpy(to->knots, from->knots, knots * sizeof *to->knots);
    return read_list(c, path, "values", from->n_values, from->values, knots, to->values) &&
           (!is_quintic ||
            (read_list(c, path, "slopes", from->n_slopes, from->slopes, knots, to->slopes) &&
             read_list(c, path, "curvatures", from->n_curvatures, from->curvatures, knots, to->curvatures)));
}

static bool read_function(call *c, const char *path, const Dynamics__V1__JointFunction *from, dyn_joint_function *to) {
    if (!from) {
        call_blame(c, "%s", path);
        call_fail(c, REASON_MISSING_VALUE, "the motion has no function; pass coefficients, or knots and values");
        return false;
    }
    if (from->n_coefficients == 0) {
        return read_spline(c, path, from, to);
    }
    if (from->n_knots + from->n_values + from->n_slopes + from->n_curvatures > 0) {
        call_blame(c, "%s", path);
        call_fail(c, REASON_UNUSED_FIELD, "the function has coefficients and a spline; pass one of the two");
        return false;
    }
    if (from->n_coefficients > DYN_MAX_FUNCTION_TERMS) {
        call_blame(c, "%s.coefficients", path);
        call_fail(c, REASON_INVALID_VALUE, "the polynomial has %zu coefficients; pass 1 to %d", from->n_coefficients,
                  DYN_MAX_FUNCTION_TERMS);
        return false;
    }
    to->kind = DYN_FUNCTION_KIND_POLYNOMIAL;
    to->count = (int)from->n_coefficients;
    memcpy(to->coefficients, from->coefficients, from->n_coefficients * sizeof *to->coefficients);
    return true;
}

static bool read_motion(call *c, const char *path, const Dynamics__V1__JointMotion *from, dyn_joint_motion *to) {
    char member[PATH_SIZE];
    *to = (dyn_joint_motion){.kind = DYN_JOINT_MOTION_KIND_ROTATION};
    if (from->kind == DYNAMICS__V1__JOINT_MOTION_KIND__JOINT_MOTION_KIND_TRANSLATION) {
        to->kind = DYN_JOINT_MOTION_KIND_TRANSLATION;
    } else if (from->kind != DYNAMICS__V1__JOINT_MOTION_KIND__JOINT_MOTION_KIND_ROTATION) {
        call_blame(c, "%s.kind", path);
        call_fail(c, REASON_UNKNOWN_VALUE, "the kind is %d; pass ROTATION (1) or TRANSLATION (2)", (int)from->kind);
        return false;
    }
    return geometry_read_vector(c, path_join(member, path, "axis"), from->axis, to->axis) &&
           read_function(c, path_join(member, path, "function"), from->function, &to->function);
}

bool joint_motions_read(call *c, const char *path, const Dynamics__V1__Joint *from, dyn_joint_type type, int *count,
                        const dyn_joint_motion **motions) {
    *count = 0;
    *motions = NULL;
    bool fits = from->n_motions <= DYN_MAX_JOINT_MOTIONS;
    if (from->n_motions > 0 && (type != DYN_JOINT_TYPE_CUSTOM || !fits)) {
        call_blame(c, "%s.motions", path);
        call_fail(c, fits ? REASON_UNUSED_FIELD : REASON_INVALID_VALUE,
                  fits ? "only a joint of the type CUSTOM (11) has motions; leave them out or change the type"
                       : "a custom joint has up to %d motions, and this one has more",
                  DYN_MAX_JOINT_MOTIONS);
        return false;
    }
    dyn_joint_motion *read = call_allocate(c, from->n_motions + 1, sizeof *read);
    for (size_t i = 0; read && i < from->n_motions; i++) {
        char name[32], member[PATH_SIZE];
        snprintf(name, sizeof name, "motions[%zu]", i);
        if (!read_motion(c, path_join(member, path, name), from->motions[i], &read[i])) {
            return false;
        }
    }
    *count = (int)from->n_motions;
    *motions = read;
    return read != NULL;
}

/* Copies numbers into memory of the call. */
static double *write_list(call *c, const double *from, size_t count, size_t *written) {
    double *to = call_allocate(c, count, sizeof *to);
    *written = to ? count : 0;
    if (to) {
        memcpy(to, from, count * sizeof *to);
    }
    return to;
}

static Dynamics__V1__JointFunction *write_function(call *c, const dyn_joint_function *from) {
    Dynamics__V1__JointFunction *to = call_allocate(c, 1, sizeof *to);
    size_t count = (size_t)from->count;
    if (!to) {
        return NULL;
    }
    dynamics__v1__joint_function__init(to);
    if (from->kind == DYN_FUNCTION_KIND_POLYNOMIAL) {
        to->coefficients = write_list(c, from->coefficients, count, &to->n_coefficients);
        return to;
    }
    to->knots = write_list(c, from->knots, count, &to->n_knots);
    to->values = write_list(c, from->values, count, &to->n_values);
    if (from->kind == DYN_FUNCTION_KIND_QUINTIC_SPLINE) {
        to->slopes = write_list(c, from->slopes, count, &to->n_slopes);
        to->curvatures = write_list(c, from->curvatures, count, &to->n_curvatures);
    }
    return to;
}

void joint_motions_write(call *c, int count, const dyn_joint_motion *motions, Dynamics__V1__Joint *to) {
    to->motions = call_allocate(c, (size_t)count, sizeof *to->motions);
    for (int i = 0; !call_has_ended(c) && i < count; i++) {
        Dynamics__V1__JointMotion *made = call_allocate(c, 1, sizeof *made);
        if (!made) {
            return;
        }
        dynamics__v1__joint_motion__init(made);
        made->kind = motions[i].kind == DYN_JOINT_MOTION_KIND_TRANSLATION
                         ? DYNAMICS__V1__JOINT_MOTION_KIND__JOINT_MOTION_KIND_TRANSLATION
                         : DYNAMICS__V1__JOINT_MOTION_KIND__JOINT_MOTION_KIND_ROTATION;
        made->axis = geometry_write_vector(c, motions[i].axis);
        made->function = write_function(c, &motions[i].function);
        to->motions[to->n_motions++] = made;
    }
}
