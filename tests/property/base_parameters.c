/*
 * Base parameters: they make the same torques with any parameters, there are as many as the regressor has rank, and for
 * robots of the literature as many as published.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/golden.h"
#include "support/random_tree.h"

enum { CASES = 60, STATES = 3 };

static const double PI = 3.14159265358979323846;

/* Regressors of torque at n random states, one below the other. */
static double *stack_regressors(random_source *random, const dyn_model *model, const double *gravity, size_t n) {
    dyn_error error;
    dyn_workspace *w = NULL;
    size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    size_t width = (size_t)dyn_model_parameter_count(model);
    double *q = numbers(n * nq), *v = numbers(n * nv), *a = numbers(n * nv), *Y = numbers(n * nv * width);
    for (size_t s = 0; s < n; s++) {
        random_configuration(random, model, 2, q + s * nq);
    }
    random_vector(random, (int)(n * nv), 1, v);
    random_vector(random, (int)(n * nv), 1, a);
    require(dyn_workspace_create(model, &error, &w), &error);
    require(dyn_torque_regressor(model, w, n, gravity, q, v, a, &error, Y), &error);
    dyn_workspace_free(w);
    free(q), free(v), free(a);
    return Y;
}

/* Scales each column to one; one that is nothing but rounding to zero. */
static void scale_columns(size_t rows, size_t columns, double *A) {
    double *lengths = numbers(columns), largest = 0;
    for (size_t c = 0; c < columns; c++) {
        for (size_t i = 0; i < rows; i++) {
            lengths[c] = hypot(lengths[c], A[i * columns + c]);
        }
        largest = fmax(largest, lengths[c]);
    }
    for (size_t i = 0; i < rows * columns; i++) {
        A[i] = lengths[i % columns] > 1e-9 * largest ? A[i] / lengths[i % columns] : 0;
    }
    free(lengths);
}

/* Numerical rank by Gram-Schmidt with column pivoting. */
static int rank_of(size_t rows, size_t columns, double *A) {
    double *squares = numbers(columns);
    scale_columns(rows, columns, A);
    int rank = 0;
    for (;; rank++) {
        size_t best = 0;
        for (size_t c = 0; c < columns; c++) {
            squares[c] = 0;
            for (size_t i = 0; i < rows; i++) {
                squares[c] += A[i * columns + c] * A[i * columns + c];
            }
            best = squares[c] > squares[best] ? c : best;
        }
        if (squares[best] < 1e-16) {
            break;
        }
        double length = sqrt(squares[best]);
        for (size_t i = 0; i < rows; i++) {
            A[i * columns + best] /= length;
        }
        for (size_t c = 0; c < columns; c++) {
            double along = 0;
            for (size_t i = 0; i < rows && c != best; i++) {
                along += A[i * columns + best] * A[i * columns + c];
            }
            for (size_t i = 0; i < rows && c != best; i++) {
                A[i * columns + c] -= along * A[i * columns + best];
            }
        }
        for (size_t i = 0; i < rows; i++) {
            A[i * columns + best] = 0;
        }
    }
    free(squares);
    return rank;
}

/* Y_b (B p) = Y p for parameters p that no body needs to have. */
static void check_torques(random_source *random, int k, const dyn_model *model, const double *gravity,
                          const dyn_base_parameters *grouping) {
    dyn_error error;
    size_t width = (size_t)dyn_model_parameter_count(model), count = (size_t)dyn_base_parameters_count(grouping);
    size_t rows = STATES * (size_t)dyn_model_nv(model);
    const int *columns = dyn_base_parameters_columns(grouping);
    double *Y = stack_regressors(random, model, gravity, STATES), *p = numbers(width), *b = numbers(count);
    double *B = numbers(count * width), *b_again = numbers(count), *tau = numbers(rows), *reduced = numbers(rows);
    random_vector(random, (int)width, 1, p);
    require(dyn_base_parameters_reduce(grouping, p, &error, b), &error);
    require(dyn_base_parameters_matrix(grouping, &error, B), &error);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq(B[i * width + (size_t)columns[i]], 1);
        ck_assert(i == 0 || columns[i] > columns[i - 1]);
        for (size_t c = 0; c < width; c++) {
            b_again[i] += B[i * width + c] * p[c];
        }
    }
    assert_close("B p", k, b, b_again, count, 1e-10);
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < width; c++) {
            tau[i] += Y[i * width + c] * p[c];
        }
        for (size_t c = 0; c < count; c++) {
            reduced[i] += Y[i * width + (size_t)columns[c]] * b[c];
        }
    }
    assert_close("Y_b B p = Y p", k, reduced, tau, rows, 1e-9);
    free(Y), free(p), free(b), free(B), free(b_again), free(tau), free(reduced);
}

static dyn_model *random_robot(random_source *random, int k, int joints, dyn_mimic_policy mimic) {
    random_tree_options options = {.joints = joints,
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .mimic = mimic,
                                   .with_mimic = k % 3 == 0,
                                   .with_fixed = true};
    return random_tree(random, &options);
}

START_TEST(base_parameters_make_the_torques) {
    random_source base = random_seed("Y_b B p = Y p", 20261241);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_robot(&random, k, k % 3 ? 1 + k : 1 + k % 12, DYN_MIMIC_COUPLED);
        dyn_base_parameters *grouping = NULL;
        double gravity[3];
        random_vector(&random, 3, 10, gravity);
        require(dyn_base_parameters_create(model, gravity, &error, &grouping), &error);
        check_torques(&random, k, model, gravity, grouping);
        dyn_base_parameters_free(grouping);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(there_are_as_many_as_the_regressor_has_rank) {
    random_source base = random_seed("rank of the regressor", 20261242);
    dyn_error error;
    for (int k = 0; k < 40; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_robot(&random, k, 1 + k % 7, DYN_MIMIC_COUPLED);
        dyn_base_parameters *grouping = NULL;
        size_t width = (size_t)dyn_model_parameter_count(model), nv = (size_t)dyn_model_nv(model);
        size_t n = 2 * width / (nv > 0 ? nv : 1) + 8;
        require(dyn_base_parameters_create(model, NULL, &error, &grouping), &error);
        double *Y = stack_regressors(&random, model, NULL, n);
        int rank = rank_of(n * nv, width, Y);
        ck_assert_msg(dyn_base_parameters_count(grouping) == rank, "case %d: %d base parameters, rank %d", k,
                      dyn_base_parameters_count(grouping), rank);
        free(Y);
        dyn_base_parameters_free(grouping);
        dyn_model_free(model);
    }
}
END_TEST

static dyn_model *build(dyn_builder *builder, dyn_base base) {
    dyn_error error;
    dyn_model *model = NULL;
    dyn_build_options options = {.base = base};
    require(dyn_builder_build(builder, &options, NULL, &error, &model), &error);
    dyn_builder_free(builder);
    return model;
}

static const dyn_inertia INERTIA = {.mass = 1, .center_of_mass = {0.1, 0.2, 0.3}, .rotational = {1, 0, 0, 1, 0, 1}};

/* A chain of revolute joints of which the twists are given. */
static dyn_model *chain(int count, const double *alpha, const double *a, const double *d, dyn_base base) {
    dyn_dh_row rows[6];
    dyn_error error;
    dyn_builder *builder = NULL;
    for (int i = 0; i < count; i++) {
        rows[i] = (dyn_dh_row){.type = DYN_JOINT_REVOLUTE, .alpha = alpha[i], .a = a[i], .d = d[i], .inertia = INERTIA};
    }
    require(dyn_dh_describe("chain", DYN_DH_STANDARD, count, rows, &error, &builder), &error);
    return build(builder, base);
}

static void check_count(dyn_model *model, const double *gravity, int expected) {
    dyn_error error;
    dyn_base_parameters *grouping = NULL;
    require(dyn_base_parameters_create(model, gravity, &error, &grouping), &error);
    ck_assert_int_eq(dyn_base_parameters_count(grouping), expected);
    dyn_base_parameters_free(grouping);
}

/* A planar arm of two links: for each link ZZ, MX and MY, and without gravity in its plane no MX and MY of the first
 * (Khalil and Dombre 2002, "Modeling, Identification and Control of Robots", section 9.4). The PUMA 560: 36 (Gautier
 * and Khalil 1990; Mayeda, Yoshida and Osuka 1990). A free body and n hinges: 10 + 7 n. */
START_TEST(known_robots_have_the_published_number) {
    const double flat[2] = {0}, lengths[2] = {1, 1}, down[3] = {0, -9.81, 0}, across[3] = {0, 0, -9.81};
    const double alpha[6] = {PI / 2, 0, -PI / 2, PI / 2, -PI / 2, 0}, a[6] = {0, 0.4318, 0.0203};
    const double d[6] = {0, 0, 0.15005, 0.4318};
    dyn_model *planar = chain(2, flat, lengths, flat, DYN_BASE_FIXED);
    check_count(planar, down, 6);
    check_count(planar, across, 4);
    dyn_model_free(planar);
    dyn_model *puma = chain(6, alpha, a, d, DYN_BASE_FIXED);
    check_count(puma, NULL, 36);
    dyn_model_free(puma);
    dyn_model *flying = chain(6, alpha, a, d, DYN_BASE_FLOATING);
    check_count(flying, NULL, 10 + 7 * 6);
    dyn_model_free(flying);
}
END_TEST

/* Real robots, as many as the regressor has rank; the Panda has 43 (Gaz et al. 2019, "Dynamic identification of the
 * Franka Emika Panda robot with retrieval of feasible parameters using penalty-based optimization"). */
START_TEST(real_robots_have_the_rank_of_their_regressor) {
    random_source random = random_seed("base parameters of real robots", 20261244);
    char **files = golden_files();
    dyn_error error;
    for (size_t i = 0; files && files[i]; i++) {
        golden g;
        if (!golden_open(files[i], &g)) {
            continue;
        }
        dyn_base_parameters *grouping = NULL;
        require(dyn_base_parameters_create(g.model, NULL, &error, &grouping), &error);
        check_torques(&random, (int)i, g.model, NULL, grouping);
        if (g.nv <= 8) {
            size_t width = (size_t)dyn_model_parameter_count(g.model), n = 2 * width / g.nv + 8;
            double *Y = stack_regressors(&random, g.model, NULL, n);
            int rank = rank_of(n * g.nv, width, Y);
            ck_assert_msg(dyn_base_parameters_count(grouping) == rank, "%s: %d base parameters, rank %d", files[i],
                          dyn_base_parameters_count(grouping), rank);
            free(Y);
        }
        if (strncmp(files[i], "panda_arm", 9) == 0) {
            ck_assert_int_eq(dyn_base_parameters_count(grouping), 43);
        }
        dyn_base_parameters_free(grouping);
        golden_close(&g);
    }
    golden_files_free(files);
}
END_TEST

START_TEST(bad_gravity_is_refused) {
    random_source random = random_seed("bad gravity", 20261243);
    dyn_model *model = random_robot(&random, 1, 3, DYN_MIMIC_COUPLED);
    dyn_base_parameters *grouping = NULL;
    dyn_error error;
    ck_assert_int_eq(dyn_base_parameters_create(model, (double[3]){0, NAN, 0}, &error, &grouping),
                     DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "gravity");
    ck_assert_ptr_null(grouping);
    dyn_base_parameters_free(NULL);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("base parameters");
    tcase_set_timeout(all, 120);
    tcase_add_test(all, base_parameters_make_the_torques);
    tcase_add_test(all, there_are_as_many_as_the_regressor_has_rank);
    tcase_add_test(all, known_robots_have_the_published_number);
    tcase_add_test(all, real_robots_have_the_rank_of_their_regressor);
    tcase_add_test(all, bad_gravity_is_refused);
    return run_properties("base parameters", all);
}
