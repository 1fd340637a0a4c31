/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests custom joints over the wire: a leg with a rolling and sliding knee is loaded, described, exported, computed,
 * simulated and changed, and bad motions are refused with the fields of their members.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/assertions.h"
#include "support/knee.h"
#include "system/client_fixture.h"
#include "system/runner.h"
#include "system/wire_tree.h"

enum { NV = 3, LINKS = 4 };

static dyn_client_error error;

static const double q[NV] = {0.3, -0.9, 0.2}, v[NV] = {1.1, -2.3, 0.7}, a[NV] = {-3, 5, 2};

/* Description of the leg, whose motions a test may change. */
typedef struct leg {
    dyn_client_link links[LINKS];
    dyn_client_joint joints[NV];
    dyn_client_joint_motion motions[KNEE_MOTIONS];
    double gravity[3];
    dyn_client_model_description form;
} leg;

static dyn_client_joint_motion motion_form(const dyn_joint_motion *from) {
    const dyn_joint_function *f = &from->function;
    bool turns = from->kind == DYN_JOINT_MOTION_KIND_ROTATION, is_polynomial = f->kind == DYN_FUNCTION_KIND_POLYNOMIAL;
    dyn_client_joint_motion to = {.kind = turns ? DYN_CLIENT_JOINT_MOTION_KIND_ROTATION
                                                : DYN_CLIENT_JOINT_MOTION_KIND_TRANSLATION};
    memcpy(to.axis, from->axis, sizeof to.axis);
    to.coefficient_count = is_polynomial ? (size_t)f->count : 0;
    to.coefficients = is_polynomial ? f->coefficients : NULL;
    to.knot_count = is_polynomial ? 0 : (size_t)f->count;
    to.knots = is_polynomial ? NULL : f->knots;
    to.values = is_polynomial ? NULL : f->values;
    return to;
}

static void describe_leg(leg *l) {
    static const char *const links[LINKS] = {"pelvis", "thigh", "shank", "foot"};
    static const char *const joints[NV] = {"hip", "knee", "ankle"};
    static const double masses[LINKS] = {0, 9.3, 3.7, 1.2}, moments[LINKS] = {0, 0.14, 0.05, 0.004};
    *l = (leg){.gravity = {0, -9.81, 0}};
    for (int i = 0; i < LINKS; i++) {
        l->links[i] = (dyn_client_link){
            .name = links[i],
            .inertia = {masses[i], {0, i == 0 ? 0 : -0.15, 0}, {moments[i], 0, 0, moments[i], 0, moments[i]}}};
    }
    for (int k = 0; k < KNEE_MOTIONS; k++) {
        l->motions[k] = motion_form(&knee_motions[k]);
    }
    for (int j = 0; j < NV; j++) {
        l->joints[j] = (dyn_client_joint){.name = joints[j],
                                          .type = DYN_CLIENT_JOINT_TYPE_CONTINUOUS,
                                          .parent_link = links[j],
                                          .child_link = links[j + 1],
                                          .axis = {0, 0, 1}};
    }
    l->joints[1].type = DYN_CLIENT_JOINT_TYPE_CUSTOM;
    l->joints[1].motion_count = KNEE_MOTIONS;
    l->joints[1].motions = l->motions;
    l->joints[2].origin.position[1] = -0.43;
    l->form = (dyn_client_model_description)DYN_CLIENT_MODEL_DESCRIPTION_INIT(.name = "leg", .gravity = l->gravity,
                                                                              .link_count = LINKS, .links = l->links,
                                                                              .joint_count = NV, .joints = l->joints);
}

/* Loads a description under a name; `digest` receives that of the model. */
static void load(const dyn_client_model_description *form, const char *name, char digest[80]) {
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.description = form, .name = name, .replace = true);
    dyn_client_loaded_model *loaded;
    wire_require(dyn_client_load_model(client, &request, &loaded, &error), &error);
    ck_assert_uint_eq(loaded->model.nv, NV);
    strcpy(digest, loaded->model.digest);
    dyn_client_loaded_model_free(loaded);
}

static dyn_client_query load_leg(void) {
    leg l;
    char digest[80];
    describe_leg(&l);
    load(&l.form, "leg", digest);
    return (dyn_client_query)DYN_CLIENT_QUERY_INIT(.model = "leg", .nq = NV, .nv = NV, .samples = 1);
}

START_TEST(description_and_export_hold_the_motions) {
    leg l;
    char digest[2][80];
    dyn_client_description *robot;
    dyn_client_exported_model *exported;
    describe_leg(&l);
    load(&l.form, "leg", digest[0]);
    wire_require(dyn_client_describe_model(client, "leg", 0, &robot, &error), &error);
    const dyn_client_joint *knee = &robot->joints[1];
    ck_assert_int_eq(knee->type, DYN_CLIENT_JOINT_TYPE_CUSTOM);
    ck_assert_str_eq(dyn_client_joint_type_name(knee->type), "custom");
    ck_assert_uint_eq(knee->motion_count, KNEE_MOTIONS);
    ck_assert_str_eq(knee->q_units[0], "rad");
    for (size_t k = 0; k < KNEE_MOTIONS; k++) {
        const dyn_client_joint_motion *x = &knee->motions[k], *y = &l.motions[k];
        ck_assert_int_eq(x->kind, y->kind);
        ck_assert_mem_eq(x->axis, y->axis, sizeof x->axis);
        ck_assert_uint_eq(x->coefficient_count, y->coefficient_count);
        ck_assert_uint_eq(x->knot_count, y->knot_count);
        ck_assert_mem_eq(x->coefficients ? x->coefficients : x->values, y->coefficients ? y->coefficients : y->values,
                         (x->coefficient_count + x->knot_count) * sizeof(double));
        ck_assert(!x->slopes && !x->curvatures);
    }
    dyn_client_description_free(robot);
    wire_require(
        dyn_client_export_model(client, "leg", DYN_CLIENT_MODEL_FORMAT_DESCRIPTION, NULL, 0, &exported, &error),
        &error);
    load(exported->description, "leg again", digest[1]);
    ck_assert_str_eq(digest[0], digest[1]);
    dyn_client_exported_model_free(exported);
    ck_assert_int_eq(dyn_client_export_model(client, "leg", DYN_CLIENT_MODEL_FORMAT_URDF, NULL, 0, &exported, &error),
                     DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "knee"));
}
END_TEST

START_TEST(forces_accelerations_and_energies_agree) {
    const dyn_client_query query = load_leg();
    double tau[NV], found[NV], M[NV * NV], start[NV], h[NV], expected[NV];
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error), &error);
    wire_require(dyn_client_forward_dynamics(client, &query, q, v, tau, found, &error), &error);
    assert_close("FD(ID(a))", 0, found, a, NV, 1e-9);
    wire_require(dyn_client_mass_matrix(client, &query, q, M, &error), &error);
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, NULL, h, &error), &error);
    for (int i = 0; i < NV; i++) {
        expected[i] = h[i];
        for (int j = 0; j < NV; j++) {
            expected[i] += M[i * NV + j] * a[j];
        }
    }
    assert_close("M a + h", 0, tau, expected, NV, 1e-10);
    const dyn_client_stepping stepping =
        DYN_CLIENT_STEPPING_INIT(.integrator = DYN_CLIENT_INTEGRATOR_RK4, .step_length = 1e-3);
    const dyn_client_rollout_request request =
        DYN_CLIENT_ROLLOUT_REQUEST_INIT(.steps = 500, .stride = 10, .q = q, .v = v, .stepping = &stepping,
                                        .with_energy = true);
    dyn_client_rollout *rollout;
    wire_require(dyn_client_rollout_run(client, &query, &request, &rollout, &error), &error);
    for (size_t row = 0; row < rollout->rows; row++) {
        double energy = rollout->kinetic[row] + rollout->potential[row];
        ck_assert_double_eq_tol(energy, rollout->kinetic[0] + rollout->potential[0], 1e-6);
    }
    memcpy(start, rollout->q, sizeof start);
    assert_close("first row", 0, start, q, NV, 1e-15);
    dyn_client_rollout_free(rollout);
}
END_TEST

START_TEST(locked_knee_has_the_joints_that_are_left) {
    static const char *const joints[] = {"knee"};
    load_leg();
    const dyn_client_operation lock = {
        .kind = DYN_CLIENT_OPERATION_KIND_LOCK_JOINTS, .joint_count = 1, .joints = joints, .nq = NV, .q = q};
    const dyn_client_derive_request request =
        DYN_CLIENT_DERIVE_REQUEST_INIT(.model = "leg", .name = "stiff", .replace = true, .operation_count = 1,
                                       .operations = &lock);
    dyn_client_loaded_model *loaded;
    wire_require(dyn_client_derive_model(client, &request, &loaded, &error), &error);
    ck_assert_uint_eq(loaded->model.nv, 2);
    dyn_client_loaded_model_free(loaded);
}
END_TEST

/* Compares the kernels with the formulations, of which those of revolute or spherical joints and of algebraic
 * coordinates refuse the knee. */
START_TEST(formulations_compute_the_leg) {
    static const char *const refusing[] = {"generalized_dalembert", "armstrong", "natural_coordinates"};
    dyn_client_query query = load_leg();
    dyn_client_comparison *found;
    double tau[NV];
    size_t refused = 0;
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error), &error);
    wire_require(dyn_client_compare(client, &query, q, v, a, &found, &error), &error);
    for (size_t i = 0; i < found->formulation_count; i++) {
        const dyn_client_compared_formulation *one = &found->formulations[i];
        if (one->refusal) {
            ck_assert_ptr_nonnull(strstr(one->refusal, "does not apply: joint"));
            ck_assert_str_eq(one->name, refusing[refused++]);
            continue;
        }
        assert_close(one->name, 0, one->tau, tau, NV, 1e-9);
        assert_close(one->name, 1, one->a, a, NV, 1e-9);
        ck_assert_double_le(one->mass_matrix.difference, 1e-9);
    }
    ck_assert_uint_eq(refused, sizeof refusing / sizeof refusing[0]);
    dyn_client_comparison_free(found);
    query.formulation = "natural_coordinates";
    ck_assert_int_eq(dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error), DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "joint knee is custom"));
}
END_TEST

START_TEST(leg_on_a_moving_base_has_the_same_forces_by_formulations) {
    static const char *const names[] = {"newton_euler", "screws", "kane", "christoffel"};
    static const double linear[2][3] = {{0.3, -0.2, 0.5}, {1, 2, -0.4}}, angular[2][3] = {{0.7, 0.1, -0.9}, {2, -1, 3}};
    const dyn_client_base_motion base = {linear[0], angular[0], linear[1], angular[1], 1};
    dyn_client_query query = load_leg();
    double resting[NV], tau[NV], found[NV];
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, resting, &error), &error);
    query.base_motion = &base;
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error), &error);
    ck_assert_double_gt(fabs(tau[1] - resting[1]), 1);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        query.formulation = names[i];
        wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, found, &error), &error);
        assert_close(names[i], 0, found, tau, NV, 1e-9);
    }
}
END_TEST

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static void expect_refusal(const leg *l, const char *member, const char *fragment) {
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.description = &l->form, .name = "bad");
    dyn_client_loaded_model *loaded;
    char field[128] = "load_model.description.joints[1].";
    strcat(field, member);
    ck_assert_int_eq(dyn_client_load_model(client, &request, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, fragment) != NULL, "%s", error.message);
}

START_TEST(bad_motions_name_their_member) {
    static const double none[3] = {0}, bad[3] = {0, NAN, 1}, back[7] = {0, 1, 1}, nine[9] = {0, 1};
    leg l;
    describe_leg(&l);
    l.joints[1].motion_count = 0;
    expect_refusal(&l, "motions", "has 0 motions");
    describe_leg(&l);
    memcpy(l.motions[1].axis, none, sizeof none);
    expect_refusal(&l, "motions[1].axis", "not zero");
    describe_leg(&l);
    l.motions[2].kind = DYN_CLIENT_JOINT_MOTION_KIND_UNSPECIFIED;
    expect_refusal(&l, "motions[2].kind", "ROTATION (1)");
    describe_leg(&l);
    l.motions[2].coefficients = NULL;
    expect_refusal(&l, "motions[2].function.knots", "0 knots and no coefficients");
    describe_leg(&l);
    l.motions[2].coefficient_count = 9;
    l.motions[2].coefficients = nine;
    expect_refusal(&l, "motions[2].function.coefficients", "9 coefficients; pass 1 to 8");
    describe_leg(&l);
    l.motions[2].coefficient_count = 3;
    l.motions[2].coefficients = bad;
    expect_refusal(&l, "motions[2].function", "coefficients[1] is nan");
    describe_leg(&l);
    l.motions[1].knots = back;
    expect_refusal(&l, "motions[1].function", "knots[2] is 1 and does not exceed");
    describe_leg(&l);
    l.motions[1].values = NULL;
    expect_refusal(&l, "motions[1].function.values", "0 values for 7 knots");
    describe_leg(&l);
    l.motions[1].slopes = l.motions[1].values;
    expect_refusal(&l, "motions[1].function.curvatures", "0 curvatures for 7 knots");
    describe_leg(&l);
    l.motions[1].coefficient_count = 2;
    l.motions[1].coefficients = nine;
    expect_refusal(&l, "motions[1].function", "pass one of the two");
    describe_leg(&l);
    l.joints[1].motion_count = 1;
    l.motions[0] = l.motions[2];
    l.motions[0].coefficient_count = 1;
    expect_refusal(&l, "motions", "are constant");
    describe_leg(&l);
    l.joints[1].type = DYN_CLIENT_JOINT_TYPE_REVOLUTE;
    expect_refusal(&l, "motions", "only a joint of the type CUSTOM");
}
END_TEST

int main(void) {
    TCase *all = tcase_create("custom_joints");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_test(all, description_and_export_hold_the_motions);
    tcase_add_test(all, forces_accelerations_and_energies_agree);
    tcase_add_test(all, locked_knee_has_the_joints_that_are_left);
    tcase_add_test(all, formulations_compute_the_leg);
    tcase_add_test(all, leg_on_a_moving_base_has_the_same_forces_by_formulations);
    tcase_add_test(all, bad_motions_name_their_member);
    return run_unforked("custom_joints", all);
}
