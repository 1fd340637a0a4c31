/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the normal form of models, whose bodies the kernels use: it is the same robot as the description.
 */
#include "lib/src/model/normal_form.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/src/model/placement.h"
#include "robots.h"
#include "support/random.h"

enum { CASES = 200, LINKS = 20, NAME = 8 };

/* Computes a random rotation. */
static void random_rotation(random_source *random, double R[9]) {
    double q[4];
    random_unit(random, 4, q);
    double x = q[0], y = q[1], z = q[2], w = q[3];
    const double turn[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
                            2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                            2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
    memcpy(R, turn, sizeof turn);
}

/* Random description of a robot: the parent of link i is a random earlier link. */
typedef struct description {
    dyn_link_description links[LINKS];
    dyn_joint_description joints[LINKS]; /* joint i carries link i; none for link 0 */
    int parents[LINKS];
    char link_names[LINKS][NAME], joint_names[LINKS][NAME];
} description;

static void random_inertia(random_source *random, dyn_inertia *inertia) {
    *inertia = (dyn_inertia){.mass = random_uniform(random, 0.1, 2)};
    double R[9];
    double principal[6] = {random_uniform(random, 0.5, 1), 0, 0, random_uniform(random, 0.5, 1), 0, 0.9};
    random_rotation(random, R);
    rotate_symmetric(R, principal, inertia->rotational);
    for (int k = 0; k < 3; k++) {
        inertia->center_of_mass[k] = random_uniform(random, -1, 1);
    }
}

static void describe(random_source *random, description *d) {
    memset(d, 0, sizeof *d);
    for (int i = 0; i < LINKS; i++) {
        snprintf(d->link_names[i], NAME, "l%d", i);
        snprintf(d->joint_names[i], NAME, "j%d", i);
        d->links[i].name = d->link_names[i];
        random_inertia(random, &d->links[i].inertia);
        d->parents[i] = i > 0 ? random_index(random, i) : -1;
        d->joints[i] =
            joint_between(d->joint_names[i], (dyn_joint_type)random_index(random, DYN_JOINT_TYPE_FLOATING + 1),
                          i > 0 ? d->link_names[d->parents[i]] : "", d->link_names[i]);
        random_unit(random, 3, d->joints[i].axis);
        random_unit(random, 3, d->joints[i].second_axis);
        random_rotation(random, d->joints[i].rotation);
        for (int k = 0; k < 3; k++) {
            d->joints[i].position[k] = random_uniform(random, -1, 1);
        }
    }
}

static dyn_model *build_described(const description *d, dyn_base base) {
    dyn_builder *builder = new_builder();
    for (int i = LINKS - 1; i >= 0; i--) {
        add_link_with(builder, d->links[i].name, &d->links[i].inertia);
        if (i > 0) {
            add_joint(builder, &d->joints[i]);
        }
    }
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = base);
    return build_model(builder, &options, NULL);
}

/* Computes the poses of the links in the world at the zero configuration, from the description alone. */
static void described_places(const description *d, dyn_pose places[LINKS]) {
    places[0] = identity_pose;
    for (int i = 1; i < LINKS; i++) {
        dyn_pose origin;
        memcpy(origin.position, d->joints[i].position, sizeof origin.position);
        memcpy(origin.rotation, d->joints[i].rotation, sizeof origin.rotation);
        pose_compose(&places[d->parents[i]], &origin, &places[i]);
    }
}

/* Computes the poses of the model's bodies in the world at the zero configuration. */
static void body_places(const dyn_model *model, dyn_pose places[2 * LINKS]) {
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        ck_assert_int_lt(b->parent, i);
        dyn_pose joint;
        memcpy(joint.position, b->position, sizeof joint.position);
        memcpy(joint.rotation, b->rotation, sizeof joint.rotation);
        pose_compose(b->parent < 0 ? &identity_pose : &places[b->parent], &joint, &places[i]);
    }
}

static void expect_near(const double *a, const double *b, int count, double tolerance) {
    for (int i = 0; i < count; i++) {
        ck_assert_double_eq_tol(a[i], b[i], tolerance);
    }
}

static void expect_same_links(const description *d, const dyn_model *model, const dyn_pose *links,
                              const dyn_pose *bodies) {
    for (int i = 0; i < LINKS; i++) {
        int frame;
        ck_assert_int_eq(dyn_model_find_frame(model, d->link_names[i], &frame, NULL), DYN_OK);
        const body_frame *f = &model->frames[frame];
        dyn_pose place;
        pose_compose(f->body < 0 ? &identity_pose : &bodies[f->body], &f->pose, &place);
        expect_near(place.position, links[i].position, 3, 1e-13);
        expect_near(place.rotation, links[i].rotation, 9, 1e-13);
        /* The public pose is relative to the child link of the joint that moves the link. */
        const dyn_link *link = dyn_model_link(model, frame);
        int carrier = link->moving_joint >= 0 ? dyn_model_joint(model, link->moving_joint)->child_link : -1;
        dyn_pose carrier_place = identity_pose;
        if (carrier >= 0) {
            const body_frame *c = &model->frames[carrier];
            pose_compose(c->body < 0 ? &identity_pose : &bodies[c->body], &c->pose, &carrier_place);
        }
        pose_compose(&carrier_place, &link->pose, &place);
        expect_near(place.position, links[i].position, 3, 1e-13);
        expect_near(place.rotation, links[i].rotation, 9, 1e-13);
    }
}

START_TEST(frames_and_total_inertia_are_those_of_the_description) {
    random_source random = random_seed("the normal form keeps places and inertias at the zero configuration", 21);
    for (int k = 0; k < CASES; k++) {
        description d;
        dyn_pose links[LINKS], bodies[2 * LINKS];
        describe(&random, &d);
        dyn_model *model = build_described(&d, DYN_BASE_FLOATING);
        described_places(&d, links);
        body_places(model, bodies);
        expect_same_links(&d, model, links, bodies);
        mass_properties described = {0}, compiled = {0};
        for (int i = 0; i < LINKS; i++) {
            mass_properties p = link_mass_properties(&d.links[i].inertia, &links[i]);
            mass_properties_add(&described, &p);
        }
        for (int i = 0; i < model->body_count; i++) {
            mass_properties own = {.mass = model->bodies[i].mass};
            memcpy(own.first_moment, model->bodies[i].first_moment, sizeof own.first_moment);
            memcpy(own.inertia, model->bodies[i].inertia, sizeof own.inertia);
            mass_properties p = mass_properties_move(&bodies[i], &own);
            mass_properties_add(&compiled, &p);
        }
        ck_assert_double_eq_tol(compiled.mass, described.mass, 1e-12);
        ck_assert_double_eq_tol(compiled.mass, dyn_model_mass(model), 1e-12);
        expect_near(compiled.first_moment, described.first_moment, 3, 1e-11);
        expect_near(compiled.inertia, described.inertia, 6, 1e-9);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(fixed_base_holds_the_root) {
    random_source random = random_seed("what fixed joints connect with the root is fixed to the world", 22);
    for (int k = 0; k < CASES; k++) {
        description d;
        dyn_pose links[LINKS], bodies[2 * LINKS];
        describe(&random, &d);
        dyn_model *model = build_described(&d, DYN_BASE_FIXED);
        described_places(&d, links);
        body_places(model, bodies);
        expect_same_links(&d, model, links, bodies);
        for (int i = 0; i < LINKS; i++) {
            int up = i, frame;
            while (up > 0 && d.joints[up].type == DYN_JOINT_TYPE_FIXED) {
                up = d.parents[up];
            }
            ck_assert_int_eq(dyn_model_find_frame(model, d.link_names[i], &frame, NULL), DYN_OK);
            ck_assert_int_eq(dyn_model_link(model, frame)->moving_joint < 0, up == 0);
            ck_assert_int_eq(model->frames[frame].body < 0, up == 0);
        }
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(axis_of_a_body_is_plus_z) {
    random_source random = random_seed("a body's z axis is its joint's axis", 23);
    for (int k = 0; k < CASES; k++) {
        description d;
        describe(&random, &d);
        dyn_model *model = build_described(&d, DYN_BASE_FIXED);
        for (int i = 0; i < model->body_count; i++) {
            const body *b = &model->bodies[i];
            const dyn_joint *joint = dyn_model_joint(model, b->joint);
            if (joint->type == DYN_JOINT_TYPE_SPHERICAL || joint->type == DYN_JOINT_TYPE_FLOATING) {
                continue;
            }
            bool second = i > 0 && model->bodies[i - 1].joint == b->joint;
            bool first_of_two = joint->type == DYN_JOINT_TYPE_UNIVERSAL && !second;
            const double *axis = second ? joint->second_axis : joint->axis;
            const double *R = model->frames[joint->child_link].pose.rotation;
            double z[3];
            rotation_apply(R, axis, z);
            const double plus_z[3] = {0, 0, 1};
            if (!first_of_two) {
                expect_near(z, plus_z, 3, 1e-14);
            }
            ck_assert_int_eq(b->motion == MOTION_REVOLUTE, joint->type == DYN_JOINT_TYPE_REVOLUTE ||
                                                               joint->type == DYN_JOINT_TYPE_CONTINUOUS ||
                                                               joint->type == DYN_JOINT_TYPE_UNIVERSAL);
        }
        dyn_model_free(model);
    }
}
END_TEST

/* Returns true if body i is the first revolute child of a body whose frame the normal form may choose. Such a body must
 * be a hinge. */
static bool is_first_on_turned(const dyn_model *model, int i) {
    const body *b = &model->bodies[i];
    bool first = b->motion == MOTION_REVOLUTE && b->parent >= 0;
    for (int j = 0; j < i && first; j++) {
        first = model->bodies[j].parent != b->parent || model->bodies[j].motion != MOTION_REVOLUTE;
    }
    return first && model->bodies[b->parent].motion < MOTION_PLANAR;
}

START_TEST(hinge_is_a_tilt_and_a_turn) {
    random_source random = random_seed("the rotation of a hinge is Rx(tilt) Rz(turn)", 24);
    int hinges = 0;
    for (int k = 0; k < CASES; k++) {
        description d;
        describe(&random, &d);
        dyn_model *model = build_described(&d, DYN_BASE_FIXED);
        for (int i = 0; i < model->body_count; i++) {
            const body *b = &model->bodies[i];
            ck_assert(b->hinge || !is_first_on_turned(model, i));
            if (b->hinge) {
                double c = b->tilt[0], s = b->tilt[1], x = cos(b->turn), y = sin(b->turn);
                const double R[9] = {x, -y, 0, c * y, c * x, -s, s * y, s * x, c};
                expect_near(b->rotation, R, 9, 1e-14);
                hinges++;
            }
        }
        dyn_model_free(model);
    }
    ck_assert_int_gt(hinges, CASES);
}
END_TEST

START_TEST(universal_joint_is_two_revolute_ones) {
    dyn_builder *builder = new_builder();
    add_link(builder, "a");
    add_link(builder, "b");
    dyn_joint_description joint = joint_between("j", DYN_JOINT_TYPE_UNIVERSAL, "a", "b");
    const double y[3] = {0, 1, 0};
    memcpy(joint.axis, y, sizeof y);
    add_joint(builder, &joint);
    dyn_model *model = build_model(builder, NULL, NULL);
    ck_assert_int_eq(model->body_count, 2);
    ck_assert_int_eq(model->joint_count, 1);
    const body *first = &model->bodies[0], *second = &model->bodies[1];
    ck_assert_int_eq(second->parent, 0);
    ck_assert(first->mass == 0 && second->mass == 1);
    ck_assert(first->q_index == 0 && second->q_index == 1 && first->nq == 1 && second->nq == 1);
    ck_assert(first->v_index == 0 && second->v_index == 1 && first->nv == 1 && second->nv == 1);
    /* The z axis of the first body is y of the joint frame. The z axis of the second body is x. */
    ck_assert(first->rotation[2] == 0 && first->rotation[5] == 1 && first->rotation[8] == 0);
    double R[9];
    rotation_multiply(first->rotation, second->rotation, R);
    ck_assert(R[2] == 1 && R[5] == 0 && R[8] == 0);
    dyn_model_free(model);
}
END_TEST

START_TEST(values_that_overflow_when_merged_are_refused) {
    dyn_builder *builder = new_builder();
    const dyn_inertia huge = {.mass = 1e200, .center_of_mass = {1e200, 0, 0}};
    add_link(builder, "a");
    add_link_with(builder, "b", &huge);
    connect_links(builder, "j", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    dyn_model *model;
    dyn_error error;
    expect_error(dyn_builder_build(builder, NULL, NULL, &model, &error), &error, DYN_INVALID_ARGUMENT, "link b",
                 "too large");
    dyn_builder_free(builder);
}
END_TEST

/* Builds a link that turns about z and carries a thin rod on a joint of this type. The rod lies on the joint's axis. */
static dyn_model *rod_on_a_link(dyn_joint_type type) {
    dyn_builder *builder = new_builder();
    const dyn_inertia rod = {.mass = 3, .center_of_mass = {0, 0, 0.4}, .rotational = {0.09, 0, 0, 0.09, 0, 0}};
    const double R[9] = {1, 0, 0, 0, cos(0.7), -sin(0.7), 0, sin(0.7), cos(0.7)}, r[3] = {0.1, 0.2, 0.3};
    dyn_joint_description joint = joint_between("rod", type, "link", "rod");
    memcpy(joint.rotation, R, sizeof R);
    memcpy(joint.position, r, sizeof r);
    add_link(builder, "base");
    add_link(builder, "link");
    add_link_with(builder, "rod", &rod);
    connect_links(builder, "link", DYN_JOINT_TYPE_REVOLUTE, "base", "link");
    add_joint(builder, &joint);
    return build_model(builder, NULL, NULL);
}

static const double nothing[6] = {0};

/* Checks that a rod on its joint's axis has no grouped inertia of its own: that of the link is as if the rod were
 * welded to it. */
START_TEST(rod_on_the_axis_of_its_joint_is_grouped_with_the_parent) {
    dyn_model *turning = rod_on_a_link(DYN_JOINT_TYPE_REVOLUTE), *welded = rod_on_a_link(DYN_JOINT_TYPE_FIXED);
    ck_assert_int_eq(turning->body_count, 2);
    ck_assert_int_eq(welded->body_count, 1);
    const body *link = &turning->bodies[0], *rod = &turning->bodies[1], *both = &welded->bodies[0];
    ck_assert(rod->serial && !link->serial);
    expect_near(link->grouped.first_moment, both->grouped.first_moment, 3, 1e-14);
    expect_near(link->grouped.moments, both->grouped.moments, 6, 1e-14);
    ck_assert(fabs(link->grouped.first_moment[0] - 3 * 0.1) < 1e-14);
    ck_assert(link->grouped.mass == 0 && rod->grouped.mass == 0);
    expect_near(rod->grouped.first_moment, nothing, 3, 1e-14);
    expect_near(rod->grouped.moments, nothing, 6, 1e-14);
    dyn_model_free(turning);
    dyn_model_free(welded);
}
END_TEST

/* Checks a robot so large that the grouped inertias overflow: the gravity torques are still right. */
START_TEST(bodies_keep_their_inertias_where_groups_overflow) {
    dyn_builder *builder = new_builder();
    dyn_joint_description joint = joint_between("b", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    joint.position[0] = 1e160;
    const double y[3] = {0, 1, 0};
    memcpy(joint.axis, y, sizeof y);
    const dyn_inertia light = {.mass = 1, .center_of_mass = {2, 0, 0}};
    add_link(builder, "base");
    add_link(builder, "a");
    add_link_with(builder, "b", &light);
    connect_links(builder, "a", DYN_JOINT_TYPE_REVOLUTE, "base", "a");
    add_joint(builder, &joint);
    dyn_model *model = build_model(builder, NULL, NULL);
    dyn_workspace *workspace = NULL;
    dyn_error error;
    double tau[2];
    ck_assert_int_eq(dyn_workspace_create(model, &workspace, &error), DYN_OK);
    ck_assert_int_eq(dyn_rnea(model, workspace, 1, NULL, nothing, nothing, nothing, NULL, tau, &error), DYN_OK);
    ck_assert(fabs(tau[1] + 2 * 9.81) < 1e-14);
    dyn_workspace_free(workspace);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("normal_form");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, frames_and_total_inertia_are_those_of_the_description);
    tcase_add_test(tests, fixed_base_holds_the_root);
    tcase_add_test(tests, axis_of_a_body_is_plus_z);
    tcase_add_test(tests, hinge_is_a_tilt_and_a_turn);
    tcase_add_test(tests, universal_joint_is_two_revolute_ones);
    tcase_add_test(tests, values_that_overflow_when_merged_are_refused);
    tcase_add_test(tests, rod_on_the_axis_of_its_joint_is_grouped_with_the_parent);
    tcase_add_test(tests, bodies_keep_their_inertias_where_groups_overflow);
    return run_tests(tests);
}
