/* SPDX-License-Identifier: BSD-2-Clause */
/* Client that behaves well and measures the daemon's answers while others attack it. */
#include "system/hostile_witness.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <dynamics_client.h>

#include "system/sp_request.h"
#include "system/sp_wire.h"

static const double PERIOD = 0.02, FIRST_ANSWER = 10, TOLERANCE = 1e-9;

struct witness {
    char url[256];
    witness_kind kind;
    dyn_client *client; /* of a steady one */
    pthread_t thread;
    atomic_bool is_ending;
    atomic_uint answers;
    witness_report report;
};

/* Sends one request and compares its answer with the closed form. Returns whether there was an answer. */
static bool make_call(witness *w, dyn_client *client, unsigned number) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1);
    double t = 0.1 * number, q[2] = {sin(t), cos(1.7 * t)}, v[2] = {cos(t), -1.7 * sin(1.7 * t)}, a[2] = {t, 1};
    double tau[2], right[2];
    dyn_client_error error;
    if (dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error) != DYN_CLIENT_OK) {
        w->report.failures++;
        snprintf(w->report.failure, sizeof w->report.failure, "%.200s", error.message);
        return false;
    }
    sp_two_link_torques(q, v, a, right);
    bool is_right = fabs(tau[0] - right[0]) + fabs(tau[1] - right[1]) < TOLERANCE * (fabs(right[0]) + fabs(right[1]));
    w->report.wrong += !is_right;
    w->report.answers++;
    atomic_fetch_add(&w->answers, 1);
    return true;
}

/* Makes one attempt. A fresh witness connects before and disconnects after it. Returns whether there was an answer. */
static bool attempt(witness *w, unsigned number) {
    if (w->kind == WITNESS_STEADY) {
        return make_call(w, w->client, number);
    }
    dyn_client *client;
    dyn_client_error error;
    if (dyn_client_connect(w->url, NULL, &client, &error) != DYN_CLIENT_OK) {
        w->report.failures++;
        snprintf(w->report.failure, sizeof w->report.failure, "%.200s", error.message);
        return false;
    }
    bool is_answered = make_call(w, client, number);
    dyn_client_close(client);
    return is_answered;
}

static void *run(void *argument) {
    witness *w = argument;
    for (unsigned number = 0; !atomic_load(&w->is_ending); number++) {
        double start = sp_now();
        bool is_answered = false;
        while (!is_answered && !atomic_load(&w->is_ending)) {
            is_answered = attempt(w, number);
            sp_pause(is_answered ? 0 : 0.001);
        }
        double waited = sp_now() - start;
        w->report.longest = fmax(w->report.longest, waited);
        sp_pause(fmax(0, PERIOD - waited));
    }
    return NULL;
}

witness *witness_start(const char *url, witness_kind kind) {
    witness *w = calloc(1, sizeof *w);
    ck_assert_ptr_nonnull(w);
    dyn_client_error error;
    w->kind = kind;
    snprintf(w->url, sizeof w->url, "%s", url);
    if (kind == WITNESS_STEADY && dyn_client_connect(url, NULL, &w->client, &error) != DYN_CLIENT_OK) {
        ck_abort_msg("%s: %s", url, error.message);
    }
    ck_assert_int_eq(pthread_create(&w->thread, NULL, run, w), 0);
    double end = sp_now() + FIRST_ANSWER;
    while (atomic_load(&w->answers) == 0) {
        ck_assert_msg(sp_now() < end, "no answer from %s", url);
        sp_pause(0.001);
    }
    return w;
}

witness_report witness_stop(witness *w) {
    atomic_store(&w->is_ending, true);
    pthread_join(w->thread, NULL);
    dyn_client_close(w->client);
    witness_report report = w->report;
    free(w);
    return report;
}

witnesses witnesses_start(const char *ipc, const char *tcp) {
    return (witnesses){{witness_start(ipc, WITNESS_STEADY), witness_start(ipc, WITNESS_FRESH),
                        witness_start(tcp, WITNESS_STEADY), witness_start(tcp, WITNESS_FRESH)}};
}

void witnesses_expect_no_stall(const witnesses *all, const char *attack) {
    static const char *const names[] = {"steady, ipc", "fresh, ipc", "steady, tcp", "fresh, tcp"};
    witness_report reports[4];
    for (int i = 0; i < 4; i++) {
        reports[i] = witness_stop(all->members[i]);
        printf("%-36s %-11s %5u answers, %u failures, longest wait %6.1f ms%s%s\n", attack, names[i],
               reports[i].answers, reports[i].failures, 1e3 * reports[i].longest, reports[i].failures ? "; " : "",
               reports[i].failure);
    }
    fflush(stdout);
    for (int i = 0; i < 4; i++) {
        ck_assert_msg(reports[i].wrong == 0, "%s: %u wrong answers", names[i], reports[i].wrong);
        ck_assert_msg(reports[i].longest <= HOSTILE_STALL, "%s: waited %.3f s, more than %.1f s", names[i],
                      reports[i].longest, HOSTILE_STALL);
    }
}
