/* SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "support/random_tree.h"

/* OUT_LIMIT is the largest number of doubles of a call's results: larger batches are not measured. Robots with more
 * than LARGE_NV velocities have SINGLE_STATES states instead of LARGEST_BATCH. */
enum { OUT_LIMIT = 16 << 20, LARGE_NV = 1000 };

static double *zeros(size_t count) {
    double *x = calloc(count, sizeof *x);
    if (!x) {
        die("out of memory");
    }
    return x;
}

static void require(dyn_status status, const dyn_error *error) {
    if (status != DYN_OK) {
        die("%s: %s", error->place, error->message);
    }
}

bool workload_has(const workload *w, algorithm_id id, size_t batch) {
    return batch <= w->states && batch * algorithm_width(id, w->model) <= w->out_size;
}

/* Returns the doubles that the largest result of all algorithms for all states needs, but at most OUT_LIMIT. */
static size_t result_room(const workload *w) {
    size_t largest = 0;
    for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
        size_t width = algorithm_width(id, w->model) * w->states;
        largest = width > largest ? width : largest;
    }
    return largest < OUT_LIMIT ? largest : OUT_LIMIT;
}

void workload_open(workload *w, const char *name, dyn_model *model) {
    *w = (workload){.name = name, .model = model};
    dyn_error error;
    require(dyn_workspace_create(model, &w->workspace, &error), &error);
    require(dyn_workspace_create_in(model, DYN_PRECISION_SINGLE, &w->single, &error), &error);
    w->nq = (size_t)dyn_model_nq(model);
    w->nv = (size_t)dyn_model_nv(model);
    w->link = dyn_model_joint(model, dyn_model_joint_count(model) - 1)->child_link;
    w->states = w->nv <= LARGE_NV ? LARGEST_BATCH : SINGLE_STATES;
    w->q = zeros(w->states * w->nq);
    w->v = zeros(w->states * w->nv), w->a = zeros(w->states * w->nv), w->tau = zeros(w->states * w->nv);
    w->wrench = zeros(w->states * 6);
    random_source random = {.state = 20262301};
    for (size_t i = 0; i < w->states; i++) {
        random_configuration(&random, model, 3, w->q + i * w->nq);
        random_vector(&random, (int)w->nv, 1, w->v + i * w->nv);
        random_vector(&random, (int)w->nv, 1, w->a + i * w->nv);
        random_vector(&random, (int)w->nv, 10, w->tau + i * w->nv);
        random_vector(&random, 6, 10, w->wrench + 6 * i);
    }
    w->out_size = result_room(w);
    w->out = zeros(w->out_size);
}

void workload_close(workload *w) {
    free(w->q), free(w->v), free(w->a), free(w->tau), free(w->wrench), free(w->out);
    dyn_workspace_free(w->workspace), dyn_workspace_free(w->single);
    dyn_model_free(w->model);
}

algorithm_input workload_input(const workload *w, size_t first, size_t n) {
    algorithm_input in = {.model = w->model, .workspace = w->workspace, .n = n, .frame = w->link};
    workload_go_to(w, first, &in);
    return in;
}

void compute_ours(workload *w, algorithm_id id, size_t first, size_t n) {
    algorithm_input in = workload_input(w, first, n);
    dyn_error error;
    require(algorithm_compute(id, &in, &error, w->out), &error);
}

bool compute_single(workload *w, algorithm_id id, size_t first, size_t n) {
    algorithm_input in = workload_input(w, first, n);
    dyn_error error;
    in.workspace = w->single;
    return algorithm_compute(id, &in, &error, w->out) == DYN_OK;
}

bool compute_peer(workload *w, const peer_library *library, peer *robot, algorithm_id id, size_t state) {
    peer_function *compute = peer_algorithm_of(library, id);
    algorithm_input in = workload_input(w, state, 1);
    return compute && compute(robot, &in, NULL);
}

void assert_agreement(workload *w, const peer_library *library, peer *robot, algorithm_id id) {
    size_t size = algorithm_width(id, w->model);
    double *theirs = zeros(size), difference = 0, norm = 0;
    algorithm_input in = workload_input(w, 0, 1);
    compute_ours(w, id, 0, 1);
    if (peer_algorithm_of(library, id)(robot, &in, theirs)) {
        for (size_t i = 0; i < size; i++) {
            difference += (w->out[i] - theirs[i]) * (w->out[i] - theirs[i]);
            norm += w->out[i] * w->out[i];
        }
        /* Long chains have a badly conditioned M, so their accelerations are accurate to a part of 1e-4 only. */
        double tolerance = id == ALGORITHM_ABA || id == ALGORITHM_MINVERSE ? 1e-2 : 10 * library->tolerance;
        if (!(sqrt(difference) <= tolerance * fmax(1, sqrt(norm)))) {
            die("%s of %s differs from %s by %g of %g", algorithm_get(id)->name, w->name, library->name,
                sqrt(difference), sqrt(norm));
        }
    }
    free(theirs);
}
