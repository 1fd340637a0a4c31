/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the operations on models, such as attach, detach, lock and merge: their refusals and error messages, and their
 * effect on names, couplings and limits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "robots.h"

/* Builds a robot with a fixed tool, a coupled finger and a branch:
 *     base -shoulder- upper -elbow- fore -flange(fixed)- tool -finger(mimics elbow)- tip
 *                     upper -wing(prismatic)- side -ball(spherical)- end */
static dyn_model *arm(dyn_base base, dyn_mimic_policy mimic) {
    static const char *const links[] = {"base", "upper", "fore", "tool", "tip", "side", "end"};
    dyn_builder *builder = new_builder();
    for (int i = 0; i < COUNT(links); i++) {
        add_link(builder, links[i]);
    }
    const double gravity[3] = {0, 1, -3};
    ck_assert_int_eq(dyn_builder_set_gravity(builder, gravity, NULL), DYN_OK);
    connect_links(builder, "shoulder", DYN_JOINT_TYPE_REVOLUTE, "base", "upper");
    dyn_joint_description elbow = joint_between("elbow", DYN_JOINT_TYPE_REVOLUTE, "upper", "fore");
    elbow.has_limits = true;
    elbow.limits = (dyn_joint_limits){-1, 2, 3, 4};
    elbow.damping = 0.5;
    elbow.position[0] = 1;
    add_joint(builder, &elbow);
    connect_links(builder, "flange", DYN_JOINT_TYPE_FIXED, "fore", "tool");
    dyn_joint_description finger = joint_between("finger", DYN_JOINT_TYPE_REVOLUTE, "tool", "tip");
    finger.mimic_joint = "elbow";
    finger.mimic_multiplier = 2;
    finger.mimic_offset = 0.25;
    add_joint(builder, &finger);
    connect_links(builder, "wing", DYN_JOINT_TYPE_PRISMATIC, "upper", "side");
    connect_links(builder, "ball", DYN_JOINT_TYPE_SPHERICAL, "side", "end");
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = base, .mimic = mimic);
    return build_model(builder, &options, NULL);
}

static const dyn_inertia box = {.mass = 2, .rotational = {0.1, 0, 0, 0.1, 0, 0.1}};

/* Returns *result. Fails the test if the operation has failed. */
static dyn_model *built(dyn_status status, const dyn_error *error, dyn_model **result) {
    ck_assert_msg(status == DYN_OK, "%s: %s", error->place, error->message);
    return *result;
}

/* Operation with one argument that is the name of a link. */
typedef dyn_status (*operation)(const dyn_model *model, const char *link, dyn_model **result, dyn_error *error);

static dyn_status attach(const dyn_model *model, const char *link, dyn_model **result, dyn_error *error) {
    return dyn_model_attach(model, link, "new", &box, NULL, result, error);
}

static dyn_status change_inertia(const dyn_model *model, const char *link, dyn_model **result, dyn_error *error) {
    return dyn_model_change_inertia(model, link, &box, result, error);
}

static dyn_status merge(const dyn_model *model, const char *link, dyn_model **result, dyn_error *error) {
    return dyn_model_merge(model, link, NULL, model, "second_", result, error);
}

static dyn_status change_base(const dyn_model *model, const char *link, dyn_model **result, dyn_error *error) {
    return dyn_model_change_base(model, link, DYN_BASE_FIXED, result, error);
}

static dyn_status subtree(const dyn_model *model, const char *link, dyn_model **result, dyn_error *error) {
    return dyn_model_subtree(model, link, DYN_BASE_FIXED, result, error);
}

static dyn_status chain_from(const dyn_model *model, const char *link, dyn_model **result, dyn_error *error) {
    return dyn_model_chain(model, link, "base", DYN_BASE_FIXED, result, error);
}

static dyn_status chain_to(const dyn_model *model, const char *link, dyn_model **result, dyn_error *error) {
    return dyn_model_chain(model, "base", link, DYN_BASE_FIXED, result, error);
}

static const operation operations[] = {attach,      change_inertia, merge,      dyn_model_detach,
                                       change_base, subtree,        chain_from, chain_to};

START_TEST(unknown_links_are_named) {
    dyn_model *model = arm(DYN_BASE_FIXED, DYN_MIMIC_POLICY_COUPLED), *result;
    dyn_error error;
    expect_error(operations[_i](model, "wrist", &result, &error), &error, DYN_NOT_FOUND, "link wrist", "robot test");
    ck_assert_ptr_null(result);
    expect_error(operations[_i](model, NULL, &result, &error), &error, DYN_NOT_FOUND, "link", "no link");
    ck_assert_ptr_null(result);
    dyn_model_free(model);
}
END_TEST

/* Checks that an operation leaves its source unchanged, and that the result has the gravity of the source. */
START_TEST(source_stays_as_it_is) {
    dyn_model *model = arm(DYN_BASE_FLOATING, DYN_MIMIC_POLICY_COUPLED), *result = NULL;
    char *before, *after;
    size_t length;
    dyn_error error;
    ck_assert_int_eq(dyn_model_canonical(model, &before, &length, NULL), DYN_OK);
    double gravity[3];
    dyn_model *made = built(operations[_i](model, "side", &result, &error), &error, &result);
    dyn_model_gravity(result, gravity);
    ck_assert_double_eq(gravity[1], 1);
    ck_assert_double_eq(gravity[2], -3);
    dyn_model_free(made);
    ck_assert_int_eq(dyn_model_canonical(model, &after, &length, NULL), DYN_OK);
    ck_assert_str_eq(before, after);
    dyn_text_free(before), dyn_text_free(after);
    dyn_model_free(model);
}
END_TEST

START_TEST(bad_payloads_are_refused) {
    dyn_model *model = arm(DYN_BASE_FIXED, DYN_MIMIC_POLICY_COUPLED), *result;
    dyn_error error;
    const dyn_inertia negative = {.mass = -1}, none = {.mass = 1, .rotational = {-99, 0, 0, -99, 0, -99}};
    const dyn_pose skewed = {.rotation = {1, 1, 0, 0, 1, 0, 0, 0, 1}};
    expect_error(dyn_model_attach(model, "tip", "load", &negative, NULL, &result, &error), &error, DYN_INVALID_ARGUMENT,
                 "link load", "mass is -1");
    expect_error(dyn_model_attach(model, "tip", "load", &none, NULL, &result, &error), &error, DYN_INVALID_ARGUMENT,
                 "link load", "this is no inertia");
    expect_error(dyn_model_attach(model, "tip", "tool", &box, NULL, &result, &error), &error, DYN_INVALID_ARGUMENT,
                 "link tool", "two links");
    expect_error(dyn_model_attach(model, "tip", "load", &box, &skewed, &result, &error), &error, DYN_INVALID_ARGUMENT,
                 "joint load:fixed", "rotation");
    expect_error(dyn_model_attach(model, "tip", NULL, &box, NULL, &result, &error), &error, DYN_INVALID_ARGUMENT,
                 "link", "name");
    expect_error(dyn_model_change_inertia(model, "tip", &negative, &result, &error), &error, DYN_INVALID_ARGUMENT,
                 "link tip", "mass is -1");
    ck_assert_ptr_null(result);
    dyn_model_free(model);
}
END_TEST

START_TEST(bad_payloads_of_a_workspace_are_refused) {
    dyn_model *model = arm(DYN_BASE_FIXED, DYN_MIMIC_POLICY_COUPLED);
    dyn_workspace *workspace, *other;
    const dyn_model *loaded;
    dyn_error error;
    ck_assert_int_eq(dyn_workspace_create(model, &workspace, &error), DYN_OK);
    ck_assert_int_eq(dyn_workspace_create(model, &other, &error), DYN_OK);
    double q[16], M[256];
    int tip, nv = dyn_model_nv(model);
    ck_assert_int_eq(dyn_model_find_frame(model, "tip", &tip, &error), DYN_OK);
    dyn_payload payloads[2] = {{.link = tip, .inertia = box}, {.link = 7, .inertia = box}};
    expect_error(dyn_workspace_load(workspace, 2, payloads, &loaded, &error), &error, DYN_NOT_FOUND, "payloads[1].link",
                 "no link 7");
    payloads[1].link = tip;
    payloads[1].inertia.mass = -1;
    expect_error(dyn_workspace_load(workspace, 2, payloads, &loaded, &error), &error, DYN_INVALID_ARGUMENT,
                 "payloads[1].inertia", "link tip: the mass is -1");
    payloads[1].inertia = (dyn_inertia){.mass = 1, .rotational = {1, 0, 0, 1, 0, 3}};
    expect_error(dyn_workspace_load(workspace, 2, payloads, &loaded, &error), &error, DYN_INVALID_ARGUMENT,
                 "payloads[1].inertia", "above the sum");

    /* A loaded model belongs to its own workspace alone. */
    ck_assert_int_eq(dyn_workspace_load(workspace, 1, payloads, &loaded, &error), DYN_OK);
    dyn_zero_configuration(model, q);
    ck_assert_int_le(nv * nv, 256);
    ck_assert_int_eq(dyn_crba(loaded, workspace, 1, q, M, &error), DYN_OK);
    expect_error(dyn_crba(loaded, other, 1, q, M, &error), &error, DYN_INVALID_ARGUMENT, "workspace", "another model");
    ck_assert_double_eq(dyn_model_mass(loaded), dyn_model_mass(model) + 2);
    dyn_workspace_free(workspace), dyn_workspace_free(other);
    dyn_model_free(model);
}
END_TEST

/* Checks that a mimic joint cannot be separated from the joint that it follows. */
START_TEST(couplings_are_not_torn_apart) {
    dyn_model *model = arm(DYN_BASE_FIXED, DYN_MIMIC_POLICY_COUPLED), *result;
    const char *finger = "finger", *elbow = "elbow";
    dyn_error error;
    expect_error(dyn_model_subtree(model, "tool", DYN_BASE_FIXED, &result, &error), &error, DYN_INVALID_ARGUMENT,
                 "joint finger", "follows joint \"elbow\"");
    expect_error(dyn_model_lock(model, 1, &finger, NULL, &result, &error), &error, DYN_INVALID_ARGUMENT, "joint finger",
                 "follows joint \"elbow\"; lock that one");
    ck_assert_ptr_null(result);

    /* Locking the elbow locks the finger too, at multiplier times the elbow's angle plus the offset. */
    double q[16];
    dyn_zero_configuration(model, q);
    q[dyn_model_joint(model, dyn_model_find_joint(model, "elbow"))->q_index] = 0.5;
    dyn_model *locked = built(dyn_model_lock(model, 1, &elbow, q, &result, &error), &error, &result);
    ck_assert_int_lt(dyn_model_find_joint(locked, "finger"), 0);
    ck_assert_int_eq(dyn_model_nq(locked), dyn_model_nq(model) - 1);
    int tip;
    ck_assert_int_eq(dyn_model_find_frame(locked, "tip", &tip, &error), DYN_OK);
    ck_assert_double_eq_tol(dyn_model_link(locked, tip)->pose.rotation[0], cos(0.5 + 2 * 0.5 + 0.25), 1e-15);
    dyn_model *free_tool = built(dyn_model_subtree(locked, "tool", DYN_BASE_FIXED, &result, &error), &error, &result);
    dyn_model_free(free_tool), dyn_model_free(locked), dyn_model_free(model);
}
END_TEST

/* Checks a chain of mimic joints whose middle one, y, is removed: x then follows z, q_x = 2 (3 q_z + 0.5) + 0.25. */
START_TEST(couplings_are_composed_where_the_link_between_goes) {
    dyn_builder *builder = new_builder();
    add_link(builder, "base"), add_link(builder, "a"), add_link(builder, "b"), add_link(builder, "c");
    connect_links(builder, "z", DYN_JOINT_TYPE_REVOLUTE, "base", "a");
    dyn_joint_description y = joint_between("y", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    y.mimic_joint = "z", y.mimic_multiplier = 3, y.mimic_offset = 0.5;
    add_joint(builder, &y);
    dyn_joint_description x = joint_between("x", DYN_JOINT_TYPE_REVOLUTE, "a", "c");
    x.mimic_joint = "y", x.mimic_multiplier = 2, x.mimic_offset = 0.25;
    add_joint(builder, &x);
    dyn_model *model = build_model(builder, NULL, NULL), *result;
    dyn_error error;
    dyn_model *rest = built(dyn_model_detach(model, "b", &result, &error), &error, &result);
    const dyn_joint *joint = dyn_model_joint(rest, dyn_model_find_joint(rest, "x"));
    ck_assert_str_eq(dyn_model_joint(rest, joint->master)->name, "z");
    ck_assert_double_eq(joint->multiplier, 6);
    ck_assert_double_eq(joint->offset, 1.25);
    dyn_model_free(rest), dyn_model_free(model);
}
END_TEST

/* Checks that mimic joints can be separated if the model was built with independent mimic joints. */
START_TEST(independent_joints_come_apart) {
    dyn_model *model = arm(DYN_BASE_FIXED, DYN_MIMIC_POLICY_INDEPENDENT), *result;
    const char *elbow = "elbow";
    dyn_error error;
    dyn_model *tool = built(dyn_model_subtree(model, "tool", DYN_BASE_FIXED, &result, &error), &error, &result);
    ck_assert_int_eq(dyn_model_nq(tool), 1);
    dyn_model *locked = built(dyn_model_lock(model, 1, &elbow, NULL, &result, &error), &error, &result);
    ck_assert_int_ge(dyn_model_find_joint(locked, "finger"), 0);
    ck_assert(!dyn_model_has_coupling(locked));
    dyn_model_free(tool), dyn_model_free(locked), dyn_model_free(model);
}
END_TEST

START_TEST(limits_and_damping_survive) {
    dyn_model *model = arm(DYN_BASE_FIXED, DYN_MIMIC_POLICY_COUPLED), *result;
    dyn_error error;
    dyn_model *turned = built(dyn_model_change_base(model, "tip", DYN_BASE_FLOATING, &result, &error), &error, &result);
    const dyn_joint *elbow = dyn_model_joint(turned, dyn_model_find_joint(turned, "elbow"));
    ck_assert(elbow->has_limits);
    ck_assert_double_eq(elbow->limits.lower, -1);
    ck_assert_double_eq(elbow->limits.upper, 2);
    ck_assert_double_eq(elbow->damping, 0.5);
    ck_assert_double_eq(elbow->axis[2], -1);
    const dyn_joint *finger = dyn_model_joint(turned, dyn_model_find_joint(turned, "finger"));
    ck_assert_str_eq(dyn_model_joint(turned, finger->master)->name, "elbow");
    ck_assert_double_eq(finger->multiplier, 2);
    dyn_model_free(turned), dyn_model_free(model);
}
END_TEST

START_TEST(bad_locks_are_named) {
    dyn_model *model = arm(DYN_BASE_FIXED, DYN_MIMIC_POLICY_COUPLED), *result;
    const char *ball = "ball", *flange = "flange", *shoulder = "shoulder";
    double q[16];
    dyn_error error;
    dyn_zero_configuration(model, q);
    expect_error(dyn_model_lock(model, 1, &flange, q, &result, &error), &error, DYN_NOT_FOUND, "joint flange",
                 "no moving joint");
    q[0] = NAN;
    expect_error(dyn_model_lock(model, 1, &shoulder, q, &result, &error), &error, DYN_INVALID_ARGUMENT, "q[0]",
                 "joint shoulder");
    const dyn_joint *joint = dyn_model_joint(model, dyn_model_find_joint(model, "ball"));
    q[joint->q_index + 3] = 2;
    expect_error(dyn_model_lock(model, 1, &ball, q, &result, &error), &error, DYN_INVALID_ARGUMENT, "q[3]", "norm 2");
    q[joint->q_index + 3] = 1; /* values of joints that are not locked are not read */
    dyn_model_free(built(dyn_model_lock(model, 1, &ball, q, &result, &error), &error, &result));
    dyn_model_free(model);
}
END_TEST

static void expect_site(const dyn_error *error, const char *argument, dyn_element_kind kind) {
    ck_assert_ptr_nonnull(error->site.argument);
    ck_assert_str_eq(error->site.argument, argument);
    ck_assert_int_eq(error->site.element.kind, kind);
}

/* Checks the fields of error.site, which name the argument and its element. */
START_TEST(errors_of_operations_name_the_argument) {
    dyn_model *model = arm(DYN_BASE_FIXED, DYN_MIMIC_POLICY_COUPLED), *result;
    const char *const joints[] = {"shoulder", "finger"}, *const unknown[] = {"shoulder", "elbow", "nothing"};
    const dyn_inertia none = {0}, negative = {.mass = -1};
    dyn_error error;
    ck_assert_int_eq(dyn_model_lock(model, 2, joints, NULL, &result, &error), DYN_INVALID_ARGUMENT);
    expect_site(&error, "joints", DYN_ELEMENT_KIND_JOINT);
    ck_assert(error.site.has_item && error.site.item == 1);
    ck_assert_int_eq(dyn_model_lock(model, 3, unknown, NULL, &result, &error), DYN_NOT_FOUND);
    expect_site(&error, "joints", DYN_ELEMENT_KIND_JOINT);
    ck_assert(error.site.has_item && error.site.item == 2 && error.site.cause == DYN_CAUSE_JOINT);
    ck_assert_int_eq(dyn_model_chain(model, "nothing", "fore", DYN_BASE_FIXED, &result, &error), DYN_NOT_FOUND);
    expect_site(&error, "first", DYN_ELEMENT_KIND_LINK);
    ck_assert_int_eq(dyn_model_chain(model, "fore", "nothing", DYN_BASE_FIXED, &result, &error), DYN_NOT_FOUND);
    expect_site(&error, "last", DYN_ELEMENT_KIND_LINK);
    ck_assert_int_eq(dyn_model_attach(model, "nothing", "box", &none, NULL, &result, &error), DYN_NOT_FOUND);
    expect_site(&error, "link", DYN_ELEMENT_KIND_LINK);
    ck_assert_int_eq(dyn_model_attach(model, "tip", "tip", &none, NULL, &result, &error), DYN_INVALID_ARGUMENT);
    expect_site(&error, "name", DYN_ELEMENT_KIND_LINK);
    ck_assert_int_eq(dyn_model_attach(model, "tip", "box", &negative, NULL, &result, &error), DYN_INVALID_ARGUMENT);
    expect_site(&error, "inertia", DYN_ELEMENT_KIND_LINK);
    ck_assert_int_eq(dyn_model_change_inertia(model, "tip", &negative, &result, &error), DYN_INVALID_ARGUMENT);
    expect_site(&error, "inertia", DYN_ELEMENT_KIND_LINK);
    ck_assert_int_eq(dyn_model_detach(model, "base", &result, &error), DYN_INVALID_ARGUMENT);
    expect_site(&error, "link", DYN_ELEMENT_KIND_LINK);
    ck_assert_int_eq(dyn_model_merge(model, "tip", NULL, model, NULL, &result, &error), DYN_INVALID_ARGUMENT);
    expect_site(&error, "prefix", DYN_ELEMENT_KIND_LINK);
    dyn_model_free(model);
}
END_TEST

/* Checks that locking a floating base fixes it to a new link "world", and that the base can float again. */
START_TEST(floating_base_can_be_locked_and_freed) {
    dyn_model *model = arm(DYN_BASE_FLOATING, DYN_MIMIC_POLICY_COUPLED), *result;
    const char *root = "root_joint";
    double q[32];
    dyn_error error;
    dyn_zero_configuration(model, q);
    q[0] = 1, q[1] = 2, q[2] = 3, q[3] = 1, q[6] = 0;
    dyn_model *locked = built(dyn_model_lock(model, 1, &root, q, &result, &error), &error, &result);
    ck_assert(!dyn_model_is_floating(locked));
    int base, world;
    ck_assert_int_eq(dyn_model_find_frame(locked, "world", &world, &error), DYN_OK);
    ck_assert_int_eq(world, 0);
    ck_assert_int_eq(dyn_model_find_frame(locked, "base", &base, &error), DYN_OK);
    const dyn_pose *pose = &dyn_model_link(locked, base)->pose;
    ck_assert_double_eq(pose->position[2], 3);
    ck_assert_double_eq_tol(pose->rotation[4], -1, 1e-15);
    dyn_model *freed =
        built(dyn_model_change_base(locked, "base", DYN_BASE_FLOATING, &result, &error), &error, &result);
    ck_assert_int_eq(dyn_model_nq(freed), dyn_model_nq(model));
    ck_assert_double_eq(dyn_model_mass(freed), dyn_model_mass(model));
    dyn_model_free(freed), dyn_model_free(locked), dyn_model_free(model);
}
END_TEST

START_TEST(root_cannot_be_detached_and_names_may_not_clash) {
    dyn_model *model = arm(DYN_BASE_FIXED, DYN_MIMIC_POLICY_COUPLED), *result;
    dyn_error error;
    expect_error(dyn_model_detach(model, "base", &result, &error), &error, DYN_INVALID_ARGUMENT, "link base",
                 "the root");
    expect_error(dyn_model_merge(model, "tip", NULL, model, NULL, &result, &error), &error, DYN_INVALID_ARGUMENT,
                 "link base", "two links");
    expect_error(dyn_model_change_base(model, "base", (dyn_base)5, &result, &error), &error, DYN_INVALID_ARGUMENT,
                 "base", "5");
    char prefix[400];
    memset(prefix, 'x', sizeof prefix);
    prefix[sizeof prefix - 1] = '\0';
    ck_assert_int_eq(dyn_model_merge(model, "tip", NULL, model, prefix, &result, &error), DYN_RESOURCE_EXHAUSTED);
    ck_assert_ptr_null(result);
    dyn_model_free(model);
}
END_TEST

/* Checks that a chain includes the links that are fixed to its own links, and no branches that move. */
START_TEST(chain_includes_the_bodies_fixed_to_it) {
    dyn_model *model = arm(DYN_BASE_FIXED, DYN_MIMIC_POLICY_COUPLED), *result;
    dyn_error error;
    int frame;
    dyn_model *chain = built(dyn_model_chain(model, "side", "fore", DYN_BASE_FIXED, &result, &error), &error, &result);
    ck_assert_int_eq(dyn_model_joint_count(chain), 2);
    ck_assert_str_eq(dyn_model_joint(chain, 0)->name, "wing");
    ck_assert_str_eq(dyn_model_joint(chain, 1)->name, "elbow");
    ck_assert_int_eq(dyn_model_find_frame(chain, "tool", &frame, &error), DYN_OK);
    ck_assert_int_eq(dyn_model_find_frame(chain, "tip", &frame, &error), DYN_NOT_FOUND);
    ck_assert_int_eq(dyn_model_find_frame(chain, "end", &frame, &error), DYN_NOT_FOUND);
    dyn_model_free(chain), dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("operations");
    tcase_add_test(tests, errors_of_operations_name_the_argument);
    tcase_add_loop_test(tests, unknown_links_are_named, 0, COUNT(operations));
    tcase_add_loop_test(tests, source_stays_as_it_is, 0, COUNT(operations));
    tcase_add_test(tests, bad_payloads_are_refused);
    tcase_add_test(tests, bad_payloads_of_a_workspace_are_refused);
    tcase_add_test(tests, couplings_are_not_torn_apart);
    tcase_add_test(tests, couplings_are_composed_where_the_link_between_goes);
    tcase_add_test(tests, independent_joints_come_apart);
    tcase_add_test(tests, limits_and_damping_survive);
    tcase_add_test(tests, bad_locks_are_named);
    tcase_add_test(tests, floating_base_can_be_locked_and_freed);
    tcase_add_test(tests, root_cannot_be_detached_and_names_may_not_clash);
    tcase_add_test(tests, chain_includes_the_bodies_fixed_to_it);
    return run_tests(tests);
}
