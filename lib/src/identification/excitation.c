/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/excitation.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/inverse_dynamics.h>

#include "../model/error.h"
#include "../model/sized.h"
#include "evolution.h"
#include "linear_fit.h"
#include "regression.h"

static const double PI = 3.14159265358979323846;

/* Samples of the search for each harmonic; numbers for each harmonic and coordinate. */
enum { SAMPLES = 20, COEFFICIENTS = 2 };

/* Value of a motion that exceeds effort limits, and of each direction that is not excited: above those of others. */
static const double EXCESS = 1e9, MISSING = 1e3;

/* Limits of one coordinate, less the margin. */
typedef struct range {
    double middle, half, velocity, effort; /* effort INFINITY: none */
    double damping, friction;
    double full_half, full_velocity, full_effort; /* with the margin */
    const char *joint;
} range;

/* Evaluation of motions at the samples of one period. */
typedef struct search {
    const dyn_model *model;
    const dyn_excitation_options *options;
    const dyn_identification_options *identification;
    record r;
    regression g;
    range *ranges;
    double *sines, *cosines;           /* r.n each: of 2 pi s / n */
    double *factors, *triangle, *rows; /* weights of coordinates, combined factor */
    double *scratch;
    linear_solution fit;
    double log_determinant;
    double worst; /* greatest torque of a motion relative to its limit, and its coordinate */
    size_t worst_at, trials;
} search;

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

static range range_of(const dyn_joint *joint, double margin) {
    double free_size = joint->type == DYN_JOINT_TYPE_PRISMATIC ? 1 : PI, share = 1 - margin;
    range r = {.half = free_size, .velocity = free_size, .joint = joint->name};
    if (joint->has_limits && joint->limits.upper > joint->limits.lower) {
        r.middle = (joint->limits.lower + joint->limits.upper) / 2;
        r.half = (joint->limits.upper - joint->limits.lower) / 2;
    }
    if (joint->has_limits && joint->limits.velocity > 0) {
        r.velocity = joint->limits.velocity;
    }
    r.effort = joint->has_limits && joint->limits.effort > 0 ? joint->limits.effort : INFINITY;
    r.full_half = r.half, r.full_velocity = r.velocity, r.full_effort = r.effort;
    r.half *= share, r.velocity *= share, r.effort *= share;
    r.damping = joint->damping, r.friction = joint->friction;
    return r;
}

/* Stores the ranges of all coordinates. Joints that follow another one have none of their own. */
static dyn_status find_ranges(search *s, dyn_error *error) {
    for (int j = 0; j < dyn_model_joint_count(s->model); j++) {
        const dyn_joint *joint = dyn_model_joint(s->model, j);
        if (joint->nq != joint->nv) {
            return dyn_error_set(error, DYN_INVALID_ARGUMENT, "model",
                                 "joint %s has a quaternion, which no Fourier series is; take the part of the model "
                                 "that it carries",
                                 joint->name);
        }
        for (int k = 0; k < joint->nv && joint->master < 0; k++) {
            s->ranges[joint->v_index + k] = range_of(joint, s->options->margin);
        }
    }
    return DYN_OK;
}

/* ---- One motion -------------------------------------------------------------------------------------------------- */

/* Stores the coefficients a and b of one coordinate; the last ones follow from those before. */
static void find_coefficients(size_t harmonics, const double *x, double *a, double *b) {
    a[harmonics - 1] = b[harmonics - 1] = 0;
    for (size_t l = 0; l + 1 < harmonics; l++) {
        a[l] = x[2 * l], b[l] = x[2 * l + 1];
        a[harmonics - 1] -= a[l];
        b[harmonics - 1] -= (double)(l + 1) * b[l] / (double)harmonics;
    }
}

/* Stores the series of one coordinate and its derivatives, before they are scaled. */
static void sum_series(const search *s, size_t k, const double *a, const double *b) {
    const record *r = &s->r;
    double base = 2 * PI / s->options->period;
    for (size_t i = 0; i < r->n; i++) {
        double q = 0, v = 0, acceleration = 0;
        for (size_t l = 1; l <= s->options->harmonics; l++) {
            double w = base * (double)l, sine = s->sines[i * l % r->n];
            double cosine = s->cosines[i * l % r->n];
            q += a[l - 1] / w * sine - b[l - 1] / w * cosine;
            v += a[l - 1] * cosine + b[l - 1] * sine;
            acceleration += b[l - 1] * w * cosine - a[l - 1] * w * sine;
        }
        r->q[i * r->nq + k] = q, r->v[i * r->nv + k] = v, r->a[i * r->nv + k] = acceleration;
    }
}

/* Scales and shifts the series of one coordinate into its range. `size` and `place` are any numbers. */
static void fit_range(const search *s, size_t k, double size, double place) {
    const record *r = &s->r;
    const range *limits = &s->ranges[k];
    double lowest = INFINITY, highest = -INFINITY, fastest = DBL_MIN;
    for (size_t i = k; i < r->n * r->nv; i += r->nv) {
        lowest = fmin(lowest, r->q[i]), highest = fmax(highest, r->q[i]);
        fastest = fmax(fastest, fabs(r->v[i]));
    }
    double reach = fmax((highest - lowest) / 2, DBL_MIN), share = 1 / (1 + exp(-size));
    double scale = share * fmin(limits->half / reach, limits->velocity / fastest);
    double middle = limits->middle + (limits->half - scale * reach) * tanh(place);
    for (size_t i = k; i < r->n * r->nv; i += r->nv) {
        r->q[i] = middle + scale * (r->q[i] - (lowest + highest) / 2);
        r->v[i] *= scale, r->a[i] *= scale;
    }
}

/* Stores the motion of the unknowns x, COEFFICIENTS * harmonics for each coordinate. */
static void decode(search *s, const double *x) {
    size_t harmonics = s->options->harmonics, width = COEFFICIENTS * harmonics;
    double a[DYN_EXCITATION_HARMONICS], b[DYN_EXCITATION_HARMONICS];
    for (size_t k = 0; k < s->r.nv; k++) {
        const double *own = x + k * width;
        find_coefficients(harmonics, own, a, b);
        sum_series(s, k, a, b);
        fit_range(s, k, own[width - 2], own[width - 1]);
    }
}

/* Computes the torques of the motion, with the model's friction, and the greatest one relative to its limit. */
static dyn_status find_torques(search *s, dyn_error *error) {
    const record *r = &s->r;
    double bend = s->identification->friction_velocity;
    dyn_status status =
        dyn_rnea(s->model, s->g.workspace, r->n, s->identification->gravity, r->q, r->v, r->a, NULL, r->tau, error);
    s->worst = 0;
    for (size_t i = 0; i < r->n * r->nv && status == DYN_OK; i++) {
        const range *limits = &s->ranges[i % r->nv];
        double v = r->v[i];
        r->tau[i] += limits->damping * v + limits->friction * v / sqrt(v * v + bend * bend);
        if (fabs(r->tau[i]) > s->worst * limits->effort) {
            s->worst = fabs(r->tau[i]) / limits->effort;
            s->worst_at = i % r->nv;
        }
    }
    return status;
}

/* Computes the criteria of the motion. */
static dyn_status find_criteria(search *s, dyn_error *error) {
    regression *g = &s->g;
    size_t size = g->count + 1;
    bool is_weighted = s->options->criterion == DYN_EXCITATION_CRITERION_DETERMINANT;
    dyn_status status = regression_reduce(g, error);
    for (size_t k = 0; k < g->nv; k++) {
        s->factors[k] = is_weighted && isfinite(s->ranges[k].effort) ? 1 / s->ranges[k].full_effort : 1;
    }
    memset(s->triangle, 0, size * size * sizeof *s->triangle);
    if (status != DYN_OK) {
        return status;
    }
    regression_combine(g, s->factors, s->triangle, s->rows);
    linear_problem problem = {
        .count = g->count, .equations = s->r.n * g->nv, .triangle = s->triangle, .prior = g->prior};
    linear_fit(&problem, s->scratch, &s->fit);
    s->log_determinant = 0;
    for (size_t c = 0; c < g->count; c++) {
        s->log_determinant += 2 * log(fmax(fabs(s->triangle[c * size + c]), DBL_MIN));
    }
    return DYN_OK;
}

/* Error of the evaluation, for the caller of the method. */
typedef struct trial {
    search *s;
    dyn_status status;
    dyn_error *error;
} trial;

/* Evaluates one motion. Implements evolution_function. */
static bool try_motion(void *context, const double *x, double *value) {
    trial *t = context;
    search *s = t->s;
    const dyn_identification_options *o = s->options->identification;
    decode(s, x);
    t->status = find_torques(s, t->error);
    if (t->status == DYN_OK && s->worst > 1) {
        *value = EXCESS + s->worst;
    } else if (t->status == DYN_OK) {
        t->status = find_criteria(s, t->error);
        *value =
            s->options->criterion == DYN_EXCITATION_CRITERION_CONDITION ? log(s->fit.condition) : -s->log_determinant;
        *value += MISSING * (double)(s->g.count - s->fit.rank);
    }
    s->trials++;
    if (t->status == DYN_OK && o && o->proceed &&
        !o->proceed(o->context, (double)s->trials / (double)s->options->trials)) {
        t->status = dyn_error_set(t->error, DYN_CANCELLED, "", "the search was cancelled");
    }
    return t->status == DYN_OK;
}

/* ---- Search ------------------------------------------------------------------------------------------------------ */

/* Opens an evaluation with n samples. The caller closes it, after an error too. */
static dyn_status open_search(search *s, size_t n, dyn_error *error) {
    size_t nq = (size_t)dyn_model_nq(s->model), nv = (size_t)dyn_model_nv(s->model);
    record *r = &s->r;
    *r = (record){.n = n, .nq = nq, .nv = nv};
    r->q = calloc(n * nq + 1, sizeof(double)), r->v = calloc(n * nv + 1, sizeof(double));
    r->a = calloc(n * nv + 1, sizeof(double)), r->tau = calloc(n * nv + 1, sizeof(double));
    r->is_saturated = calloc(n * nv + 1, sizeof(bool));
    s->ranges = calloc(nv + 1, sizeof *s->ranges), s->sines = calloc(n, sizeof *s->sines);
    s->cosines = calloc(n, sizeof *s->cosines);
    s->factors = calloc(nv + 1, sizeof *s->factors);
    if (!r->q || !r->v || !r->a || !r->tau || !r->is_saturated || !s->ranges || !s->sines || !s->cosines ||
        !s->factors) {
        return dyn_error_memory(error);
    }
    for (size_t i = 0; i < n; i++) {
        s->sines[i] = sin(2 * PI * (double)i / (double)n), s->cosines[i] = cos(2 * PI * (double)i / (double)n);
    }
    dyn_status status = find_ranges(s, error);
    if (status == DYN_OK) {
        status = regression_create(s->model, s->identification, r, &s->g, error);
    }
    size_t size = s->g.count + 1;
    s->triangle = calloc(size * size, sizeof(double)), s->rows = calloc(size * size, sizeof(double));
    s->scratch = calloc(linear_fit_scratch(s->g.count), sizeof(double));
    s->fit = (linear_solution){.x = calloc(size, sizeof(double)),
                               .deviations = calloc(size, sizeof(double)),
                               .is_determined = calloc(size, sizeof(bool))};
    bool has_memory = s->triangle && s->rows && s->scratch && s->fit.x && s->fit.deviations && s->fit.is_determined;
    return status != DYN_OK || has_memory ? status : dyn_error_memory(error);
}

static void close_search(search *s) {
    record_free(&s->r);
    regression_free(&s->g);
    free(s->ranges), free(s->sines), free(s->cosines), free(s->factors), free(s->triangle), free(s->rows),
        free(s->scratch);
    free(s->fit.x), free(s->fit.deviations), free(s->fit.is_determined);
}

/* Finds the best motion. `x` has COEFFICIENTS * harmonics * nv numbers. */
static dyn_status find_motion(search *s, double *x, double *first, dyn_error *error) {
    trial t = {.s = s, .error = error};
    evolution_problem problem = {.n = COEFFICIENTS * s->options->harmonics * s->r.nv,
                                 .trials = s->options->trials,
                                 .seed = s->options->seed,
                                 .spread = 1,
                                 .evaluate = try_motion,
                                 .context = &t};
    bool is_ended;
    if (!evolution_minimize(&problem, x, first, &is_ended)) {
        return is_ended ? t.status : dyn_error_memory(error);
    }
    decode(s, x);
    dyn_status status = find_torques(s, error);
    if (status == DYN_OK && s->worst > 1) {
        const range *limits = &s->ranges[s->worst_at];
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, "model",
                             "no motion of %zu that were tried keeps the effort limits: joint %s needs %g and may have "
                             "%g; pass a longer period, a smaller margin or more trials",
                             s->trials, limits->joint, s->worst * limits->effort, limits->effort);
    }
    return status;
}

/* ---- Result ------------------------------------------------------------------------------------------------------ */

/* Allocates a result. Returns NULL when out of memory. */
static dyn_excitation *create_result(const search *s) {
    const record *r = &s->r;
    dyn_excitation *result = calloc(1, sizeof *result);
    if (!result) {
        return NULL;
    }
    *result = (dyn_excitation){.n = r->n, .nq = r->nq, .nv = r->nv};
    result->time = calloc(r->n, sizeof(double)), result->q = calloc(r->n * r->nq + 1, sizeof(double));
    result->v = calloc(r->n * r->nv + 1, sizeof(double)), result->a = calloc(r->n * r->nv + 1, sizeof(double));
    result->tau = calloc(r->n * r->nv + 1, sizeof(double)), result->uses = calloc(r->nv + 1, sizeof *result->uses);
    if (!result->time || !result->q || !result->v || !result->a || !result->tau || !result->uses) {
        dyn_excitation_free(result);
        return NULL;
    }
    return result;
}

/* Stores the motion of an evaluation with its criteria. */
static void store(const search *s, dyn_excitation *result) {
    const record *r = &s->r;
    size_t rates = r->n * r->nv * sizeof(double);
    memcpy(result->q, r->q, r->n * r->nq * sizeof(double));
    memcpy(result->v, r->v, rates), memcpy(result->a, r->a, rates), memcpy(result->tau, r->tau, rates);
    for (size_t i = 0; i < r->n; i++) {
        result->time[i] = s->options->period * (double)i / (double)r->n;
    }
    for (size_t i = 0; i < r->n * r->nv; i++) {
        const range *limits = &s->ranges[i % r->nv];
        dyn_excitation_use *use = &result->uses[i % r->nv];
        use->position = fmax(use->position, fabs(r->q[i] - limits->middle) / limits->full_half);
        use->velocity = fmax(use->velocity, fabs(r->v[i]) / limits->full_velocity);
        use->effort = fmax(use->effort, fabs(r->tau[i]) / limits->full_effort);
    }
    result->estimate_count = s->g.count, result->rank = s->fit.rank;
    result->condition = s->fit.condition, result->log_determinant = s->log_determinant;
}

/* Evaluates the motion of x at all rows of the result. */
static dyn_status finish(const search *found, const double *x, dyn_excitation **result, dyn_error *error) {
    const dyn_excitation_options *o = found->options;
    search s = {.model = found->model, .options = o, .identification = found->identification};
    dyn_status status = open_search(&s, (size_t)(o->period * o->rate + 0.5), error);
    if (status == DYN_OK) {
        decode(&s, x);
        status = find_torques(&s, error);
    }
    if (status == DYN_OK) {
        status = find_criteria(&s, error);
    }
    *result = status == DYN_OK ? create_result(&s) : NULL;
    if (status == DYN_OK && !*result) {
        status = dyn_error_memory(error);
    } else if (status == DYN_OK) {
        store(&s, *result);
        (*result)->trials = found->trials;
    }
    close_search(&s);
    return status;
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

/* Option with the range that it must be in. */
typedef struct ranged_option {
    const char *name;
    double value, lowest, highest;
} ranged_option;

static dyn_status check_options(const dyn_excitation_options *o, dyn_error *error) {
    const ranged_option options[] = {
        {"criterion", (double)o->criterion, DYN_EXCITATION_CRITERION_CONDITION, DYN_EXCITATION_CRITERION_DETERMINANT},
        {"harmonics", (double)o->harmonics, 2, DYN_EXCITATION_HARMONICS},
        {"period", o->period, 1e-3, 1e6},
        {"rate", o->rate, SAMPLES * (double)o->harmonics / o->period, DYN_EXCITATION_ROWS / o->period},
        {"margin", o->margin, 0, 0.9},
        {"trials", (double)o->trials, 1, DYN_EXCITATION_TRIALS},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const ranged_option *option = &options[i];
        const dyn_error_site site = {.argument = option->name};
        if (!(option->value >= option->lowest && option->value <= option->highest)) {
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "%s is %g; pass %g to %g", option->name,
                                option->value, option->lowest, option->highest);
        }
    }
    return DYN_OK;
}

static dyn_status check_velocity(const char *name, double velocity, dyn_error *error) {
    if (velocity > 0 && isfinite(velocity)) {
        return DYN_OK;
    }
    return dyn_error_set(error, DYN_INVALID_ARGUMENT, name, "%s is %g; pass a positive number", name, velocity);
}

/* Returns the number of samples of a search: enough for the harmonics and for more equations than unknowns. */
static size_t count_samples(const dyn_model *model, const dyn_excitation_options *o) {
    size_t nv = (size_t)dyn_model_nv(model), parameters = 10 * (size_t)dyn_model_joint_count(model);
    size_t unknowns = parameters + DYN_DRIVE_TERMS * nv, least = 2 * unknowns / (nv > 0 ? nv : 1) + 1;
    return SAMPLES * o->harmonics > least ? SAMPLES * o->harmonics : least;
}

/* Searches and stores the result. */
static dyn_status excite(search *s, dyn_excitation **excitation, dyn_error *error) {
    double first = 0, *x = NULL;
    dyn_status status = open_search(s, count_samples(s->model, s->options), error);
    if (status == DYN_OK) {
        x = calloc(COEFFICIENTS * s->options->harmonics * s->r.nv + 1, sizeof *x);
        status = x ? find_motion(s, x, &first, error) : dyn_error_memory(error);
    }
    if (status == DYN_OK) {
        status = finish(s, x, excitation, error);
    }
    if (status == DYN_OK) {
        (*excitation)->first_value = first;
    }
    free(x);
    return status;
}

dyn_status dyn_excite(const dyn_model *model, const dyn_excitation_options *options, dyn_excitation **excitation,
                      dyn_error *error) {
    dyn_excitation_options chosen = DYN_EXCITATION_OPTIONS_INIT();
    dyn_identification_options parameters = DYN_IDENTIFICATION_OPTIONS_INIT();
    *excitation = NULL;
    dyn_status status = dyn_sized_read("options", options, sizeof chosen, &chosen, error);
    if (status == DYN_OK && chosen.identification) {
        status = dyn_sized_read("identification", chosen.identification, sizeof parameters, &parameters, error);
    }
    if (status == DYN_OK) {
        status = check_options(&chosen, error);
    }
    if (status == DYN_OK) {
        status = check_velocity("friction_velocity", parameters.friction_velocity, error);
    }
    if (status == DYN_OK) {
        status = check_velocity("stribeck_velocity", parameters.stribeck_velocity, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    parameters.folds = 0, parameters.proceed = NULL;
    search s = {.model = model, .options = &chosen, .identification = &parameters};
    status = excite(&s, excitation, error);
    close_search(&s);
    return status;
}

void dyn_excitation_free(dyn_excitation *excitation) {
    if (!excitation) {
        return;
    }
    free(excitation->time), free(excitation->q), free(excitation->v), free(excitation->a), free(excitation->tau);
    free(excitation->uses);
    free(excitation);
}
