/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares robots on a base that moves with another library. There the base is the link of a free joint, whose motion
 * the library receives: forces, accelerations and motions of frames; and derivatives, with differences of its forces.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "peer.h"
#include "robots.h"
#include "support/assertions.h"
#include "support/random_tree.h"

enum { CASES = 30, STATES = 3, BASE_NQ = 7, BASE_NV = 6 };

/* Robot on a base that moves, the same on a free joint in the other library, and its state. */
typedef struct moved_robot {
    dyn_model *model, *floating;
    dyn_workspace *workspace;
    const peer_library *library;
    peer *peer;
    size_t nq, nv;
    double *q, *v, *a, twist[6], acceleration[6];
    double *free_q, *free_v, *free_a, *free_tau, *free_M; /* of the free robot */
    dyn_base_motion base;
} moved_robot;

static void open_robot(const char *key, dyn_model *model, bool merge_fixed, moved_robot *r) {
    dyn_builder *builder;
    dyn_error error;
    char reason[PEER_REASON_SIZE] = "";
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    *r = (moved_robot){.model = model, .nq = (size_t)dyn_model_nq(model), .nv = (size_t)dyn_model_nv(model)};
    require(dyn_model_describe(model, &builder, &error), &error);
    require(dyn_builder_build(builder, &options, NULL, &r->floating, &error), &error);
    dyn_builder_free(builder);
    require(dyn_workspace_create(model, &r->workspace, &error), &error);
    r->library = peer_find(key);
    ck_assert(r->library != NULL);
    r->peer = r->library->create(r->floating, merge_fixed, reason);
    ck_assert_msg(r->peer != NULL, "%s", reason);
    size_t free_nv = r->nv + BASE_NV;
    r->q = numbers(r->nq), r->v = numbers(r->nv), r->a = numbers(r->nv);
    r->free_q = numbers(r->nq + BASE_NQ), r->free_v = numbers(free_nv), r->free_a = numbers(free_nv);
    r->free_tau = numbers(free_nv), r->free_M = numbers(free_nv * free_nv);
    r->base = (dyn_base_motion){r->twist, r->acceleration, 0};
    r->free_q[6] = 1;
}

static void close_robot(moved_robot *r) {
    free(r->q), free(r->v), free(r->a);
    free(r->free_q), free(r->free_v), free(r->free_a), free(r->free_tau), free(r->free_M);
    r->library->destroy(r->peer);
    dyn_workspace_free(r->workspace);
    dyn_model_free(r->floating), dyn_model_free(r->model);
}

static void draw_state(random_source *random, moved_robot *r) {
    random_vector(random, (int)r->nq, 2, r->q);
    random_vector(random, (int)r->nv, 2, r->v), random_vector(random, (int)r->nv, 3, r->a);
    random_vector(random, 6, 2, r->twist), random_vector(random, 6, 3, r->acceleration);
}

/* Sets the motion of the free robot. Its base has the axes of the world, so that the rate of its linear velocity is
 * the classical acceleration less w x v. */
static algorithm_input free_state(const moved_robot *r, const double *q, const double *v, const double *a) {
    const double *V = r->twist, *A = r->acceleration;
    memcpy(r->free_q + BASE_NQ, q, r->nq * sizeof *q);
    memcpy(r->free_v, V + 3, 3 * sizeof *v), memcpy(r->free_v + 3, V, 3 * sizeof *v);
    memcpy(r->free_v + BASE_NV, v, r->nv * sizeof *v);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        r->free_a[i] = A[3 + i] - (V[j] * V[3 + k] - V[k] * V[3 + j]);
    }
    memcpy(r->free_a + 3, A, 3 * sizeof *a), memcpy(r->free_a + BASE_NV, a, r->nv * sizeof *a);
    return (algorithm_input){
        .model = r->floating, .n = 1, .q = r->free_q, .v = r->free_v, .a = r->free_a, .tau = r->free_tau};
}

/* Computes the library's forces of the joints. */
static void find_forces(const moved_robot *r, const double *q, const double *v, const double *a, double *tau) {
    const algorithm_input in = free_state(r, q, v, a);
    ck_assert(peer_algorithm_of(r->library, ALGORITHM_RNEA)(r->peer, &in, r->free_tau));
    memcpy(tau, r->free_tau + BASE_NV, r->nv * sizeof *tau);
}

/* Compares the forces of the motion, and forward dynamics of random forces: the library's equation of motion, with its
 * mass matrix and its forces at zero acceleration of the joints, holds for our accelerations. */
static void compare_forces(random_source *random, const moved_robot *r, int k) {
    const double tolerance = r->library->tolerance;
    const size_t nv = r->nv, row = nv + BASE_NV;
    double *theirs = numbers(nv), *tau = numbers(nv), *f = numbers(nv), *a = numbers(nv), *zero = numbers(nv);
    double *pushed = numbers(nv);
    dyn_error error;
    find_forces(r, r->q, r->v, r->a, theirs);
    require(dyn_rnea(r->model, r->workspace, 1, NULL, r->q, r->v, r->a, NULL, tau, &error), &error);
    require(dyn_base_forces(r->model, r->workspace, 1, r->q, r->v, &r->base, f, NULL, &error), &error);
    random_vector(random, (int)nv, 20, pushed);
    for (size_t i = 0; i < nv; i++) {
        tau[i] += f[i];
        f[i] = pushed[i] - f[i];
    }
    assert_norm_close("inverse dynamics", k, tau, theirs, nv, tolerance);
    require(dyn_aba(r->model, r->workspace, 1, NULL, r->q, r->v, f, NULL, a, &error), &error);
    find_forces(r, r->q, r->v, zero, theirs);
    const algorithm_input in = free_state(r, r->q, r->v, a);
    ck_assert(peer_algorithm_of(r->library, ALGORITHM_CRBA)(r->peer, &in, r->free_M));
    for (size_t i = 0; i < nv; i++) {
        double scale = fmax(1, fabs(theirs[i])), sum = theirs[i];
        for (size_t j = 0; j < nv; j++) {
            double part = r->free_M[(BASE_NV + i) * row + BASE_NV + j] * a[j];
            sum += part, scale = fmax(scale, fabs(part));
        }
        ck_assert_msg(fabs(sum - pushed[i]) <= tolerance * scale, "forward dynamics, case %d: %g instead of %g", k, sum,
                      pushed[i]);
    }
    free(theirs), free(tau), free(f), free(a), free(zero), free(pushed);
}

/* Compares twists of all links, and classical accelerations where the library has them. Returns the number of
 * links that the library kept. */
static int compare_frames(const moved_robot *r, int k) {
    double twist[6], rate[6], theirs[2][6];
    dyn_error error;
    int compared = 0;
    algorithm_input in = free_state(r, r->q, r->v, r->a);
    peer_function *acceleration = peer_algorithm_of(r->library, ALGORITHM_FRAME_ACCELERATION);
    for (int link = 0; link < dyn_model_link_count(r->model); link++) {
        require(dyn_model_find_frame(r->floating, dyn_model_link(r->model, link)->name, &in.frame, &error), &error);
        if (!peer_algorithm_of(r->library, ALGORITHM_TWIST)(r->peer, &in, theirs[0])) {
            continue;
        }
        bool accelerates = acceleration && acceleration(r->peer, &in, theirs[1]);
        require(dyn_frame_motion_on_base(r->model, r->workspace, 1, r->q, r->v, r->a, link,
                                         DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, &r->base, twist, rate, &error),
                &error);
        assert_norm_close("twist", k, twist, theirs[0], 6, r->library->tolerance);
        if (accelerates) {
            assert_norm_close("acceleration", k, rate, theirs[1], 6, r->library->tolerance);
        }
        compared++;
    }
    return compared;
}

/* Compares the derivatives of the forces along q and v with central differences of the library's. */
static void compare_derivatives(const moved_robot *r, int k) {
    const double h = 1e-5;
    const size_t nv = r->nv, size = nv * nv;
    double *d[3] = {numbers(size), numbers(size), numbers(size)}, *base[2] = {numbers(size), numbers(size)};
    double *x = numbers(nv), *low = numbers(nv), *high = numbers(nv), *column = numbers(nv), *exact = numbers(nv);
    dyn_error error;
    require(dyn_rnea_derivatives(r->model, r->workspace, 1, NULL, r->q, r->v, r->a, NULL, d[0], d[1], d[2], &error),
            &error);
    require(dyn_base_force_derivatives(r->model, r->workspace, 1, r->q, r->v, &r->base, base[0], base[1], &error),
            &error);
    for (size_t along = 0; along < 2 * nv; along++) {
        size_t i = along % nv;
        for (int side = 0; side < 2; side++) {
            memcpy(x, along < nv ? r->q : r->v, nv * sizeof *x);
            x[i] += side ? h : -h;
            find_forces(r, along < nv ? x : r->q, along < nv ? r->v : x, r->a, side ? high : low);
        }
        for (size_t row = 0; row < nv; row++) {
            column[row] = (high[row] - low[row]) / (2 * h);
            exact[row] = d[along / nv][row * nv + i] + base[along / nv][row * nv + i];
        }
        assert_norm_close("derivatives", k, exact, column, nv, 1e-6);
    }
    free(d[0]), free(d[1]), free(d[2]), free(base[0]), free(base[1]);
    free(x), free(low), free(high), free(column), free(exact);
}

/* Compares a robot whose joints have one coordinate each. Returns the number of links that were compared. */
static int compare(random_source *random, dyn_model *model, bool merge_fixed, int k) {
    moved_robot r;
    int compared = 0;
    open_robot(PEER, model, merge_fixed, &r);
    ck_assert_uint_eq(r.nq, r.nv);
    for (int state = 0; state < STATES; state++) {
        draw_state(random, &r);
        compare_forces(random, &r, k);
        compared += compare_frames(&r, k);
        compare_derivatives(&r, k);
    }
    close_robot(&r);
    return compared;
}

START_TEST(sample_robots_on_a_moving_base_are_those_of_the_library) {
    static const char *const names[] = {"ur5", "panda", "quadruped"};
    random_source random = random_seed("sample robots on moving bases", 1841);
    bool holds_massless_links = peer_find(PEER)->has_point_masses;
    for (size_t i = 0; holds_massless_links && i < sizeof names / sizeof *names; i++) {
        ck_assert_int_gt(compare(&random, robot_load(names[i], DYN_BASE_FIXED), true, (int)i), 0);
    }
}
END_TEST

START_TEST(random_arms_on_a_moving_base_are_those_of_the_library) {
    random_source base = random_seed("random arms on moving bases", 1842);
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        ck_assert_int_gt(compare(&random, robot_random_arm(&random, 2 + k % 7), false, k), 0);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("moving base");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, sample_robots_on_a_moving_base_are_those_of_the_library);
    tcase_add_test(tests, random_arms_on_a_moving_base_are_those_of_the_library);
    return run_properties("moving_base_agreement", tests);
}
