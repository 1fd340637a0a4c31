/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares single with double precision: the error of every algorithm is within the bound of dynamics/precision.h, on
 * robots and random trees. Values beyond the range of single precision are refused.
 */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>
#include <dynamics/urdf.h>

#include "model/group_inertias.h"
#include "model/normal_form.h"
#include "support/algorithms.h"
#include "support/assertions.h"
#include "support/golden.h"
#include "support/random_tree.h"

/* Numbers of states, trees and perturbations, and largest nv of robots whose results that grow with nv^3 are
 * computed. */
enum { STATES = 2, TREES = 24, PERTURBATIONS = 8, CUBE_BOUND = 12 };

/* ---- states ------------------------------------------------------------------------------------------------------ */

typedef struct state {
    const dyn_model *model;
    int nq, nv, frame;
    double *q, *v, *a, *tau, wrench[6];
} state;

static state state_create(const dyn_model *model) {
    state s = {.model = model, .nq = dyn_model_nq(model), .nv = dyn_model_nv(model)};
    s.frame = dyn_model_link_count(model) - 1;
    s.q = numbers((size_t)s.nq);
    s.v = numbers((size_t)s.nv), s.a = numbers((size_t)s.nv), s.tau = numbers((size_t)s.nv);
    return s;
}

static void state_free(state *s) {
    free(s->q), free(s->v), free(s->a), free(s->tau);
}

static void state_randomize(random_source *random, state *s) {
    random_configuration(random, s->model, 3, s->q);
    random_vector(random, s->nv, 2, s->v);
    random_vector(random, s->nv, 9, s->a);
    random_vector(random, s->nv, 20, s->tau);
    random_vector(random, 6, 5, s->wrench);
}

static double largest(const double *x, int count) {
    double most = 0;
    for (int i = 0; i < count; i++) {
        most = larger(most, fabs(x[i]));
    }
    return most;
}

/* Computes y = x with random changes of at most `part` of the largest number of x. */
static void perturb_vector(random_source *random, const double *x, int count, double part, double *y) {
    double most = largest(x, count);
    for (int i = 0; i < count; i++) {
        y[i] = x[i] + part * most * random_uniform(random, -1, 1);
    }
}

/* Computes a state `to` that differs from `from` by rounding errors of single precision. */
static void perturb_state(random_source *random, const state *from, state *to) {
    double *step = numbers((size_t)from->nv), reach = larger(1, largest(from->q, from->nq));
    random_vector(random, from->nv, FLT_EPSILON * reach, step);
    integrate_configuration(from->model, from->q, step, 1, to->q);
    perturb_vector(random, from->v, from->nv, FLT_EPSILON, to->v);
    perturb_vector(random, from->a, from->nv, FLT_EPSILON, to->a);
    perturb_vector(random, from->tau, from->nv, FLT_EPSILON, to->tau);
    perturb_vector(random, from->wrench, 6, FLT_EPSILON, to->wrench);
    free(step);
}

/* Rotates the cosine and sine of an angle by a rounding error of single precision. */
static void perturb_turn(random_source *random, double turn[2]) {
    double angle = FLT_EPSILON * random_uniform(random, -1, 1), c = turn[0], s = turn[1];
    turn[0] = c - angle * s, turn[1] = s + angle * c;
}

/* Rotates R by a rounding error of single precision. */
static void perturb_rotation(random_source *random, double R[9]) {
    double w[3];
    random_vector(random, 3, FLT_EPSILON, w);
    for (int i = 0; i < 3; i++) {
        double x = R[i], y = R[3 + i], z = R[6 + i];
        R[i] += w[1] * z - w[2] * y, R[3 + i] += w[2] * x - w[0] * z, R[6 + i] += w[0] * y - w[1] * x;
    }
}

/* Changes the constants of a body by rounding errors of single precision; lengths change relative to `length`. */
static void perturb_body(random_source *random, double length, body *b) {
    for (int i = 0; i < 3; i++) {
        b->position[i] += FLT_EPSILON * length * random_uniform(random, -1, 1);
        b->first_moment[i] += FLT_EPSILON * length * b->mass * random_uniform(random, -1, 1);
    }
    perturb_rotation(random, b->rotation);
    perturb_turn(random, b->tilt);
    b->turn += FLT_EPSILON * random_uniform(random, -1, 1);
    b->mass *= 1 + FLT_EPSILON * random_uniform(random, -1, 1);
    perturb_vector(random, b->inertia, 6, FLT_EPSILON, b->inertia);
    perturb_vector(random, b->moments, 6, FLT_EPSILON, b->moments);
    perturb_vector(random, b->carried_inertia, 6, FLT_EPSILON, b->carried_inertia);
    perturb_vector(random, b->rotor_couple, 3, FLT_EPSILON, b->rotor_couple);
    b->reflected_inertia *= 1 + FLT_EPSILON * random_uniform(random, -1, 1);
}

/* Returns the model with perturbed constants, in the workspace's private copy, with `frames` as memory for its frames.
 * The workspace owns the result. */
static const dyn_model *perturb_model(random_source *random, const dyn_model *model, dyn_workspace *workspace,
                                      body_frame *frames) {
    dyn_error error;
    const dyn_model *copy = NULL;
    double length = 0;
    require(dyn_workspace_load(workspace, 0, NULL, &copy, &error), &error);
    dyn_model *loaded = (dyn_model *)(uintptr_t)copy;
    for (int i = 0; i < model->body_count; i++) {
        length = larger(length, largest(model->bodies[i].position, 3));
    }
    for (int i = 0; i < model->body_count; i++) {
        perturb_body(random, length, &loaded->bodies[i]);
    }
    group_inertias(loaded, loaded->bodies);
    loaded->frames = memcpy(frames, model->frames, (size_t)model->link_count * sizeof *frames);
    for (int i = 0; i < model->link_count; i++) {
        perturb_vector(random, frames[i].pose.position, 3, FLT_EPSILON, frames[i].pose.position);
        perturb_rotation(random, frames[i].pose.rotation);
    }
    perturb_vector(random, model->gravity, 3, FLT_EPSILON, loaded->gravity);
    return loaded;
}

/* ---- the bound --------------------------------------------------------------------------------------------------- */

/* Returns the factor F of the error bound in dynamics/precision.h. */
static double factor_of(algorithm_id id) {
    switch (id) {
    case ALGORITHM_CORIOLIS_MATRIX:
    case ALGORITHM_CHRISTOFFEL:
        return 30;
    case ALGORITHM_CENTROIDAL_MATRIX:
    case ALGORITHM_CENTROIDAL_MATRIX_RATE:
        return 15;
    default:
        return 5;
    }
}

/* Returns whether an output is the rate of a Jacobian, which may be zero while its terms are not. */
static bool is_jacobian_rate(algorithm_id id, int output) {
    return id == ALGORITHM_JACOBIAN_RATE || (id == ALGORITHM_FRAME_DERIVATIVES && output == 2);
}

/* Returns whether an output is a continuous function of the inputs. Axes of ellipsoids are not, where two lengths are
 * equal. */
static bool is_continuous(algorithm_id id, int output) {
    switch (id) {
    case ALGORITHM_MANIPULABILITY:
    case ALGORITHM_MASS_ELLIPSOIDS:
    case ALGORITHM_ACCELERATION_ELLIPSOIDS:
    case ALGORITHM_TORQUE_ELLIPSOID:
    case ALGORITHM_PRINCIPAL_MOMENTS:
        return false;
    default:
        return output >= 0;
    }
}

/* Returns whether the results of an algorithm contain M^-1. */
static bool divides_by_mass(algorithm_id id) {
    switch (id) {
    case ALGORITHM_MINVERSE:
    case ALGORITHM_MASS_SOLVE:
    case ALGORITHM_JOINT_INERTIAS:
    case ALGORITHM_ABA:
    case ALGORITHM_TASK_INERTIA:
    case ALGORITHM_ABA_DERIVATIVES:
    case ALGORITHM_ABA_DIRECTIONAL:
    case ALGORITHM_ABA_SECOND_DERIVATIVES:
        return true;
    default:
        return false;
    }
}

/* Returns the largest sum of the absolute values of a row of the n x n matrix A. */
static double row_norm(const double *A, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) {
            sum += fabs(A[i * n + j]);
        }
        most = larger(most, sum);
    }
    return most;
}

/* Returns |M| |M^-1|, or infinity where M has no inverse. */
static double condition_of_mass(const dyn_model *model, dyn_workspace *workspace, const double *q) {
    size_t nv = (size_t)dyn_model_nv(model);
    double *M = numbers(nv * nv), *inverse = numbers(nv * nv);
    dyn_error error;
    require(dyn_crba(model, workspace, 1, q, M, &error), &error);
    bool has_inverse = dyn_minverse(model, workspace, 1, q, inverse, &error) == DYN_OK;
    double condition = has_inverse ? row_norm(M, nv) * row_norm(inverse, nv) : INFINITY;
    free(M), free(inverse);
    return condition;
}

static double size_of_jacobian(const state *s, dyn_workspace *workspace) {
    double *J = numbers(6 * (size_t)s->nv);
    dyn_error error;
    require(
        dyn_frame_jacobian(s->model, workspace, 1, s->q, s->frame, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, J, &error),
        &error);
    double size = largest(J, 6 * s->nv);
    free(J);
    return size;
}

typedef struct computer {
    dyn_workspace *wide, *narrow;        /* double and single precision */
    double *exact, *rounded, *perturbed; /* results */
    body_frame *frames;                  /* of the perturbed model */
    double condition;                    /* of M at this state */
    double jacobian;                     /* the largest number of the frame's Jacobian */
} computer;

static bool is_computed(const dyn_model *model, algorithm_id id) {
    return dyn_model_nv(model) <= CUBE_BOUND || !algorithm_is_cubic(id);
}

static dyn_status compute(algorithm_id id, const dyn_model *model, dyn_workspace *workspace, const state *s,
                          dyn_error *error, double *out) {
    const algorithm_input in = {.model = model,
                                .workspace = workspace,
                                .n = 1,
                                .q = s->q,
                                .v = s->v,
                                .a = s->a,
                                .tau = s->tau,
                                .wrench = s->wrench,
                                .frame = s->frame};
    return algorithm_compute(id, &in, error, out);
}

static double worst[ALGORITHM_COUNT];

/* Checks that the error of one output is within the bound, relative to `change`, the effect of the perturbations on
 * this output. Records the largest error of the algorithm. */
static void check_array(algorithm_id id, const state *s, const computer *c, int output, size_t at, double change) {
    size_t width = algorithm_output_width(id, s->model, output);
    double error = 0, size = largest(c->exact + at, (int)width);
    for (size_t i = at; i < at + width; i++) {
        error = larger(error, fabs(c->rounded[i] - c->exact[i]));
    }
    if (is_jacobian_rate(id, output)) {
        size = larger(size, c->jacobian * largest(s->v, s->nv));
    }
    double unit = change + FLT_EPSILON * (divides_by_mass(id) ? c->condition : 1) * size;
    double factor = error > 0 ? error / unit : 0;
    worst[id] = larger(worst[id], factor);
    ck_assert_msg(factor <= factor_of(id), "%s, output %d: the error %g is %g times %g; the bound is %g times",
                  algorithm_get(id)->name, output, error, factor, unit, factor_of(id));
}

static void check_algorithm(random_source *random, algorithm_id id, computer *c, const state *s) {
    dyn_error error;
    dyn_status status = compute(id, s->model, c->wide, s, &error, c->exact);
    if (status != DYN_OK) {
        return;
    }
    require(compute(id, s->model, c->narrow, s, &error, c->rounded), &error);
    double change[ALGORITHM_OUTPUTS] = {0};
    state near = state_create(s->model);
    near.frame = s->frame;
    for (int k = 0; k < PERTURBATIONS; k++) {
        perturb_state(random, s, &near);
        const dyn_model *loaded = perturb_model(random, s->model, c->wide, c->frames);
        require(compute(id, loaded, c->wide, &near, &error, c->perturbed), &error);
        size_t at = 0;
        for (int i = 0; i < ALGORITHM_OUTPUTS; i++) {
            for (size_t end = at + algorithm_output_width(id, s->model, i); at < end; at++) {
                change[i] = larger(change[i], fabs(c->perturbed[at] - c->exact[at]));
            }
        }
    }
    state_free(&near);
    size_t at = 0;
    for (int i = 0; i < ALGORITHM_OUTPUTS; i++) {
        if (is_continuous(id, i)) {
            check_array(id, s, c, i, at, change[i]);
        }
        at += algorithm_output_width(id, s->model, i);
    }
}

static void check_model(random_source *random, const dyn_model *model) {
    dyn_error error;
    computer c = {0};
    state s = state_create(model);
    size_t width = 0;
    for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
        size_t of_it = is_computed(model, id) ? algorithm_width(id, model) : 0;
        width = of_it > width ? of_it : width;
    }
    c.frames = calloc((size_t)model->link_count, sizeof *c.frames);
    c.exact = numbers(width), c.rounded = numbers(width), c.perturbed = numbers(width);
    require(dyn_workspace_create(model, &c.wide, &error), &error);
    require(dyn_workspace_create_in(model, DYN_PRECISION_SINGLE, &c.narrow, &error), &error);
    for (int k = 0; k < STATES; k++) {
        state_randomize(random, &s);
        c.condition = condition_of_mass(model, c.wide, s.q);
        c.jacobian = size_of_jacobian(&s, c.wide);
        /* Each algorithm has the same perturbations, so that its numbers do not depend on the others in the table. */
        for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
            random_source own = *random;
            if (is_computed(model, id)) {
                check_algorithm(&own, id, &c, &s);
            }
        }
    }
    dyn_workspace_free(c.wide), dyn_workspace_free(c.narrow);
    free(c.frames), free(c.exact), free(c.rounded), free(c.perturbed);
    state_free(&s);
}

/* Prints for each algorithm its largest error relative to the effect of the perturbations. */
static void print_worst(void) {
    for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
        printf("%-24s %8.2f\n", algorithm_get(id)->name, worst[id]);
    }
}

START_TEST(random_trees_keep_the_bound) {
    random_source base = random_seed("error of single precision", 91);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options options = {.joints = 1 + 2 * k,
                                       .with_mimic = k % 2,
                                       .with_fixed = true,
                                       .base = k % 3 ? DYN_BASE_FIXED : DYN_BASE_FLOATING};
        dyn_model *model = random_tree(&random, &options);
        check_model(&random, model);
        dyn_model_free(model);
    }
    print_worst();
}
END_TEST

/* Checks the robots of the reference values where these exist. */
START_TEST(robots_keep_the_bound) {
    random_source base = random_seed("error of single precision, robots", 92);
    char **files = golden_files();
    for (size_t i = 0; files && files[i]; i++) {
        random_source random = random_case(base, i);
        dyn_model *model = golden_robot(files[i]);
        if (model) {
            check_model(&random, model);
        }
        dyn_model_free(model);
    }
    golden_files_free(files);
    print_worst();
}
END_TEST

/* ---- limits of single precision ---------------------------------------------------------------------------------- */

static dyn_model *arm_of_mass(const char *mass) {
    char text[1024];
    dyn_error error;
    dyn_model *model;
    int length = snprintf(text, sizeof text,
                          "<robot name='arm'><link name='base'/><link name='rod'><inertial><mass value='%s'/>"
                          "<origin xyz='0.5 0 0'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
                          "</inertial></link><joint name='hinge' type='continuous'><parent link='base'/>"
                          "<child link='rod'/><axis xyz='0 1 0'/></joint></robot>",
                          mass);
    require(dyn_urdf_load(text, (size_t)length, NULL, NULL, &model, &error), &error);
    return model;
}

static void expect_message(const dyn_error *error, const char *place, const char *part) {
    ck_assert_str_eq(error->place, place);
    ck_assert_msg(strstr(error->message, part) != NULL, "\"%s\" lacks \"%s\"", error->message, part);
}

START_TEST(constants_beyond_single_precision_are_refused) {
    static const char *const masses[] = {"1e39", "1e-39"};
    for (int i = 0; i < 2; i++) {
        dyn_model *model = arm_of_mass(masses[i]);
        dyn_workspace *workspace = NULL;
        dyn_error error;
        ck_assert_int_eq(dyn_workspace_create_in(model, DYN_PRECISION_SINGLE, &workspace, &error),
                         DYN_FAILED_PRECONDITION);
        ck_assert_ptr_null(workspace);
        expect_message(&error, "model", "hinge: the mass that it moves is 1e");
        dyn_model_free(model);
    }
}
END_TEST

/* Checks that a body far from a hinge is refused where its moment about the hinge exceeds single precision. */
START_TEST(grouped_constants_beyond_single_precision_are_refused) {
    static const char format[] =
        "<robot name='arm'><link name='base'/><link name='rod'>%s</link><link name='tip'>%s</link>"
        "<joint name='hinge' type='continuous'><parent link='base'/><child link='rod'/><axis xyz='0 1 0'/></joint>"
        "<joint name='wrist' type='continuous'><origin xyz='%s 0 0'/><parent link='rod'/><child link='tip'/>"
        "<axis xyz='0 1 0'/></joint></robot>";
    static const char inertial[] = "<inertial><mass value='1e20'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
                                   "iyz='0'/></inertial>";
    static const char *const distances[] = {"1e8", "1e10", "1e20"};
    static const char *const messages[] = {NULL, "hinge: a second moment of the mass that is grouped with it is 1e+40",
                                           "hinge: the first moment of the mass that is grouped with it is 1e+40"};
    for (int i = 0; i < 3; i++) {
        char text[2048];
        dyn_model *model;
        dyn_workspace *workspace = NULL;
        dyn_error error;
        int length = snprintf(text, sizeof text, format, inertial, inertial, distances[i]);
        require(dyn_urdf_load(text, (size_t)length, NULL, NULL, &model, &error), &error);
        dyn_status status = dyn_workspace_create_in(model, DYN_PRECISION_SINGLE, &workspace, &error);
        ck_assert_int_eq(status, messages[i] ? DYN_FAILED_PRECONDITION : DYN_OK);
        if (messages[i]) {
            expect_message(&error, "model", messages[i]);
        }
        dyn_workspace_free(workspace);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(payloads_beyond_single_precision_are_refused) {
    dyn_model *model = arm_of_mass("1");
    const dyn_model *loaded;
    dyn_workspace *workspace;
    dyn_error error;
    double q = 0, tau = 0;
    require(dyn_workspace_create_in(model, DYN_PRECISION_SINGLE, &workspace, &error), &error);
    const dyn_payload heavy = {.link = 1, .inertia = {.mass = 1e39}}, light = {.link = 1, .inertia = {.mass = 1}};
    require(dyn_workspace_load(workspace, 1, &light, &loaded, &error), &error);
    ck_assert_int_eq(dyn_workspace_load(workspace, 1, &heavy, &loaded, &error), DYN_FAILED_PRECONDITION);
    expect_message(&error, "model", "hinge: the mass that it moves is 1e+39");
    require(dyn_gravity(loaded, workspace, 1, NULL, &q, &tau, &error), &error);
    ck_assert_double_eq_tol(tau, -0.5 * 9.81, 1e-5);
    dyn_workspace_free(workspace);
    dyn_model_free(model);
}
END_TEST

START_TEST(mass_matrices_are_solved_in_double_precision) {
    dyn_model *model = arm_of_mass("1");
    dyn_workspace *workspace;
    dyn_error error;
    double q = 0, factor, b = 1e39, x;
    require(dyn_workspace_create_in(model, DYN_PRECISION_SINGLE, &workspace, &error), &error);
    require(dyn_mass_factors(model, workspace, 1, &q, &factor, &error), &error);
    require(dyn_mass_solve(model, workspace, 1, &factor, &b, &x, &error), &error);
    ck_assert_double_eq_tol(x, b / factor, 1e-15 * b);
    factor = 0.01, b = 1e308;
    ck_assert_int_eq(dyn_mass_solve(model, workspace, 1, &factor, &b, &x, &error), DYN_INVALID_ARGUMENT);
    expect_message(&error, "x", "x is beyond the range of double precision; the inputs are too large");
    dyn_workspace_free(workspace);
    dyn_model_free(model);
}
END_TEST

START_TEST(numbers_beyond_single_precision_are_refused) {
    dyn_model *model = arm_of_mass("1");
    dyn_workspace *workspace;
    dyn_error error;
    double q[3] = {0, 1e39, 0}, v[3] = {0, 0, 1e30}, rest[3] = {0, 0, 0}, tau[3];
    require(dyn_workspace_create_in(model, DYN_PRECISION_SINGLE, &workspace, &error), &error);
    ck_assert_int_eq(dyn_rnea(model, workspace, 3, NULL, q, rest, rest, NULL, tau, &error), DYN_INVALID_ARGUMENT);
    expect_message(&error, "q[1]", "joint hinge: the value is 1e+39; beyond single precision");
    ck_assert_int_eq(dyn_rnea(model, workspace, 3, NULL, rest, v, rest, NULL, tau, &error), DYN_INVALID_ARGUMENT);
    expect_message(&error, "tau", "tau is beyond the range of single precision");
    ck_assert_int_eq(dyn_rnea(model, workspace, 3, (double[]){0, 0, 1e39}, rest, rest, rest, NULL, tau, &error),
                     DYN_INVALID_ARGUMENT);
    expect_message(&error, "gravity", "that single precision can hold");
    require(dyn_rnea(model, workspace, 3, NULL, rest, rest, rest, NULL, tau, &error), &error);
    dyn_workspace_free(workspace);
    dyn_model_free(model);
}
END_TEST

/* Checks, in packing, in checks of inputs and in checks of constants, that a double is accepted if it rounds to a
 * finite float. */
START_TEST(single_precision_ends_where_rounding_does) {
    const double most = 0x1.fffffefffffffp127, beyond = 0x1.ffffffp127;
    ck_assert(isfinite((float)most) && isinf((float)beyond) && nextafter(most, INFINITY) == beyond);
    dyn_model *model = arm_of_mass("1"), *heaviest = arm_of_mass("3.4028235677973362e38"),
              *heavier = arm_of_mass("3.4028235677973366e38");
    dyn_workspace *workspace, *other;
    dyn_error error;
    double tau, mass, rest = 0;
    require(dyn_workspace_create_in(model, DYN_PRECISION_SINGLE, &workspace, &error), &error);
    for (int sign = -1; sign <= 1; sign += 2) {
        const double q = sign * most, gone = sign * beyond, gravity[3] = {q, 0, 0}, too_much[3] = {gone, 0, 0};
        require(dyn_rnea(model, workspace, 1, NULL, &q, &rest, &rest, NULL, &tau, &error), &error);
        ck_assert_int_eq(dyn_rnea(model, workspace, 1, NULL, &gone, &rest, &rest, NULL, &tau, &error),
                         DYN_INVALID_ARGUMENT);
        expect_message(&error, "q[0]", "3.40282e+38; beyond single precision");
        require(dyn_crba(model, workspace, 1, &q, &mass, &error), &error);
        ck_assert_int_eq(dyn_crba(model, workspace, 1, &gone, &mass, &error), DYN_INVALID_ARGUMENT);
        expect_message(&error, "q[0]", "3.40282e+38; beyond single precision");
        require(dyn_rnea(model, workspace, 1, gravity, &rest, &rest, &rest, NULL, &tau, &error), &error);
        ck_assert_int_eq(dyn_rnea(model, workspace, 1, too_much, &rest, &rest, &rest, NULL, &tau, &error),
                         DYN_INVALID_ARGUMENT);
        expect_message(&error, "gravity", "that single precision can hold");
    }
    require(dyn_workspace_create_in(heaviest, DYN_PRECISION_SINGLE, &other, &error), &error);
    dyn_workspace_free(other);
    ck_assert_int_eq(dyn_workspace_create_in(heavier, DYN_PRECISION_SINGLE, &other, &error), DYN_FAILED_PRECONDITION);
    expect_message(&error, "model", "hinge: the mass that it moves is 3.40282e+38");
    dyn_workspace_free(workspace);
    dyn_model_free(model), dyn_model_free(heaviest), dyn_model_free(heavier);
}
END_TEST

int main(void) {
    TCase *errors = tcase_create("errors");
    tcase_set_timeout(errors, 120);
    tcase_add_test(errors, random_trees_keep_the_bound);
    tcase_add_test(errors, robots_keep_the_bound);
    tcase_add_test(errors, constants_beyond_single_precision_are_refused);
    tcase_add_test(errors, grouped_constants_beyond_single_precision_are_refused);
    tcase_add_test(errors, mass_matrices_are_solved_in_double_precision);
    tcase_add_test(errors, payloads_beyond_single_precision_are_refused);
    tcase_add_test(errors, numbers_beyond_single_precision_are_refused);
    tcase_add_test(errors, single_precision_ends_where_rounding_does);
    return run_properties("single precision", errors);
}
