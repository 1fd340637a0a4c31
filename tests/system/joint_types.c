/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that a joint of two kinds of motion equals two simple joints with a massless link between them, in every
 * quantity that the daemon computes: a helical one is a revolute joint and a prismatic one that mimics it, a
 * cylindrical one a revolute and a prismatic one, a universal one two revolute ones. A helical joint is also a custom
 * one that rotates and translates by polynomials of its coordinate.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/client_fixture.h"
#include "system/wire_quantities.h"
#include "system/runner.h"

enum { TREES = 30, NAME_SIZE = 64 };

static dyn_client_error error;

/* Description whose joints of two motions are split into two joints each. */
typedef struct split_robot {
    dyn_client_model_description form;
    dyn_client_link *links;
    dyn_client_joint *joints;
    char (*names)[NAME_SIZE]; /* of links between, and of second joints */
} split_robot;

/* Splits a joint into two with the link `link` between them; the second one, `name`, carries the child link. */
static void split_joint(const dyn_client_joint *from, char *link, char *name, dyn_client_joint *first,
                        dyn_client_joint *second) {
    snprintf(link, NAME_SIZE, "%s between", from->name);
    snprintf(name, NAME_SIZE, "%s second", from->name);
    *first = *from;
    first->type = DYN_CLIENT_JOINT_TYPE_CONTINUOUS;
    first->child_link = link;
    first->has_limits = false;
    *second = (dyn_client_joint){
        .name = name, .type = DYN_CLIENT_JOINT_TYPE_PRISMATIC, .parent_link = link, .child_link = from->child_link};
    memcpy(second->axis, from->axis, sizeof second->axis);
    if (from->type == DYN_CLIENT_JOINT_TYPE_HELICAL) {
        second->mimic_joint = from->name;
        second->mimic_multiplier = &from->pitch;
    } else if (from->type == DYN_CLIENT_JOINT_TYPE_UNIVERSAL) {
        second->type = DYN_CLIENT_JOINT_TYPE_CONTINUOUS;
        memcpy(second->axis, from->second_axis, sizeof second->axis);
    }
}

static bool has_two_motions(dyn_client_joint_type type) {
    return type == DYN_CLIENT_JOINT_TYPE_HELICAL || type == DYN_CLIENT_JOINT_TYPE_CYLINDRICAL ||
           type == DYN_CLIENT_JOINT_TYPE_UNIVERSAL;
}

/* Splits the joints of a description that have two motions; returns their number. */
static size_t split(const dyn_client_model_description *from, split_robot *made) {
    size_t links = from->link_count, joints = 0, count = 0;
    made->links = calloc(2 * from->link_count, sizeof *made->links);
    made->joints = calloc(2 * from->joint_count + 1, sizeof *made->joints);
    made->names = calloc(2 * from->joint_count + 1, sizeof *made->names);
    memcpy(made->links, from->links, links * sizeof *made->links);
    for (size_t j = 0; j < from->joint_count; j++) {
        made->joints[joints++] = from->joints[j];
        if (!has_two_motions(from->joints[j].type)) {
            continue;
        }
        char *link = made->names[2 * count], *name = made->names[2 * count + 1];
        split_joint(&from->joints[j], link, name, &made->joints[joints - 1], &made->joints[joints]);
        made->links[links++] = (dyn_client_link){.name = link};
        joints++;
        count++;
    }
    made->form = *from;
    made->form.link_count = links;
    made->form.links = made->links;
    made->form.joint_count = joints;
    made->form.joints = made->joints;
    return count;
}

/* Loads the tree a second time under the name "apart", with its joints split; returns the number of split joints. */
static size_t load_apart(const wire_tree *tree) {
    split_robot apart;
    dyn_client_loaded_model *loaded;
    dyn_client_model_description *form = wire_description(tree->model);
    size_t count = split(form, &apart);
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.description = &apart.form, .name = "apart", .replace = true);
    wire_require(dyn_client_load_model(client, &request, &loaded, &error), &error);
    ck_assert_uint_eq(loaded->model.nq, tree->query.nq);
    ck_assert_uint_eq(loaded->model.nv, tree->query.nv);
    dyn_client_loaded_model_free(loaded);
    free(apart.links), free(apart.joints), free(apart.names);
    wire_description_free(form);
    return count;
}

START_TEST(joints_of_two_motions_are_two_joints) {
    random_source base = random_seed("joints taken apart", 20261128);
    size_t taken = 0;
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        const random_tree_options options = {.joints = 2 + random_index(&random, 8),
                                             .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                             .with_mimic = k % 3 != 0,
                                             .with_fixed = k % 4 == 0};
        wire_tree tree;
        wire_tree_open(client, &random, &options, "tree", &tree);
        if (tree.query.nv > 0) {
            taken += load_apart(&tree);
            dyn_client_evaluation *whole = wire_evaluate(&tree, "tree", 0, NULL);
            dyn_client_evaluation *apart = wire_evaluate(&tree, "apart", 0, NULL);
            wire_compare(k, apart, whole, whole);
            dyn_client_evaluation_free(apart);
            dyn_client_evaluation_free(whole);
        }
        wire_tree_close(&tree);
    }
    ck_assert_uint_ge(taken, TREES);
}
END_TEST

/* Loads the tree a second time under the name "custom", with custom joints for its helical ones; returns their
 * number. */
static size_t load_custom(const wire_tree *tree) {
    static const double turn[2] = {0, 1};
    dyn_client_model_description *form = wire_description(tree->model), changed = *form;
    dyn_client_joint *joints = calloc(form->joint_count + 1, sizeof *joints);
    dyn_client_joint_motion *motions = calloc(2 * form->joint_count + 1, sizeof *motions);
    double(*advance)[2] = calloc(form->joint_count + 1, sizeof *advance);
    dyn_client_loaded_model *loaded;
    size_t count = 0;
    for (size_t j = 0; j < form->joint_count; j++) {
        dyn_client_joint_motion *own = &motions[2 * j];
        joints[j] = form->joints[j];
        if (joints[j].type != DYN_CLIENT_JOINT_TYPE_HELICAL) {
            continue;
        }
        advance[j][1] = joints[j].pitch;
        own[0] = (dyn_client_joint_motion){
            .kind = DYN_CLIENT_JOINT_MOTION_KIND_ROTATION, .coefficient_count = 2, .coefficients = turn};
        own[1] = (dyn_client_joint_motion){
            .kind = DYN_CLIENT_JOINT_MOTION_KIND_TRANSLATION, .coefficient_count = 2, .coefficients = advance[j]};
        memcpy(own[0].axis, joints[j].axis, sizeof own[0].axis);
        memcpy(own[1].axis, joints[j].axis, sizeof own[1].axis);
        joints[j].type = DYN_CLIENT_JOINT_TYPE_CUSTOM;
        joints[j].motion_count = 2;
        joints[j].motions = own;
        count++;
    }
    changed.joints = joints;
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.description = &changed, .name = "custom", .replace = true);
    wire_require(dyn_client_load_model(client, &request, &loaded, &error), &error);
    dyn_client_loaded_model_free(loaded);
    free(joints), free(motions), free(advance);
    wire_description_free(form);
    return count;
}

START_TEST(helical_joints_are_custom_joints) {
    random_source base = random_seed("helical joints as custom ones", 20261129);
    size_t replaced = 0;
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        const random_tree_options options = {.joints = 2 + random_index(&random, 8),
                                             .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                             .with_mimic = k % 3 != 0,
                                             .with_fixed = k % 4 == 0};
        wire_tree tree;
        wire_tree_open(client, &random, &options, "tree", &tree);
        if (tree.query.nv > 0) {
            replaced += load_custom(&tree);
            dyn_client_evaluation *helical = wire_evaluate_first_order(&tree, "tree");
            dyn_client_evaluation *custom = wire_evaluate_first_order(&tree, "custom");
            wire_compare(k, custom, helical, helical);
            dyn_client_evaluation_free(custom);
            dyn_client_evaluation_free(helical);
        }
        wire_tree_close(&tree);
    }
    ck_assert_uint_ge(replaced, TREES / 3);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("joint_types");
    tcase_set_timeout(all, 120);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_test(all, joints_of_two_motions_are_two_joints);
    tcase_add_test(all, helical_joints_are_custom_joints);
    return run_unforked("joint_types", all);
}
