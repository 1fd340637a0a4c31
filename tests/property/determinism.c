/*
 * The result of a sample has the same bits in every batch size, at every place and on every thread.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/random_tree.h"

enum { SAMPLES = 67, THREADS = 4 };

typedef struct batch {
    const dyn_model *model;
    size_t nq, nv, width; /* of the results of one sample */
    double *q, *v, *a;
} batch;

/* All quantities of samples first .. first + n - 1, in rows of batch.width. Returns the number of calls that failed. */
static int compute(const batch *b, size_t first, size_t n, double *out) {
    dyn_workspace *w = NULL;
    dyn_error error;
    int failed = dyn_workspace_create(b->model, &error, &w) != DYN_OK;
    const double *q = b->q + first * b->nq, *v = b->v + first * b->nv, *a = b->a + first * b->nv;
    double *tau = out, *acceleration = tau + n * b->nv, *M = acceleration + n * b->nv, *J = M + n * b->nv * b->nv;
    failed += dyn_rnea(b->model, w, n, NULL, q, v, a, NULL, &error, tau) != DYN_OK;
    failed += dyn_aba(b->model, w, n, NULL, q, v, a, NULL, &error, acceleration) != DYN_OK;
    failed += dyn_crba(b->model, w, n, q, &error, M) != DYN_OK;
    int frame = dyn_model_link_count(b->model) - 1;
    failed += dyn_frame_jacobian(b->model, w, n, q, frame, DYN_WORLD, &error, J) != DYN_OK;
    dyn_workspace_free(w);
    return failed;
}

static batch batch_create(random_source *random, int joints) {
    random_tree_options options = {.joints = joints,
                                   .with_mimic = joints % 2,
                                   .with_fixed = true,
                                   .base = joints % 3 ? DYN_BASE_FIXED : DYN_BASE_FLOATING};
    batch b = {.model = random_tree(random, &options)};
    b.nq = (size_t)dyn_model_nq(b.model), b.nv = (size_t)dyn_model_nv(b.model);
    b.width = 2 * b.nv + b.nv * b.nv + 6 * b.nv;
    b.q = calloc(SAMPLES * b.nq + 1, sizeof(double));
    b.v = calloc(SAMPLES * b.nv + 1, sizeof(double));
    b.a = calloc(SAMPLES * b.nv + 1, sizeof(double));
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(random, b.model, 2, b.q + s * b.nq);
    }
    random_vector(random, (int)(SAMPLES * b.nv), 2, b.v);
    random_vector(random, (int)(SAMPLES * b.nv), 9, b.a);
    return b;
}

static void batch_free(batch *b) {
    free(b->q), free(b->v), free(b->a);
    dyn_model_free((dyn_model *)b->model);
}

/* Rows of quantity `offset`, `width` of a batch of n against the single call for sample s. */
static void assert_same_bits(const batch *b, const double *of_batch, size_t n, const double *single, size_t s,
                             size_t first) {
    const size_t widths[4] = {b->nv, b->nv, b->nv * b->nv, 6 * b->nv};
    size_t batch_offset = 0, offset = 0;
    for (int i = 0; i < 4; i++) {
        const double *row = of_batch + batch_offset + (s - first) * widths[i];
        ck_assert_msg(memcmp(row, single + offset, widths[i] * sizeof(double)) == 0,
                      "quantity %d of sample %zu differs in a batch of %zu from sample %zu on", i, s, n, first);
        batch_offset += n * widths[i];
        offset += widths[i];
    }
}

START_TEST(batch_has_the_bits_of_single_calls) {
    random_source base = random_seed("same bits in every batch", 7);
    for (int k = 0; k < 12; k++) {
        random_source random = random_case(base, (uint64_t)k);
        batch b = batch_create(&random, 1 + 4 * k);
        double *all = calloc(SAMPLES * b.width, sizeof *all), *single = calloc(b.width, sizeof *single);
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
    for (int round = 0; round < 20; round++) {
        s->failed += compute(s->batch, 0, SAMPLES, s->out);
    }
    return NULL;
}

START_TEST(threads_share_a_model_and_agree) {
    random_source random = random_seed("same bits on every thread", 8);
    batch b = batch_create(&random, 30);
    pthread_t threads[THREADS];
    share shares[THREADS];
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (share){&b, calloc(SAMPLES * b.width, sizeof(double)), 0};
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
    Suite *suite = suite_create("determinism");
    TCase *bits = tcase_create("bits");
    tcase_set_timeout(bits, 120);
    tcase_add_test(bits, batch_has_the_bits_of_single_calls);
    tcase_add_test(bits, threads_share_a_model_and_agree);
    suite_add_tcase(suite, bits);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
