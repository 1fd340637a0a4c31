/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the methods of forward dynamics with constraints: microseconds for a sample alone and for one of a batch.
 *
 *     constraint_methods                           chains of n revolute joints with m rows: points on planes have one
 *                                                  row, welds to the world six, and gears between neighbours, which
 *                                                  are local loops, one for each pair of joints
 *     constraint_methods FILE fixed|floating LINK..
 *                                                  robot of a URDF file, with a 6-D contact of each link, in 64
 *                                                  random configurations
 *
 * Prints one JSON line for each n and m, or robot; "fastest" is the least of the batch. For a robot, "rnea" and "aba"
 * are those of its tree, and "relation" is the time of the fastest method over that of RNEA, in a batch.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "chain.h"
#include "clock.h"

enum { SAMPLES = 64, REPETITIONS = 9, METHODS = 5, NAME_SIZE = 32 };

static const char *const method_names[METHODS] = {"full_system", "multipliers", "elimination", "articulated_bodies",
                                                  "embedding"};

/* Builds a chain of n joints, each second of which a gear couples to the next one. */
static dyn_model *build_geared_chain(int n) {
    dyn_builder *builder = chain_create(n);
    dyn_model *model;
    dyn_error error;
    for (int k = 0; k + 1 < n; k += 2) {
        char name[NAME_SIZE], first[NAME_SIZE], second[NAME_SIZE];
        snprintf(name, sizeof name, "g%d", k);
        snprintf(first, sizeof first, "l%d", k + 1);
        snprintf(second, sizeof second, "l%d", k + 2);
        const dyn_constraint_description gear = {
            .name = name, .kind = DYN_CONSTRAINT_KIND_COUPLING, .coupled = {{first, 2}, {second, -3}}};
        chain_require(dyn_builder_add_constraint(builder, &gear, &error), &error);
    }
    chain_require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Builds a chain of n joints with `welds` welds between links and the world; without any, a point stays on a plane. */
static dyn_model *build_chain(int n, int welds) {
    const dyn_pose identity = {{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    dyn_builder *builder = chain_create(n);
    dyn_model *model;
    dyn_error error;
    for (int k = 0; k < (welds ? welds : 1); k++) {
        char name[NAME_SIZE], link[NAME_SIZE];
        snprintf(name, sizeof name, "c%d", k);
        snprintf(link, sizeof link, "l%d", n - k * n / (welds ? welds : 1));
        const dyn_constraint_description constraint = {.name = name,
                                                       .kind = welds ? DYN_CONSTRAINT_KIND_LOOP_JOINT
                                                                     : DYN_CONSTRAINT_KIND_POINT_ON_PLANE,
                                                       .type = DYN_JOINT_TYPE_FIXED,
                                                       .axis = {0, 0, 1},
                                                       .predecessor = {NULL, identity},
                                                       .successor = {link, identity}};
        chain_require(dyn_builder_add_constraint(builder, &constraint, &error), &error);
    }
    chain_require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Model to measure, with as many states as samples. */
typedef struct subject {
    dyn_model *model;
    dyn_workspace *workspace;
    size_t nv;
    double *q, *v, *a;
} subject;

static subject open_subject(dyn_model *model) {
    dyn_error error;
    subject s = {.model = model, .nv = (size_t)dyn_model_nv(model)};
    size_t nq = (size_t)dyn_model_nq(model);
    chain_require(dyn_workspace_create(model, &s.workspace, &error), &error);
    s.q = calloc(SAMPLES * nq, sizeof *s.q), s.v = calloc(SAMPLES * s.nv, sizeof *s.v);
    s.a = calloc(SAMPLES * s.nv, sizeof *s.a);
    if (!s.q || !s.v || !s.a) {
        exit(1);
    }
    return s;
}

static void close_subject(const subject *s) {
    free(s->q), free(s->v), free(s->a);
    dyn_workspace_free(s->workspace);
    dyn_model_free(s->model);
}

/* Returns the least time of a sample, in microseconds, where `batch` samples are computed in each call. */
static double measure(const subject *s, dyn_constraint_method method, size_t batch) {
    const dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.method = method);
    size_t nq = (size_t)dyn_model_nq(s->model);
    double best = 0;
    dyn_error error;
    for (int r = 0; r < REPETITIONS; r++) {
        double begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        for (size_t k = 0; k < SAMPLES; k += batch) {
            chain_require(dyn_constrained_forward_dynamics(s->model, s->workspace, batch, NULL, s->q + k * nq,
                                                           s->v + k * s->nv, NULL, NULL, &options, s->a + k * s->nv,
                                                           NULL, NULL, &error),
                          &error);
        }
        double time = 1e-3 * (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / SAMPLES;
        best = r == 0 || time < best ? time : best;
    }
    return best;
}

/* Prints the times of all methods. Returns the least time in a batch. */
static double measure_methods(const subject *s) {
    double least = 0;
    int fastest = 0;
    for (int k = 0; k < METHODS; k++) {
        dyn_constraint_method method = (dyn_constraint_method)(k + 1);
        double alone = measure(s, method, 1), batch = measure(s, method, SAMPLES);
        printf(", \"%s\": [%.2f, %.2f]", method_names[k], alone, batch);
        fastest = k == 0 || batch < least ? k : fastest;
        least = k == 0 || batch < least ? batch : least;
    }
    printf(", \"fastest\": \"%s\"", method_names[fastest]);
    return least;
}

/* Measures a chain of n joints, and frees it. */
static void measure_chain(int n, dyn_model *model) {
    subject s = open_subject(model);
    for (size_t i = 0; i < SAMPLES * s.nv; i++) {
        s.q[i] = (double)(i * 7919 % 1000) / 500 - 1;
    }
    printf("{\"n\": %d, \"m\": %d", n, dyn_model_constraint_rows(s.model));
    measure_methods(&s);
    printf("}\n");
    close_subject(&s);
}

/* ---- Robots ------------------------------------------------------------------------------------------------------ */

/* Reads a robot, and welds links to the world where they are at the zero configuration. */
static dyn_model *read_robot(const char *path, bool is_floating, int count, char **links) {
    static const dyn_pose identity = {{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    dyn_builder *builder;
    dyn_model *tree, *model;
    dyn_error error;
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = is_floating ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                                             .mimic = DYN_MIMIC_POLICY_INDEPENDENT);
    chain_require(dyn_model_load_file(path, &options, NULL, &tree, &error), &error);
    chain_require(dyn_model_describe(tree, &builder, &error), &error);
    dyn_model_free(tree);
    for (int i = 0; i < count; i++) {
        const dyn_constraint_description contact = {.name = links[i],
                                                    .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                                    .type = DYN_JOINT_TYPE_FIXED,
                                                    .predecessor = {NULL, identity},
                                                    .successor = {links[i], identity}};
        chain_require(dyn_builder_add_constraint(builder, &contact, &error), &error);
    }
    chain_require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Moves the zero configuration by random increments, and sets random velocities. */
static void choose_states(const subject *s) {
    size_t nq = (size_t)dyn_model_nq(s->model);
    double *increment = calloc(s->nv, sizeof *increment), *zero = calloc(nq, sizeof *zero);
    dyn_error error;
    if (!increment || !zero) {
        exit(1);
    }
    dyn_zero_configuration(s->model, zero);
    for (size_t k = 0; k < SAMPLES; k++) {
        for (size_t i = 0; i < s->nv; i++) {
            increment[i] = (double)((k * s->nv + i) * 7919 % 1000) / 500 - 1;
            s->v[k * s->nv + i] = (double)((k * s->nv + i) * 104729 % 1000) / 500 - 1;
        }
        chain_require(dyn_integrate(s->model, 1, zero, increment, 1, s->q + k * nq, &error), &error);
    }
    free(increment), free(zero);
}

/* Returns the least time of a sample of RNEA, or of ABA, in a batch. */
static double measure_tree(const subject *s, bool is_inverse, size_t batch) {
    size_t nq = (size_t)dyn_model_nq(s->model);
    double best = 0;
    dyn_error error;
    for (int r = 0; r < REPETITIONS; r++) {
        double begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        for (size_t k = 0; k < SAMPLES; k += batch) {
            const double *q = s->q + k * nq, *v = s->v + k * s->nv;
            double *out = s->a + k * s->nv;
            chain_require(is_inverse ? dyn_rnea(s->model, s->workspace, batch, NULL, q, v, v, NULL, out, &error)
                                     : dyn_aba(s->model, s->workspace, batch, NULL, q, v, v, NULL, out, &error),
                          &error);
        }
        double time = 1e-3 * (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / SAMPLES;
        best = r == 0 || time < best ? time : best;
    }
    return best;
}

static void measure_robot(const char *path, bool is_floating, int count, char **links) {
    subject s = open_subject(read_robot(path, is_floating, count, links));
    choose_states(&s);
    printf("{\"robot\": \"%s\", \"n\": %zu, \"m\": %d", dyn_model_name(s.model), s.nv,
           dyn_model_constraint_rows(s.model));
    double rnea = measure_tree(&s, true, SAMPLES);
    printf(", \"rnea\": [%.2f, %.3f]", measure_tree(&s, true, 1), rnea);
    printf(", \"aba\": [%.2f, %.3f]", measure_tree(&s, false, 1), measure_tree(&s, false, SAMPLES));
    double least = measure_methods(&s);
    printf(", \"relation\": %.1f}\n", least / rnea);
    close_subject(&s);
}

int main(int argc, char **argv) {
    static const int joints[] = {4, 7, 18, 36, 72}, welds[] = {0, 1, 2, 4};
    if (argc > 3) {
        measure_robot(argv[1], strcmp(argv[2], "floating") == 0, argc - 3, argv + 3);
        return 0;
    }
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
        for (size_t k = 0; k < sizeof welds / sizeof *welds; k++) {
            measure_chain(joints[i], build_chain(joints[i], welds[k]));
        }
        measure_chain(joints[i], build_geared_chain(joints[i]));
    }
    return 0;
}
