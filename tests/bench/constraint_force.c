/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures the forward dynamics of long chains by constraint_force (Featherstone and Orin 2000, section 3.5) for one
 * state: microseconds with one joint at a time, with the joints of a level in the lanes of vectors, and with the blocks
 * of a level on the threads of a pool besides, as the daemon does. "aba" is the daemon's own algorithm on one thread.
 * One JSON line for each n. Times are the least of many, in turns. The first argument is the number of threads (default
 * 2).
 */
#include <stdio.h>
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "chain.h"
#include "clock.h"
#include "methods/team.h"
#include "worker_pool.h"

enum { ROUNDS = 2000, WAYS = 4 };

static const char *const way_names[WAYS] = {"one_lane", "lanes", "lanes_and_threads", "aba"};

/* Builds a chain of n revolute joints. */
static dyn_model *build_chain(int n) {
    dyn_builder *builder = chain_create(n);
    dyn_model *model;
    dyn_error error;
    chain_require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Resources of one chain. */
typedef struct chain {
    dyn_model *model;
    dyn_workspace *workspace;
    dyn_formulation *one_lane, *lanes;
    worker_pool *pool;
    unsigned threads;
    double *q, *a;
} chain;

/* Computes one state. The daemon creates a team for each request. */
static void compute(const chain *c, int way) {
    dyn_error error;
    team *t = way == 2 ? team_create(worker_pool_submit, c->pool, c->threads - 1) : NULL;
    if (way == 3) {
        chain_require(dyn_aba(c->model, c->workspace, 1, NULL, c->q, NULL, NULL, NULL, c->a, &error), &error);
    } else {
        dyn_formulation *f = way == 0 ? c->one_lane : c->lanes;
        dyn_formulation_spread(f, t ? team_spread(t) : NULL);
        chain_require(dyn_formulation_forward_dynamics(f, 1, NULL, c->q, NULL, NULL, c->a, &error), &error);
    }
    team_end(t);
}

static void measure(int n, worker_pool *pool, unsigned threads) {
    chain c = {.model = build_chain(n), .pool = pool, .threads = threads};
    double least[WAYS];
    dyn_error error;
    c.q = calloc((size_t)n, sizeof *c.q), c.a = calloc((size_t)n, sizeof *c.a);
    chain_require(dyn_workspace_create(c.model, &c.workspace, &error), &error);
    setenv("DYNAMICS_INSTRUCTION_SET", "scalar", 1);
    chain_require(dyn_formulation_create(c.model, "constraint_force", &c.one_lane, &error), &error);
    unsetenv("DYNAMICS_INSTRUCTION_SET");
    chain_require(dyn_formulation_create(c.model, "constraint_force", &c.lanes, &error), &error);
    for (int i = 0; i < n; i++) {
        c.q[i] = (double)(i * 7919 % 1000) / 500 - 1;
    }
    for (int r = 0; r < ROUNDS; r++) {
        for (int way = 0; way < WAYS; way++) {
            double begin = clock_ns(CLOCK_MONOTONIC);
            compute(&c, way);
            double time = 1e-3 * (clock_ns(CLOCK_MONOTONIC) - begin);
            least[way] = r == 0 || time < least[way] ? time : least[way];
        }
    }
    printf("{\"n\": %d, \"threads\": %u", n, threads);
    for (int way = 0; way < WAYS; way++) {
        printf(", \"%s\": %.1f", way_names[way], least[way]);
    }
    printf("}\n");
    free(c.q), free(c.a);
    dyn_formulation_free(c.one_lane), dyn_formulation_free(c.lanes);
    dyn_workspace_free(c.workspace);
    dyn_model_free(c.model);
}

int main(int argc, char **argv) {
    static const int joints[] = {30, 100, 300, 1000};
    unsigned threads = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2;
    if (threads < 1 || threads > 256) {
        fprintf(stderr, "Usage: constraint_force [THREADS]\n");
        return 2;
    }
    worker_pool *pool = worker_pool_create(threads, 64, 0);
    for (size_t i = 0; pool && i < sizeof joints / sizeof *joints; i++) {
        measure(joints[i], pool, threads);
    }
    worker_pool_free(pool);
    return pool ? 0 : 1;
}
