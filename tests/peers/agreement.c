/*
 * Our quantities beside those of the peer library that PEER names, at random states of the sample robots, of chains,
 * random arms and random trees.
 *
 * A difference counts relative to the norm of the quantity (or to 1). Forward dynamics is compared in the forces:
 * |M (a - a')| beside |tau|, since the condition of M is the robot's and not a library's.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "peer.h"
#include "robots.h"
#include "support/random_tree.h"

enum { STATES = 50, ARMS = 30, TREES = 15 };

/* A robot in both libraries, a state, and room for results. */
typedef struct pair {
    const char *name;
    dyn_model *model;
    dyn_workspace *workspace;
    const peer_library *library;
    peer *other;
    int nv;
    double *q, *v, *a, *ours, *theirs, *M;
    int compared; /* quantities so far */
    double worst; /* relative difference */
} pair;

static void require(dyn_status status, const dyn_error *error) {
    ck_assert_msg(status == DYN_OK, "%s: %s", error->place, error->message);
}

static double *numbers(int count) {
    double *x = calloc((size_t)count + 1, sizeof *x);
    ck_assert_ptr_nonnull(x);
    return x;
}

static void pair_open(pair *p, const char *name, dyn_model *model, const char *urdf) {
    char reason[PEER_REASON_SIZE] = "";
    *p = (pair){.name = name, .model = model, .library = peer_find(PEER), .nv = dyn_model_nv(model)};
    p->other = urdf ? p->library->read(model, urdf, reason) : p->library->create(model, false, reason);
    ck_assert_msg(p->other != NULL, "%s: %s", name, reason);
    dyn_error error;
    require(dyn_workspace_create(model, &error, &p->workspace), &error);
    int nv = p->nv, square = nv * (nv > 6 ? nv : 6);
    p->q = numbers(dyn_model_nq(model)), p->v = numbers(nv), p->a = numbers(nv);
    p->ours = numbers(square), p->theirs = numbers(square), p->M = numbers(nv * nv);
}

static void pair_close(pair *p) {
    printf("%s, %s: %d comparisons, worst relative difference %.1e\n", p->library->name, p->name, p->compared,
           p->worst);
    p->library->destroy(p->other);
    dyn_workspace_free(p->workspace);
    dyn_model_free(p->model);
    free(p->q), free(p->v), free(p->a), free(p->ours), free(p->theirs), free(p->M);
}

static double norm(const double *x, int count) {
    double square = 0;
    for (int i = 0; i < count; i++) {
        square += x[i] * x[i];
    }
    return sqrt(square);
}

/* |x - y| is small beside |y|. */
static void assert_close(pair *p, const char *what, const double *x, const double *y, int count) {
    double square = 0;
    for (int i = 0; i < count; i++) {
        square += (x[i] - y[i]) * (x[i] - y[i]);
    }
    double off = sqrt(square) / fmax(1, norm(y, count));
    /* Not fmax, which would pass a NaN over. */
    ck_assert_msg(off <= p->library->tolerance, "%s of %s: relative difference %g to %s", what, p->name, off,
                  p->library->name);
    p->worst = fmax(p->worst, off);
    p->compared++;
}

/* ---- one state --------------------------------------------------------------------------------------------------- */

static void compare_forces(pair *p) {
    dyn_error error;
    require(dyn_rnea(p->model, p->workspace, 1, NULL, p->q, p->v, p->a, NULL, &error, p->ours), &error);
    ck_assert(p->library->inverse_dynamics(p->other, p->q, p->v, p->a, p->theirs));
    assert_close(p, "inverse dynamics", p->ours, p->theirs, p->nv);

    require(dyn_bias(p->model, p->workspace, 1, NULL, p->q, p->v, &error, p->ours), &error);
    ck_assert(p->library->bias(p->other, p->q, p->v, p->theirs));
    assert_close(p, "bias", p->ours, p->theirs, p->nv);

    require(dyn_gravity(p->model, p->workspace, 1, NULL, p->q, &error, p->ours), &error);
    ck_assert(p->library->gravity(p->other, p->q, p->theirs));
    assert_close(p, "gravity", p->ours, p->theirs, p->nv);
}

/* M from the peer; from its inverse dynamics, a column for each unit acceleration, where it has no other. */
static void mass_matrix(pair *p, double *M) {
    if (p->library->mass_matrix(p->other, p->q, M)) {
        return;
    }
    double *unit = numbers(p->nv), *column = numbers(p->nv), *g = numbers(p->nv);
    ck_assert(p->library->gravity(p->other, p->q, g));
    double *rest = numbers(p->nv);
    for (int j = 0; j < p->nv; j++) {
        unit[j] = 1;
        ck_assert(p->library->inverse_dynamics(p->other, p->q, rest, unit, column));
        unit[j] = 0;
        for (int i = 0; i < p->nv; i++) {
            M[i * p->nv + j] = column[i] - g[i];
        }
    }
    free(unit), free(column), free(g), free(rest);
}

static void compare_mass_matrix(pair *p) {
    dyn_error error;
    require(dyn_crba(p->model, p->workspace, 1, p->q, &error, p->ours), &error);
    mass_matrix(p, p->M);
    assert_close(p, "mass matrix", p->ours, p->M, p->nv * p->nv);
}

/* The difference of the accelerations is judged by the forces M (a - a') that it takes; M is the peer's. */
static void compare_accelerations(pair *p, const double *tau) {
    dyn_error error;
    require(dyn_aba(p->model, p->workspace, 1, NULL, p->q, p->v, tau, NULL, &error, p->ours), &error);
    if (!p->library->forward_dynamics(p->other, p->q, p->v, tau, p->theirs)) {
        /* Then its inverse dynamics must give the forces back. */
        ck_assert(p->library->inverse_dynamics(p->other, p->q, p->v, p->ours, p->theirs));
        assert_close(p, "forces of forward dynamics", p->theirs, tau, p->nv);
        return;
    }
    double *forces = numbers(p->nv), *expected = numbers(p->nv);
    for (int i = 0; i < p->nv; i++) {
        for (int j = 0; j < p->nv; j++) {
            forces[i] += p->M[i * p->nv + j] * p->ours[j];
            expected[i] += p->M[i * p->nv + j] * p->theirs[j];
        }
    }
    assert_close(p, "forward dynamics", forces, expected, p->nv);
    free(forces), free(expected);
}

static void compare_frames(pair *p) {
    dyn_error error;
    for (int link = 0; link < dyn_model_link_count(p->model); link++) {
        double pose[12], other[12];
        require(dyn_frame_pose(p->model, p->workspace, 1, p->q, link, &error, pose, pose + 3), &error);
        if (!p->library->frame_pose(p->other, p->q, link, other, other + 3)) {
            /* A library may not know the root, or what is fixed to it. */
            ck_assert_int_eq(dyn_model_link(p->model, link)->moving_joint, -1);
            continue;
        }
        assert_close(p, "frame pose", pose, other, 12);
        require(dyn_frame_jacobian(p->model, p->workspace, 1, p->q, link, DYN_LOCAL_WORLD_ALIGNED, &error, p->ours),
                &error);
        ck_assert(p->library->frame_jacobian(p->other, p->q, link, p->theirs));
        assert_close(p, "frame Jacobian", p->ours, p->theirs, 6 * p->nv);
    }
}

static void compare_states(pair *p, random_source *random, int states) {
    double *tau = numbers(p->nv);
    for (int i = 0; i < states; i++) {
        random_configuration(random, p->model, 3, p->q);
        random_vector(random, p->nv, 2, p->v);
        random_vector(random, p->nv, 5, p->a);
        random_vector(random, p->nv, 20, tau);
        compare_forces(p);
        compare_mass_matrix(p);
        compare_accelerations(p, tau);
        compare_frames(p);
    }
    free(tau);
}

/* ---- robots ------------------------------------------------------------------------------------------------------ */

static const char *const samples[] = {"ur5", "panda", "quadruped"};

START_TEST(sample_robots_agree) {
    random_source random = random_seed("sample robots beside " PEER, 20262201);
    pair p;
    pair_open(&p, samples[_i], robot_load(samples[_i], DYN_BASE_FIXED), NULL);
    compare_states(&p, &random, STATES);
    pair_close(&p);
}
END_TEST

START_TEST(sample_robots_agree_as_the_peer_reads_them) {
    if (peer_find(PEER)->read) {
        random_source random = random_seed("sample robots as read by " PEER, 20262202);
        char *urdf = robot_text(samples[_i]);
        pair p;
        pair_open(&p, samples[_i], robot_load(samples[_i], DYN_BASE_FIXED), urdf);
        compare_states(&p, &random, STATES);
        pair_close(&p);
        free(urdf);
    }
}
END_TEST

START_TEST(quadruped_on_floating_base_agrees) {
    if (strcmp(PEER, "kdl") != 0) { /* KDL has no floating base */
        random_source random = random_seed("floating quadruped beside " PEER, 20262203);
        pair p;
        pair_open(&p, "floating quadruped", robot_load("quadruped", DYN_BASE_FLOATING), NULL);
        compare_states(&p, &random, STATES);
        pair_close(&p);
    }
}
END_TEST

START_TEST(point_masses_agree) {
    if (strcmp(PEER, "mujoco") != 0) { /* MuJoCo refuses a body without rotational inertia */
        random_source random = random_seed("two-link arm beside " PEER, 20262204);
        pair p;
        pair_open(&p, "two_link", robot_load("two_link", DYN_BASE_FIXED), NULL);
        compare_states(&p, &random, STATES);
        pair_close(&p);
    }
}
END_TEST

static const int lengths[] = {1, 6, 12, 25, 50};

START_TEST(chains_agree) {
    random_source random = random_seed("chains beside " PEER, 20262205);
    pair p;
    char name[32];
    snprintf(name, sizeof name, "chain of %d", lengths[_i]);
    pair_open(&p, name, robot_chain(lengths[_i]), NULL);
    compare_states(&p, &random, STATES);
    pair_close(&p);
}
END_TEST

START_TEST(random_arms_agree) {
    random_source base = random_seed("random arms beside " PEER, 20262206);
    for (int k = 0; k < ARMS; k++) {
        random_source random = random_case(base, (uint64_t)k);
        pair p;
        char name[32];
        snprintf(name, sizeof name, "arm %d", k);
        pair_open(&p, name, robot_random_arm(&random, 1 + random_index(&random, 12)), NULL);
        compare_states(&p, &random, 5);
        pair_close(&p);
    }
}
END_TEST

START_TEST(random_trees_agree) {
    random_source base = random_seed("random trees beside " PEER, 20262207);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        bool floating = strcmp(PEER, "kdl") != 0 && k % 2;
        random_tree_options options = {.joints = 1 + random_index(&random, 30),
                                       .base = floating ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                       .revolute_only = true};
        pair p;
        char name[32];
        snprintf(name, sizeof name, "tree %d", k);
        pair_open(&p, name, random_tree(&random, &options), NULL);
        compare_states(&p, &random, 5);
        pair_close(&p);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("agreement with " PEER);
    TCase *robots = tcase_create("robots");
    enum { SAMPLES = sizeof samples / sizeof samples[0], LENGTHS = sizeof lengths / sizeof lengths[0] };
    tcase_set_timeout(robots, 120);
    tcase_add_loop_test(robots, sample_robots_agree, 0, SAMPLES);
    tcase_add_loop_test(robots, sample_robots_agree_as_the_peer_reads_them, 0, SAMPLES);
    tcase_add_test(robots, quadruped_on_floating_base_agrees);
    tcase_add_test(robots, point_masses_agree);
    tcase_add_loop_test(robots, chains_agree, 0, LENGTHS);
    tcase_add_test(robots, random_arms_agree);
    tcase_add_test(robots, random_trees_agree);
    suite_add_tcase(suite, robots);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
