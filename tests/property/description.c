/*
 * A model's description builds the model again: on random trees of every joint type.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { CASES = 300, MAX_JOINTS = 40 };

static dyn_model *random_model(random_source *random, int k) {
    random_tree_options options = {.joints = random_index(random, MAX_JOINTS),
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .mimic = k % 3 ? DYN_MIMIC_COUPLED : DYN_MIMIC_INDEPENDENT,
                                   .with_mimic = true,
                                   .with_fixed = true};
    return random_tree(random, &options);
}

static char *canonical(const dyn_model *model) {
    char *text;
    size_t length;
    dyn_error error;
    require(dyn_model_canonical(model, &error, &text, &length), &error);
    return text;
}

START_TEST(description_builds_an_equal_model) {
    random_source base = random_seed("build(describe(model)) = model", 20261201);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_model(&random, k), *again = NULL;
        dyn_builder *builder = NULL;
        dyn_build_options options = dyn_model_build_options(model);
        ck_assert_int_eq(options.base == DYN_BASE_FLOATING, dyn_model_is_floating(model));
        require(dyn_model_describe(model, &error, &builder), &error);
        require(dyn_builder_build(builder, &options, NULL, &error, &again), &error);
        ck_assert_str_eq(dyn_builder_name(builder), dyn_model_name(model));
        char *a = canonical(model), *b = canonical(again);
        ck_assert_str_eq(a, b);
        free(a), free(b);
        dyn_builder_free(builder);
        dyn_model_free(model), dyn_model_free(again);
    }
}
END_TEST

/* Every link, and every joint with its couplings, can be read and added to another builder. */
START_TEST(description_can_be_read_and_added_again) {
    random_source base = random_seed("descriptions are complete", 20261202);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_model(&random, k), *again = NULL;
        dyn_builder *builder = NULL, *copy = NULL;
        require(dyn_model_describe(model, &error, &builder), &error);
        require(dyn_builder_create(dyn_builder_name(builder), &error, &copy), &error);
        double gravity[3];
        dyn_builder_gravity(builder, gravity);
        require(dyn_builder_set_gravity(copy, gravity, &error), &error);
        ck_assert_int_eq(dyn_builder_link_count(builder), dyn_model_link_count(model));
        for (int i = 0; i < dyn_builder_link_count(builder); i++) {
            require(dyn_builder_add_link(copy, dyn_builder_link(builder, i), &error), &error);
        }
        for (int j = 0; j < dyn_builder_joint_count(builder); j++) {
            require(dyn_builder_add_joint(copy, dyn_builder_joint(builder, j), &error), &error);
            ck_assert_int_eq(dyn_builder_joint(builder, j)->line, 0);
        }
        ck_assert_ptr_null(dyn_builder_link(builder, -1));
        ck_assert_ptr_null(dyn_builder_joint(builder, dyn_builder_joint_count(builder)));
        dyn_build_options options = dyn_model_build_options(model);
        require(dyn_builder_build(copy, &options, NULL, &error, &again), &error);
        ck_assert_int_eq(dyn_model_nq(again), dyn_model_nq(model));
        ck_assert_int_eq(dyn_model_joint_count(again), dyn_model_joint_count(model));
        ck_assert_double_eq(dyn_model_mass(again), dyn_model_mass(model));
        dyn_builder_free(builder), dyn_builder_free(copy);
        dyn_model_free(model), dyn_model_free(again);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("description");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, description_builds_an_equal_model);
    tcase_add_test(tests, description_can_be_read_and_added_again);
    return run_properties("description", tests);
}
