/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares this library's quantities with those of the peer library that PEER names, at random states of the sample
 * robots, of chains, random arms, random trees, and of the robots with reference values.
 *
 * A difference is relative to the norm of the quantity, or to 1 where the norm is less. Forward dynamics is compared in
 * the forces, |M (a - a')| relative to |tau|, since the condition of M is the robot's and not a library's.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "peer.h"
#include "robots.h"
#include "support/assertions.h"
#include "support/golden.h"
#include "support/random_tree.h"

enum { STATES = 50, ARMS = 30, TREES = 15, REFERENCE_STATES = 3 };

/* A robot in both libraries, a state, and memory for results. */
typedef struct pair {
    const char *name;
    dyn_model *model;
    dyn_workspace *workspace;
    const peer_library *library;
    peer *other;
    size_t nv;
    double *q, *v, *a, *tau, *ours, *theirs, *M, wrench[6];
    int compared[ALGORITHM_COUNT]; /* number of comparisons */
    double worst;                  /* relative difference */
} pair;

static void pair_open(pair *p, const char *name, dyn_model *model, const char *urdf) {
    char reason[PEER_REASON_SIZE] = "";
    *p = (pair){.name = name, .model = model, .library = peer_find(PEER), .nv = (size_t)dyn_model_nv(model)};
    p->other = urdf ? p->library->read(model, urdf, reason) : p->library->create(model, false, reason);
    ck_assert_msg(p->other != NULL, "%s: %s", name, reason);
    dyn_error error;
    require(dyn_workspace_create(model, &p->workspace, &error), &error);
    size_t nv = p->nv, size = 6 * nv + 18 > nv * nv ? 6 * nv + 18 : nv * nv;
    p->q = numbers((size_t)dyn_model_nq(model)), p->v = numbers(nv), p->a = numbers(nv), p->tau = numbers(nv);
    p->ours = numbers(size), p->theirs = numbers(size), p->M = numbers(nv * nv);
}

static void pair_close(pair *p) {
    int quantities = 0, comparisons = 0;
    for (int i = 0; i < ALGORITHM_COUNT; i++) {
        quantities += p->compared[i] > 0;
        comparisons += p->compared[i];
    }
    printf("%s, %s: %d comparisons of %d quantities, worst relative difference %.1e\n", p->library->name, p->name,
           comparisons, quantities, p->worst);
    p->library->destroy(p->other);
    dyn_workspace_free(p->workspace);
    dyn_model_free(p->model);
    free(p->q), free(p->v), free(p->a), free(p->tau), free(p->ours), free(p->theirs), free(p->M);
}

static algorithm_input input_of(const pair *p, int frame) {
    return (algorithm_input){.model = p->model,
                             .workspace = p->workspace,
                             .n = 1,
                             .q = p->q,
                             .v = p->v,
                             .a = p->a,
                             .tau = p->tau,
                             .wrench = p->wrench,
                             .frame = frame};
}

/* Checks that |x - y| relative to |y|, or to 1 where |y| is less, is within the peer's tolerance. Records the
 * comparison in p. */
static void compare(pair *p, algorithm_id id, const double *x, const double *y, size_t count) {
    double square = 0;
    for (size_t i = 0; i < count; i++) {
        square += (x[i] - y[i]) * (x[i] - y[i]);
    }
    double off = sqrt(square) / fmax(1, norm(y, count));
    ck_assert_msg(off <= p->library->tolerance, "%s of %s: relative difference %g to %s", algorithm_get(id)->name,
                  p->name, off, p->library->name);
    p->worst = fmax(p->worst, off);
    p->compared[id]++;
}

/* ---- one state --------------------------------------------------------------------------------------------------- */

static void compute_ours(pair *p, algorithm_id id, const algorithm_input *in) {
    dyn_error error;
    require(algorithm_compute(id, in, &error, p->ours), &error);
}

static bool compute_theirs(pair *p, algorithm_id id, const algorithm_input *in, double *out) {
    peer_function *compute = peer_algorithm_of(p->library, id);
    return compute && compute(p->other, in, out);
}

/* Computes M by the peer. Where the peer has no mass matrix, its inverse dynamics computes a column of M for each unit
 * acceleration. */
static void mass_matrix(pair *p, const algorithm_input *in) {
    if (compute_theirs(p, ALGORITHM_CRBA, in, p->M)) {
        return;
    }
    double *unit = numbers(p->nv), *column = numbers(p->nv), *g = numbers(p->nv), *rest = numbers(p->nv);
    algorithm_input accelerated = *in;
    accelerated.v = rest, accelerated.a = unit;
    ck_assert(compute_theirs(p, ALGORITHM_GRAVITY, in, g));
    for (size_t j = 0; j < p->nv; j++) {
        unit[j] = 1;
        ck_assert(compute_theirs(p, ALGORITHM_RNEA, &accelerated, column));
        unit[j] = 0;
        for (size_t i = 0; i < p->nv; i++) {
            p->M[i * p->nv + j] = column[i] - g[i];
        }
    }
    free(unit), free(column), free(g), free(rest);
}

/* Compares accelerations by the forces M (a - a') of their difference; M is the peer's. */
static void compare_forward_dynamics(pair *p, const algorithm_input *in) {
    compute_ours(p, ALGORITHM_ABA, in);
    if (!compute_theirs(p, ALGORITHM_ABA, in, p->theirs)) {
        /* The peer has no forward dynamics. Its inverse dynamics of our accelerations must return the forces. */
        algorithm_input back = *in;
        back.a = p->ours;
        ck_assert(compute_theirs(p, ALGORITHM_RNEA, &back, p->theirs));
        compare(p, ALGORITHM_ABA, p->theirs, p->tau, p->nv);
        return;
    }
    double *forces = numbers(p->nv), *expected = numbers(p->nv);
    for (size_t i = 0; i < p->nv; i++) {
        for (size_t j = 0; j < p->nv; j++) {
            forces[i] += p->M[i * p->nv + j] * p->ours[j];
            expected[i] += p->M[i * p->nv + j] * p->theirs[j];
        }
    }
    compare(p, ALGORITHM_ABA, forces, expected, p->nv);
    free(forces), free(expected);
}

/* Compares M^-1 of both libraries, each multiplied by the peer's M. Does nothing where the peer has no M^-1. */
static void compare_inverse(pair *p, const algorithm_input *in) {
    if (!compute_theirs(p, ALGORITHM_MINVERSE, in, p->theirs)) {
        return;
    }
    size_t nv = p->nv;
    double *ours = numbers(nv * nv), *theirs = numbers(nv * nv);
    compute_ours(p, ALGORITHM_MINVERSE, in);
    for (size_t i = 0; i < nv * nv; i++) {
        for (size_t k = 0; k < nv; k++) {
            ours[i] += p->M[i / nv * nv + k] * p->ours[k * nv + i % nv];
            theirs[i] += p->M[i / nv * nv + k] * p->theirs[k * nv + i % nv];
        }
    }
    compare(p, ALGORITHM_MINVERSE, ours, theirs, nv * nv);
    free(ours), free(theirs);
}

static bool is_of_frame(algorithm_id id) {
    return id == ALGORITHM_POSE || id == ALGORITHM_JACOBIAN || id == ALGORITHM_JACOBIAN_RATE || id == ALGORITHM_TWIST ||
           id == ALGORITHM_FRAME_ACCELERATION;
}

static void compare_frames(pair *p, algorithm_id id) {
    for (int link = 0; link < dyn_model_link_count(p->model); link++) {
        algorithm_input in = input_of(p, link);
        compute_ours(p, id, &in);
        if (compute_theirs(p, id, &in, p->theirs)) {
            compare(p, id, p->ours, p->theirs, algorithm_width(id, p->model));
        } else if (id == ALGORITHM_POSE || id == ALGORITHM_JACOBIAN) {
            /* The peer may lack the root, or links that are fixed to it. */
            ck_assert_int_eq(dyn_model_link(p->model, link)->moving_joint, -1);
        }
    }
}

/* Compares all quantities that the peer has at one state. */
static void compare_state(pair *p) {
    algorithm_input in = input_of(p, 0);
    mass_matrix(p, &in);
    compute_ours(p, ALGORITHM_CRBA, &in);
    compare(p, ALGORITHM_CRBA, p->ours, p->M, p->nv * p->nv);
    compare_forward_dynamics(p, &in);
    compare_inverse(p, &in);
    for (const peer_algorithm *a = p->library->algorithms; a->compute; a++) {
        if (is_of_frame(a->id)) {
            compare_frames(p, a->id);
        } else if (a->id != ALGORITHM_CRBA && a->id != ALGORITHM_ABA && a->id != ALGORITHM_MINVERSE &&
                   a->compute(p->other, &in, p->theirs)) {
            compute_ours(p, a->id, &in);
            compare(p, a->id, p->ours, p->theirs, algorithm_width(a->id, p->model));
        }
    }
}

static void compare_states(pair *p, random_source *random, int states) {
    int nv = (int)p->nv;
    for (int i = 0; i < states; i++) {
        random_configuration(random, p->model, 3, p->q);
        random_vector(random, nv, 2, p->v);
        random_vector(random, nv, 5, p->a);
        random_vector(random, nv, 20, p->tau);
        random_vector(random, 6, 10, p->wrench);
        compare_state(p);
    }
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

START_TEST(robots_on_floating_bases_agree) {
    if (peer_find(PEER)->has_floating_base) {
        random_source random = random_seed("floating robots beside " PEER, 20262203);
        pair p;
        pair_open(&p, "floating quadruped", robot_load("quadruped", DYN_BASE_FLOATING), NULL);
        compare_states(&p, &random, STATES);
        pair_close(&p);
        pair_open(&p, "humanoid", robot_humanoid(), NULL);
        compare_states(&p, &random, STATES / 5);
        pair_close(&p);
    }
}
END_TEST

START_TEST(point_masses_agree) {
    if (peer_find(PEER)->has_point_masses) {
        random_source random = random_seed("two-link arm beside " PEER, 20262204);
        pair p;
        pair_open(&p, "two_link", robot_load("two_link", DYN_BASE_FIXED), NULL);
        compare_states(&p, &random, STATES);
        pair_close(&p);
    }
}
END_TEST

/* Compares a robot of the reference values, on the base that these values are for. Returns false where the peer cannot
 * represent the robot. Frees the model. */
static bool compare_reference_robot(const char *file, dyn_model *model, random_source *random) {
    char reason[PEER_REASON_SIZE] = "";
    peer *probe = peer_find(PEER)->create(model, false, reason);
    if (probe) {
        pair p;
        peer_find(PEER)->destroy(probe);
        pair_open(&p, file, model, NULL);
        compare_states(&p, random, REFERENCE_STATES);
        pair_close(&p);
    } else {
        printf("%s: %s\n", file, reason);
        dyn_model_free(model);
    }
    return probe != NULL;
}

START_TEST(robots_of_the_reference_values_agree) {
    random_source random = random_seed("reference robots beside " PEER, 20262208);
    char **files = golden_files();
    int compared = 0, robots = 0;
    ck_assert_ptr_nonnull(files);
    for (int i = 0; files[i]; i++) {
        dyn_model *model = golden_robot(files[i]);
        if (model) {
            robots++;
            compared += compare_reference_robot(files[i], model, &random);
        }
    }
    printf("%d robots of %d compared\n", compared, robots);
    ck_assert_int_ge(robots, 6);
    /* Each peer has the joint types of at least two thirds of the robots. */
    ck_assert_int_ge(3 * compared, 2 * robots);
    golden_files_free(files);
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
        bool floating = peer_find(PEER)->has_floating_base && k % 2;
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
    TCase *robots = tcase_create("robots");
    enum { SAMPLES = sizeof samples / sizeof samples[0], LENGTHS = sizeof lengths / sizeof lengths[0] };
    tcase_set_timeout(robots, 120);
    tcase_add_loop_test(robots, sample_robots_agree, 0, SAMPLES);
    tcase_add_loop_test(robots, sample_robots_agree_as_the_peer_reads_them, 0, SAMPLES);
    tcase_add_test(robots, robots_on_floating_bases_agree);
    tcase_add_test(robots, robots_of_the_reference_values_agree);
    tcase_add_test(robots, point_masses_agree);
    tcase_add_loop_test(robots, chains_agree, 0, LENGTHS);
    tcase_add_test(robots, random_arms_agree);
    tcase_add_test(robots, random_trees_agree);
    return run_properties("agreement with " PEER, robots);
}
