/* SPDX-License-Identifier: BSD-2-Clause */
#include "system/load.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "system/sp_request.h"

/* Answers that a load waits for before it counts as started. */
enum { FIRST_ANSWERS = 20 };

static const double TOLERANCE = 1e-9;

double load_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void load_pause(double seconds) {
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)}, NULL);
}

dyn_client *load_connect(const char *url) {
    dyn_client *client;
    dyn_client_error error;
    ck_assert_msg(dyn_client_connect(url, NULL, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
    return client;
}

dyn_client_status load_ask(dyn_client *client, size_t n, int number, dyn_client_spread *spread,
                           dyn_client_error *error) {
    double *q = calloc(8 * n, sizeof *q), *v = q + 2 * n, *a = v + 2 * n, *tau = a + 2 * n;
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = n, .spread = spread);
    for (size_t k = 0; k < 2 * n; k++) {
        double t = 0.37 * number + 0.11 * (double)k;
        q[k] = sin(t), v[k] = cos(1.3 * t), a[k] = sin(0.7 * t);
    }
    dyn_client_status status = dyn_client_inverse_dynamics(client, &query, q, v, a, tau, error);
    for (size_t k = 0; k < 2 * n && status == DYN_CLIENT_OK; k += 2) {
        double right[2];
        sp_two_link_torques(&q[k], &v[k], &a[k], right);
        ck_assert_double_eq_tol(tau[k], right[0], TOLERANCE);
        ck_assert_double_eq_tol(tau[k + 1], right[1], TOLERANCE);
    }
    free(q);
    return status;
}

static void *run(void *argument) {
    load *l = argument;
    dyn_client *client = load_connect(l->url);
    dyn_client_error error;
    for (int i = 0; i < LOAD_REQUESTS; i++) {
        double begin = load_now();
        bool is_answered = load_ask(client, LOAD_SAMPLES, i, NULL, &error) == DYN_CLIENT_OK;
        l->longest = fmax(l->longest, load_now() - begin);
        if (!is_answered) {
            l->failed++;
            snprintf(l->failure, sizeof l->failure, "%.255s", error.message);
        }
        atomic_fetch_add(&l->answered, is_answered);
        load_pause(0.002);
    }
    dyn_client_close(client);
    return NULL;
}

void load_start(const char *url, load *l) {
    memset(l, 0, sizeof *l);
    l->url = url;
    ck_assert_int_eq(pthread_create(&l->thread, NULL, run, l), 0);
    double end = load_now() + 10;
    while (atomic_load(&l->answered) < FIRST_ANSWERS) {
        ck_assert_double_le(load_now(), end);
        load_pause(0.005);
    }
}

void load_end(load *l, const char *disturbance) {
    pthread_join(l->thread, NULL);
    printf("%-32s %d answers, %d failures, longest %.3f s %s\n", disturbance, atomic_load(&l->answered), l->failed,
           l->longest, l->failure);
    ck_assert_msg(l->failed == 0, "%s", l->failure);
    ck_assert_int_eq(atomic_load(&l->answered), LOAD_REQUESTS);
}

/* Moment at which a call had done some part, at the latest its last report. */
typedef struct progress_made {
    double part, time;
} progress_made;

/* Progress callback that ends a call half a second after it has done the part of the context. */
static bool go_on_for_a_while(void *context, double fraction) {
    progress_made *made = context;
    made->time = fraction >= made->part ? made->time : load_now();
    return load_now() < made->time + 0.5;
}

uint64_t load_cancelled_rollouts(size_t count, const daemon_fixture *daemons) {
    uint64_t cancelled = 0;
    for (size_t i = 0; i < count; i++) {
        dyn_client *client = load_connect(daemons[i].request_ipc);
        dyn_client_metrics *metrics;
        dyn_client_error error;
        ck_assert_msg(dyn_client_get_metrics(client, 0, &metrics, &error) == DYN_CLIENT_OK, "%s", error.message);
        for (size_t k = 0; k < metrics->method_count; k++) {
            bool is_rollout = strcmp(metrics->methods[k].method, "rollout") == 0;
            cancelled += is_rollout ? metrics->methods[k].codes[DYN_CLIENT_CANCELLED] : 0;
        }
        dyn_client_metrics_free(metrics);
        dyn_client_close(client);
    }
    return cancelled;
}

void load_cancel_rollout(dyn_client *client, size_t samples, size_t steps, double part) {
    double *q = calloc(2 * samples, sizeof *q);
    progress_made made = {part, load_now()};
    dyn_client_rollout *found;
    dyn_client_error error;
    const dyn_client_query query =
        DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = samples, .timeout = 25,
                              .progress = go_on_for_a_while, .progress_context = &made);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.q = q, .steps = steps, .only_last = true);
    ck_assert_int_eq(dyn_client_rollout_run(client, &query, &request, &found, &error), DYN_CLIENT_CANCELLED);
    ck_assert_msg(load_now() - made.time < 10, "%g s", load_now() - made.time);
    free(q);
}
