/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks compiled algorithms against the library's own.
 *
 * Every function computes CHECKED_STATES random states at once, which must agree with the kernels to a tolerance, and
 * each state alone, which must have the same bits. An algorithm that the library itself refuses for the model, such as
 * forward dynamics of a robot without inertia, is removed from the object.
 */
#include "compiled_check.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/derivatives.h>
#include <dynamics/forward_dynamics.h>
#include <dynamics/frame_motion.h>
#include <dynamics/inverse_dynamics.h>
#include <dynamics/kinematics.h>
#include <dynamics/mass_matrix.h>

#include "../model/error.h"
#include "../model/normal_form.h"
#include "arguments.h"

enum { CHECKED_STATES = 19 };

/* Largest difference relative to the norm of the results: of algorithms that do not solve with M, and of those that
 * do. */
static const double tolerance = 1e-11, solved_tolerance = 1e-8;

/* Random states and the results of the library and of the object, CHECKED_STATES rows each. */
typedef struct check {
    const dyn_model *model;
    dyn_workspace *workspace;
    double *q, *v, *a;
    double *expected, *found;
} check;

/* Draws a number from [-1, 1) by SplitMix64 (Steele, Lea and Flood 2014). */
static double next_random(uint64_t *state) {
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
}

static void fill_random(uint64_t *state, double scale, double *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        x[i] = scale * next_random(state);
    }
}

/* Scales every quaternion of a configuration to norm one. */
static void normalize(const dyn_model *model, double *q) {
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        int quaternion = dyn_joint_type_traits(joint->type)->quaternion;
        if (quaternion >= 0) {
            double *x = q + joint->q_index + quaternion;
            double norm = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
            for (int i = 0; i < 4; i++) {
                x[i] = norm > 0 ? x[i] / norm : i == 3;
            }
        }
    }
}

static dyn_status compute(const check *k, compiled_algorithm algorithm, size_t first, size_t n, dyn_error *error,
                          double *out) {
    size_t nq = (size_t)k->model->nq, nv = (size_t)k->model->nv;
    const double *q = k->q + first * nq, *v = k->v + first * nv, *a = k->a + first * nv;
    double *second = out + n * nv * nv, *third = second + n * nv * nv;
    switch (algorithm) {
    case COMPILED_RNEA:
        return dyn_rnea(k->model, k->workspace, n, NULL, q, v, a, NULL, out, error);
    case COMPILED_BIAS:
        return dyn_bias(k->model, k->workspace, n, NULL, q, v, out, error);
    case COMPILED_GRAVITY:
        return dyn_gravity(k->model, k->workspace, n, NULL, q, out, error);
    case COMPILED_CRBA:
        return dyn_crba(k->model, k->workspace, n, q, out, error);
    case COMPILED_ABA:
        return dyn_aba(k->model, k->workspace, n, NULL, q, v, a, NULL, out, error);
    case COMPILED_MINVERSE:
        return dyn_minverse(k->model, k->workspace, n, q, out, error);
    case COMPILED_RNEA_DERIVATIVES:
        return dyn_rnea_derivatives(k->model, k->workspace, n, NULL, q, v, a, NULL, out, second, third, error);
    default:
        return dyn_aba_derivatives(k->model, k->workspace, n, NULL, q, v, a, NULL, out, second, third, error);
    }
}

/* Returns whether |x - y| <= relative |y| for the Euclidean norm of `count` numbers. */
static bool agree(const double *x, const double *y, size_t count, double relative) {
    double off = 0, square = 0;
    for (size_t i = 0; i < count; i++) {
        off += (x[i] - y[i]) * (x[i] - y[i]), square += y[i] * y[i];
    }
    return off <= relative * relative * square;
}

/* Checks that `count` results agree with the library's own. */
static dyn_status check_results(const char *name, const double *found, const double *expected, size_t count,
                                double relative, dyn_error *error) {
    return agree(found, expected, count, relative)
               ? DYN_OK
               : dyn_error_set(error, DYN_FAILED_PRECONDITION, name, "its results differ from the library's own");
}

/* Checks that the results of one state have the same bits, computed alone and among others. */
static dyn_status check_bits(const char *name, const double *alone, const double *among, size_t width,
                             dyn_error *error) {
    return memcmp(alone, among, width * sizeof(double)) == 0
               ? DYN_OK
               : dyn_error_set(error, DYN_FAILED_PRECONDITION, name,
                               "a state alone gives other bits than among others");
}

/* Checks one function, and removes it where the library refuses its algorithm for this model. */
static dyn_status check_function(dyn_compiled *c, check *k, compiled_algorithm a, dyn_error *error) {
    size_t results = dyn_compiled_results(a), width = dyn_compiled_result_width(k->model, a);
    dyn_error ignored;
    k->workspace->compiled = NULL;
    if (compute(k, a, 0, CHECKED_STATES, &ignored, k->expected) != DYN_OK) {
        c->wide[a].name = c->single[a].name = NULL;
        return DYN_OK;
    }
    k->workspace->compiled = c;
    dyn_status status = compute(k, a, 0, CHECKED_STATES, error, k->found);
    if (status != DYN_OK) {
        return status;
    }
    const char *name = dyn_compiled_descriptions[a].name;
    double most = dyn_compiled_descriptions[a].has_pivots ? solved_tolerance : tolerance;
    status = check_results(name, k->found, k->expected, CHECKED_STATES * results * width, most, error);
    for (size_t s = 0; status == DYN_OK && s < CHECKED_STATES; s++) {
        status = compute(k, a, s, 1, error, k->expected);
        for (size_t i = 0; status == DYN_OK && i < results; i++) {
            const double *among = k->found + (i * CHECKED_STATES + s) * width;
            status = check_bits(name, k->expected + i * width, among, width, error);
        }
    }
    return status;
}

/* ---- Check of frames --------------------------------------------------------------------------------------------- */

/* Returns the frame of a link that body i carries, or -1. */
static int frame_of_body(const dyn_model *model, int i) {
    int frame = model->link_count - 1;
    while (frame >= 0 && model->frames[frame].body != i) {
        frame--;
    }
    return frame;
}

enum { FRAME_RESULTS = 6 };

/* Stores how many numbers each of a frame's results has for one sample: position, rotation, Jacobian, twist, its rate,
 * and the rate of the Jacobian. */
static void frame_widths(const dyn_model *model, size_t width[FRAME_RESULTS]) {
    size_t entries = 6 * (size_t)model->nv;
    const size_t widths[FRAME_RESULTS] = {3, 9, entries, 6, 6, entries};
    memcpy(width, widths, sizeof widths);
}

/* Computes all results of a frame, stored one after the other. */
static dyn_status compute_frame(const check *k, int frame, size_t first, size_t n, dyn_error *error, double *out) {
    const dyn_reference_frame reference_frame = DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED;
    size_t nq = (size_t)k->model->nq, nv = (size_t)k->model->nv, width[FRAME_RESULTS];
    const double *q = k->q + first * nq, *v = k->v + first * nv, *a = k->a + first * nv;
    double *to[FRAME_RESULTS];
    frame_widths(k->model, width);
    for (size_t i = 0; i < FRAME_RESULTS; i++) {
        to[i] = out;
        out += n * width[i];
    }
    dyn_status status = dyn_frame_pose(k->model, k->workspace, n, q, frame, to[0], to[1], error);
    if (status == DYN_OK) {
        status = dyn_frame_jacobian(k->model, k->workspace, n, q, frame, reference_frame, to[2], error);
    }
    return status == DYN_OK ? dyn_frame_motion(k->model, k->workspace, n, q, v, a, frame, reference_frame, to[3], to[4],
                                               to[5], error)
                            : status;
}

/* Checks the functions of body i through one of its frames. */
static dyn_status check_body(dyn_compiled *c, check *k, int i, dyn_error *error) {
    static const char *const names[FRAME_RESULTS] = {COMPILED_BODY_POSE,   COMPILED_BODY_POSE,   COMPILED_BODY_JACOBIAN,
                                                     COMPILED_BODY_MOTION, COMPILED_BODY_MOTION, COMPILED_BODY_MOTION};
    int frame = frame_of_body(c->model, i);
    if (frame < 0) {
        c->bodies[i] = (compiled_body){0};
        return DYN_OK;
    }
    size_t width[FRAME_RESULTS];
    frame_widths(c->model, width);
    k->workspace->compiled = NULL;
    dyn_status status = compute_frame(k, frame, 0, CHECKED_STATES, error, k->expected);
    k->workspace->compiled = c;
    if (status == DYN_OK) {
        status = compute_frame(k, frame, 0, CHECKED_STATES, error, k->found);
    }
    const double *found = k->found, *expected = k->expected;
    for (size_t r = 0; status == DYN_OK && r < FRAME_RESULTS; r++) {
        status = check_results(names[r], found, expected, CHECKED_STATES * width[r], tolerance, error);
        found += CHECKED_STATES * width[r], expected += CHECKED_STATES * width[r];
    }
    for (size_t s = 0; status == DYN_OK && s < CHECKED_STATES; s++) {
        status = compute_frame(k, frame, s, 1, error, k->expected);
        found = k->found, expected = k->expected;
        for (size_t r = 0; status == DYN_OK && r < FRAME_RESULTS; r++) {
            status = check_bits(names[r], expected, found + s * width[r], width[r], error);
            found += CHECKED_STATES * width[r], expected += width[r];
        }
    }
    return status;
}

/* ---- Check of steps ---------------------------------------------------------------------------------------------- */

/* Parameters of the checked step. It is so long that the state before it is negligible; damping resists about as much
 * as inertia. */
static const double checked_dt = 1e3, checked_damping = 1e-3;

/* Steps as many states as the kernels have lanes, from state `first` on, and stores the velocities after the step.
 * Returns false if M is singular. */
static bool run_step(const check *k, const kernel_table *kernels, compiled_step compiled, size_t first,
                     const double *damping, double *out) {
    size_t nq = (size_t)k->model->nq, nv = (size_t)k->model->nv, lanes = (size_t)kernels->lanes;
    const step_parameters p = {.scheme = STEP_SEMI_IMPLICIT_EULER,
                               .dt = checked_dt,
                               .gravity = k->model->gravity,
                               .resistance = {.damping = damping},
                               .compiled = compiled};
    double *q = k->workspace->output, *v = q + nq * lanes, *tau = v + nv * lanes, *q_next = tau + nv * lanes;
    double *v_next = q_next + nq * lanes;
    kernels->pack(k->q + first * nq, nq, nq, lanes, q);
    kernels->pack(k->v + first * nv, nv, nv, lanes, v);
    kernels->pack(k->a + first * nv, nv, nv, lanes, tau);
    const step_input in = {.q = q, .v = v, .tau_begin = tau};
    kernels->step(k->model, k->workspace->memory, &p, &in, k->workspace->pivots, q_next, v_next);
    kernels->unpack(v_next, nv, lanes, out);
    return kernels->all_positive(k->workspace->pivots, nv);
}

/* Checks forward dynamics with resistance, which only steps use. */
static dyn_status check_steps(dyn_compiled *c, check *k, dyn_error *error) {
    const kernel_trio *trio = k->workspace->kernels;
    size_t lanes = (size_t)trio->wide->lanes, nv = (size_t)k->model->nv;
    const char *name = dyn_compiled_descriptions[COMPILED_RESISTED_ABA].name;
    compiled_step wide = dyn_compiled_step(c, trio->wide), single = dyn_compiled_step(c, trio->one);
    double *damping = k->expected + lanes * nv;
    for (size_t i = 0; i < nv; i++) {
        damping[i] = checked_damping;
    }
    if (!wide.aba || !run_step(k, trio->wide, (compiled_step){0}, 0, damping, k->expected)) {
        c->wide[COMPILED_RESISTED_ABA].name = c->single[COMPILED_RESISTED_ABA].name = NULL;
        return DYN_OK;
    }
    bool is_right = run_step(k, trio->wide, wide, 0, damping, k->found) &&
                    agree(k->found, k->expected, lanes * nv, solved_tolerance);
    if (!is_right) {
        return dyn_error_set(error, DYN_FAILED_PRECONDITION, name, "its results differ from the library's own");
    }
    for (size_t s = 0; s < lanes; s++) {
        run_step(k, trio->one, single, s, damping, k->expected);
        if (memcmp(k->expected, k->found + s * nv, nv * sizeof(double)) != 0) {
            return dyn_error_set(error, DYN_FAILED_PRECONDITION, name,
                                 "a state alone gives other bits than among others");
        }
    }
    return DYN_OK;
}

dyn_status dyn_compiled_check(dyn_compiled *c, dyn_error *error) {
    size_t nq = (size_t)c->model->nq, nv = (size_t)c->model->nv, width = COMPILED_RESULTS * nv * nv + 12 * nv + 24;
    check k = {.model = c->model};
    double *numbers = calloc(CHECKED_STATES * (nq + 2 * nv + 2 * width) + 1, sizeof *numbers);
    dyn_status status = numbers ? dyn_workspace_create(c->model, &k.workspace, error) : dyn_error_memory(error);
    if (status == DYN_OK) {
        uint64_t seed = 1;
        k.q = numbers, k.v = k.q + CHECKED_STATES * nq, k.a = k.v + CHECKED_STATES * nv;
        k.expected = k.a + CHECKED_STATES * nv, k.found = k.expected + CHECKED_STATES * width;
        fill_random(&seed, 3, k.q, CHECKED_STATES * nq);
        fill_random(&seed, 2, k.v, CHECKED_STATES * nv);
        fill_random(&seed, 9, k.a, CHECKED_STATES * nv);
        for (size_t s = 0; s < CHECKED_STATES; s++) {
            normalize(c->model, k.q + s * nq);
        }
    }
    for (int a = 0; status == DYN_OK && a < COMPILED_ALGORITHMS; a++) {
        if (!c->wide[a].name || !c->single[a].name) {
            c->wide[a].name = c->single[a].name = NULL;
        } else if (a == COMPILED_RESISTED_ABA) {
            status = check_steps(c, &k, error);
        } else {
            status = check_function(c, &k, (compiled_algorithm)a, error);
        }
    }
    for (int i = 0; status == DYN_OK && i < c->model->body_count; i++) {
        status = check_body(c, &k, i, error);
    }
    dyn_workspace_free(k.workspace);
    free(numbers);
    return status;
}
