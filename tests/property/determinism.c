/*
 * The result of a sample has the same bits in every batch size, at every place and on every thread.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/random_tree.h"

enum { SAMPLES = 67, THREADS = 4, QUANTITIES = 33, CUBE_BOUND = 12 };

typedef struct batch {
    const dyn_model *model;
    size_t nq, nv, width; /* of the results of one sample */
    size_t widths[QUANTITIES];
    double *q, *v, *a;
} batch;

/* Widths of the quantities in the order in which `compute` computes them. Cubes only of small robots. */
static void set_widths(batch *b) {
    size_t nv = b->nv, square = nv * nv, frame = 6 * nv, cube = nv <= CUBE_BOUND ? nv * square : 0;
    const size_t widths[QUANTITIES] = {nv,     nv,     square, frame,  square, square, square, square, square,
                                       square, square, square, square, frame,  frame,  frame,  frame,  cube,
                                       cube,   cube,   cube,   6,      3,      3,      3,      3 * nv, 6 * square,
                                       frame,  frame,  frame,  frame,  nv,     nv};
    memcpy(b->widths, widths, sizeof widths);
    b->width = 0;
    for (int i = 0; i < QUANTITIES; i++) {
        b->width += widths[i];
    }
}

/* All quantities of samples first .. first + n - 1, one after the other. Returns the number of calls that failed. */
static int compute(const batch *b, size_t first, size_t n, double *out) {
    dyn_workspace *w = NULL;
    dyn_error error;
    const dyn_model *m = b->model;
    int failed = dyn_workspace_create(m, &error, &w) != DYN_OK, frame = dyn_model_link_count(m) - 1;
    const double *q = b->q + first * b->nq, *v = b->v + first * b->nv, *a = b->a + first * b->nv;
    double *x[QUANTITIES];
    for (int i = 0; i < QUANTITIES; i++) {
        x[i] = out;
        out += n * b->widths[i];
    }
    failed += dyn_rnea(m, w, n, NULL, q, v, a, NULL, &error, x[0]) != DYN_OK;
    failed += dyn_aba(m, w, n, NULL, q, v, a, NULL, &error, x[1]) != DYN_OK;
    failed += dyn_crba(m, w, n, q, &error, x[2]) != DYN_OK;
    failed += dyn_frame_jacobian(m, w, n, q, frame, DYN_WORLD, &error, x[3]) != DYN_OK;
    failed += dyn_minverse(m, w, n, q, &error, x[4]) != DYN_OK;
    failed += dyn_coriolis_matrix(m, w, n, q, v, &error, x[5]) != DYN_OK;
    failed += dyn_rnea_derivatives(m, w, n, NULL, q, v, a, NULL, &error, x[6], x[7], x[8]) != DYN_OK;
    failed += dyn_aba_derivatives(m, w, n, NULL, q, v, a, NULL, &error, x[9], x[10], x[11]) != DYN_OK;
    failed += dyn_gravity_derivatives(m, w, n, NULL, q, &error, x[12]) != DYN_OK;
    failed += dyn_frame_derivatives(m, w, n, q, v, a, frame, DYN_LOCAL_WORLD_ALIGNED, &error, x[13], x[14], x[15],
                                    x[16]) != DYN_OK;
    if (b->nv <= CUBE_BOUND) {
        failed += dyn_rnea_second_derivatives(m, w, n, NULL, q, v, a, &error, x[17], x[18], x[19], x[20]) != DYN_OK;
    }
    failed += dyn_centroidal_momentum(m, w, n, q, v, &error, x[21]) != DYN_OK;
    failed += dyn_center_of_mass(m, w, n, q, v, a, -1, &error, x[22], x[23], x[24], x[25]) != DYN_OK;
    failed += dyn_frame_hessian(m, w, n, q, frame, DYN_LOCAL_WORLD_ALIGNED, &error, x[26]) != DYN_OK;
    failed += dyn_centroidal_derivatives(m, w, n, q, v, a, &error, x[27], x[28], x[29], x[30]) != DYN_OK;
    failed += dyn_rnea_directional_derivative(m, w, n, NULL, q, v, a, NULL, v, a, v, &error, x[31]) != DYN_OK;
    failed += dyn_aba_directional_derivative(m, w, n, NULL, q, v, a, NULL, v, a, v, &error, x[32]) != DYN_OK;
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
    set_widths(&b);
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

/* Every quantity of sample s in a batch of n from sample `first` on, against the single call. */
static void assert_same_bits(const batch *b, const double *of_batch, size_t n, const double *single, size_t s,
                             size_t first) {
    for (int i = 0; i < QUANTITIES; i++) {
        ck_assert_msg(memcmp(of_batch + (s - first) * b->widths[i], single, b->widths[i] * sizeof(double)) == 0,
                      "quantity %d of sample %zu differs in a batch of %zu from sample %zu on", i, s, n, first);
        of_batch += n * b->widths[i];
        single += b->widths[i];
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
