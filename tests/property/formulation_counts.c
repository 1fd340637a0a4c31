/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the operations of the formulations for general serial chains of 1 to 30 revolute joints with published ones:
 * for inverse dynamics those of table 3 of the review that lib/src/classical cites, and for forward dynamics those of
 * table 1 of Shao and Yuan 2012, where 477 n - 503 and 594 n - 567 are multiplications and additions together. The
 * counts of this library are polynomials of n, of the degree that the literature states; deploy/doc/formulations.md
 * explains the differences.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { MOST = 30 };

/* Result of a formulation, with its multiplications (divisions included) and additions: the coefficients of the
 * expected polynomials of n in 24ths, from n^0 on, and the counts for n = 1 to MOST. */
typedef struct counted {
    const char *formulation;
    dyn_formulation_result result;
    long of_multiplications[5], of_additions[5];
    long multiplications[MOST + 1], additions[MOST + 1];
} counted;

static dyn_model *chain_of(int n, dyn_joint_type type) {
    random_source random = random_case(random_seed("operation counts", 1808), (uint64_t)n);
    dyn_builder *builder;
    dyn_model *model;
    dyn_error error;
    char name[16], parent[16], child[16];
    require(dyn_builder_create("chain", &builder, &error), &error);
    for (int i = 0; i <= n; i++) {
        snprintf(child, sizeof child, "link%d", i);
        dyn_link_description link = {.name = child, .inertia = {1, {0.1, 0.2, 0.3}, {0.2, 0, 0, 0.2, 0, 0.2}}};
        require(dyn_builder_add_link(builder, &link, &error), &error);
        if (i > 0) {
            double quaternion[4];
            snprintf(name, sizeof name, "joint%d", i), snprintf(parent, sizeof parent, "link%d", i - 1);
            dyn_joint_description joint = {.name = name, .type = type, .parent_link = parent, .child_link = child};
            random_unit(&random, 4, quaternion), random_unit(&random, 3, joint.axis);
            dyn_quaternion_to_rotation(quaternion, joint.rotation);
            random_vector(&random, 3, 0.5, joint.position);
            require(dyn_builder_add_joint(builder, &joint, &error), &error);
        }
    }
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FIXED);
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Counts the operations for n = 1 to MOST joints. Returns false if the library cannot count. */
static bool count_all(counted *of) {
    bool can_count = true;
    for (int n = 1; n <= MOST && can_count; n++) {
        dyn_error error;
        dyn_formulation *f;
        dyn_operation_counts found = {0};
        dyn_model *model = chain_of(n, DYN_JOINT_TYPE_REVOLUTE);
        require(dyn_formulation_create(model, of->formulation, &f, &error), &error);
        can_count = dyn_formulation_operations(f, of->result, &found, &error) == DYN_OK;
        of->multiplications[n] = (long)(found.multiplications + found.divisions);
        of->additions[n] = (long)found.additions;
        dyn_formulation_free(f);
        dyn_model_free(model);
    }
    return can_count;
}

/* Checks that the counts are a polynomial of n, whose coefficients, from n^0 on, are in 24ths. */
static void expect_polynomial(const char *name, const long coefficients[5], const long counts[MOST + 1]) {
    for (long n = 1; n <= MOST; n++) {
        long sum = 0;
        for (int k = 4; k >= 0; k--) {
            sum = sum * n + coefficients[k];
        }
        ck_assert_msg(24 * counts[n] == sum, "%s: %ld operations at n = %ld, not %ld/24", name, counts[n], n, sum);
    }
}

static long published_multiplications(const char *name, long n) {
    if (name[0] == 'l') {
        return (128 * n * n * n * n + 512 * n * n * n + 739 * n * n + 160 * n) / 3;
    }
    return name[0] == 'n' ? 132 * n : (13 * n * n * n + 315 * n * n + 536 * n + 414) / 6;
}

static long published_additions(const char *name, long n) {
    if (name[0] == 'l') {
        return (196 * n * n * n * n + 781 * n * n * n + 1118 * n * n + 245 * n) / 6;
    }
    return name[0] == 'n' ? 111 * n - 4 : (4 * n * n * n + 132 * n * n + 146 * n + 135) / 3;
}

START_TEST(published_formulas_give_the_published_numbers) {
    ck_assert_int_eq(published_multiplications("lagrange_euler", 6), 101348);
    ck_assert_int_eq(published_additions("lagrange_euler", 6), 77405);
    ck_assert_int_eq(published_multiplications("lagrange_euler", 30), 39391300);
    ck_assert_int_eq(published_additions("lagrange_euler", 30), 30143425);
    ck_assert_int_eq(published_multiplications("newton_euler", 6), 792);
    ck_assert_int_eq(published_additions("newton_euler", 6), 662);
    ck_assert_int_eq(published_multiplications("newton_euler", 30), 3960);
    ck_assert_int_eq(published_additions("newton_euler", 30), 3326);
    ck_assert_int_eq(published_multiplications("generalized_dalembert", 6), 2963);
    ck_assert_int_eq(published_additions("generalized_dalembert", 6), 2209);
    ck_assert_int_eq(published_multiplications("generalized_dalembert", 30), 108499);
    ck_assert_int_eq(published_additions("generalized_dalembert", 30), 77105);
}
END_TEST

START_TEST(inverse_dynamics_grows_as_published) {
    static counted rows[] = {
        {"lagrange_euler",
         DYN_FORMULATION_RESULT_INVERSE_DYNAMICS,
         {-1536, 3980, 4380, 784, 48},
         {-1152, 2986, 3381, 638, 51},
         {0},
         {0}},
        {"newton_euler", DYN_FORMULATION_RESULT_INVERSE_DYNAMICS, {-42 * 24, 150 * 24}, {-39 * 24, 127 * 24}, {0}, {0}},
        {"generalized_dalembert",
         DYN_FORMULATION_RESULT_INVERSE_DYNAMICS,
         {-54 * 24, 197 * 24, 43 * 24, 2 * 24},
         {-45 * 24, 154 * 24, 34 * 24, 2 * 24},
         {0},
         {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        counted *row = &rows[i];
        if (!count_all(row)) {
            return;
        }
        for (int n = 1; n <= MOST; n++) {
            printf("%-22s %3d  %9ld x %9ld +  published %9ld x %9ld +\n", row->formulation, n, row->multiplications[n],
                   row->additions[n], published_multiplications(row->formulation, n),
                   published_additions(row->formulation, n));
        }
        expect_polynomial(row->formulation, row->of_multiplications, row->multiplications);
        expect_polynomial(row->formulation, row->of_additions, row->additions);
    }
}
END_TEST

START_TEST(forward_dynamics_of_articulated_bodies_is_linear) {
    static counted rows[] = {
        {"screws", DYN_FORMULATION_RESULT_FORWARD_DYNAMICS, {-318 * 24, 485 * 24}, {-301 * 24, 439 * 24}, {0}, {0}},
        {"spatial_operator_algebra",
         DYN_FORMULATION_RESULT_FORWARD_DYNAMICS,
         {-249 * 24, 450 * 24},
         {-228 * 24, 403 * 24},
         {0},
         {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        counted *row = &rows[i];
        if (!count_all(row)) {
            return;
        }
        for (int n = 1; n <= MOST; n++) {
            printf("%s %3d  %6ld x %6ld +  published, both together: %d\n", row->formulation, n,
                   row->multiplications[n], row->additions[n], i == 0 ? 594 * n - 567 : 477 * n - 503);
        }
        expect_polynomial(row->formulation, row->of_multiplications, row->multiplications);
        expect_polynomial(row->formulation, row->of_additions, row->additions);
    }
}
END_TEST

/* Returns the least n from which on, up to MOST, the second formulation needs fewer operations than the first. Returns
 * MOST + 1 where it needs as many or more for MOST joints. */
static int crossover(const counted *first, const counted *second) {
    int n = MOST;
    while (n > 0 &&
           second->multiplications[n] + second->additions[n] < first->multiplications[n] + first->additions[n]) {
        n--;
    }
    return n + 1;
}

/* Checks from which number of joints on one formulation needs fewer operations than another. Absolute coordinates need
 * fewer transforms but operate on full vectors; articulated bodies need no factorization. */
START_TEST(long_chains_favour_the_world_frame_and_articulated_bodies) {
    static counted rows[] = {
        {"newton_euler", DYN_FORMULATION_RESULT_INVERSE_DYNAMICS, {0}, {0}, {0}, {0}},
        {"absolute_coordinates", DYN_FORMULATION_RESULT_INVERSE_DYNAMICS, {0}, {0}, {0}, {0}},
        {"walker_orin", DYN_FORMULATION_RESULT_MASS_MATRIX, {0}, {0}, {0}, {0}},
        {"absolute_coordinates", DYN_FORMULATION_RESULT_MASS_MATRIX, {0}, {0}, {0}, {0}},
        {"walker_orin", DYN_FORMULATION_RESULT_FORWARD_DYNAMICS, {0}, {0}, {0}, {0}},
        {"spatial_operator_algebra", DYN_FORMULATION_RESULT_FORWARD_DYNAMICS, {0}, {0}, {0}, {0}},
        {"spatial_operator_algebra", DYN_FORMULATION_RESULT_FORWARD_DYNAMICS, {0}, {0}, {0}, {0}},
        {"absolute_coordinates", DYN_FORMULATION_RESULT_FORWARD_DYNAMICS, {0}, {0}, {0}, {0}},
    };
    static const int expected[] = {MOST + 1, 11, 13, 2};
    for (int i = 0; i < 8; i++) {
        if (!count_all(&rows[i])) {
            return;
        }
    }
    for (int i = 0; i < 4; i++) {
        int n = crossover(&rows[2 * i], &rows[2 * i + 1]);
        printf("%s needs fewer operations than %s from n = %d on\n", rows[2 * i + 1].formulation,
               rows[2 * i].formulation, n);
        ck_assert_int_eq(n, expected[i]);
    }
}
END_TEST

/* Range of the power of n by which the operations of a result grow, of the results that the literature states. */
typedef struct growth {
    const char *formulation;
    dyn_formulation_result result;
    double least, most;
} growth;

#define INVERSE DYN_FORMULATION_RESULT_INVERSE_DYNAMICS
#define FORWARD DYN_FORMULATION_RESULT_FORWARD_DYNAMICS
#define MATRIX DYN_FORMULATION_RESULT_MASS_MATRIX

static const growth growths[] = {
    {"lagrange_euler", INVERSE, 3.4, 4.05},
    {"lagrange_euler", MATRIX, 2.3, 3.05},
    {"newton_euler", INVERSE, 0.95, 1.05},
    {"newton_euler_base", INVERSE, 0.95, 1.05},
    {"generalized_dalembert", INVERSE, 2.4, 3.05},
    {"generalized_dalembert", MATRIX, 2.6, 3.05},
    {"christoffel", INVERSE, 3.4, 4.05},
    {"christoffel", MATRIX, 2.7, 3.05},
    {"screws", INVERSE, 0.95, 1.05},
    {"screws", FORWARD, 0.95, 1.05},
    {"lie_group", INVERSE, 0.95, 1.05},
    {"lie_group", MATRIX, 2.7, 3.05},
    {"walker_orin", MATRIX, 1.6, 2.05},
    {"lilly_orin", MATRIX, 1.7, 2.05},
    {"kane", INVERSE, 2.5, 3.05},
    {"kane", FORWARD, 2.5, 3.05},
    {"kane", MATRIX, 2.5, 3.05},
    {"newton_euler_factorization", INVERSE, 0.95, 1.05},
    {"newton_euler_factorization", FORWARD, 0.95, 1.05},
    {"newton_euler_factorization", MATRIX, 1.9, 3.05},
    {"spatial_operator_algebra", INVERSE, 0.95, 1.05},
    {"spatial_operator_algebra", FORWARD, 0.95, 1.05},
    {"spatial_operator_algebra", MATRIX, 2.5, 3.05},
    {"absolute_coordinates", INVERSE, 0.95, 1.05},
    {"absolute_coordinates", FORWARD, 0.95, 1.05},
    {"absolute_coordinates", MATRIX, 1.2, 2.05},
    {"vereshchagin", FORWARD, 0.95, 1.05},
    {"constraint_force", FORWARD, 0.95, 1.05},
    {"hollerbach", INVERSE, 0.95, 1.05},
    {"armstrong", FORWARD, 0.95, 1.05},
    {"natural_coordinates", INVERSE, 1.7, 2.05},
    {"natural_coordinates", FORWARD, 2.5, 3.05},
    {"natural_coordinates", MATRIX, 2.5, 3.05},
    {"book_flexible", INVERSE, 0.95, 1.05},
    {"book_flexible", FORWARD, 1.5, 3.05},
    {"book_flexible", MATRIX, 1.5, 2.05},
};

enum { GROWTHS = sizeof growths / sizeof *growths };

/* Counts the operations of a result for n joints; spherical ones, where the formulation needs them. Returns 0 if the
 * library cannot count. */
static double count_operations(const dyn_formulation_traits *traits, dyn_formulation_result result, int n) {
    dyn_error error;
    dyn_formulation *f;
    dyn_operation_counts found = {0};
    bool spherical = traits->needs & DYN_FORMULATION_NEED_SPHERICAL;
    dyn_model *model = chain_of(n, spherical ? DYN_JOINT_TYPE_SPHERICAL : DYN_JOINT_TYPE_REVOLUTE);
    require(dyn_formulation_create(model, traits->name, &f, &error), &error);
    bool can_count = dyn_formulation_operations(f, result, &found, &error) == DYN_OK;
    dyn_formulation_free(f);
    dyn_model_free(model);
    return can_count ? (double)(found.multiplications + found.divisions + found.additions) : 0;
}

static const growth *find_growth(const char *formulation, dyn_formulation_result result) {
    for (int i = 0; i < GROWTHS; i++) {
        if (growths[i].result == result && strcmp(growths[i].formulation, formulation) == 0) {
            return &growths[i];
        }
    }
    return NULL;
}

/* Checks the powers of n between 24 and 48 joints, where lower terms still count. A result without a range fails. */
START_TEST(every_result_grows_by_the_power_of_the_literature) {
    const dyn_formulation_traits *traits = dyn_formulation_traits_at(_i);
    const bool states[3] = {
        [INVERSE] = traits->inverse_dynamics, [FORWARD] = traits->forward_dynamics, [MATRIX] = traits->mass_matrix};
    for (int result = 0; result < 3; result++) {
        double few = states[result] ? count_operations(traits, (dyn_formulation_result)result, 24) : 0;
        if (few > 0) {
            const growth *range = find_growth(traits->name, (dyn_formulation_result)result);
            double power = log2(count_operations(traits, (dyn_formulation_result)result, 48) / few);
            printf("%s, result %d: n^%.2f\n", traits->name, result, power);
            ck_assert_msg(range != NULL, "result %d of %s has no range", result, traits->name);
            ck_assert_msg(power >= range->least && power <= range->most, "result %d of %s grows by n^%.2f", result,
                          traits->name, power);
        }
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("formulation_counts");
    tcase_add_test(tests, published_formulas_give_the_published_numbers);
    tcase_add_test(tests, inverse_dynamics_grows_as_published);
    tcase_add_test(tests, forward_dynamics_of_articulated_bodies_is_linear);
    tcase_add_test(tests, long_chains_favour_the_world_frame_and_articulated_bodies);
    tcase_add_loop_test(tests, every_result_grows_by_the_power_of_the_literature, 0, dyn_formulation_count());
    tcase_set_timeout(tests, 60);
    return run_properties("formulation_counts", tests);
}
