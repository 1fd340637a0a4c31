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

/* Multiplications and additions together, of the table of Shao and Yuan. */
static long published_together(const char *name, long n) {
    return name[1] == 'c' ? 594 * n - 567 : 477 * n - 503;
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
            printf("%s %3d  %6ld x %6ld +  published, both together: %ld\n", row->formulation, n,
                   row->multiplications[n], row->additions[n], published_together(row->formulation, n));
        }
        expect_polynomial(row->formulation, row->of_multiplications, row->multiplications);
        expect_polynomial(row->formulation, row->of_additions, row->additions);
    }
}
END_TEST

/* ---- Items ------------------------------------------------------------------------------------------------------- */

/* Loops over the links s and the joints i, j <= s of a chain: how often a step runs for n joints. */
typedef enum loop {
    ONCE,
    JOINTS,
    CARRIED,
    PAIRS,
    OTHERS,
    SQUARES,
    CUBES,
    TRIPLES,
    OTHER_TRIPLES,
    QUADS,
    OTHER_QUADS,
    SQUARE_TRIPLES,
    OTHER_SQUARE_TRIPLES
} loop;

static const struct {
    const char *text;
    long factors[5], divisor; /* runs(n): the polynomial with these coefficients, from n^0 on, over the divisor */
} loops[] = {
    [ONCE] = {"once", {1}, 1},
    [JOINTS] = {"each joint", {0, 1}, 1},
    [CARRIED] = {"each joint but the first", {-1, 1}, 1},
    [PAIRS] = {"i <= s", {0, 1, 1}, 2},
    [OTHERS] = {"i < s", {0, -1, 1}, 2},
    [SQUARES] = {"all i, k", {0, 0, 1}, 1},
    [CUBES] = {"all i, k, m", {0, 0, 0, 1}, 1},
    [TRIPLES] = {"i <= k <= s", {0, 2, 3, 1}, 6},
    [OTHER_TRIPLES] = {"i < k <= s", {0, -1, 0, 1}, 6},
    [QUADS] = {"i <= s, k <= m <= s", {0, 2, 9, 10, 3}, 24},
    [OTHER_QUADS] = {"i <= s, k < m <= s", {0, -2, -3, 2, 3}, 24},
    [SQUARE_TRIPLES] = {"all i, k <= m <= s", {0, 0, 2, 3, 1}, 6},
    [OTHER_SQUARE_TRIPLES] = {"all i, k < m <= s", {0, 0, -1, 0, 1}, 6},
};

/* Side of a table of items: counts of this library, or the published polynomials, which sum multiplications and
 * additions for forward dynamics. */
typedef enum side { HERE, PUBLISHED } side;

/* Step of a formulation, the loop that runs it, and its multiplications and additions in one run. */
typedef struct item {
    const char *formulation;
    side of;
    loop runs;
    long multiplications, additions;
    const char *step;
} item;

static const item items[] = {
    {"lagrange_euler", HERE, JOINTS, 13, 7, "transform of each link in the one before"},
    {"lagrange_euler", HERE, CARRIED, 64, 48, "A_s"},
    {"lagrange_euler", HERE, OTHERS, 64, 48, "Q_i T_is"},
    {"lagrange_euler", HERE, PAIRS, 64, 48, "U_si = A_i (Q_i T_is)"},
    {"lagrange_euler", HERE, PAIRS, 64, 48, "U_sk J_s"},
    {"lagrange_euler", HERE, TRIPLES, 16, 16, "D_ik: trace of (U_sk J_s) U_si', and the sum"},
    {"lagrange_euler", HERE, OTHER_TRIPLES, 0, 1, "D_ki: the sum"},
    {"lagrange_euler", HERE, TRIPLES, 64, 48, "U_skm = U_mk (Q_m T_ms)"},
    {"lagrange_euler", HERE, TRIPLES, 64, 48, "U_skm J_s"},
    {"lagrange_euler", HERE, QUADS, 16, 16, "h_ikm: trace of (U_skm J_s) U_si', and the sum"},
    {"lagrange_euler", HERE, OTHER_QUADS, 0, 1, "h_imk: the sum"},
    {"lagrange_euler", HERE, PAIRS, 15, 12, "c_i"},
    {"lagrange_euler", HERE, CUBES, 2, 1, "sum of h_ikm v_k v_m"},
    {"lagrange_euler", HERE, SQUARES, 1, 1, "D_ik a_k, and the sum"},
    {"lagrange_euler", HERE, JOINTS, 0, 1, "sum of h and c"},
    {"lagrange_euler", PUBLISHED, OTHERS, 64, 48, "transform of link s in link i"},
    {"lagrange_euler", PUBLISHED, TRIPLES, 256, 195, "D_ik: four products of matrices, and the trace"},
    {"lagrange_euler", PUBLISHED, OTHER_TRIPLES, 0, 1, "D_ik: the sum"},
    {"lagrange_euler", PUBLISHED, SQUARE_TRIPLES, 256, 195, "h_ikm: four products of matrices, and the trace"},
    {"lagrange_euler", PUBLISHED, OTHER_SQUARE_TRIPLES, 0, 1, "h_ikm: the sum"},
    {"lagrange_euler", PUBLISHED, SQUARES, 1, 0, "D_ik a_k"},

    {"newton_euler", HERE, JOINTS, 13, 7, "angle, and the rotation of the joint times that about z"},
    {"newton_euler", HERE, JOINTS, 2, 0, "rates of the joint, times the ratio of a gear"},
    {"newton_euler", HERE, JOINTS, 3, 0, "acceleration -g of the base"},
    {"newton_euler", HERE, JOINTS, 9, 9, "w"},
    {"newton_euler", HERE, JOINTS, 15, 15, "dw"},
    {"newton_euler", HERE, CARRIED, 18, 15, "dv: terms of the parent"},
    {"newton_euler", HERE, JOINTS, 15, 18, "dv: its rotation, and the terms of a translation"},
    {"newton_euler", HERE, JOINTS, 18, 15, "a_c"},
    {"newton_euler", HERE, JOINTS, 27, 18, "F and N"},
    {"newton_euler", HERE, JOINTS, 6, 6, "moment of F about the origin"},
    {"newton_euler", HERE, CARRIED, 24, 24, "wrench of the child: two rotations, a lever and the sum"},
    {"newton_euler", PUBLISHED, JOINTS, 132, 111, "all steps"},
    {"newton_euler", PUBLISHED, ONCE, 0, -4, "terms of the base"},

    {"generalized_dalembert", HERE, JOINTS, 13, 7, "placement of each link in the one before"},
    {"generalized_dalembert", HERE, CARRIED, 36, 27, "its product with that of the link before"},
    {"generalized_dalembert", HERE, JOINTS, 18, 15, "z_s and r_s"},
    {"generalized_dalembert", HERE, JOINTS, 45, 30, "I_s in base axes"},
    {"generalized_dalembert", HERE, PAIRS, 9, 6, "D_ij: I_s z_j"},
    {"generalized_dalembert", HERE, PAIRS, 9, 6, "D_ij: m_s b_sj"},
    {"generalized_dalembert", HERE, TRIPLES, 12, 12, "D_ij: b_si, two products of vectors, and two sums"},
    {"generalized_dalembert", HERE, JOINTS, 27, 21, "w, dw, and the terms of the link itself"},
    {"generalized_dalembert", HERE, CARRIED, 18, 18, "terms of the links below"},
    {"generalized_dalembert", HERE, PAIRS, 9, 6, "m_s b_si"},
    {"generalized_dalembert", HERE, PAIRS, 12, 12, "h_tran: four products of vectors"},
    {"generalized_dalembert", HERE, PAIRS, 30, 21, "h_rot"},
    {"generalized_dalembert", HERE, PAIRS, 3, 3, "c_i"},
    {"generalized_dalembert", HERE, JOINTS, 0, 5, "sums of h_tran, h_rot and c"},
    {"generalized_dalembert", HERE, SQUARES, 1, 1, "D_ij a_j, and the sum"},
    {"generalized_dalembert", PUBLISHED, TRIPLES, 13, 8, "terms of D_ij"},
    {"generalized_dalembert", PUBLISHED, PAIRS, 92, 80, "terms of one joint and one link"},
    {"generalized_dalembert", PUBLISHED, JOINTS, 39, 6, "terms of one link"},
    {"generalized_dalembert", PUBLISHED, ONCE, 69, 45, "the rest"},

    {"screws", HERE, JOINTS, 13, 7, "placement of each link in the one before"},
    {"screws", HERE, JOINTS, 2, 0, "rates of the joint, times the ratio of a gear"},
    {"screws", HERE, CARRIED, 24, 24, "v: transform, and the rate"},
    {"screws", HERE, JOINTS, 18, 12, "c = v x h dq"},
    {"screws", HERE, JOINTS, 60, 45, "Z: gravity in link axes, the weight, I v and v x* I v"},
    {"screws", HERE, JOINTS, 37, 30, "IA h, and 1 / D"},
    {"screws", HERE, CARRIED, 42, 42, "IA h D^-1, and ZA + IA c"},
    {"screws", HERE, CARRIED, 21, 21, "IA - IA h D^-1 h' IA"},
    {"screws", HERE, CARRIED, 6, 7, "ZA through the joint"},
    {"screws", HERE, CARRIED, 177, 159, "IA in the parent: three rotations of 3 x 3 blocks, a shift, and the sum"},
    {"screws", HERE, CARRIED, 24, 24, "ZA in the parent, and the sum"},
    {"screws", HERE, CARRIED, 24, 24, "a: transform, and c"},
    {"screws", HERE, JOINTS, 37, 44, "IA a + ZA, the acceleration of the joint, and a of the link"},
    {"screws", PUBLISHED, JOINTS, 594, 0, "all steps"},
    {"screws", PUBLISHED, ONCE, -567, 0, "terms of the base, and of the last link"},

    {"spatial_operator_algebra", HERE, JOINTS, 13, 7, "placement of each link in the one before"},
    {"spatial_operator_algebra", HERE, JOINTS, 2, 0, "rates of the joint, times the ratio of a gear"},
    {"spatial_operator_algebra", HERE, CARRIED, 24, 24, "V: transform, and the rate"},
    {"spatial_operator_algebra", HERE, JOINTS, 18, 12, "a = V x S v"},
    {"spatial_operator_algebra", HERE, ONCE, 27, 24, "a of the first link: acceleration of the base"},
    {"spatial_operator_algebra", HERE, JOINTS, 42, 30, "b = V x M V"},
    {"spatial_operator_algebra", HERE, JOINTS, 49, 41, "P S, D, 1 / D and G"},
    {"spatial_operator_algebra", HERE, CARRIED, 21, 21, "P - G D G*"},
    {"spatial_operator_algebra", HERE, CARRIED, 177, 159,
     "P in the parent: three rotations of 3 x 3 blocks, a shift, and the sum"},
    {"spatial_operator_algebra", HERE, JOINTS, 36, 36, "P a + b"},
    {"spatial_operator_algebra", HERE, JOINTS, 7, 7, "epsilon and nu"},
    {"spatial_operator_algebra", HERE, CARRIED, 30, 30, "z through the joint, in the parent, and the sum"},
    {"spatial_operator_algebra", HERE, CARRIED, 24, 18, "alpha: transform"},
    {"spatial_operator_algebra", HERE, JOINTS, 7, 18, "theta'' = nu - G* alpha, and the sums of alpha"},
    {"spatial_operator_algebra", PUBLISHED, JOINTS, 477, 0, "all steps"},
    {"spatial_operator_algebra", PUBLISHED, ONCE, -503, 0, "terms of the base, and of the last link"},
};

enum { ITEMS = sizeof items / sizeof *items };

/* Adds the polynomial of an item, in 24ths, to those of its side. */
static void add_item(const item *of, long multiplications[5], long additions[5]) {
    for (int k = 0; k < 5; k++) {
        long runs = loops[of->runs].factors[k] * (24 / loops[of->runs].divisor);
        multiplications[k] += runs * of->multiplications;
        additions[k] += runs * of->additions;
    }
}

/* Prints a step for operation_counts.py. */
static void print_step(const item *of, bool is_forward) {
    bool is_published = of->of == PUBLISHED;
    printf("step of %s: %s | %s | %s | ", of->formulation, is_published ? "published" : "here", of->step,
           loops[of->runs].text);
    if (is_published && is_forward) {
        printf("together %ld |\n", of->multiplications);
    } else {
        printf("%ld | %ld\n", of->multiplications, of->additions);
    }
}

/* Checks the sums of the items of a formulation: the counts of this library, and the published ones. */
static void expect_items(counted *of) {
    bool is_forward = of->result == DYN_FORMULATION_RESULT_FORWARD_DYNAMICS;
    long sums[2][2][5] = {{{0}}}, published[2][MOST + 1];
    for (int i = 0; i < ITEMS; i++) {
        if (strcmp(items[i].formulation, of->formulation) == 0) {
            add_item(&items[i], sums[items[i].of][0], sums[items[i].of][1]);
            print_step(&items[i], is_forward);
        }
    }
    for (int n = 1; n <= MOST; n++) {
        published[0][n] =
            is_forward ? published_together(of->formulation, n) : published_multiplications(of->formulation, n);
        published[1][n] = is_forward ? 0 : published_additions(of->formulation, n);
    }
    expect_polynomial(of->formulation, sums[HERE][0], of->multiplications);
    expect_polynomial(of->formulation, sums[HERE][1], of->additions);
    expect_polynomial(of->formulation, sums[PUBLISHED][0], published[0]);
    expect_polynomial(of->formulation, sums[PUBLISHED][1], published[1]);
}

START_TEST(the_steps_of_each_formulation_add_up_to_its_operations) {
    static counted rows[] = {
        {"lagrange_euler", DYN_FORMULATION_RESULT_INVERSE_DYNAMICS, {0}, {0}, {0}, {0}},
        {"newton_euler", DYN_FORMULATION_RESULT_INVERSE_DYNAMICS, {0}, {0}, {0}, {0}},
        {"generalized_dalembert", DYN_FORMULATION_RESULT_INVERSE_DYNAMICS, {0}, {0}, {0}, {0}},
        {"screws", DYN_FORMULATION_RESULT_FORWARD_DYNAMICS, {0}, {0}, {0}, {0}},
        {"spatial_operator_algebra", DYN_FORMULATION_RESULT_FORWARD_DYNAMICS, {0}, {0}, {0}, {0}},
    };
    if (count_all(&rows[_i])) {
        expect_items(&rows[_i]);
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
    tcase_add_loop_test(tests, the_steps_of_each_formulation_add_up_to_its_operations, 0, 5);
    tcase_add_test(tests, long_chains_favour_the_world_frame_and_articulated_bodies);
    tcase_add_loop_test(tests, every_result_grows_by_the_power_of_the_literature, 0, dyn_formulation_count());
    tcase_set_timeout(tests, 60);
    return run_properties("formulation_counts", tests);
}
