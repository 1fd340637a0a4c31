#include "workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random_tree.h"

/* Doubles of results at once; a larger batch is not measured. */
enum { OUT_LIMIT = 16 << 20, LARGE_NV = 100 };

const char *algorithm_name(algorithm a) {
    static const char *const names[ALGORITHM_COUNT] = {"RNEA", "CRBA", "ABA", "gravity", "bias", "pose", "Jacobian"};
    return names[a];
}

static double *numbers(size_t count) {
    double *x = calloc(count, sizeof *x);
    if (!x) {
        fputs("dynamics-bench: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    return x;
}

static void require(dyn_status status, const dyn_error *error) {
    if (status != DYN_OK) {
        fprintf(stderr, "dynamics-bench: %s: %s\n", error->place, error->message);
        exit(EXIT_FAILURE);
    }
}

/* Doubles of the result for one state. */
static size_t result_size(const workload *w, algorithm a) {
    switch (a) {
    case ALGORITHM_CRBA:
        return w->nv * w->nv;
    case ALGORITHM_POSE:
        return 12;
    case ALGORITHM_JACOBIAN:
        return 6 * w->nv;
    default:
        return w->nv;
    }
}

bool workload_has(const workload *w, algorithm a, size_t batch) {
    return batch <= w->states && batch * result_size(w, a) <= w->out_size;
}

void workload_open(workload *w, const char *name, dyn_model *model) {
    *w = (workload){.name = name, .model = model};
    dyn_error error;
    require(dyn_workspace_create(model, &error, &w->workspace), &error);
    w->nq = (size_t)dyn_model_nq(model);
    w->nv = (size_t)dyn_model_nv(model);
    w->link = dyn_model_joint(model, dyn_model_joint_count(model) - 1)->child_link;
    w->states = w->nv <= LARGE_NV ? LARGEST_BATCH : SINGLE_STATES;
    w->q = numbers(w->states * w->nq);
    w->v = numbers(w->states * w->nv);
    w->a = numbers(w->states * w->nv);
    w->tau = numbers(w->states * w->nv);
    random_source random = {.state = 20262301};
    for (size_t i = 0; i < w->states; i++) {
        random_configuration(&random, model, 3, w->q + i * w->nq);
        random_vector(&random, (int)w->nv, 1, w->v + i * w->nv);
        random_vector(&random, (int)w->nv, 1, w->a + i * w->nv);
        random_vector(&random, (int)w->nv, 10, w->tau + i * w->nv);
    }
    size_t largest = w->states * w->nv * (w->nv > 12 ? w->nv : 12);
    w->out_size = largest < OUT_LIMIT ? largest : OUT_LIMIT;
    w->out = numbers(w->out_size);
}

void workload_close(workload *w) {
    free(w->q), free(w->v), free(w->a), free(w->tau), free(w->out);
    dyn_workspace_free(w->workspace);
    dyn_model_free(w->model);
}

void compute_ours(workload *w, algorithm a, size_t first, size_t n) {
    const double *q = w->q + first * w->nq, *v = w->v + first * w->nv;
    const double *acceleration = w->a + first * w->nv, *tau = w->tau + first * w->nv;
    dyn_error error;
    dyn_status status = DYN_OK;
    switch (a) {
    case ALGORITHM_RNEA:
        status = dyn_rnea(w->model, w->workspace, n, NULL, q, v, acceleration, NULL, &error, w->out);
        break;
    case ALGORITHM_CRBA:
        status = dyn_crba(w->model, w->workspace, n, q, &error, w->out);
        break;
    case ALGORITHM_ABA:
        status = dyn_aba(w->model, w->workspace, n, NULL, q, v, tau, NULL, &error, w->out);
        break;
    case ALGORITHM_GRAVITY:
        status = dyn_gravity(w->model, w->workspace, n, NULL, q, &error, w->out);
        break;
    case ALGORITHM_BIAS:
        status = dyn_bias(w->model, w->workspace, n, NULL, q, v, &error, w->out);
        break;
    case ALGORITHM_POSE:
        status = dyn_frame_pose(w->model, w->workspace, n, q, w->link, &error, w->out, w->out + 3 * n);
        break;
    case ALGORITHM_JACOBIAN:
        status = dyn_frame_jacobian(w->model, w->workspace, n, q, w->link, DYN_LOCAL_WORLD_ALIGNED, &error, w->out);
        break;
    case ALGORITHM_COUNT:
        break;
    }
    require(status, &error);
}

/* `M`: where to put the mass matrix, or NULL. */
static bool compute_peer_into(workload *w, const peer_library *library, peer *robot, algorithm a, size_t state,
                              double *M) {
    const double *q = w->q + state * w->nq, *v = w->v + state * w->nv;
    const double *acceleration = w->a + state * w->nv, *tau = w->tau + state * w->nv;
    switch (a) {
    case ALGORITHM_RNEA:
        return library->inverse_dynamics(robot, q, v, acceleration, w->out);
    case ALGORITHM_CRBA:
        return library->mass_matrix(robot, q, M);
    case ALGORITHM_ABA:
        return library->forward_dynamics(robot, q, v, tau, w->out);
    case ALGORITHM_GRAVITY:
        return library->gravity(robot, q, w->out);
    case ALGORITHM_BIAS:
        return library->bias(robot, q, v, w->out);
    case ALGORITHM_POSE:
        return library->frame_pose(robot, q, w->link, w->out, w->out + 3);
    case ALGORITHM_JACOBIAN:
        return library->frame_jacobian(robot, q, w->link, w->out);
    case ALGORITHM_COUNT:
        break;
    }
    return false;
}

bool compute_peer(workload *w, const peer_library *library, peer *robot, algorithm a, size_t state) {
    return compute_peer_into(w, library, robot, a, state, NULL);
}

void assert_agreement(workload *w, const peer_library *library, peer *robot, algorithm a) {
    size_t size = result_size(w, a);
    compute_ours(w, a, 0, 1);
    double *ours = numbers(size), difference = 0, norm = 0;
    memcpy(ours, w->out, size * sizeof *ours);
    if (compute_peer_into(w, library, robot, a, 0, w->out)) {
        for (size_t i = 0; i < size; i++) {
            difference += (ours[i] - w->out[i]) * (ours[i] - w->out[i]);
            norm += ours[i] * ours[i];
        }
        /* The accelerations of a long chain are known to a part of 1e-4 only, so badly is its M conditioned. */
        double tolerance = a == ALGORITHM_ABA ? 1e-2 : 10 * library->tolerance;
        if (!(sqrt(difference) <= tolerance * fmax(1, sqrt(norm)))) {
            fprintf(stderr, "dynamics-bench: %s of %s differs from %s by %g of %g\n", algorithm_name(a), w->name,
                    library->name, sqrt(difference), sqrt(norm));
            exit(EXIT_FAILURE);
        }
    }
    free(ours);
}
