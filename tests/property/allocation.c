/*
 * No algorithm allocates once its workspace exists. The allocator of this program counts its calls.
 */
#include <check.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "support/random_tree.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define ALLOCATOR_IS_TAKEN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ALLOCATOR_IS_TAKEN 1
#endif
#endif

static atomic_long allocations;

#ifndef ALLOCATOR_IS_TAKEN

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    atomic_fetch_add(&allocations, 1);
    return __libc_memalign(alignment, size);
}

#endif

enum { SAMPLES = 5, CUBE_BOUND = 12 };

/* The same for all derivatives; the second ones of small robots. */
static int call_derivatives(const dyn_model *model, dyn_workspace *w, const double *q, const double *v,
                            const dyn_external_forces *forces, double *out) {
    dyn_error error;
    size_t nv = (size_t)dyn_model_nv(model), part = SAMPLES * nv * (nv + 6);
    double *x[7];
    for (size_t i = 0; i < 7; i++) {
        x[i] = out + i * (nv <= CUBE_BOUND ? part * nv : part);
    }
    int failed = 0, frame = forces->force->frame;
    failed += dyn_rnea_derivatives(model, w, SAMPLES, NULL, q, v, v, forces, &error, x[0], x[1], x[2]) != DYN_OK;
    failed += dyn_aba_derivatives(model, w, SAMPLES, NULL, q, v, v, forces, &error, x[0], x[1], x[2]) != DYN_OK;
    failed += dyn_gravity_derivatives(model, w, SAMPLES, NULL, q, &error, x[0]) != DYN_OK;
    failed +=
        dyn_frame_derivatives(model, w, SAMPLES, q, v, v, frame, DYN_WORLD, &error, x[0], x[1], x[2], x[3]) != DYN_OK;
    failed += dyn_centroidal_derivatives(model, w, SAMPLES, q, v, v, &error, x[0], x[1], x[2], x[3]) != DYN_OK;
    failed +=
        dyn_rnea_directional_derivative(model, w, SAMPLES, NULL, q, v, v, forces, v, v, v, &error, x[0]) != DYN_OK;
    failed += dyn_aba_directional_derivative(model, w, SAMPLES, NULL, q, v, v, forces, v, v, v, &error, x[0]) != DYN_OK;
    if (nv <= CUBE_BOUND) {
        failed += dyn_frame_hessian(model, w, SAMPLES, q, frame, DYN_LOCAL, &error, out) != DYN_OK;
        failed +=
            dyn_rnea_second_derivatives(model, w, SAMPLES, NULL, q, v, v, &error, x[0], x[1], x[2], x[3]) != DYN_OK;
        failed += dyn_aba_second_derivatives(model, w, SAMPLES, NULL, q, v, v, &error, x, x + 3) != DYN_OK;
    }
    return failed;
}

/* Calls every algorithm once; returns the number of calls that failed. */
static int call_all(const dyn_model *model, dyn_workspace *w, const double *q, const double *v, double *out) {
    static const double wrench[6] = {1, 2, 3, 4, 5, 6};
    const dyn_external_force force = {dyn_model_link_count(model) - 1, DYN_WORLD, wrench, 0};
    const dyn_external_forces forces = {1, &force};
    dyn_error error;
    double rotation[SAMPLES * 9], small[4][SAMPLES * 9];
    int frame = force.frame, failed = 0;
    failed += dyn_rnea(model, w, SAMPLES, NULL, q, v, v, &forces, &error, out) != DYN_OK;
    failed += dyn_gravity(model, w, SAMPLES, NULL, q, &error, out) != DYN_OK;
    failed += dyn_bias(model, w, SAMPLES, NULL, q, v, &error, out) != DYN_OK;
    failed += dyn_crba(model, w, SAMPLES, q, &error, out) != DYN_OK;
    failed += dyn_aba(model, w, SAMPLES, NULL, q, v, v, &forces, &error, out) != DYN_OK;
    failed += dyn_frame_pose(model, w, SAMPLES, q, frame, &error, out, rotation) != DYN_OK;
    failed += dyn_frame_jacobian(model, w, SAMPLES, q, frame, DYN_LOCAL, &error, out) != DYN_OK;
    failed += dyn_frame_motion(model, w, SAMPLES, q, v, v, frame, DYN_LOCAL, &error, small[0], small[1], out) != DYN_OK;
    failed += dyn_minverse(model, w, SAMPLES, q, &error, out) != DYN_OK;
    failed += dyn_coriolis_matrix(model, w, SAMPLES, q, v, &error, out) != DYN_OK;
    failed += dyn_energy(model, w, SAMPLES, NULL, q, v, &error, small[0], small[1]) != DYN_OK;
    failed += dyn_center_of_mass(model, w, SAMPLES, q, v, v, -1, &error, small[0], small[1], small[2], out) != DYN_OK;
    failed += dyn_centroidal(model, w, SAMPLES, q, v, &error, small[0], out, NULL) != DYN_OK;
    failed += dyn_centroidal_momentum(model, w, SAMPLES, q, v, &error, small[0]) != DYN_OK;
    return failed + call_derivatives(model, w, q, v, &forces, out);
}

START_TEST(algorithms_do_not_allocate) {
    random_source base = random_seed("no allocation", 64);
    for (int k = 0; k < 20; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options options = {.joints = 1 + 3 * k,
                                       .with_mimic = k % 2,
                                       .with_fixed = true,
                                       .base = k % 3 ? DYN_BASE_FIXED : DYN_BASE_FLOATING};
        dyn_model *model = random_tree(&random, &options);
        dyn_workspace *workspace = NULL;
        dyn_error error;
        ck_assert_int_eq(dyn_workspace_create(model, &error, &workspace), DYN_OK);
        size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
        double *q = calloc(SAMPLES * nq + 1, sizeof *q), *v = calloc(SAMPLES * nv + 1, sizeof *v);
        double *out = calloc(7 * SAMPLES * nv * (nv + 6) * (nv <= CUBE_BOUND ? nv : 1) + SAMPLES * 3, sizeof *out);
        for (size_t s = 0; s < SAMPLES; s++) {
            random_configuration(&random, model, 2, q + s * nq);
            random_vector(&random, (int)nv, 2, v + s * nv);
        }
        long before = atomic_load(&allocations);
        int failed = call_all(model, workspace, q, v, out);
        long after = atomic_load(&allocations);
        ck_assert_int_eq(failed, 0);
        ck_assert_int_eq(after, before);
        free(q), free(v), free(out);
        dyn_workspace_free(workspace);
        dyn_model_free(model);
    }
}
END_TEST

int main(void) {
#ifdef ALLOCATOR_IS_TAKEN
    puts("skipped: the sanitizer has its own allocator");
    return 77;
#endif
    void *probe = malloc(1);
    if (!probe || atomic_load(&allocations) == 0) {
        puts("the counting allocator is not in use");
        return EXIT_FAILURE;
    }
    free(probe);
    Suite *suite = suite_create("allocation");
    TCase *hot_path = tcase_create("hot path");
    tcase_add_test(hot_path, algorithms_do_not_allocate);
    suite_add_tcase(suite, hot_path);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
