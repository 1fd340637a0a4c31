/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the methods of forward dynamics with constraints (Featherstone and Orin 2000, section 3.4) on chains of n
 * revolute joints with m rows: microseconds for a sample alone and for one of a batch. Points on planes have one row,
 * and welds to the world six. One JSON line for each n and m; "fastest" is the least of the batch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <dynamics/dynamics.h>

enum { SAMPLES = 64, REPETITIONS = 9, METHODS = 4, NAME_SIZE = 32 };

static const char *const method_names[METHODS] = {"full_system", "multipliers", "elimination", "articulated_bodies"};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

/* Ends the program on an error of the library. */
static void require(dyn_status status, const dyn_error *error) {
    if (status != DYN_OK) {
        fprintf(stderr, "constraint_methods: %s\n", error->message);
        exit(1);
    }
}

static void add_link(dyn_builder *builder, int i) {
    char link[NAME_SIZE], parent[NAME_SIZE];
    dyn_error error;
    snprintf(link, sizeof link, "l%d", i);
    snprintf(parent, sizeof parent, "l%d", i - 1);
    const dyn_link_description body = {.name = link, .inertia = {1, {0.1, 0.02, 0.03}, {0.01, 0, 0, 0.02, 0, 0.015}}};
    const dyn_joint_description joint = {.name = link,
                                         .type = DYN_JOINT_TYPE_CONTINUOUS,
                                         .parent_link = parent,
                                         .child_link = link,
                                         .position = {0.3, 0.05, 0},
                                         .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                         .axis = {i % 3 == 0, i % 3 == 1, i % 3 == 2}};
    require(dyn_builder_add_link(builder, &body, &error), &error);
    require(i > 0 ? dyn_builder_add_joint(builder, &joint, &error) : DYN_OK, &error);
}

/* Builds a chain of n joints with `welds` welds between links and the world; without any, a point stays on a plane. */
static dyn_model *build_chain(int n, int welds) {
    const dyn_pose identity = {{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    dyn_builder *builder;
    dyn_model *model;
    dyn_error error;
    require(dyn_builder_create("chain", &builder, &error), &error);
    for (int i = 0; i <= n; i++) {
        add_link(builder, i);
    }
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
        require(dyn_builder_add_constraint(builder, &constraint, &error), &error);
    }
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Returns the least time of a sample, in microseconds, where `batch` samples are computed in each call. */
static double measure(const dyn_model *model, dyn_workspace *workspace, dyn_constraint_method method, size_t batch,
                      const double *q, double *a) {
    const dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.method = method);
    size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    double best = 0;
    dyn_error error;
    for (int r = 0; r < REPETITIONS; r++) {
        double begin = now();
        for (size_t s = 0; s < SAMPLES; s += batch) {
            require(dyn_constrained_forward_dynamics(model, workspace, batch, NULL, q + s * nq, NULL, NULL, NULL,
                                                     &options, a + s * nv, NULL, NULL, &error),
                    &error);
        }
        double time = (now() - begin) / SAMPLES;
        best = r == 0 || time < best ? time : best;
    }
    return best;
}

static void measure_chain(int n, int welds) {
    dyn_model *model = build_chain(n, welds);
    dyn_workspace *workspace;
    dyn_error error;
    require(dyn_workspace_create(model, &workspace, &error), &error);
    size_t count = SAMPLES * (size_t)n;
    double *q = calloc(count, sizeof *q), *a = calloc(count, sizeof *a), least = 0;
    int fastest = 0;
    for (size_t i = 0; q && i < count; i++) {
        q[i] = (double)(i * 7919 % 1000) / 500 - 1;
    }
    printf("{\"n\": %d, \"m\": %d", n, dyn_model_constraint_rows(model));
    for (int k = 0; q && a && k < METHODS; k++) {
        dyn_constraint_method method = (dyn_constraint_method)(k + 1);
        double alone = measure(model, workspace, method, 1, q, a),
               batch = measure(model, workspace, method, SAMPLES, q, a);
        printf(", \"%s\": [%.2f, %.2f]", method_names[k], alone, batch);
        fastest = k == 0 || batch < least ? k : fastest;
        least = k == 0 || batch < least ? batch : least;
    }
    printf(", \"fastest\": \"%s\"}\n", method_names[fastest]);
    free(q), free(a);
    dyn_workspace_free(workspace);
    dyn_model_free(model);
}

int main(void) {
    static const int joints[] = {4, 7, 18, 36, 72}, welds[] = {0, 1, 2, 4};
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
        for (size_t k = 0; k < sizeof welds / sizeof *welds; k++) {
            measure_chain(joints[i], welds[k]);
        }
    }
    return 0;
}
