/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the consistent estimate of dyn_identify with the minimum that NLopt finds for the same torques: the function
 * that dynamics/identification.h states, in other unknowns. A pseudo-inertia is P = L0 C C' L0' here, with P0 = L0 L0'
 * of the prior and a lower triangle C whose diagonal is exp(x) (log-Cholesky); a positive term is its prior times
 * exp(x). These unknowns have no bounds, and the function is not convex in them. The method is SLSQP, which builds its
 * own approximation of the second derivatives.
 *
 * The function is a negative logarithm of a likelihood: values 1e-6 apart are those of equally good estimates.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>
#include <nlopt.h>

#include "robots.h"
#include "support/assertions.h"
#include "support/random_tree.h"

enum { LINK = 10, SAMPLES = 300, TERMS = 3, MOST_EVALUATIONS = 20000, ROUNDS = 2 };

/* Bound of the difference of the values of the two minima. The weight of the prior multiplies the divergence of bodies,
 * which is half the square of their relative difference, so that the bound of that one is this bound by the weight. */
static const double TOLERANCE = 1e-6;

/* Velocity of dyn_identification_options, and its least deviation. */
static const double FRICTION_VELOCITY = 0.01, LEAST_DEVIATION = 1e-4, WITHOUT_PRIOR = 0.01;

/* ---- Data -------------------------------------------------------------------------------------------------------- */

/* Record of a robot whose description is wrong. */
typedef struct experiment {
    dyn_model *described;
    size_t n, nq, nv, width; /* width: inertial parameters */
    double *q, *v, *a, *tau;
    double *effort; /* nv: limits, which rows of greater torques do not count; infinite: none */
} experiment;

static void experiment_free(experiment *e) {
    dyn_model_free(e->described);
    free(e->q), free(e->v), free(e->a), free(e->tau), free(e->effort);
}

/* Returns true if the torque is below the limit of its joint. */
static bool is_used(const experiment *e, size_t i) {
    return fabs(e->tau[i]) < e->effort[i % e->nv];
}

/* Stores the limits of the efforts. */
static void set_efforts(experiment *e) {
    e->effort = numbers(e->nv);
    for (size_t k = 0; k < e->nv; k++) {
        e->effort[k] = INFINITY;
    }
    for (int j = 0; j < dyn_model_joint_count(e->described); j++) {
        const dyn_joint *joint = dyn_model_joint(e->described, j);
        if (joint->nv == 1 && joint->has_limits && joint->limits.effort > 0) {
            e->effort[joint->v_index] = joint->limits.effort;
        }
    }
}

/* Returns a robot like the model: each body is scaled, and has another one beside it. The caller frees it. */
static dyn_model *deviate(random_source *random, const dyn_model *model, size_t width) {
    double *p = numbers(width), other[LINK];
    dyn_model *robot = NULL;
    dyn_error error;
    dyn_model_parameters(model, p);
    for (size_t k = 0; k < width; k += LINK) {
        double scale = exp2(random_uniform(random, -1, 1)), size[3] = {0.1, 0.05, 0.2};
        dyn_inertia box;
        require(dyn_inertia_box(random_uniform(random, 0.05, 0.5) * p[k], size, &box, &error), &error);
        random_vector(random, 3, 0.1, box.center_of_mass);
        dyn_inertia_to_parameters(&box, other);
        for (size_t i = 0; i < LINK; i++) {
            p[k + i] = scale * p[k + i] + other[i];
        }
    }
    require(dyn_model_with_parameters(model, p, NULL, &robot, &error), &error);
    free(p);
    return robot;
}

/* Returns the direction of Coulomb friction. */
static double direction_of(double v) {
    return v / sqrt(v * v + FRICTION_VELOCITY * FRICTION_VELOCITY);
}

/* Adds friction and offsets of drives, and noise of a share of each torque's size. */
static void disturb(random_source *random, experiment *e, double noise) {
    for (size_t k = 0; k < e->nv; k++) {
        double viscous = random_uniform(random, 0.1, 1), coulomb = random_uniform(random, 0.1, 1);
        double offset = random_uniform(random, -1, 1), square = 0;
        for (size_t i = k; i < e->n * e->nv; i += e->nv) {
            square += e->tau[i] * e->tau[i];
        }
        double size = noise * sqrt(square / (double)e->n);
        for (size_t i = k; i < e->n * e->nv; i += e->nv) {
            double sum = 0;
            for (int draw = 0; draw < 12; draw++) {
                sum += random_uniform(random, -0.5, 0.5);
            }
            e->tau[i] += viscous * e->v[i] + coulomb * direction_of(e->v[i]) + offset + size * sum;
        }
    }
}

/* Makes the record at random states. The experiment owns the model. */
static experiment make_experiment(random_source *random, dyn_model *described, double noise) {
    experiment e = {.described = described, .n = SAMPLES};
    e.nq = (size_t)dyn_model_nq(described), e.nv = (size_t)dyn_model_nv(described);
    e.width = (size_t)dyn_model_parameter_count(described);
    set_efforts(&e);
    e.q = numbers(e.n * e.nq), e.v = numbers(e.n * e.nv), e.a = numbers(e.n * e.nv), e.tau = numbers(e.n * e.nv);
    for (size_t s = 0; s < e.n; s++) {
        random_configuration(random, described, 2, e.q + s * e.nq);
    }
    random_vector(random, (int)(e.n * e.nv), 2, e.v);
    random_vector(random, (int)(e.n * e.nv), 5, e.a);
    dyn_model *robot = deviate(random, described, e.width);
    dyn_workspace *w = NULL;
    dyn_error error;
    require(dyn_workspace_create(robot, &w, &error), &error);
    require(dyn_rnea(robot, w, e.n, NULL, e.q, e.v, e.a, NULL, e.tau, &error), &error);
    disturb(random, &e, noise);
    dyn_workspace_free(w), dyn_model_free(robot);
    return e;
}

/* ---- Function ---------------------------------------------------------------------------------------------------- */

/* Function of y = (p, viscous, coulomb and offset of each coordinate with a drive): y' H y / 2 - g' y + c, beside the
 * distance from the prior. */
typedef struct problem {
    size_t bodies, width, drives, count; /* count: of y and of x */
    double weight, constant;
    double *H, *g;
    double *L0;        /* bodies x 16: lower factors of the prior's pseudo-inertias */
    double *scales;    /* 3 drives: prior of a positive term, size of an offset */
    double *y, *slope; /* work: y of x, derivative by y */
    size_t evaluations;
} problem;

static void problem_free(problem *f) {
    free(f->H), free(f->g), free(f->L0), free(f->scales), free(f->y), free(f->slope);
}

/* Stores the pseudo-inertia of ten parameters: second moments, bordered by first moments and mass. */
static void to_pseudo(const double p[LINK], double P[4][4]) {
    double half = (p[4] + p[6] + p[9]) / 2;
    const double moments[3][3] = {
        {half - p[4], -p[5], -p[7]}, {-p[5], half - p[6], -p[8]}, {-p[7], -p[8], half - p[9]}};
    for (int i = 0; i < 3; i++) {
        memcpy(P[i], moments[i], sizeof moments[i]);
        P[i][3] = P[3][i] = p[1 + i];
    }
    P[3][3] = p[0];
}

/* Stores the ten parameters of a pseudo-inertia. */
static void from_pseudo(double P[4][4], double p[LINK]) {
    const double values[LINK] = {P[3][3],  P[0][3],           P[1][3],  P[2][3],  P[1][1] + P[2][2],
                                 -P[0][1], P[0][0] + P[2][2], -P[0][2], -P[1][2], P[0][0] + P[1][1]};
    memcpy(p, values, sizeof values);
}

/* Computes P = A A' for lower triangles. */
static void square_of(double A[4][4], double P[4][4]) {
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            P[i][j] = 0;
            for (int k = 0; k < 4; k++) {
                P[i][j] += A[i][k] * A[j][k];
            }
        }
    }
}

/* Computes A B. */
static void product_of(double A[4][4], double B[4][4], double C[4][4]) {
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            C[i][j] = 0;
            for (int k = 0; k < 4; k++) {
                C[i][j] += A[i][k] * B[k][j];
            }
        }
    }
}

/* Computes the lower factor of a positive definite matrix. */
static void factor_of(double P[4][4], double L[4][4]) {
    memset(L, 0, 16 * sizeof(double));
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j <= i; j++) {
            double rest = P[i][j];
            for (int k = 0; k < j; k++) {
                rest -= L[i][k] * L[j][k];
            }
            ck_assert(i != j || rest > 0);
            L[i][j] = i == j ? sqrt(rest) : rest / L[j][j];
        }
    }
}

/* Returns the lower triangle C of a body's ten unknowns: logarithms of the diagonal, then the others by rows. */
static void triangle_of(const double x[LINK], double C[4][4]) {
    memset(C, 0, 16 * sizeof(double));
    for (int i = 0, next = 4; i < 4; i++) {
        C[i][i] = exp(x[i]);
        for (int j = 0; j < i; j++) {
            C[i][j] = x[next++];
        }
    }
}

/* Computes the parameters of a body from its unknowns, and the divergence from its prior: |C|^2 - 2 sum x_i - 4. */
static double body_of(double L0[4][4], const double x[LINK], double p[LINK]) {
    double C[4][4], A[4][4], P[4][4], sum = -4;
    triangle_of(x, C);
    product_of(L0, C, A);
    square_of(A, P);
    from_pseudo(P, p);
    for (int i = 0; i < 16; i++) {
        sum += C[i / 4][i % 4] * C[i / 4][i % 4];
    }
    return sum - 2 * (x[0] + x[1] + x[2] + x[3]);
}

/* Adds to `gradient` the derivatives by a body's unknowns, where `slope` is the derivative by its parameters: with G
 * the derivative by P, that by C is 2 L0' G L0 C + 2 weight (C - diag(1 / C_ii)). */
static void differentiate_body(double L0[4][4], const double x[LINK], double weight, const double slope[LINK],
                               double gradient[LINK]) {
    double C[4][4], G[4][4], T[4][4], A[4][4], D[4][4];
    triangle_of(x, C);
    for (int e = 0; e < 16; e++) { /* One entry of P at a time, which from_pseudo maps linearly. */
        double P[4][4] = {{0}}, p[LINK];
        P[e / 4][e % 4] = 1;
        from_pseudo(P, p);
        G[e / 4][e % 4] = 0;
        for (int i = 0; i < LINK; i++) {
            G[e / 4][e % 4] += slope[i] * p[i];
        }
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++) { /* from_pseudo reads the upper triangle. */
            G[i][j] = G[j][i] = (G[i][j] + G[j][i]) / 2;
        }
    }
    product_of(L0, C, A);
    product_of(G, A, T);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            D[i][j] = 2 * weight * C[i][j];
            for (int k = 0; k < 4; k++) {
                D[i][j] += 2 * L0[k][i] * T[k][j];
            }
        }
    }
    for (int i = 0, next = 4; i < 4; i++) {
        gradient[i] += D[i][i] * C[i][i] - 2 * weight;
        for (int j = 0; j < i; j++) {
            gradient[next++] += D[i][j];
        }
    }
}

/* Stores the value of a term of a drive, and its derivative by x. Returns its distance from the prior, and stores that
 * one's derivative. */
static double drive_of(const problem *f, size_t t, double x, double *y, double *dy, double *slope) {
    bool is_offset = t % TERMS == 2;
    *y = f->scales[t] * (is_offset ? x : exp(x));
    *dy = is_offset ? f->scales[t] : *y;
    *slope = is_offset ? x : exp(x) - 1;
    return is_offset ? x * x / 2 : exp(x) - 1 - x;
}

/* Computes the value at x, and the gradient unless it is NULL. The signature is that of NLopt. */
static double value_at(unsigned count, const double *x, double *gradient, void *context) {
    problem *f = context;
    double distance = 0, value = f->constant, dy, slope;
    for (size_t k = 0; k < f->bodies; k++) {
        distance += body_of((double(*)[4])(f->L0 + 16 * k), x + LINK * k, f->y + LINK * k);
    }
    for (size_t t = 0; t < TERMS * f->drives; t++) {
        distance += drive_of(f, t, x[f->width + t], &f->y[f->width + t], &dy, &slope);
    }
    for (size_t i = 0; i < count; i++) {
        double product = 0;
        for (size_t j = 0; j < count; j++) {
            product += f->H[i * count + j] * f->y[j];
        }
        f->slope[i] = product - f->g[i];
        value += f->y[i] * (product / 2 - f->g[i]);
    }
    f->evaluations++;
    if (gradient) {
        memset(gradient, 0, count * sizeof *gradient);
        for (size_t k = 0; k < f->bodies; k++) {
            size_t at = LINK * k;
            differentiate_body((double(*)[4])(f->L0 + 16 * k), x + at, f->weight, f->slope + at, gradient + at);
        }
        for (size_t t = 0; t < TERMS * f->drives; t++) {
            size_t i = f->width + t;
            drive_of(f, t, x[i], &f->y[i], &dy, &slope);
            gradient[i] = f->slope[i] * dy + f->weight * slope;
        }
    }
    return value + f->weight * distance;
}

/* ---- Preparation ------------------------------------------------------------------------------------------------- */

/* Lists the velocity coordinates of joints with one coordinate. Returns their number. */
static size_t list_drives(const dyn_model *model, size_t *coordinates) {
    size_t count = 0;
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        if (dyn_model_joint(model, j)->nv == 1) {
            coordinates[count++] = (size_t)dyn_model_joint(model, j)->v_index;
        }
    }
    return count;
}

/* Adds one row of one coordinate to the sums. `row` has the columns of the inertial parameters. */
static void add_row(const experiment *e, problem *f, const size_t *coordinates, size_t i, double deviation,
                    const double *Y) {
    double *row = f->slope, tau = e->tau[i] / deviation;
    for (size_t c = 0; c < f->width; c++) {
        row[c] = Y[c] / deviation;
    }
    for (size_t d = 0; d < f->drives; d++) {
        double is_own = coordinates[d] == i % e->nv ? 1 / deviation : 0;
        double *terms = row + f->width + TERMS * d;
        terms[0] = is_own * e->v[i], terms[1] = is_own * direction_of(e->v[i]), terms[2] = is_own;
    }
    for (size_t r = 0; r < f->count; r++) {
        for (size_t c = 0; c < f->count && row[r] != 0; c++) {
            f->H[r * f->count + c] += row[r] * row[c];
        }
        f->g[r] += row[r] * tau;
    }
    f->constant += tau * tau / 2;
}

/* Returns the root mean square of a column of n x nv numbers, of their directions with `is_direction`. */
static double size_of(const experiment *e, const double *x, size_t k, bool is_direction) {
    double square = 0;
    size_t rows = 0;
    for (size_t i = k; i < e->n * e->nv; i += e->nv) {
        double entry = is_direction ? direction_of(x[i]) : x[i];
        square += is_used(e, i) ? entry * entry : 0;
        rows += is_used(e, i);
    }
    return sqrt(square / (double)rows);
}

/* Sets the prior: the model's bodies; friction of a hundredth of the torque, where the model has none; offsets of the
 * size of the torque. */
static void set_prior(const experiment *e, problem *f, const size_t *coordinates) {
    double *p = numbers(f->width), P[4][4];
    dyn_model_parameters(e->described, p);
    for (size_t k = 0; k < f->bodies; k++) {
        to_pseudo(p + LINK * k, P);
        factor_of(P, (double(*)[4])(f->L0 + 16 * k));
    }
    for (int j = 0; j < dyn_model_joint_count(e->described); j++) {
        const dyn_joint *joint = dyn_model_joint(e->described, j);
        for (size_t d = 0; d < f->drives; d++) {
            size_t k = coordinates[d];
            double torque = size_of(e, e->tau, k, false), *scales = f->scales + TERMS * d;
            if (joint->nv == 1 && (size_t)joint->v_index == k) {
                scales[0] = joint->damping > 0 ? joint->damping : WITHOUT_PRIOR * torque / size_of(e, e->v, k, false);
                scales[1] = joint->friction > 0 ? joint->friction : WITHOUT_PRIOR * torque / size_of(e, e->v, k, true);
                scales[2] = torque;
            }
        }
    }
    free(p);
}

/* Sums up the function, with the deviations of the linear estimates. The caller frees it. */
static problem make_problem(const experiment *e, const dyn_identification *found, double weight) {
    size_t *coordinates = calloc(e->nv, sizeof *coordinates);
    ck_assert_ptr_nonnull(coordinates);
    problem f = {.width = e->width, .bodies = e->width / LINK, .weight = weight};
    f.drives = list_drives(e->described, coordinates);
    f.count = f.width + TERMS * f.drives;
    f.H = numbers(f.count * f.count), f.g = numbers(f.count), f.L0 = numbers(16 * f.bodies);
    f.scales = numbers(TERMS * f.drives), f.y = numbers(f.count), f.slope = numbers(f.count);
    double *Y = numbers(e->n * e->nv * e->width);
    dyn_workspace *w = NULL;
    dyn_error error;
    require(dyn_workspace_create(e->described, &w, &error), &error);
    require(dyn_torque_regressor(e->described, w, e->n, NULL, e->q, e->v, e->a, Y, &error), &error);
    for (size_t i = 0; i < e->n * e->nv; i++) {
        if (!is_used(e, i)) {
            continue;
        }
        double least = LEAST_DEVIATION * size_of(e, e->tau, i % e->nv, false);
        add_row(e, &f, coordinates, i, fmax(found->fits[i % e->nv].residual, least), Y + i * e->width);
    }
    set_prior(e, &f, coordinates);
    dyn_workspace_free(w);
    free(Y), free(coordinates);
    return f;
}

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

/* Solves L Z = B for the lower triangle L. */
static void solve_lower(double L[4][4], double B[4][4], double Z[4][4]) {
    for (int c = 0; c < 4; c++) {
        for (int i = 0; i < 4; i++) {
            double rest = B[i][c];
            for (int k = 0; k < i; k++) {
                rest -= L[i][k] * Z[k][c];
            }
            Z[i][c] = rest / L[i][i];
        }
    }
}

/* Stores the unknowns of the estimate. */
static void unknowns_of(const experiment *e, const problem *f, const dyn_identification *found, double *x) {
    size_t coordinates[64];
    list_drives(e->described, coordinates);
    for (size_t k = 0; k < f->bodies; k++) {
        double P[4][4], L[4][4], C[4][4];
        to_pseudo(found->parameters + LINK * k, P);
        factor_of(P, L);
        solve_lower((double(*)[4])(f->L0 + 16 * k), L, C);
        for (int i = 0, next = 4; i < 4; i++) {
            x[LINK * k + (size_t)i] = log(C[i][i]);
            for (int j = 0; j < i; j++) {
                x[LINK * k + (size_t)next++] = C[i][j];
            }
        }
    }
    for (size_t t = 0; t < TERMS * f->drives; t++) {
        double ratio = found->drives[coordinates[t / TERMS] * DYN_DRIVE_TERMS + t % TERMS] / f->scales[t];
        x[f->width + t] = t % TERMS == 2 ? ratio : log(ratio);
    }
}

/* Minimizes from the prior on, and again from there, since the method may end where one of its steps is short. Returns
 * the least value and stores its unknowns. */
static double minimize(problem *f, double *x) {
    double least = NAN;
    memset(x, 0, f->count * sizeof *x);
    f->evaluations = 0;
    for (int round = 0; round < ROUNDS; round++) {
        nlopt_opt method = nlopt_create(NLOPT_LD_SLSQP, (unsigned)f->count);
        ck_assert_ptr_nonnull(method);
        nlopt_set_min_objective(method, value_at, f);
        nlopt_set_ftol_rel(method, 1e-15);
        nlopt_set_maxeval(method, MOST_EVALUATIONS);
        nlopt_result outcome = nlopt_optimize(method, x, &least);
        ck_assert_msg(outcome > 0 || outcome == NLOPT_ROUNDOFF_LIMITED, "%s", nlopt_result_to_string(outcome));
        nlopt_destroy(method);
    }
    return least;
}

/* Returns the divergence of the bodies at x from those at y. */
static double divergence(const problem *f, const double *x, const double *y) {
    double sum = 0;
    for (size_t k = 0; k < f->bodies; k++) {
        double X[4][4], Y[4][4], Z[4][4];
        triangle_of(x + LINK * k, X), triangle_of(y + LINK * k, Y);
        solve_lower(Y, X, Z);
        sum -= 4;
        for (int i = 0; i < 4; i++) {
            sum -= 2 * log(Z[i][i]);
            for (int j = 0; j <= i; j++) {
                sum += Z[i][j] * Z[i][j];
            }
        }
    }
    return sum;
}

/* Case of the comparison. */
typedef struct agreement_case {
    const char *name;
    int number;
    double weight, noise; /* of the prior; share of the torques */
} agreement_case;

/* Requires that both find the same minimum. Owns the model. */
static void compare(random_source *random, const agreement_case *c, dyn_model *described) {
    experiment e = make_experiment(random, described, c->noise);
    dyn_recorded_motion motion = {.n = e.n, .q = e.q, .v = e.v, .a = e.a, .tau = e.tau};
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    options.folds = 0, options.prior = c->weight, options.friction_velocity = FRICTION_VELOCITY;
    dyn_identification *found = NULL;
    dyn_error error;
    require(dyn_identify(described, &motion, &options, &found, &error), &error);
    for (size_t k = 0; k < e.width / LINK; k++) {
        ck_assert(!found->lacks_prior[k]);
    }
    problem f = make_problem(&e, found, c->weight);
    double *ours = numbers(f.count), *theirs = numbers(f.count);
    unknowns_of(&e, &f, found, ours);
    double value = value_at((unsigned)f.count, ours, NULL, &f), start = value_at((unsigned)f.count, theirs, NULL, &f);
    double least = minimize(&f, theirs), distance = divergence(&f, theirs, ours);
    printf("%s %d, prior %g, noise %g: %zu unknowns, %zu steps here, %zu evaluations there; value %.9g, there %+.2g; "
           "divergence %.2g\n",
           c->name, c->number, c->weight, c->noise, f.count, found->iterations, f.evaluations, value, least - value,
           distance);
    ck_assert(found->is_converged);
    ck_assert_double_lt(value, start - 1);
    ck_assert_double_le(fabs(least - value), TOLERANCE);
    ck_assert_double_le(distance, TOLERANCE / c->weight);
    free(ours), free(theirs);
    problem_free(&f);
    dyn_identification_free(found);
    experiment_free(&e);
}

static const double weights[] = {1, 100, 0.1}, noises[] = {0.05, 0.3, 1};

START_TEST(nlopt_finds_the_estimate_of_random_trees) {
    random_source base = random_seed("consistent estimates of random trees beside NLopt", 20261401);
    for (int k = 0; k < 18; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options options = {.joints = 1 + k % 6, .with_fixed = true};
        agreement_case c = {"tree", k, weights[k % 3], noises[k / 3 % 3]};
        dyn_model *tree = random_tree(&random, &options);
        while (dyn_model_nv(tree) == 0) {
            dyn_model_free(tree);
            tree = random_tree(&random, &options);
        }
        compare(&random, &c, tree);
    }
}
END_TEST

START_TEST(nlopt_finds_the_estimate_of_industrial_arms) {
    random_source base = random_seed("consistent estimates of arms beside NLopt", 20261402);
    for (int k = 0; k < 6; k++) {
        random_source random = random_case(base, (uint64_t)k);
        agreement_case c = {k % 2 ? "panda" : "ur5", k, weights[k / 2], 0.05};
        compare(&random, &c, robot_load(c.name, DYN_BASE_FIXED));
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("agreement");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, nlopt_finds_the_estimate_of_random_trees);
    tcase_add_test(tests, nlopt_finds_the_estimate_of_industrial_arms);
    return run_properties("consistent estimates beside NLopt", tests);
}
