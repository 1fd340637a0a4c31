/* SPDX-License-Identifier: BSD-2-Clause */
#include "record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>
#include <dynamics/trajectory.h>

#include "../dynamics/arguments.h"
#include "../model/error.h"
#include "smoothing.h"

/* Ratio of an interval to the median one above which there is a gap. */
static const double GAP = 10;

/* Sampling rates per cut-off frequency above which the filter would lose too many digits. */
static const double FINEST = 3000;

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static dyn_error_site time_site(size_t i, double value) {
    return (dyn_error_site){.cause = isfinite(value) ? DYN_CAUSE_OTHER : DYN_CAUSE_NOT_FINITE,
                            .argument = "time",
                            .has_index = true,
                            .index = i};
}

/* Checks that times are finite and ascend without gaps. Stores the median interval. `scratch` has n numbers. */
static dyn_status check_times(size_t n, const double *t, double *scratch, double *median, dyn_error *error) {
    for (size_t i = 0; i < n; i++) {
        const dyn_error_site site = time_site(i, t[i]);
        if (!isfinite(t[i])) {
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "the time is %g; pass a finite number", t[i]);
        }
        if (i > 0 && !(t[i] > t[i - 1])) {
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                "the time is %.17g, not after that before it, %.17g", t[i], t[i - 1]);
        }
        scratch[i] = i > 0 ? t[i] - t[i - 1] : 0;
    }
    qsort(scratch + 1, n - 1, sizeof *scratch, compare);
    *median = scratch[n / 2];
    for (size_t i = 1; i < n; i++) {
        if (t[i] - t[i - 1] > GAP * *median) {
            const dyn_error_site site = time_site(i, t[i]);
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                "the time is %g s after that before it, while the median interval is %g s; rates "
                                "across a gap are not known: pass one part of the record",
                                t[i] - t[i - 1], *median);
        }
    }
    return DYN_OK;
}

static dyn_status check_cutoff(const dyn_model *model, const char *name, double cutoff, double interval,
                               dyn_error *error) {
    const dyn_error_site site = {.argument = name};
    if (!(cutoff >= 0) || !isfinite(cutoff)) {
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "%s is %g; pass a frequency in Hz, or 0 for no filter",
                            name, cutoff);
    }
    if (cutoff > 0 && (cutoff * interval > 0.5 || cutoff * interval * FINEST < 1)) {
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                            "%s is %g Hz; the record has %g samples a second: pass %g to %g Hz", name, cutoff,
                            1 / interval, 1 / (FINEST * interval), 0.5 / interval);
    }
    for (int j = 0; cutoff > 0 && j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        if (joint->nq != joint->nv) {
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                "joint %s has a quaternion, which the filter does not accept; pass 0, and v and a of "
                                "your own filter",
                                joint->name);
        }
    }
    return DYN_OK;
}

/* Checks the gains; 0 stands for one that is sought. */
static dyn_status check_gains(size_t nv, const double *gains, bool accept_zero, dyn_error *error) {
    for (size_t k = 0; gains && k < nv; k++) {
        if (!isfinite(gains[k]) || (gains[k] == 0 && !accept_zero)) {
            const dyn_error_site site = {.argument = "gains", .has_index = true, .index = k};
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                "the gain is %g; pass a number that is not zero, or have it estimated", gains[k]);
        }
    }
    return DYN_OK;
}

/* Checks the numbers of the motion, and the rates that it has. */
static dyn_status check_numbers(const dyn_model *model, const dyn_recorded_motion *m, dyn_error *error) {
    if (m->n < DYN_IDENTIFICATION_SAMPLES) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "motion",
                             "the record has %zu samples; no parameter can be known from fewer than %d", m->n,
                             (int)DYN_IDENTIFICATION_SAMPLES);
    }
    if (!m->v != !m->a) {
        const char *missing = m->v ? "a" : "v";
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_MISSING, missing,
                                 "%s is missing; pass both v and a, or neither, and both are derived from q", missing);
    }
    dyn_status status = dyn_check_configuration(model, "q", m->n, m->q, error);
    if (status == DYN_OK && m->v) {
        status = dyn_check_tangent(model, "v", m->n, m->v, error);
    }
    if (status == DYN_OK && m->a) {
        status = dyn_check_tangent(model, "a", m->n, m->a, error);
    }
    return status == DYN_OK ? dyn_check_tangent(model, "tau", m->n, m->tau, error) : status;
}

static dyn_status check_motion(const dyn_model *model, const dyn_recorded_motion *m,
                               const dyn_identification_options *o, double *scratch, dyn_error *error) {
    double interval = 1;
    bool needs_time = !m->v || o->cutoff != 0 || o->torque_cutoff != 0;
    dyn_status status = DYN_OK;
    if (needs_time && !m->time) {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_MISSING, "time",
                                 "time is missing; rates and filters need it");
    }
    if (m->v && o->cutoff != 0) {
        const dyn_error_site site = {.argument = "cutoff"};
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                            "cutoff is %g Hz, but the motion has rates; leave out v and a, or pass 0", o->cutoff);
    }
    if (!m->v && o->estimator == DYN_ESTIMATOR_TOTAL && o->cutoff == 0) {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_MISSING, "cutoff",
                                 "cutoff is missing; total least squares corrects rates that are derived from "
                                 "filtered positions: pass a cut-off frequency, or v and a");
    }
    if (m->time) {
        status = check_times(m->n, m->time, scratch, &interval, error);
    }
    if (status == DYN_OK) {
        status = check_cutoff(model, "cutoff", o->cutoff, interval, error);
    }
    if (status == DYN_OK) {
        status = check_cutoff(model, "torque_cutoff", o->torque_cutoff, interval, error);
    }
    return status == DYN_OK ? check_gains((size_t)dyn_model_nv(model), m->gains, o->estimate_gains, error) : status;
}

/* Range of positions, relative to them, within which a joint is at rest. */
static const double AT_REST = 1e-12;

/* Rows that share an extreme value where a drive cuts off its current, also as a multiple of those with the next value;
 * relative difference of equal values; and least range of the described torque in such rows, as a part of its range in
 * the record and of the extreme value. A torque that is constant by itself, as at rest, has none. */
enum { SHARED = 4 };
static const double EQUAL = 1e-6, VARIES = 0.02;

/* Returns the largest sign * tau of coordinate k that is below `bound`, and the number of rows that have it. */
static double largest_below(const record *r, size_t k, double sign, double bound, size_t *rows) {
    double largest = 0;
    *rows = 0;
    for (size_t s = 0; s < r->n; s++) {
        double tau = sign * r->unfiltered[s * r->nv + k];
        largest = tau < bound && tau > largest ? tau : largest;
    }
    for (size_t s = 0; s < r->n; s++) {
        double tau = sign * r->unfiltered[s * r->nv + k];
        *rows += tau < bound && tau >= largest * (1 - EQUAL);
    }
    return largest;
}

/* Returns the range of the described torque in the rows of coordinate k with sign * tau of at least `bound`. */
static double described_range(const record *r, size_t k, double sign, double bound) {
    double least = INFINITY, most = -INFINITY;
    for (size_t s = 0; s < r->n; s++) {
        size_t i = s * r->nv + k;
        if (sign * r->unfiltered[i] >= bound) {
            least = fmin(least, r->described[i]), most = fmax(most, r->described[i]);
        }
    }
    return most > least ? most - least : 0;
}

/* Returns the value of sign * tau from which on the drive of coordinate k cuts off its current; infinite: none. */
static double find_cut(const record *r, size_t k, double sign) {
    size_t rows, next_rows;
    double extreme = largest_below(r, k, sign, INFINITY, &rows) * (1 - EQUAL);
    largest_below(r, k, sign, extreme, &next_rows);
    if (rows < SHARED || rows <= SHARED * next_rows || extreme <= 0) {
        return INFINITY;
    }
    double torque = r->is_sought[k] ? 0 : extreme;
    double least = VARIES * fmax(described_range(r, k, sign, -INFINITY), torque);
    return described_range(r, k, sign, extreme) > least ? extreme : INFINITY;
}

/* Marks the torques of coordinate k. `effort` may be infinite. Returns whether a mark has changed. */
static bool mark_coordinate(record *r, size_t k, double gain, double effort) {
    double highest = find_cut(r, k, 1), lowest = find_cut(r, k, -1);
    bool is_changed = false;
    for (size_t s = 0; s < r->n; s++) {
        size_t i = s * r->nv + k;
        double tau = r->unfiltered[i];
        bool is_saturated = tau >= highest || -tau >= lowest || fabs(gain * tau) >= effort * (1 - EQUAL);
        is_changed = is_changed || is_saturated != r->is_saturated[i];
        r->is_saturated[i] = is_saturated;
    }
    return is_changed;
}

bool record_mark_saturation(const dyn_model *model, const double *gains, record *r) {
    bool is_changed = false;
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        size_t k = (size_t)joint->v_index;
        if (joint->nv == 1 && r->is_sought[k] == (gains != NULL)) {
            bool is_limited = joint->has_limits && joint->limits.effort > 0;
            double effort = is_limited ? joint->limits.effort : INFINITY;
            is_changed = mark_coordinate(r, k, gains ? gains[k] : 1, effort) || is_changed;
        }
    }
    return is_changed;
}

/* Computes the torques of the model as described. */
static dyn_status describe_torques(const dyn_model *model, const double *gravity, record *r, dyn_error *error) {
    dyn_workspace *workspace = NULL;
    dyn_status status = dyn_workspace_create(model, &workspace, error);
    if (status == DYN_OK) {
        status = dyn_rnea(model, workspace, r->n, gravity, r->q, r->v, r->a, NULL, r->described, error);
    }
    dyn_workspace_free(workspace);
    return status;
}

static void smooth_columns(const dyn_recorded_motion *m, size_t width, double cutoff, double *rows, double *scratch) {
    for (size_t k = 0; cutoff > 0 && k < width; k++) {
        smooth(m->n, m->time, cutoff, width, rows + k, scratch);
    }
}

/* Returns whether coordinate i of q is constant but for rounding. */
static bool is_constant(const record *r, size_t i) {
    double least = INFINITY, most = -INFINITY;
    for (size_t s = 0; s < r->n; s++) {
        least = fmin(least, r->q[s * r->nq + i]), most = fmax(most, r->q[s * r->nq + i]);
    }
    return most - least <= AT_REST * fmax(1, fmax(most, -least));
}

/* Sets derived rates of joints at rest to zero, which they are but for rounding. */
static void rest(const dyn_model *model, record *r) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        bool is_at_rest = true;
        for (int i = 0; i < joint->nq; i++) {
            is_at_rest = is_at_rest && is_constant(r, (size_t)(joint->q_index + i));
        }
        for (size_t s = 0; s < r->n && is_at_rest; s++) {
            size_t first = s * r->nv + (size_t)joint->v_index;
            memset(r->v + first, 0, (size_t)joint->nv * sizeof *r->v);
            memset(r->a + first, 0, (size_t)joint->nv * sizeof *r->a);
        }
    }
}

dyn_status record_create(const dyn_model *model, const dyn_recorded_motion *m, const dyn_identification_options *o,
                         record *r, dyn_error *error) {
    *r = (record){.n = m->n, .nq = (size_t)dyn_model_nq(model), .nv = (size_t)dyn_model_nv(model)};
    r->has_rates = m->v != NULL, r->motion = m, r->cutoff = o->cutoff, r->torque_cutoff = o->torque_cutoff;
    dyn_status status = check_numbers(model, m, error);
    if (status != DYN_OK) {
        return status;
    }
    double *scratch = calloc(r->n, SMOOTHING_SCRATCH * sizeof *scratch);
    r->q = calloc(r->n * r->nq + 1, sizeof *r->q), r->v = calloc(r->n * r->nv + 1, sizeof *r->v);
    r->a = calloc(r->n * r->nv + 1, sizeof *r->a), r->tau = calloc(r->n * r->nv + 1, sizeof *r->tau);
    r->is_saturated = calloc(r->n * r->nv + 1, sizeof *r->is_saturated);
    r->is_sought = calloc(r->nv + 1, sizeof *r->is_sought);
    r->unfiltered = calloc(r->n * r->nv + 1, sizeof *r->unfiltered);
    r->described = calloc(r->n * r->nv + 1, sizeof *r->described);
    if (!r->is_saturated || !r->unfiltered || !r->described || !r->is_sought || !scratch || !r->q || !r->v || !r->a ||
        !r->tau) {
        free(scratch);
        return dyn_error_memory(error);
    }
    status = check_motion(model, m, o, scratch, error);
    if (status == DYN_OK) {
        memcpy(r->q, m->q, r->n * r->nq * sizeof *r->q);
        for (size_t k = 0; k < r->nv; k++) {
            r->is_sought[k] = o->estimate_gains && (!m->gains || m->gains[k] == 0);
        }
        for (size_t i = 0; i < r->n * r->nv; i++) {
            r->tau[i] = m->tau[i] * (m->gains && !r->is_sought[i % r->nv] ? m->gains[i % r->nv] : 1);
        }
        memcpy(r->unfiltered, r->tau, r->n * r->nv * sizeof *r->tau);
        smooth_columns(m, r->nq, o->cutoff, r->q, scratch);
        smooth_columns(m, r->nv, o->torque_cutoff, r->tau, scratch);
    }
    free(scratch);
    if (status == DYN_OK && m->v) {
        memcpy(r->v, m->v, r->n * r->nv * sizeof *r->v);
        memcpy(r->a, m->a, r->n * r->nv * sizeof *r->a);
    } else if (status == DYN_OK) {
        status = dyn_derive_rates(model, r->n, m->time, r->q, DYN_RATES_QUINTIC, r->v, r->a, error);
        rest(model, r);
    }
    if (status == DYN_OK) {
        status = describe_torques(model, o->gravity, r, error);
    }
    if (status == DYN_OK) {
        record_mark_saturation(model, NULL, r);
    }
    return status;
}

void record_free(record *r) {
    free(r->q), free(r->v), free(r->a), free(r->tau), free(r->known), free(r->is_saturated), free(r->is_sought);
    free(r->unfiltered), free(r->described);
    *r = (record){0};
}
