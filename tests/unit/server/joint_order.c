/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests joint_order, which converts between the order of joints in a request and that of the model.
 */
#include "methods/joint_order.h"

#include "unit/server/support.h"

enum { JOINTS = 12, ROWS = 5 };

/* Draws a random order of the quadruped's joints. */
static void shuffle(random_source *random, int *order) {
    for (int i = 0; i < JOINTS; i++) {
        int j = random_index(random, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

static void name_joints(const dyn_model *model, const int *order, char **names) {
    for (int i = 0; i < JOINTS; i++) {
        names[i] = (char *)(uintptr_t)dyn_model_joint(model, order[i])->name;
    }
}

START_TEST(values_come_back_in_the_order_in_which_they_went) {
    random_source random = random_seed("values come back in the order in which they went", 3);
    model_entry *entry = load_robot("quadruped", "q");
    ck_assert_int_eq(dyn_model_joint_count(entry->model), JOINTS);
    for (int round = 0; round < 100; round++) {
        arena memory;
        int permutation[JOINTS] = {0};
        char *names[JOINTS];
        double caller[ROWS * JOINTS], model[ROWS * JOINTS], back[ROWS * JOINTS];
        joint_order order;
        size_t at;
        arena_init(&memory);
        arena_reset(&memory, 1 << 16);
        shuffle(&random, permutation);
        name_joints(entry->model, permutation, names);
        ck_assert_int_eq(joint_order_build(entry->model, &memory, JOINTS, names, &order, &at), JOINT_ORDER_OK);
        for (int i = 0; i < ROWS * JOINTS; i++) {
            caller[i] = i;
        }
        joint_order_to_model(order.q, JOINTS, ROWS, caller, model);
        joint_order_to_caller(order.v, JOINTS, ROWS, model, back);
        for (int i = 0; i < ROWS * JOINTS; i++) {
            ck_assert_double_eq(back[i], caller[i]);
            int column = dyn_model_joint(entry->model, permutation[i % JOINTS])->q_index;
            ck_assert_double_eq(model[i / JOINTS * JOINTS + column], caller[i]);
        }
        arena_free(&memory);
    }
    model_entry_release(entry);
}
END_TEST

START_TEST(no_names_stand_for_the_models_own_order) {
    model_entry *entry = load_robot("quadruped", "q");
    joint_order order;
    size_t at;
    ck_assert_int_eq(joint_order_build(entry->model, NULL, 0, NULL, &order, &at), JOINT_ORDER_OK);
    ck_assert(order.is_identity);
    model_entry_release(entry);
}
END_TEST

START_TEST(wrong_names_are_distinguished) {
    model_entry *entry = load_robot("quadruped", "q");
    int identity[JOINTS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    char *names[JOINTS], unknown[] = "tail";
    joint_order order;
    size_t at;
    arena memory;
    arena_init(&memory);
    arena_reset(&memory, 1 << 16);
    name_joints(entry->model, identity, names);
    names[7] = names[2];
    ck_assert_int_eq(joint_order_build(entry->model, &memory, JOINTS, names, &order, &at), JOINT_ORDER_REPEATED);
    ck_assert_uint_eq(at, 7);
    names[7] = unknown;
    ck_assert_int_eq(joint_order_build(entry->model, &memory, JOINTS, names, &order, &at), JOINT_ORDER_UNKNOWN);
    ck_assert_uint_eq(at, 7);
    name_joints(entry->model, identity, names);
    ck_assert_int_eq(joint_order_build(entry->model, &memory, JOINTS - 1, names, &order, &at), JOINT_ORDER_MISSING);
    ck_assert_uint_eq(at, JOINTS - 1);
    arena_reset(&memory, 16);
    ck_assert_int_eq(joint_order_build(entry->model, &memory, JOINTS, names, &order, &at), JOINT_ORDER_NO_MEMORY);
    arena_free(&memory);
    model_entry_release(entry);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("joint_order");
    tcase_add_test(tests, values_come_back_in_the_order_in_which_they_went);
    tcase_add_test(tests, no_names_stand_for_the_models_own_order);
    tcase_add_test(tests, wrong_names_are_distinguished);
    return run_tests(tests);
}
