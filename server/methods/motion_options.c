/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads what a query requires of motions of models with constraints. */
#include "methods/motion_options.h"

#include <math.h>
#include <stdio.h>

static const double usual_tolerance = 1e-3;

/* Reads weights: none (NULL), one for all, or `count`; positive, or not negative. */
static bool read_weights(const char *name, size_t count, bool may_vanish, size_t sent, const double *values,
                         arena *memory, const double **weights, refusal *why) {
    char field[REFUSAL_FIELD_SIZE];
    double *all = sent > 0 ? arena_array(memory, count, sizeof *all) : NULL;
    *weights = NULL;
    if (sent == 0) {
        return true;
    }
    if (!all) {
        return refuse_memory(why);
    }
    snprintf(field, sizeof field, "query.motion_options.%s", name);
    if (sent > 1 && sent != count) {
        return refuse(why, REASON_WRONG_COUNT, field, "%s has %zu values; pass %zu, or one for all", name, sent, count);
    }
    for (size_t i = 0; i < count; i++) {
        const size_t at = sent == 1 ? 0 : i;
        all[i] = values[at];
        if (!isfinite(all[i]) || !(all[i] > 0 || (may_vanish && all[i] == 0))) {
            snprintf(field, sizeof field, "query.motion_options.%s[%zu]", name, at);
            return refuse(why, REASON_INVALID_VALUE, field, "%s[%zu] is %g; pass a finite number that is %s", name, at,
                          all[i], may_vanish ? "not negative" : "positive");
        }
    }
    *weights = all;
    return true;
}

static bool read_tolerance(const Dynamics__V1__MotionOptions *wire, double *tolerance, refusal *why) {
    static const char field[] = "query.motion_options.tolerance";
    if (!(wire->tolerance >= 0 && wire->tolerance <= 1)) {
        return refuse(why, REASON_INVALID_VALUE, field, "the tolerance is %g; pass a number from 0 to 1, or 0 for %g",
                      wire->tolerance, usual_tolerance);
    }
    if (wire->nearest && wire->tolerance > 0) {
        return refuse(why, REASON_CONFLICTING_FIELDS, field,
                      "the nearest motion has no tolerance; leave out tolerance or nearest");
    }
    *tolerance = wire->nearest ? 0 : wire->tolerance > 0 ? wire->tolerance : usual_tolerance;
    return true;
}

bool motion_options_read(const robot *r, size_t rows, const Dynamics__V1__MotionOptions *wire, arena *memory,
                         dyn_constrained_inverse_options *options, refusal *why) {
    const double *sent;
    options->tolerance = usual_tolerance;
    if (!wire) {
        return true;
    }
    if (rows == 0) {
        return refuse(why, REASON_UNUSED_FIELD, "query.motion_options",
                      "model \"%s\" has no constraints, and the query has neither constraints nor rows; leave it out",
                      r->entry->name);
    }
    if (!read_tolerance(wire, &options->tolerance, why) ||
        !read_weights("force_weights", r->nv, false, wire->n_force_weights, wire->force_weights, memory, &sent, why) ||
        !read_weights("multiplier_weights", rows, true, wire->n_multiplier_weights, wire->multiplier_weights, memory,
                      &options->multiplier_weights, why)) {
        return false;
    }
    double *weights = sent ? arena_array(memory, r->nv, sizeof *weights) : NULL;
    if (weights) {
        robot_v_to_model(r, 1, sent, weights);
    }
    options->weights = weights;
    return !sent || weights || refuse_memory(why);
}
