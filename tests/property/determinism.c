/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks determinism: the result of a sample has the same bits in every batch size, at every place and on every thread.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/algorithms.h"
#include "support/assertions.h"
#include "support/random_tree.h"

/* Numbers of samples and threads, and largest nv of robots whose results that grow with nv^3 are computed. */
enum { SAMPLES = 67, THREADS = 4, CUBE_BOUND = 12 };

typedef struct batch {
    const dyn_model *model;
    dyn_precision precision;
    size_t nq, nv, width; /* doubles of the results of one sample */
    double *q, *v, *a, *wrench;
} batch;

static bool is_computed(const batch *b, algorithm_id id) {
    return b->nv <= CUBE_BOUND || !algorithm_is_cubic(id);
}

/* Computes every algorithm for samples first .. first + n - 1, one after the other. Returns the number of calls that
 * failed. */
static int compute(const batch *b, size_t first, size_t n, double *out) {
    dyn_workspace *w = NULL;
    dyn_error error;
    int failed = dyn_workspace_create_in(b->model, b->precision, &w, &error) != DYN_OK;
    const algorithm_input in = {.model = b->model,
                                .workspace = w,
                                .n = n,
                                .q = b->q + first * b->nq,
                                .v = b->v + first * b->nv,
                                .a = b->a + first * b->nv,
                                .tau = b->a + first * b->nv,
                                .wrench = b->wrench + first * 6,
                                .frame = dyn_model_link_count(b->model) - 1};
    for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
        if (is_computed(b, id)) {
            failed += algorithm_compute(id, &in, &error, out) != DYN_OK;
            out += n * algorithm_width(id, b->model);
        }
    }
    dyn_workspace_free(w);
    return failed;
}

static batch batch_create(random_source *random, int joints, dyn_precision precision) {
    random_tree_options options = {.joints = joints,
                                   .with_mimic = joints % 2,
                                   .with_fixed = true,
                                   .base = joints % 3 ? DYN_BASE_FIXED : DYN_BASE_FLOATING};
    batch b = {.model = random_tree(random, &options), .precision = precision};
    b.nq = (size_t)dyn_model_nq(b.model), b.nv = (size_t)dyn_model_nv(b.model);
    for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
        b.width += is_computed(&b, id) ? algorithm_width(id, b.model) : 0;
    }
    b.q = numbers(SAMPLES * b.nq), b.v = numbers(SAMPLES * b.nv), b.a = numbers(SAMPLES * b.nv);
    b.wrench = numbers(SAMPLES * 6);
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(random, b.model, 2, b.q + s * b.nq);
    }
    random_vector(random, (int)(SAMPLES * b.nv), 2, b.v);
    random_vector(random, (int)(SAMPLES * b.nv), 9, b.a);
    random_vector(random, SAMPLES * 6, 5, b.wrench);
    return b;
}

static void batch_free(batch *b) {
    free(b->q), free(b->v), free(b->a), free(b->wrench);
    dyn_model_free((dyn_model *)b->model);
}

/* Compares each output for sample s in a batch of n samples, which begins with sample `first`, with the output of a
 * single call. */
static void assert_same_bits(const batch *b, const double *of_batch, size_t n, const double *single, size_t s,
                             size_t first) {
    for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
        for (int i = 0; i < ALGORITHM_OUTPUTS && is_computed(b, id); i++) {
            size_t width = algorithm_output_width(id, b->model, i);
            ck_assert_msg(memcmp(of_batch + (s - first) * width, single, width * sizeof(double)) == 0,
                          "output %d of %s of sample %zu differs in a batch of %zu from sample %zu on", i,
                          algorithm_get(id)->name, s, n, first);
            of_batch += n * width;
            single += width;
        }
    }
}

START_TEST(batch_has_the_bits_of_single_calls) {
    random_source base = random_seed("same bits in every batch", 7);
    for (int k = 0; k < 12; k++) {
        random_source random = random_case(base, (uint64_t)k);
        /* Trees with odd numbers of joints have mimic joints, those with even numbers none, so that large trees have a
         * trunk. */
        batch b = batch_create(&random, 1 + 4 * k + k % 2, (dyn_precision)_i);
        double *all = numbers(SAMPLES * b.width), *single = numbers(b.width);
        size_t first = (size_t)random_index(&random, SAMPLES / 2);
        size_t n = 1 + (size_t)random_index(&random, SAMPLES / 2);
        ck_assert_int_eq(compute(&b, first, n, all), 0);
        for (size_t s = first; s < first + n; s++) {
            ck_assert_int_eq(compute(&b, s, 1, single), 0);
            assert_same_bits(&b, all, n, single, s, first);
        }
        free(all), free(single);
        batch_free(&b);
    }
}
END_TEST

typedef struct share {
    const batch *batch;
    double *out;
    int failed;
} share;

static void *compute_share(void *argument) {
    share *s = argument;
    for (int round = 0; round < 4; round++) {
        s->failed += compute(s->batch, 0, SAMPLES, s->out);
    }
    return NULL;
}

START_TEST(threads_share_a_model_and_agree) {
    random_source random = random_seed("same bits on every thread", 8);
    batch b = batch_create(&random, 30, (dyn_precision)_i);
    pthread_t threads[THREADS];
    share shares[THREADS];
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (share){&b, numbers(SAMPLES * b.width), 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, compute_share, &shares[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(shares[i].failed, 0);
        ck_assert_int_eq(memcmp(shares[0].out, shares[i].out, SAMPLES * b.width * sizeof(double)), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        free(shares[i].out);
    }
    batch_free(&b);
}
END_TEST

int main(void) {
    TCase *bits = tcase_create("bits");
    tcase_set_timeout(bits, 120);
    tcase_add_loop_test(bits, batch_has_the_bits_of_single_calls, DYN_PRECISION_DOUBLE, DYN_PRECISION_SINGLE + 1);
    TCase *threads = tcase_create("threads");
    tcase_set_timeout(threads, 120);
    tcase_add_loop_test(threads, threads_share_a_model_and_agree, DYN_PRECISION_DOUBLE, DYN_PRECISION_SINGLE + 1);
    int failed = run_properties("determinism", bits);
    return run_properties("determinism on threads", threads) | failed;
}
