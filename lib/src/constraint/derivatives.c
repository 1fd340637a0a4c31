/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derivatives of accelerations and multipliers. Differentiating
 *
 *     M a + h = tau + A' lambda + A_f' phi        A a = c,  c = -dA/dt v - 2 k A v - k^2 e
 *
 * along an increment of q, v or tau yields, with the residual f = M a + h - tau - A' lambda - A_f' phi at constant a
 * and lambda,
 *
 *     M da - A' dlambda = -df        A da = dc - dA a
 *
 * so that R dlambda = dc - dA a + A M^-1 df with R = A M^-1 A', and da = M^-1 (A' dlambda - df). Where rows depend on
 * each other, the multipliers of least norm are lambda = R^+ b. The range of R turns with q, which adds
 *
 *     (1 - R R^+) dA M^-1 A' R^+ lambda
 *
 * to dlambda: the one term of the derivative of a pseudoinverse that is left where b is in the range of R.
 *
 * phi are the forces of joints of closed loops, which depend on their rates A_f v:
 *
 *     d(A_f' phi) = dA_f' phi + A_f' dphi/drate (dA_f v + A_f dv)
 *
 * The differences of order six have steps of 5 mrad or 5 mm. A row is a polynomial of at most third degree in the sine
 * and the cosine of a coordinate, so that the error of the quotient is below 3e-13 of its size, and rounding adds about
 * as much. At a knot of a custom joint the third derivative of its function jumps, and with it that of the bias: beside
 * one the steps are shorter, down to 1e-6.
 *
 * Source: Featherstone and Orin 2000, equations 20 and 21; Golub and Pereyra 1973 (derivative of the pseudoinverse).
 */
#include <dynamics/constrained_derivatives.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/configuration_space.h>
#include <dynamics/derivatives.h>
#include <dynamics/mass_matrix.h>

#include "../dynamics/arguments.h"
#include "../dynamics/carve.h"
#include "../model/constraint.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "../model/sized.h"
#include "closures.h"
#include "given_rows.h"
#include "least_norm.h"

/* Configurations of a difference quotient, and their weights. */
enum { POINTS = 6 };
static const double offsets[POINTS] = {-3, -2, -1, 1, 2, 3};
static const double weights[POINTS] = {-1.0 / 60, 9.0 / 60, -45.0 / 60, 45.0 / 60, -9.0 / 60, 1.0 / 60};
static const double longest_step = 5e-3, shortest_step = 1e-6;

/* Largest residual of a row, as a share of the sum of its terms, that counts as zero. */
static const double largest_residual = 1e-6;

/* Numbers of one sample. */
typedef struct differential {
    const dyn_model *model;
    dyn_workspace *workspace;
    const double *q, *v; /* of the sample; v may be NULL */
    double k;            /* stabilization */
    const dyn_passive_parts *passive;
    int nq, nv, m, m_f; /* m_f: directions in which joints of closed loops exert forces */
    double *a, *lambda;
    double *f_q, *f_v, *M;      /* derivatives of M a + h, nv x nv */
    double *inverse;            /* M^-1 */
    double *A, *bias;           /* m x nv; m */
    double *Y;                  /* M^-1 A', nv x m */
    double *R, *R_inverse;      /* R and R^+, m x m */
    double *w;                  /* M^-1 A' R^+ lambda, nv */
    double *points_q;           /* POINTS x nq */
    double *points_v;           /* POINTS x nv, which also receives the increment */
    double *points_A;           /* POINTS x m x nv */
    double *points_bias;        /* POINTS x m */
    double *points_e;           /* POINTS x m */
    double *df, *da;            /* nv */
    double *rest, *dlambda, *b; /* m: dc - dA a; dlambda; the right-hand side of R dlambda */
    double *turn;               /* m: dA M^-1 A' R^+ lambda */
    double *A_f;                /* m_f x nv, at q; those of a point are beyond */
    double *phi, *slopes;       /* m_f: phi and dphi/drate */
    least_norm norm;
} differential;

static size_t lay_out(uintptr_t base, differential *d) {
    uintptr_t cursor = base;
    size_t nq = (size_t)d->nq, nv = (size_t)d->nv, m = (size_t)d->m, m_f = (size_t)d->m_f;
    struct {
        double **to;
        size_t count;
    } parts[] = {{&d->a, nv},
                 {&d->lambda, m},
                 {&d->f_q, nv * nv},
                 {&d->f_v, nv * nv},
                 {&d->M, nv * nv},
                 {&d->inverse, nv * nv},
                 {&d->A, m * nv},
                 {&d->bias, m},
                 {&d->Y, nv * m},
                 {&d->R, m * m},
                 {&d->R_inverse, m * m},
                 {&d->w, nv},
                 {&d->points_q, POINTS * nq},
                 {&d->points_v, POINTS * nv},
                 {&d->points_A, POINTS * m * nv},
                 {&d->points_bias, POINTS * m},
                 {&d->points_e, POINTS * m},
                 {&d->df, nv},
                 {&d->da, nv},
                 {&d->rest, m},
                 {&d->dlambda, m},
                 {&d->b, m},
                 {&d->turn, m},
                 {&d->A_f, 2 * m_f * nv},
                 {&d->phi, m_f},
                 {&d->slopes, m_f}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i].to = dyn_carve(&cursor, parts[i].count * sizeof(double));
    }
    cursor += least_norm_lay_out(d->m, cursor, &d->norm);
    return cursor - base;
}

/* ---- Matrices ---------------------------------------------------------------------------------------------------- */

/* Computes y = B x of a matrix with `rows` rows and `columns` columns. */
static void multiply(int rows, int columns, const double *B, const double *x, double *y) {
    for (int i = 0; i < rows; i++) {
        y[i] = 0;
        for (int j = 0; j < columns; j++) {
            y[i] += B[i * columns + j] * x[j];
        }
    }
}

/* Computes Y, R, R^+ and w from M^-1, A and lambda. */
static void find_responses(differential *d) {
    int nv = d->nv, m = d->m;
    for (int r = 0; r < m; r++) {
        multiply(nv, nv, d->inverse, d->A + r * nv, d->da);
        for (int i = 0; i < nv; i++) {
            d->Y[i * m + r] = d->da[i];
        }
        multiply(m, nv, d->A, d->da, d->b);
        for (int c = 0; c < m; c++) {
            d->R[c * m + r] = d->b[c];
        }
    }
    for (int r = 0; r < m; r++) {
        memset(d->b, 0, (size_t)m * sizeof *d->b);
        d->b[r] = 1;
        least_norm_solve(m, d->R, d->b, &d->norm, d->dlambda);
        for (int c = 0; c < m; c++) {
            d->R_inverse[c * m + r] = d->dlambda[c];
        }
    }
    multiply(m, m, d->R_inverse, d->lambda, d->b);
    multiply(nv, m, d->Y, d->b, d->w);
}

/* ---- Forces of loop joints --------------------------------------------------------------------------------------- */

/* Computes A_f at q, and the forces at (q, v) and their slopes into phi and slopes (both NULL: not needed). */
static void find_joint_forces(const differential *d, const double *q, double *A_f, double *phi, double *slopes) {
    const size_t nv = (size_t)d->nv, m_f = (size_t)d->m_f;
    closures loops;
    if (m_f == 0) {
        return;
    }
    closures_lay_out(d->model, 1, (uintptr_t)d->workspace->constraint_memory, &loops);
    closures_choose(d->model, d->workspace, &loops);
    const double *rows =
        closures_find_joint_forces(&loops, dyn_block_of_one(d->workspace, 0), d->passive, q, d->v, slopes);
    memcpy(A_f, rows, m_f * nv * sizeof *A_f);
    if (phi) {
        memcpy(phi, loops.forces.solution.multipliers, m_f * sizeof *phi);
    }
}

/* Finds A_f, phi and the slopes, and subtracts A_f' dphi/drate A_f from the derivative of f by v. */
static void load_joint_forces(differential *d) {
    find_joint_forces(d, d->q, d->A_f, d->phi, d->slopes);
    for (int r = 0; r < d->m_f; r++) {
        const double *row = d->A_f + r * d->nv;
        for (int i = 0; i < d->nv; i++) {
            for (int j = 0; j < d->nv; j++) {
                d->f_v[i * d->nv + j] -= row[i] * d->slopes[r] * row[j];
            }
        }
    }
}

/* Subtracts a share of d(A_f' phi) from df: the weight of a point of a difference along q times A_f' phi there, where
 * phi has the rates of that point in the tangent at q. */
static void subtract_joint_forces(const differential *d, const double *q, double weight, double *df) {
    double *moved = d->A_f + d->m_f * d->nv;
    find_joint_forces(d, q, moved, NULL, NULL);
    for (int r = 0; r < d->m_f; r++) {
        const double *row = moved + r * d->nv;
        double rate = 0;
        for (int i = 0; d->v && i < d->nv; i++) {
            rate += row[i] * d->v[i];
        }
        for (int i = 0; i < d->nv; i++) {
            df[i] -= weight * (row[i] * d->phi[r] + d->A_f[r * d->nv + i] * d->slopes[r] * rate);
        }
    }
}

/* ---- Differences of rows ----------------------------------------------------------------------------------------- */

/* Returns the smaller of `least` and the distance of a coordinate from the knots of a custom joint's function of it. */
static double distance_to_knots(const stage *s, double q, double least) {
    const double x = s->ratio * q + s->offset;
    for (int k = 1; k < s->piece_count; k++) {
        const double distance = fabs((x - s->pieces[k].from) / s->ratio);
        if (distance < least) {
            least = distance;
        }
    }
    return least;
}

/* Returns the distance of a coordinate from the nearest knot of the functions of custom joints. */
static double distance_to_knot(const dyn_model *model, const double *q, int coordinate) {
    double least = INFINITY;
    for (int i = 0; i < model->stage_count; i++) {
        const stage *s = &model->stages[i];
        if (s->v_index == coordinate) {
            least = distance_to_knots(s, q[s->q_index], least);
        }
    }
    return least;
}

/* Returns the step of the differences along a coordinate. A mimic joint turns by a multiple of it. */
static double step_along(const differential *d, int coordinate) {
    const dyn_model *model = d->model;
    const double room = distance_to_knot(model, d->q, coordinate) / offsets[POINTS - 1];
    double most = 1;
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        if (coordinate >= b->v_index && coordinate < b->v_index + b->nv) {
            most = fmax(most, fabs(b->ratio));
        }
    }
    return fmin(longest_step / most, fmax(room, shortest_step));
}

/* Computes the rows of all points along a coordinate. */
static dyn_status find_points(differential *d, int coordinate, double step, dyn_error *error) {
    size_t nq = (size_t)d->nq, nv = (size_t)d->nv;
    dyn_status status = DYN_OK;
    memset(d->points_v, 0, nv * sizeof *d->points_v);
    d->points_v[coordinate] = 1;
    for (int i = 0; status == DYN_OK && i < POINTS; i++) {
        status = dyn_integrate(d->model, 1, d->q, d->points_v, offsets[i] * step, d->points_q + (size_t)i * nq, error);
    }
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t k = 0; k < nv; k++) {
            d->points_v[i * nv + k] = d->v ? d->v[k] : 0;
        }
    }
    return status == DYN_OK ? dyn_constraint_rows(d->model, d->workspace, POINTS, d->points_q, d->points_v, d->points_A,
                                                  d->points_bias, d->points_e, error)
                            : status;
}

/* Computes df, dc - dA a and dA w along a coordinate of q. */
static dyn_status differentiate_by_q(differential *d, int coordinate, dyn_error *error) {
    int nv = d->nv, m = d->m;
    double step = step_along(d, coordinate);
    dyn_status status = find_points(d, coordinate, step, error);
    for (int i = 0; i < nv; i++) {
        d->df[i] = d->f_q[i * nv + coordinate];
    }
    memset(d->rest, 0, (size_t)m * sizeof *d->rest);
    memset(d->turn, 0, (size_t)m * sizeof *d->turn);
    for (int i = 0; i < POINTS * m; i++) {
        int r = i % m;
        const double *row = d->points_A + i * nv;
        double weight = weights[i / m] / step, motion = d->points_bias[i] + d->k * d->k * d->points_e[i], turn = 0;
        for (int j = 0; j < nv; j++) {
            motion += row[j] * (d->a[j] + 2 * d->k * d->points_v[j]);
            turn += row[j] * d->w[j];
            d->df[j] -= weight * row[j] * d->lambda[r];
        }
        d->rest[r] -= weight * motion;
        d->turn[r] += weight * turn;
    }
    for (int i = 0; i < POINTS && d->m_f > 0; i++) {
        subtract_joint_forces(d, d->points_q + i * d->nq, weights[i] / step, d->df);
    }
    return status;
}

/* Computes df and dc along a coordinate of v. The bias is quadratic in v, so that its difference is exact. */
static dyn_status differentiate_by_v(differential *d, int coordinate, dyn_error *error) {
    size_t nq = (size_t)d->nq, nv = (size_t)d->nv, m = (size_t)d->m, column = (size_t)coordinate;
    for (size_t i = 0; i < 2; i++) {
        memcpy(d->points_q + i * nq, d->q, nq * sizeof *d->q);
        for (size_t k = 0; k < nv; k++) {
            d->points_v[i * nv + k] = (d->v ? d->v[k] : 0) + (k == column ? 1 - 2 * (double)i : 0);
        }
    }
    dyn_status status =
        dyn_constraint_rows(d->model, d->workspace, 2, d->points_q, d->points_v, NULL, d->points_bias, NULL, error);
    for (size_t r = 0; r < m; r++) {
        d->rest[r] = (d->points_bias[m + r] - d->points_bias[r]) / 2 - 2 * d->k * d->A[r * nv + column];
        d->turn[r] = 0;
    }
    for (size_t i = 0; i < nv; i++) {
        d->df[i] = d->f_v[i * nv + column];
    }
    return status;
}

/* Computes df along a coordinate of tau. */
static dyn_status differentiate_by_tau(differential *d, int coordinate, dyn_error *error) {
    (void)error;
    memset(d->df, 0, (size_t)d->nv * sizeof *d->df);
    memset(d->rest, 0, (size_t)d->m * sizeof *d->rest);
    memset(d->turn, 0, (size_t)d->m * sizeof *d->turn);
    d->df[coordinate] = -1;
    return DYN_OK;
}

/* ---- Solution ---------------------------------------------------------------------------------------------------- */

/* Computes da and dlambda from df, dc - dA a and dA w. Returns false where A da = dc - dA a has no solution. */
static bool solve(differential *d) {
    int nv = d->nv, m = d->m;
    bool has_solution = true;
    for (int r = 0; r < m; r++) {
        d->b[r] = d->rest[r];
        for (int i = 0; i < nv; i++) {
            d->b[r] += d->Y[i * m + r] * d->df[i];
        }
    }
    multiply(m, m, d->R_inverse, d->b, d->dlambda);
    for (int i = 0; i < nv; i++) {
        d->da[i] = 0;
        for (int j = 0; j < nv; j++) {
            d->da[i] -= d->inverse[i * nv + j] * d->df[j];
        }
        for (int r = 0; r < m; r++) {
            d->da[i] += d->Y[i * m + r] * d->dlambda[r];
        }
    }
    for (int r = 0; r < m; r++) {
        double rest = -d->rest[r], size = 1 + fabs(rest);
        for (int i = 0; i < nv; i++) {
            double term = d->A[r * nv + i] * d->da[i];
            rest += term, size += fabs(term);
        }
        has_solution = has_solution && fabs(rest) <= largest_residual * size;
    }
    /* (1 - R R^+) dA w, added to dlambda. */
    multiply(m, m, d->R_inverse, d->turn, d->b);
    for (int r = 0; r < m; r++) {
        d->dlambda[r] += d->turn[r];
        for (int c = 0; c < m; c++) {
            d->dlambda[r] -= d->R[r * m + c] * d->b[c];
        }
    }
    return has_solution;
}

/* Sets the error of a sample whose accelerations have no derivative. */
static dyn_status refuse(dyn_error *error, size_t sample, const char *reason) {
    const dyn_error_site site = {.argument = "q", .has_sample = true, .sample = sample};
    return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site,
                        "the accelerations have no derivative with respect to q: %s", reason);
}

/* Argument of the forward dynamics, and the derivatives with respect to it. */
typedef struct argument {
    dyn_status (*differentiate)(differential *d, int coordinate, dyn_error *error);
    double *da, *dlambda; /* of the first sample; NULL: not requested */
} argument;

static dyn_status compute_columns(differential *d, const argument *by, size_t sample, dyn_error *error) {
    size_t nv = (size_t)d->nv, m = (size_t)d->m;
    for (size_t k = 0; (by->da || by->dlambda) && k < nv; k++) {
        dyn_status status = by->differentiate(d, (int)k, error);
        if (status != DYN_OK) {
            return status;
        }
        if (!solve(d)) {
            return refuse(error, sample,
                          "the rank of the constraints changes at this configuration; move away from it");
        }
        for (size_t i = 0; by->da && i < nv; i++) {
            by->da[(sample * nv + i) * nv + k] = d->da[i];
        }
        for (size_t r = 0; by->dlambda && r < m; r++) {
            by->dlambda[(sample * m + r) * nv + k] = d->dlambda[r];
        }
    }
    return DYN_OK;
}

/* Inputs of a call. */
typedef struct derivative_call {
    const double *gravity, *tau; /* tau of the sample */
    dyn_external_forces forces;  /* of the sample */
    const dyn_constraint_options *options;
} derivative_call;

/* Computes a, lambda and what all columns need at one sample. */
static dyn_status prepare(differential *d, const derivative_call *call, size_t sample, dyn_error *error) {
    const dyn_external_forces *forces = call->forces.count > 0 ? &call->forces : NULL;
    dyn_constraint_result result;
    dyn_status status =
        dyn_constrained_forward_dynamics(d->model, d->workspace, 1, call->gravity, d->q, d->v, call->tau, forces,
                                         call->options, d->a, d->lambda, &result, error);
    double size = 1;
    for (int i = 0; status == DYN_OK && i < d->nv; i++) {
        size += fabs(d->a[i]);
    }
    if (status == DYN_OK && !(result.residual <= largest_residual * size)) {
        return refuse(error, sample, "the constraints contradict each other there; close the loops, and v with them");
    }
    if (status == DYN_OK) {
        status = dyn_rnea_derivatives(d->model, d->workspace, 1, call->gravity, d->q, d->v, d->a, forces, d->f_q,
                                      d->f_v, d->M, error);
    }
    if (status == DYN_OK) {
        status = dyn_minverse(d->model, d->workspace, 1, d->q, d->inverse, error);
    }
    if (status == DYN_OK) {
        status = dyn_constraint_rows(d->model, d->workspace, 1, d->q, d->v, d->A, d->bias, NULL, error);
    }
    if (status == DYN_OK) {
        load_joint_forces(d);
        find_responses(d);
    }
    return status;
}

/* ---- Entry point ------------------------------------------------------------------------------------------------- */

/* Returns the forces of one sample. */
static dyn_external_forces forces_of(const dyn_external_forces *forces, size_t sample, dyn_external_force *list) {
    size_t count = forces ? forces->count : 0;
    for (size_t i = 0; i < count; i++) {
        list[i] = forces->force[i];
        list[i].wrench += sample * list[i].stride;
    }
    return (dyn_external_forces){count, list};
}

static dyn_status compute_sample(differential *d, const derivative_call *call, const dyn_constrained_derivatives *to,
                                 size_t sample, dyn_error *error) {
    const argument arguments[] = {{differentiate_by_q, to->da_dq, to->dlambda_dq},
                                  {differentiate_by_v, to->da_dv, to->dlambda_dv},
                                  {differentiate_by_tau, to->da_dtau, to->dlambda_dtau}};
    dyn_status status = prepare(d, call, sample, error);
    if (status != DYN_OK && error && error->site.has_sample) {
        error->site.sample = sample; /* the functions above were called with one sample */
    }
    for (size_t i = 0; status == DYN_OK && i < sizeof arguments / sizeof *arguments; i++) {
        status = compute_columns(d, &arguments[i], sample, error);
    }
    return status;
}

dyn_status dyn_constrained_forward_dynamics_derivatives(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                                        const double *gravity, const double *q, const double *v,
                                                        const double *tau, const dyn_external_forces *forces,
                                                        const dyn_constraint_options *options,
                                                        const dyn_constrained_derivatives *derivatives,
                                                        dyn_error *error) {
    const dynamics_inputs in = {gravity, q, v, "tau", tau, forces};
    dyn_constraint_options known = {0};
    differential d = {.model = model,
                      .workspace = workspace,
                      .nq = model->nq,
                      .nv = model->nv,
                      .m = model->constraint_rows,
                      .m_f = constraint_force_rows(model)};
    dyn_status status = dyn_sized_read("options", options, sizeof known, &known, error);
    if (status == DYN_OK) {
        status = dyn_check_inputs(model, workspace, n, &in, error);
    }
    if (status == DYN_OK && model->constraint_rows == 0) {
        status = dyn_error_set(error, DYN_FAILED_PRECONDITION, "model", "the model has no constraint");
    }
    if (status == DYN_OK && given_rows_count(known.given) > 0) {
        status = dyn_error_set(error, DYN_INVALID_ARGUMENT, "options.given",
                               "%d rows are given, whose change with q is not known; state them as constraints of the "
                               "model",
                               known.given->count);
    }
    if (status != DYN_OK) {
        return status;
    }
    size_t count = forces ? forces->count : 0;
    dyn_external_force *list = calloc(count + 1, sizeof *list);
    void *memory = aligned_alloc(CARVE_ALIGNMENT, lay_out(0, &d));
    if (!list || !memory) {
        free(list);
        free(memory);
        return dyn_error_memory(error);
    }
    lay_out((uintptr_t)memory, &d);
    d.k = known.stabilization;
    d.passive = known.passive;
    for (size_t s = 0; status == DYN_OK && s < n; s++) {
        d.q = q + s * (size_t)d.nq;
        d.v = v ? v + s * (size_t)d.nv : NULL;
        const derivative_call call = {gravity, tau ? tau + s * (size_t)d.nv : NULL, forces_of(forces, s, list),
                                      options};
        status = compute_sample(&d, &call, derivatives, s, error);
    }
    free(list);
    free(memory);
    return status;
}

/* ---- Along a direction ------------------------------------------------------------------------------------------- */

/* Adds the product of a matrix, nv x nv, and the row of a sample; `rows` may be NULL. */
static void add_product(size_t nv, const double *matrix, const double *rows, size_t sample, double *sum) {
    for (size_t i = 0; rows && i < nv; i++) {
        for (size_t k = 0; k < nv; k++) {
            sum[i] += matrix[i * nv + k] * rows[sample * nv + k];
        }
    }
}

dyn_status dyn_constrained_forward_dynamics_along(const dyn_model *model, dyn_workspace *workspace, size_t n,
                                                  const double *gravity, const double *q, const double *v,
                                                  const double *tau, const dyn_external_forces *forces,
                                                  const dyn_constraint_options *options,
                                                  const dyn_constrained_direction *direction, double *da,
                                                  dyn_error *error) {
    const size_t nv = (size_t)model->nv, size = nv * nv, count = forces ? forces->count : 0;
    double *memory = malloc((3 * size + 1) * sizeof *memory);
    dyn_external_force *list = calloc(count + 1, sizeof *list);
    dyn_status status = memory && list ? DYN_OK : dyn_error_memory(error);
    for (size_t i = 0; status == DYN_OK && i < n; i++) {
        const dyn_external_forces own = forces_of(forces, i, list);
        const dyn_constrained_derivatives by = {.da_dq = memory, .da_dv = memory + size, .da_dtau = memory + 2 * size};
        status = dyn_constrained_forward_dynamics_derivatives(model, workspace, 1, gravity, q + i * (size_t)model->nq,
                                                              v ? v + i * nv : NULL, tau ? tau + i * nv : NULL,
                                                              count > 0 ? &own : NULL, options, &by, error);
        if (status != DYN_OK) {
            error->site.sample = i;
            continue;
        }
        memset(da + i * nv, 0, nv * sizeof *da);
        add_product(nv, by.da_dq, direction->dq, i, da + i * nv);
        add_product(nv, by.da_dv, direction->dv, i, da + i * nv);
        add_product(nv, by.da_dtau, direction->dtau, i, da + i * nv);
    }
    free(memory);
    free(list);
    return status;
}
