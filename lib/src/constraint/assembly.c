/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Assembly by damped Gauss-Newton. In each iteration
 *
 *     (J J' + mu 1) lambda = -e,    dq = J' lambda,    q <- q (+) s dq
 *
 * J is A, with the linear rows of loop joints moved from the origin of P to that of S, whose position d is their error:
 * de/dt = A_v v + w x d with the angular velocity w of S in P, of which the angular rows of A are components. J' e is
 * the gradient of |e|^2 / 2 then, at any error (closure_error.c). The columns of J whose coordinates are held are zero.
 * The damping mu is proportional to min(1, |e|^2), so that it bounds dq where J loses rank and vanishes fast enough for
 * quadratic convergence. s is halved from 1 until |e| decreases.
 *
 * A search that comes to rest with open loops is followed by another one from a disturbed guess. The disturbances come
 * from a fixed sequence of numbers, so that equal calls have equal results.
 *
 * Source: Levenberg 1944; Marquardt 1963; Yamashita and Fukushima 2001 (the damping); Steele, Lea and Flood 2014
 * (the sequence).
 */
#include <dynamics/assembly.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/configuration_space.h>
#include <dynamics/constrained_dynamics.h>
#include <dynamics/kinematics.h>

#include "../dynamics/carve.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "../model/placement.h"
#include "../model/sized.h"
#include "least_norm.h"

/* Largest increment of a coordinate in an iteration, rad or m; least share of |e|^2 by which a whole step must decrease
 * it; damping as a multiple of min(1, |e|^2) and of the mean of the diagonal of J J'; share of |e|^2 below which the
 * decrease of a step is slow. */
static const double longest_step = 0.5, least_decrease = 1e-4, damping_share = 0.1, slow_decrease = 1e-2;

/* Largest number of halvings of a step, of steps of a search, and of slow steps in a row; searches until disturbances
 * have their full size; default and largest iteration_limit. */
enum { MOST_HALVINGS = 20, SEARCH_STEPS = 100, MOST_SLOW_STEPS = 12, GROWING_SEARCHES = 6 };
enum { DEFAULT_ITERATIONS = 500, MOST_ITERATIONS = 10000 };
static const double default_tolerance = 1e-10;

/* Inputs and scratch memory of one call; q and e are those of the current sample. */
typedef struct assembly {
    const dyn_model *model;
    dyn_workspace *workspace;
    dyn_assembly_options options;
    size_t nq, nv, m;
    double *J, *e, *response, *lambda; /* m x nv, m, m x m, m */
    double *dq, *q, *trial_q, *trial_e;
    double *guess, *best_q;  /* nq: the guess, and the configuration with the smallest errors of earlier searches */
    double best;             /* |e|^2 there */
    double reach;            /* m: largest linear closure error of the guess */
    unsigned char *is_slide; /* nv: the coordinate is a length */
    uint64_t state;          /* of the sequence of numbers */
    least_norm norm;
} assembly;

static size_t lay_out(uintptr_t base, assembly *a) {
    uintptr_t cursor = base;
    struct {
        double **to;
        size_t count;
    } parts[] = {{&a->J, a->m * a->nv}, {&a->response, a->m * a->m}, {&a->lambda, a->m}, {&a->dq, a->nv},
                 {&a->q, a->nq},        {&a->trial_q, a->nq},        {&a->e, a->m},      {&a->trial_e, a->m},
                 {&a->guess, a->nq},    {&a->best_q, a->nq}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].to = dyn_carve(&cursor, parts[i].count * sizeof(double));
    }
    a->is_slide = dyn_carve(&cursor, a->nv);
    cursor += least_norm_lay_out((int)a->m, cursor, &a->norm);
    return cursor - base;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static double square(const double *e, size_t m) {
    double sum = 0;
    for (size_t r = 0; r < m; r++) {
        sum += e[r] * e[r];
    }
    return sum;
}

/* Computes the pose in the world of one side of a closure at a->q. */
static dyn_status side_pose(assembly *a, const closure *c, int side, dyn_pose *pose, dyn_error *error) {
    dyn_pose of_link = identity_pose;
    dyn_status status = DYN_OK;
    if (c->links[side] >= 0) {
        status =
            dyn_frame_pose(a->model, a->workspace, 1, a->q, c->links[side], of_link.position, of_link.rotation, error);
    }
    pose_compose(&of_link, &c->poses[side], pose);
    return status;
}

/* Adds w x d to the linear rows of a loop joint, from its angular ones. */
static void move_rows(size_t nv, const closure *c, const double d[3], double *rows) {
    double *of_axis[6];
    for (int axis = 0; axis < 6; axis++) {
        of_axis[axis] = c->axes >> axis & 1 ? rows : NULL;
        rows += c->axes >> axis & 1 ? nv : 0;
    }
    for (int k = 0; k < 3; k++) {
        const int next = (k + 1) % 3, last = (k + 2) % 3;
        for (size_t i = 0; of_axis[3 + k] && i < nv; i++) {
            of_axis[3 + k][i] += of_axis[next] ? of_axis[next][i] * d[last] : 0;
            of_axis[3 + k][i] -= of_axis[last] ? of_axis[last][i] * d[next] : 0;
        }
    }
}

/* Changes the rows of A of one constraint to those of J. */
static dyn_status differentiate(assembly *a, int constraint, dyn_error *error) {
    const closure *c = &a->model->closures[constraint];
    double *rows = a->J + (size_t)a->model->constraints[constraint].first_row * a->nv;
    dyn_pose P, S;
    if (c->kind == CLOSURE_BALL || c->kind == CLOSURE_WHEEL) {
        memset(rows, 0, 2 * a->nv * sizeof *rows);
    }
    if (c->kind != CLOSURE_JOINT) {
        return DYN_OK;
    }
    dyn_status status = side_pose(a, c, 0, &P, error);
    if (status == DYN_OK) {
        status = side_pose(a, c, 1, &S, error);
    }
    double apart[3], d[3], back[9];
    for (int i = 0; i < 3 && status == DYN_OK; i++) {
        apart[i] = S.position[i] - P.position[i];
    }
    if (status == DYN_OK) {
        rotation_transpose(P.rotation, back);
        rotation_apply(back, apart, d);
        move_rows(a->nv, c, d, rows);
    }
    return status;
}

/* Computes J and e at a->q. */
static dyn_status find_rows(assembly *a, dyn_error *error) {
    dyn_status status = dyn_constraint_rows(a->model, a->workspace, 1, a->q, NULL, a->J, NULL, a->e, error);
    for (int i = 0; i < a->model->constraint_count && status == DYN_OK; i++) {
        status = differentiate(a, i, error);
    }
    for (size_t k = 0; a->options.held && k < a->nv; k++) {
        for (size_t r = 0; a->options.held[k] && r < a->m; r++) {
            a->J[r * a->nv + k] = 0;
        }
    }
    return status;
}

/* ---- Iterations -------------------------------------------------------------------------------------------------- */

/* Computes the increment dq, scaled down to longest_step where a coordinate would move further. */
static void find_step(assembly *a) {
    size_t m = a->m, nv = a->nv;
    double trace = 0, most = 0;
    for (size_t r = 0; r < m; r++) {
        for (size_t k = 0; k < m; k++) {
            double sum = 0;
            for (size_t i = 0; i < nv; i++) {
                sum += a->J[r * nv + i] * a->J[k * nv + i];
            }
            a->response[r * m + k] = sum;
        }
        trace += a->response[r * m + r];
        a->lambda[r] = -a->e[r];
    }
    double damping = damping_share * fmin(1, square(a->e, m)) * trace / (double)m;
    for (size_t r = 0; r < m; r++) {
        a->response[r * m + r] += damping;
    }
    least_norm_solve((int)m, a->response, a->lambda, &a->norm, a->lambda);
    for (size_t i = 0; i < nv; i++) {
        a->dq[i] = 0;
        for (size_t r = 0; r < m; r++) {
            a->dq[i] += a->J[r * nv + i] * a->lambda[r];
        }
        most = fmax(most, fabs(a->dq[i]));
    }
    for (size_t i = 0; most > longest_step && i < nv; i++) {
        a->dq[i] *= longest_step / most;
    }
}

/* Moves a->q by s dq for the first s of 1, 1/2, 1/4 and so on that decreases the errors. *decrease is the share of
 * |e|^2 that vanishes; 0, and a->q is unchanged, where no s decreases the errors. */
static dyn_status descend(assembly *a, dyn_error *error, double *decrease) {
    const double before = square(a->e, a->m);
    double s = 1;
    *decrease = 0;
    for (int i = 0; i <= MOST_HALVINGS && *decrease == 0; i++, s /= 2) {
        dyn_status status = dyn_integrate(a->model, 1, a->q, a->dq, s, a->trial_q, error);
        if (status == DYN_OK) {
            status = dyn_constraint_rows(a->model, a->workspace, 1, a->trial_q, NULL, NULL, NULL, a->trial_e, error);
        }
        if (status != DYN_OK) {
            return status;
        }
        const double after = square(a->trial_e, a->m);
        *decrease = after < (1 - least_decrease * s) * before ? 1 - after / before : 0;
    }
    if (*decrease > 0) {
        memcpy(a->q, a->trial_q, a->nq * sizeof *a->q);
    }
    return DYN_OK;
}

/* Sets `constraint` and `error` of the result to those of the largest closure error, and is_closed. */
static void find_worst(const assembly *a, dyn_assembly_result *result) {
    result->error = -1;
    for (int i = 0; i < a->model->constraint_count; i++) {
        const dyn_constraint *c = &a->model->constraints[i];
        for (int r = c->first_row; r < c->first_row + c->row_count; r++) {
            if (fabs(a->e[r]) > result->error) {
                result->error = fabs(a->e[r]);
                result->constraint = i;
            }
        }
    }
    result->is_closed = result->error <= a->options.tolerance;
}

/* Searches from a->q until the loops are closed, a step no longer decreases the errors, or the steps are used up. */
static dyn_status search(assembly *a, dyn_error *error, dyn_assembly_result *result) {
    const int limit = a->options.iteration_limit - result->iterations;
    int slow = 0;
    dyn_status status = find_rows(a, error);
    for (int i = 0; status == DYN_OK && i < SEARCH_STEPS; i++) {
        double decrease;
        find_worst(a, result);
        if (result->is_closed || slow > MOST_SLOW_STEPS || i >= limit) {
            break;
        }
        find_step(a);
        result->iterations++;
        status = descend(a, error, &decrease);
        slow = decrease > slow_decrease ? 0 : decrease > 0 ? slow + 1 : MOST_SLOW_STEPS + 1;
        if (status == DYN_OK && decrease > 0) {
            status = find_rows(a, error);
        }
    }
    if (status == DYN_OK) {
        find_worst(a, result);
    }
    return status;
}

/* Returns the next number of the sequence, from -1 to 1. */
static double next_number(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-52 - 1;
}

/* Moves a->q to the guess plus a disturbance, for a number of searches before. */
static dyn_status disturb(assembly *a, int searches, dyn_error *error) {
    const double share = fmin(1, (double)searches / GROWING_SEARCHES);
    for (size_t i = 0; i < a->nv; i++) {
        const double size = share * (a->is_slide[i] ? a->reach : M_PI), number = next_number(&a->state);
        a->dq[i] = a->options.held && a->options.held[i] ? 0 : size * number;
    }
    return dyn_integrate(a->model, 1, a->guess, a->dq, 1, a->q, error);
}

/* Computes the largest linear closure error at the guess, whose errors are in a->e. */
static void find_reach(assembly *a) {
    a->reach = 0;
    for (int i = 0; i < a->model->constraint_count; i++) {
        for (int r = 0; r < a->model->constraints[i].row_count; r++) {
            const double e = a->e[a->model->constraints[i].first_row + r];
            a->reach = dyn_model_constraint_row(a->model, i, r).is_angular ? a->reach : fmax(a->reach, fabs(e));
        }
    }
}

/* Returns whether a coordinate may change. */
static bool is_any_free(const assembly *a) {
    bool any = false;
    for (size_t i = 0; i < a->nv; i++) {
        any = any || !a->options.held || !a->options.held[i];
    }
    return any;
}

/* Keeps a->q where its errors are smaller than those of all searches before. */
static void keep_best(assembly *a) {
    const double own = square(a->e, a->m);
    if (own < a->best) {
        memcpy(a->best_q, a->q, a->nq * sizeof *a->q);
        a->best = own;
    }
}

/* Assembles one sample, whose guess is in a->q. */
static dyn_status assemble_one(assembly *a, dyn_error *error, dyn_assembly_result *result) {
    const bool is_alone = a->options.single_search || !is_any_free(a);
    *result = (dyn_assembly_result){0};
    memcpy(a->guess, a->q, a->nq * sizeof *a->q);
    a->state = 0;
    a->best = INFINITY;
    dyn_status status = dyn_constraint_rows(a->model, a->workspace, 1, a->q, NULL, NULL, NULL, a->e, error);
    if (status == DYN_OK) {
        find_reach(a);
        keep_best(a);
        status = search(a, error, result);
    }
    while (status == DYN_OK && !result->is_closed && !is_alone && result->iterations < a->options.iteration_limit) {
        keep_best(a);
        status = disturb(a, ++result->restarts, error);
        if (status == DYN_OK) {
            status = search(a, error, result);
        }
    }
    if (status == DYN_OK && !result->is_closed) {
        keep_best(a);
        memcpy(a->q, a->best_q, a->nq * sizeof *a->q);
        status = dyn_constraint_rows(a->model, a->workspace, 1, a->q, NULL, NULL, NULL, a->e, error);
        find_worst(a, result);
    }
    return status;
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

/* Marks the coordinates that are lengths. */
static void mark_slides(const dyn_model *model, unsigned char *is_slide) {
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        for (int k = 0; k < joint->nv; k++) {
            is_slide[joint->v_index + k] = dyn_joint_type_traits(joint->type)->v_kinds[k] == DYN_COORDINATE_KIND_LENGTH;
        }
    }
}

static dyn_status read_options(const dyn_assembly_options *options, dyn_assembly_options *chosen, dyn_error *error) {
    dyn_status status = dyn_sized_read("options", options, sizeof *chosen, chosen, error);
    if (status != DYN_OK) {
        return status;
    }
    if (!(chosen->tolerance >= 0) || !isfinite(chosen->tolerance)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.tolerance",
                             "the tolerance is %g; state a finite number that is not negative", chosen->tolerance);
    }
    if (chosen->iteration_limit < 0 || chosen->iteration_limit > MOST_ITERATIONS) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.iteration_limit",
                             "the limit is %d iterations; state a number from 0 to %d", chosen->iteration_limit,
                             MOST_ITERATIONS);
    }
    chosen->tolerance = chosen->tolerance > 0 ? chosen->tolerance : default_tolerance;
    chosen->iteration_limit = chosen->iteration_limit > 0 ? chosen->iteration_limit : DEFAULT_ITERATIONS;
    return DYN_OK;
}

dyn_status dyn_assemble(const dyn_model *model, dyn_workspace *workspace, size_t n, const double *q,
                        const dyn_assembly_options *options, double *closed, dyn_assembly_result *results,
                        dyn_error *error) {
    assembly a = {.model = model,
                  .workspace = workspace,
                  .nq = (size_t)model->nq,
                  .nv = (size_t)model->nv,
                  .m = (size_t)model->constraint_rows};
    dyn_status status = read_options(options, &a.options, error);
    if (status == DYN_OK) {
        /* Checks the whole of q, so that errors count the samples of the caller. */
        status = dyn_constraint_rows(model, workspace, n, q, NULL, NULL, NULL, NULL, error);
    }
    void *memory = status == DYN_OK ? aligned_alloc(CARVE_ALIGNMENT, lay_out(0, &a)) : NULL;
    if (status != DYN_OK || !memory) {
        return status != DYN_OK ? status : dyn_error_memory(error);
    }
    lay_out((uintptr_t)memory, &a);
    mark_slides(model, a.is_slide);
    for (size_t s = 0; s < n && status == DYN_OK; s++) {
        dyn_assembly_result result;
        memcpy(a.q, q + s * a.nq, a.nq * sizeof *q);
        status = assemble_one(&a, error, &result);
        if (status != DYN_OK && error && error->site.has_sample) {
            error->site.sample = s;
        }
        if (status == DYN_OK) {
            memcpy(closed + s * a.nq, a.q, a.nq * sizeof *closed);
        }
        if (status == DYN_OK && results) {
            results[s] = result;
        }
    }
    free(memory);
    return status;
}
