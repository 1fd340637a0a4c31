/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/identification.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../model/error.h"
#include "../model/sized.h"
#include "consistent.h"
#include "gains.h"
#include "known_torques.h"
#include "linear_fit.h"
#include "rate_errors.h"
#include "regression.h"
#include "triangle.h"

enum { WEIGHT_ROUNDS = 3, HUBER_ROUNDS = 12, SATURATION_ROUNDS = 6 };

/* Huber's bound, in deviations: 95 % efficiency for normal noise. Ratio of the deviation to the median absolute
 * residual for normal noise. Least deviations, relative to the joint's torque: of the linear and of the consistent
 * estimates. */
static const double HUBER = 1.345, MEDIAN_RATIO = 1.4826, LEAST_DEVIATION = 1e-9, LEAST_CONSISTENT_DEVIATION = 1e-4;

/* Mass of the prior of a payload, as a share of that of the robot. */
static const double PAYLOAD_SHARE = 0.1;

/* Computation of one identification. */
typedef struct job {
    regression g;
    dyn_identification *result;
    double *triangle, *rows, *scratch; /* combined factor, rows to append, memory of the fit */
    double *deviation;                 /* of each coordinate's residuals */
    double *torque;                    /* root mean square torque of each coordinate */
    double *x, *spread;                /* linear estimates and their deviations */
    bool *is_determined;
    int *partner;
    gain_search *search;                       /* of gains; NULL without gains that are sought */
    gain_estimates gains, fold;                /* from all of the record, and from all parts but one */
    double *gain_memory;                       /* of both */
    double *consistent, *x_consistent, *terms; /* consistent estimate: columns, and the same as bodies and terms */
    double *links_prior, *scales;
    bool *is_positive;
    double *errors, *scores, *weights; /* factors of the errors of rates and of scores (NULL: not known); of the rows */
    linear_solution fit;
    double inflation; /* factor of the variances of Huber's estimator; 1 for others */
    size_t iterations;
    bool is_converged;
} job;

/* ---- Selections of the record ------------------------------------------------------------------------------------ */

/* Combines the factors of all parts but one, with the reciprocal of `deviation` as weights; NULL: 1. Returns the number
 * of rows. */
static size_t combine(job *j, double *triangles, size_t without, const double *deviation) {
    const regression *g = &j->g;
    size_t size = g->count + 1, rows = 0;
    memset(j->triangle, 0, size * size * sizeof *j->triangle);
    for (size_t part = 0; part < g->parts; part++) {
        for (size_t k = 0; k < g->nv && part != without; k++) {
            const double *factor = regression_triangle(g, triangles, part, k);
            for (size_t i = 0; i < size * size; i++) {
                j->rows[i] = deviation ? factor[i] / deviation[k] : factor[i];
            }
            triangle_append(size, j->triangle, size, j->rows, j->scratch);
            rows += g->rows[part * g->nv + k];
        }
    }
    return rows;
}

/* Returns the sum of the squares of the residuals of x in one part and coordinate. */
static double sum_squares(const regression *g, double *triangles, size_t part, size_t k, const double *x) {
    size_t size = g->count + 1;
    const double *factor = regression_triangle(g, triangles, part, k);
    double sum = 0;
    for (size_t r = 0; r < size; r++) {
        double residual = factor[r * size + g->count];
        for (size_t c = r; c < g->count; c++) {
            residual -= factor[r * size + c] * x[c];
        }
        sum += residual * residual;
    }
    return sum;
}

/* Computes the root mean square residual of each coordinate for x, in all parts but one, but at least `least` times the
 * coordinate's torque. */
static void find_deviations(job *j, double *triangles, size_t without, const double *x, double least) {
    const regression *g = &j->g;
    for (size_t k = 0; k < g->nv; k++) {
        double sum = 0;
        size_t rows = 0;
        for (size_t part = 0; part < g->parts; part++) {
            if (part != without) {
                sum += sum_squares(g, triangles, part, k, x);
                rows += g->rows[part * g->nv + k];
            }
        }
        double floor = fmax(least * j->torque[k], 1e-12);
        j->deviation[k] = fmax(rows > 0 ? sqrt(sum / (double)rows) : 0, floor);
    }
}

/* ---- Linear estimates -------------------------------------------------------------------------------------------- */

static void fit_once(job *j, double *triangles, size_t without, const double *deviation) {
    linear_problem problem = {.count = j->g.count,
                              .equations = combine(j, triangles, without, deviation),
                              .triangle = j->triangle,
                              .prior = j->g.prior,
                              .errors = j->g.errors ? j->errors : NULL,
                              .scores = j->scores};
    if (j->g.errors) {
        for (size_t k = 0; k < j->g.nv; k++) {
            j->weights[k] = deviation ? 1 / deviation[k] : 1;
        }
        memset(j->errors, 0, (j->g.count + 1) * (j->g.count + 1) * sizeof *j->errors);
        rate_errors_combine(&j->g, without, j->weights, j->errors, j->rows);
    }
    linear_fit(&problem, j->scratch, &j->fit);
}

/* Computes the linear estimates from all parts but one. */
static void estimate(job *j, size_t without) {
    dyn_estimator kind = j->g.options->estimator;
    bool is_weighted = kind == DYN_ESTIMATOR_WEIGHTED || kind == DYN_ESTIMATOR_HUBER || j->search;
    fit_once(j, j->g.weighted, without, NULL);
    for (int round = 0; is_weighted && round < WEIGHT_ROUNDS; round++) {
        find_deviations(j, j->g.weighted, without, j->x, LEAST_DEVIATION);
        fit_once(j, j->g.weighted, without, j->deviation);
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sums over rows of 1, Huber's psi(u)^2, w u^2, w and psi', with u the residual in deviations and w = psi(u) / u. */
typedef struct huber_sums {
    double rows, psi_square, weighted_square, weight, slope;
} huber_sums;

/* Sets the weight of a row to the square root of w, and adds to the sums. */
static double weigh(double size, double deviation, huber_sums *sums) {
    double u = size / deviation, w = u > HUBER ? HUBER / u : 1;
    sums->rows += 1;
    sums->psi_square += w * u * w * u;
    sums->weighted_square += w * u * u;
    sums->weight += w;
    sums->slope += u <= HUBER;
    return sqrt(w);
}

/* Sets the weights of rows from their residuals: 1 within HUBER deviations, less beyond. Sets the factor between the
 * variance of estimates, sum psi^2 / (sum psi')^2, and that which least squares of weighted rows would state (Huber
 * 1981, section 7.6). `sorted` has n numbers. */
static void set_weights(job *j, const double *residuals, double *sorted) {
    size_t n = j->g.record->n, nv = j->g.nv;
    huber_sums sums = {0};
    for (size_t k = 0; k < nv; k++) {
        for (size_t s = 0; s < n; s++) {
            sorted[s] = fabs(residuals[s * nv + k]);
        }
        qsort(sorted, n, sizeof *sorted, compare);
        double deviation = fmax(fmax(MEDIAN_RATIO * sorted[n / 2], LEAST_DEVIATION * j->torque[k]), 1e-12);
        for (size_t s = 0; s < n; s++) {
            j->g.weights[s * nv + k] = weigh(fabs(residuals[s * nv + k]), deviation, &sums);
        }
    }
    double divisor = sums.slope * sums.slope * sums.weighted_square;
    j->inflation = divisor > 0 ? sums.rows * sums.psi_square * sums.weight / divisor : 1;
}

/* Finds the weights of Huber's estimator by repeated least squares. */
static dyn_status find_weights(job *j, dyn_error *error) {
    size_t n = j->g.record->n, nv = j->g.nv;
    double *residuals = calloc(n * nv + 1, sizeof *residuals), *sorted = calloc(n, sizeof *sorted);
    j->g.weights = calloc(n * nv + 1, sizeof *j->g.weights);
    dyn_status status = residuals && sorted && j->g.weights ? DYN_OK : dyn_error_memory(error);
    for (int round = 0; round < HUBER_ROUNDS && status == DYN_OK; round++) {
        if (j->search) {
            status = gains_estimate(j->search, DYN_NO_PART, &j->gains, error);
        } else {
            estimate(j, DYN_NO_PART);
        }
        if (status == DYN_OK) {
            status = regression_residuals(&j->g, j->search ? j->gains.x : j->x, j->gains.gains, residuals, error);
        }
        if (status == DYN_OK) {
            set_weights(j, residuals, sorted);
            status = j->search ? gains_read(j->search, true, error) : regression_weigh(&j->g, error);
        }
    }
    free(residuals), free(sorted);
    return status;
}

/* Computes the estimates of total least squares from all of the record, with their deviations. They are those of
 * ordinary least squares where nothing tells errors of the rates. */
static dyn_status estimate_total(job *j, dyn_error *error) {
    regression *g = &j->g;
    size_t size = g->count + 1;
    double *scores = calloc(size * size, sizeof *scores);
    dyn_status status = scores ? rate_errors_read(g, error) : dyn_error_memory(error);
    if (status == DYN_OK) {
        estimate(j, DYN_NO_PART);
    }
    if (status == DYN_OK && g->errors) {
        const rate_scores solution = {.size = size, .E = j->errors, .correction = j->fit.correction, .x = j->x};
        status = rate_errors_scores(g, &solution, scores, error);
    }
    if (status == DYN_OK && g->errors) {
        j->scores = scores;
        estimate(j, DYN_NO_PART);
        j->scores = NULL;
    }
    free(scores);
    return status;
}

/* ---- Consistent estimate ----------------------------------------------------------------------------------------- */

/* Prepares the prior: bodies for all links, and sizes for the terms of drives. A term without a value in the
 * description has a hundredth of the torque. */
static void find_prior(job *j) {
    const regression *g = &j->g;
    double mass = dyn_model_mass(g->model), least = mass > 0 ? 1e-4 * mass : 1e-3;
    memcpy(j->links_prior, g->sought.prior, LINK * g->sought.count * sizeof *j->links_prior);
    for (size_t k = 0; k < g->sought.count; k++) {
        bool is_payload = g->sought.payload >= 0;
        bool is_body =
            consistent_prior(is_payload ? fmax(PAYLOAD_SHARE * mass, least) : least, j->links_prior + LINK * k);
        j->result->lacks_prior[g->sought.bodies[k]] = !is_body && !is_payload;
    }
    combine(j, g->triangles, DYN_NO_PART, NULL);
    for (size_t t = 0; t < g->term_count; t++) {
        size_t c = g->base_count + t, rows = 0, k = (size_t)g->drives[t].coordinate;
        double square = 0, torque = fmax(j->torque[k], 1e-9);
        for (size_t r = 0; r <= c; r++) {
            square += j->triangle[r * (g->count + 1) + c] * j->triangle[r * (g->count + 1) + c];
        }
        for (size_t part = 0; part < g->parts; part++) {
            rows += g->rows[part * g->nv + k];
        }
        double size = sqrt(square / (double)(rows > 0 ? rows : 1)), value = g->prior[c];
        j->is_positive[t] = g->drives[t].term != DYN_DRIVE_TERM_OFFSET;
        j->scales[t] = !j->is_positive[t] ? torque : value > 0 ? value : size > 1e-9 ? 0.01 * torque / size : 1e-9;
    }
}

/* Computes the consistent estimate from all parts but one, after the linear estimates of the same parts. */
static dyn_status estimate_consistent(job *j, size_t without, dyn_error *error) {
    regression *g = &j->g;
    find_deviations(j, g->weighted, without, j->x, LEAST_CONSISTENT_DEVIATION);
    combine(j, g->weighted, without, j->deviation);
    consistent_problem problem = {.links = g->sought.count,
                                  .base_count = g->base_count,
                                  .term_count = g->term_count,
                                  .B = g->sought.B,
                                  .triangle = j->triangle,
                                  .prior = j->links_prior,
                                  .scales = j->scales,
                                  .is_positive = j->is_positive,
                                  .weight = g->options->prior};
    consistent_result result = {.parameters = j->x_consistent, .terms = j->terms};
    dyn_status status = consistent_solve(&problem, &result, error);
    j->iterations = result.iterations;
    j->is_converged = result.is_converged;
    if (status == DYN_OK && g->sought.count > 0) {
        status = sought_reduce(&g->sought, j->x_consistent, j->consistent, error);
    }
    memcpy(j->consistent + g->base_count, j->terms, g->term_count * sizeof *j->terms);
    return status;
}

/* ---- Result ------------------------------------------------------------------------------------------------------ */

static void store_estimates(job *j) {
    const regression *g = &j->g;
    dyn_identification *result = j->result;
    for (size_t c = 0; c < g->count; c++) {
        bool is_base = c < g->base_count;
        bool is_saturated = !j->is_determined[c] && j->partner[c] < 0 && g->is_cut[c];
        const drive_column *drive = is_base ? NULL : &g->drives[c - g->base_count];
        result->estimates[c] = (dyn_linear_estimate){.column = is_base ? g->sought.columns[c] : -1,
                                                     .coordinate = is_base ? -1 : drive->coordinate,
                                                     .term = is_base ? DYN_DRIVE_TERM_VISCOUS : drive->term,
                                                     .value = j->x[c],
                                                     .deviation = j->spread[c] * sqrt(j->inflation),
                                                     .prior = g->prior[c],
                                                     .is_excited = j->is_determined[c],
                                                     .partner = j->partner[c],
                                                     .is_saturated = is_saturated};
        if (j->search && result->estimates[c].is_excited) {
            result->estimates[c].deviation = j->gains.deviations[c] * sqrt(j->inflation);
        }
    }
    result->rank = j->fit.rank;
    result->condition = j->fit.condition;
    sought_expand(&g->sought, j->x_consistent, result->parameters);
    if (g->sought.payload >= 0) {
        memcpy(result->payload, j->x_consistent, sizeof result->payload);
    }
    for (size_t t = 0; t < g->term_count; t++) {
        size_t at = (size_t)g->drives[t].coordinate * DYN_DRIVE_TERMS + g->drives[t].term;
        result->drives[at] = j->terms[t];
    }
    result->iterations = j->iterations;
    result->is_converged = j->is_converged;
}

/* Adds the squared residuals of one part, or of all, to sums of one number for each coordinate. */
static void add_squares(const job *j, size_t only, const double *x, double *sums) {
    for (size_t part = 0; part < j->g.parts; part++) {
        for (size_t k = 0; k < j->g.nv && (only == DYN_NO_PART || part == only); k++) {
            sums[k] += sum_squares(&j->g, j->g.triangles, part, k, x);
        }
    }
}

/* Squared errors of each coordinate, which become the root mean squares of dyn_joint_fit. */
typedef struct error_sums {
    double *model, *linear, *consistent, *prediction, *consistent_prediction;
} error_sums;

/* Estimates the gains from all parts but one, where they fix the scale; otherwise the gains are those of the record. */
static dyn_status fold_gains(job *j, size_t without, dyn_error *error) {
    dyn_error refusal;
    size_t nv = j->g.nv;
    if (!j->search) {
        return DYN_OK;
    }
    if (gains_estimate(j->search, without, &j->fold, &refusal) != DYN_OK) {
        memcpy(j->fold.gains, j->gains.gains, nv * sizeof *j->fold.gains);
    }
    return gains_apply(j->search, j->fold.gains, error);
}

/* Adds the squared errors of prediction of one part to sums of one number for each coordinate. Errors of a gain count
 * as those of the record's tau. */
static void add_predictions(job *j, size_t part, const double *x, double *sums) {
    for (size_t k = 0; k < j->g.nv; k++) {
        double ratio = j->search ? j->gains.gains[k] / j->fold.gains[k] : 1;
        sums[k] += ratio * ratio * sum_squares(&j->g, j->g.triangles, part, k, x);
    }
}

/* Computes the predictions of every part from the others. */
static dyn_status predict(job *j, const error_sums *sums, dyn_error *error) {
    const dyn_identification_options *o = j->g.options;
    dyn_status status = DYN_OK;
    for (size_t part = 0; part < j->g.parts && status == DYN_OK; part++) {
        status = fold_gains(j, part, error);
        if (status == DYN_OK) {
            estimate(j, part);
            status = estimate_consistent(j, part, error);
        }
        add_predictions(j, part, j->x, sums->prediction);
        add_predictions(j, part, j->consistent, sums->consistent_prediction);
        if (o->proceed && !o->proceed(o->context, 0.5 + 0.5 * (double)(part + 1) / (double)j->g.parts)) {
            return dyn_error_set(error, DYN_CANCELLED, "", "the identification was cancelled");
        }
    }
    return status;
}

/* Stores the quality of the estimates for one coordinate. */
static void store_fit(const job *j, size_t k, const error_sums *sums) {
    const record *r = j->g.record;
    dyn_joint_fit *fit = &j->result->fits[k];
    double sum = 0, square = 0;
    size_t count = 0;
    fit->lowest = INFINITY, fit->highest = -INFINITY;
    for (size_t i = k; i < r->n * r->nv; i += r->nv) {
        if (r->is_saturated[i]) {
            fit->saturated++;
            continue;
        }
        fit->lowest = fmin(fit->lowest, r->tau[i]), fit->highest = fmax(fit->highest, r->tau[i]);
        sum += r->tau[i];
        count++;
    }
    double rows = (double)(count > 0 ? count : 1), mean = sum / rows;
    for (size_t i = k; i < r->n * r->nv; i += r->nv) {
        square += r->is_saturated[i] ? 0 : (r->tau[i] - mean) * (r->tau[i] - mean);
    }
    if (count == 0) {
        fit->lowest = fit->highest = 0;
    }
    fit->model_error = sqrt(sums->model[k] / rows);
    fit->residual = sqrt(sums->linear[k] / rows);
    fit->consistent_residual = sqrt(sums->consistent[k] / rows);
    fit->prediction = sqrt(sums->prediction[k] / rows);
    fit->consistent_prediction = sqrt(sums->consistent_prediction[k] / rows);
    fit->accounted = square > 0 ? 1 - sums->consistent_prediction[k] / square : 0;
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

/* Option with the range that it must be in. */
typedef struct ranged_option {
    const char *name;
    double value;
    bool is_valid;
    const char *advice;
} ranged_option;

static dyn_status check_options(const dyn_identification_options *o, dyn_error *error) {
    const ranged_option options[] = {
        {"estimator", (double)o->estimator, (int)o->estimator >= 0 && o->estimator <= DYN_ESTIMATOR_TOTAL,
         "pass one of 0 to 3"},
        {"friction_velocity", o->friction_velocity, o->friction_velocity > 0 && isfinite(o->friction_velocity),
         "pass a positive number"},
        {"stribeck_velocity", o->stribeck_velocity, o->stribeck_velocity > 0 && isfinite(o->stribeck_velocity),
         "pass a positive number"},
        {"prior", o->prior, o->prior > 0 && isfinite(o->prior), "pass a positive number"},
        {"folds", (double)o->folds, o->folds != 1 && o->folds <= 100, "pass 2 to 100, or 0 for no prediction"},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const ranged_option *option = &options[i];
        const dyn_error_site site = {.argument = option->name};
        if (!option->is_valid) {
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "%s is %g; %s", option->name, option->value,
                                option->advice);
        }
    }
    return DYN_OK;
}

/* Allocates the result. Returns NULL when out of memory. */
static dyn_identification *create_result(const regression *g) {
    dyn_identification *result = calloc(1, sizeof *result);
    if (!result) {
        return NULL;
    }
    size_t rates = g->record->n * g->nv;
    result->estimate_count = g->count;
    result->parameter_count = g->width;
    result->coordinate_count = g->nv;
    result->estimates = calloc(g->count, sizeof *result->estimates);
    result->parameters = calloc(g->width + 1, sizeof *result->parameters);
    result->drives = calloc(g->nv * DYN_DRIVE_TERMS + 1, sizeof *result->drives);
    result->fits = calloc(g->nv + 1, sizeof *result->fits);
    result->gains = calloc(g->nv + 1, sizeof *result->gains);
    result->gain_deviations = calloc(g->nv + 1, sizeof *result->gain_deviations);
    result->lacks_prior = calloc(g->width / LINK + 1, sizeof *result->lacks_prior);
    result->v = calloc(rates + 1, sizeof *result->v), result->a = calloc(rates + 1, sizeof *result->a);
    if (!result->estimates || !result->parameters || !result->drives || !result->fits || !result->lacks_prior ||
        !result->v || !result->a || !result->gains || !result->gain_deviations) {
        dyn_identification_free(result);
        return NULL;
    }
    memcpy(result->v, g->record->v, rates * sizeof *result->v);
    memcpy(result->a, g->record->a, rates * sizeof *result->a);
    return result;
}

/* Allocates the memory of the computation. */
static bool allocate(job *j) {
    const regression *g = &j->g;
    size_t size = g->count + 1, bodies = LINK * g->sought.count + 1;
    j->result = create_result(g);
    j->triangle = calloc(size * size, sizeof(double)), j->rows = calloc(size * size, sizeof(double));
    j->scratch = calloc(linear_fit_scratch(g->count), sizeof(double));
    j->deviation = calloc(g->nv + 1, sizeof(double)), j->torque = calloc(g->nv + 1, sizeof(double));
    j->x = calloc(size, sizeof(double)), j->spread = calloc(size, sizeof(double));
    j->partner = calloc(size, sizeof(int));
    j->is_determined = calloc(size, sizeof(bool)), j->is_positive = calloc(size, sizeof(bool));
    j->consistent = calloc(size, sizeof(double)), j->terms = calloc(size, sizeof(double));
    j->scales = calloc(size, sizeof(double)), j->x_consistent = calloc(bodies, sizeof(double));
    j->links_prior = calloc(bodies, sizeof(double));
    j->errors = calloc(size * size, sizeof(double)), j->weights = calloc(g->nv + 1, sizeof(double));
    j->fit =
        (linear_solution){.x = j->x, .deviations = j->spread, .is_determined = j->is_determined, .partner = j->partner};
    return j->result && j->triangle && j->rows && j->scratch && j->deviation && j->torque && j->x && j->spread &&
           j->is_determined && j->partner && j->is_positive && j->consistent && j->terms && j->scales &&
           j->x_consistent && j->links_prior && j->errors && j->weights;
}

static void release(job *j) {
    double *all[] = {j->triangle,   j->rows,         j->scratch, j->deviation,   j->torque, j->x,      j->spread,
                     j->consistent, j->x_consistent, j->terms,   j->links_prior, j->scales, j->errors, j->weights};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        free(all[i]);
    }
    free(j->is_determined), free(j->is_positive), free(j->partner);
    free(j->gain_memory);
    gains_free(j->search);
    regression_free(&j->g);
    dyn_identification_free(j->result);
}

/* Computes the root mean square torque of each coordinate. */
static void find_torques(job *j) {
    const regression *g = &j->g;
    double *none = j->consistent; /* zero until the first estimate */
    memset(j->torque, 0, g->nv * sizeof *j->torque);
    add_squares(j, DYN_NO_PART, none, j->torque);
    for (size_t k = 0; k < g->nv; k++) {
        size_t rows = 0;
        for (size_t part = 0; part < g->parts; part++) {
            rows += g->rows[part * g->nv + k];
        }
        j->torque[k] = rows > 0 ? sqrt(j->torque[k] / (double)rows) : 0;
    }
}

/* Reports a motion that excites nothing: all torques are at effort limits, or nothing moves. */
static dyn_status refuse_motion(const job *j, dyn_error *error) {
    const regression *g = &j->g;
    size_t rows = 0;
    for (size_t i = 0; i < g->parts * g->nv; i++) {
        rows += g->rows[i];
    }
    return rows > 0 ? dyn_error_set(error, DYN_INVALID_ARGUMENT, "motion",
                                    "the motion excites no parameter; record one that moves the joints")
                    : dyn_error_set(error, DYN_INVALID_ARGUMENT, "motion",
                                    "all %zu torques are saturated, at or above the effort limits of their joints or "
                                    "where their drives cut off, so that no parameter can be known; record a slower "
                                    "motion, or correct the limits",
                                    g->record->n * g->nv);
}

/* Allocates the estimates of gains. */
static bool allocate_gains(job *j) {
    size_t nv = j->g.nv, count = j->g.count;
    double *memory = j->gain_memory = calloc(4 * (nv + count) + 1, sizeof *memory);
    gain_estimates *both[] = {&j->gains, &j->fold};
    for (size_t i = 0; i < 2 && memory; i++, memory += 2 * (nv + count)) {
        *both[i] = (gain_estimates){memory, memory + nv, memory + 2 * nv, memory + 2 * nv + count};
    }
    return j->gain_memory != NULL;
}

/* Estimates gains, and leaves out rows that are saturated with them, until no mark changes. */
static dyn_status find_unsaturated(job *j, record *r, dyn_error *error) {
    dyn_status status = DYN_OK;
    bool is_changed = true;
    for (int round = 0; round < SATURATION_ROUNDS && is_changed && status == DYN_OK; round++) {
        status = gains_read(j->search, false, error);
        if (status == DYN_OK) {
            status = gains_estimate(j->search, DYN_NO_PART, &j->gains, error);
        }
        is_changed = status == DYN_OK && record_mark_saturation(j->g.model, j->gains.gains, r);
    }
    return status == DYN_OK && is_changed ? gains_read(j->search, false, error) : status;
}

/* Estimates the gains that are sought, and multiplies the torques of the record by them. */
static dyn_status find_gains(job *j, record *r, dyn_error *error) {
    regression *g = &j->g;
    dyn_status status = gains_create(g, r, &j->search, error);
    if (status == DYN_OK && !allocate_gains(j)) {
        status = dyn_error_memory(error);
    }
    if (status == DYN_OK) {
        status = find_unsaturated(j, r, error);
    }
    if (status == DYN_OK) {
        status = gains_apply(j->search, j->gains.gains, error);
    }
    if (status == DYN_OK && g->options->estimator == DYN_ESTIMATOR_HUBER) {
        find_torques(j);
        status = find_weights(j, error);
    }
    if (status == DYN_OK) {
        status = gains_estimate(j->search, DYN_NO_PART, &j->gains, error);
    }
    if (status == DYN_OK) {
        status = gains_apply(j->search, j->gains.gains, error);
    }
    for (size_t i = 0; i < r->n * g->nv && status == DYN_OK; i++) {
        r->tau[i] *= j->gains.gains[i % g->nv];
    }
    for (size_t k = 0; k < g->nv && status == DYN_OK; k++) {
        j->result->gains[k] = r->is_sought[k] ? j->gains.gains[k] : j->result->gains[k];
        j->result->gain_deviations[k] = j->gains.gain_deviations[k] * sqrt(j->inflation);
    }
    return status;
}

/* Stores the gains that are given, and computes the factors of the record. */
static dyn_status reduce_record(job *j, const dyn_recorded_motion *m, record *r, dyn_error *error) {
    bool is_any_sought = false;
    for (size_t k = 0; k < j->g.nv; k++) {
        is_any_sought = is_any_sought || r->is_sought[k];
        j->result->gains[k] = m->gains ? m->gains[k] : 1;
    }
    return is_any_sought ? find_gains(j, r, error) : regression_reduce(&j->g, error);
}

/* Computes both estimates from all of the record, their residuals and predictions. */
static dyn_status compute(job *j, dyn_error *error) {
    double *memory = calloc(5 * j->g.nv + 1, sizeof *memory);
    dyn_status status = memory ? DYN_OK : dyn_error_memory(error);
    if (status == DYN_OK) {
        find_torques(j);
    }
    if (status == DYN_OK && j->g.options->estimator == DYN_ESTIMATOR_HUBER && !j->search) {
        status = find_weights(j, error);
    }
    if (status == DYN_OK) {
        find_prior(j);
        if (j->g.options->estimator == DYN_ESTIMATOR_TOTAL && !j->search) {
            status = estimate_total(j, error);
        } else {
            estimate(j, DYN_NO_PART);
        }
    }
    if (status == DYN_OK) {
        status = j->fit.rank > 0 ? estimate_consistent(j, DYN_NO_PART, error) : refuse_motion(j, error);
    }
    if (status == DYN_OK) {
        size_t nv = j->g.nv;
        error_sums sums = {memory, memory + nv, memory + 2 * nv, memory + 3 * nv, memory + 4 * nv};
        store_estimates(j);
        add_squares(j, DYN_NO_PART, j->g.prior, sums.model);
        add_squares(j, DYN_NO_PART, j->x, sums.linear);
        add_squares(j, DYN_NO_PART, j->consistent, sums.consistent);
        if (j->g.parts > 1) {
            status = predict(j, &sums, error);
        } else {
            sums.prediction = sums.linear, sums.consistent_prediction = sums.consistent;
        }
        for (size_t k = 0; k < nv; k++) {
            store_fit(j, k, &sums);
        }
    }
    free(memory);
    return status;
}

dyn_status dyn_identify(const dyn_model *model, const dyn_recorded_motion *motion,
                        const dyn_identification_options *options, dyn_identification **identification,
                        dyn_error *error) {
    dyn_identification_options chosen = DYN_IDENTIFICATION_OPTIONS_INIT();
    record r = {0};
    job j = {.inflation = 1};
    *identification = NULL;
    dyn_status status = dyn_sized_read("options", options, sizeof chosen, &chosen, error);
    if (status == DYN_OK) {
        status = check_options(&chosen, error);
    }
    if (chosen.estimate_gains && chosen.estimator == DYN_ESTIMATOR_ORDINARY) {
        chosen.estimator = DYN_ESTIMATOR_WEIGHTED;
    }
    if (status == DYN_OK) {
        status = record_create(model, motion, &chosen, &r, error);
    }
    if (status == DYN_OK) {
        status = known_torques(model, motion, chosen.gravity, &r, error);
    }
    if (status == DYN_OK) {
        status = regression_create(model, &chosen, &r, &j.g, error);
    }
    if (status == DYN_OK && !allocate(&j)) {
        status = dyn_error_memory(error);
    }
    if (status == DYN_OK) {
        status = reduce_record(&j, motion, &r, error);
    }
    if (status == DYN_OK) {
        status = compute(&j, error);
    }
    if (status == DYN_OK) {
        *identification = j.result;
        j.result = NULL;
    }
    release(&j);
    record_free(&r);
    return status;
}

void dyn_identification_free(dyn_identification *identification) {
    if (!identification) {
        return;
    }
    free(identification->estimates), free(identification->parameters), free(identification->drives);
    free(identification->fits), free(identification->lacks_prior), free(identification->v), free(identification->a);
    free(identification->gains), free(identification->gain_deviations);
    free(identification);
}
