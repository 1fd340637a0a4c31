/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks wrong descriptions and operations: each is refused with the element and the value, and the daemon keeps
 * working.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system/daemon_fixture.h"
#include "system/wire_tree.h"
#include "system/runner.h"

static daemon_fixture served;
static dyn_client *client;
static dyn_client_error error;

static void start_daemon(void) {
    daemon_start(&(daemon_options){.configuration = "[limits]\nlinks = 100\n"}, &served);
    wire_require(dyn_client_connect(served.request_ipc, NULL, &client, &error), &error);
}

static void stop_daemon(void) {
    dyn_client_close(client);
    daemon_stop(&served);
}

/* Checks that the last call was refused with this status, this field and a message, and that the daemon still
 * computes. */
static void check_refusal(const char *what, dyn_client_status found, dyn_client_status status, const char *field) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "two_link", .nq = 2, .nv = 2, .samples = 1);
    const double q[2] = {0};
    double g[2];
    dyn_client_error after;
    ck_assert_msg(found == status && strcmp(error.field, field) == 0, "%s: %s, field %s: %s", what,
                  dyn_client_status_name(found), error.field, error.message);
    ck_assert_str_ne(error.message, "");
    wire_require(dyn_client_gravity(client, &query, q, g, &after), &after);
    ck_assert_double_eq_tol(g[0], 3 * 9.81, 1e-12);
}

/* ---- descriptions ------------------------------------------------------------------------------------------------ */

enum { LINKS = 4, JOINTS = 3 };

/* Chain of four links with a right description, which each case changes to a wrong one. */
typedef struct robot {
    dyn_client_link links[LINKS];
    dyn_client_joint joints[JOINTS];
    dyn_client_frame frame;
    dyn_client_model_description form;
    dyn_client_load_request request;
    double gravity[3];
} robot;

static void describe_well(robot *r) {
    static const char *const links[LINKS] = {"base", "one", "two", "three"}, *const joints[JOINTS] = {"a", "b", "c"};
    memset(r, 0, sizeof *r);
    for (int i = 0; i < LINKS; i++) {
        r->links[i] =
            (dyn_client_link){.name = links[i], .inertia = {.mass = 1, .rotational = {0.1, 0, 0, 0.1, 0, 0.1}}};
    }
    for (int j = 0; j < JOINTS; j++) {
        r->joints[j] = (dyn_client_joint){.name = joints[j],
                                          .type = DYN_CLIENT_JOINT_TYPE_CONTINUOUS,
                                          .parent_link = links[j],
                                          .child_link = links[j + 1],
                                          .axis = {0, 0, 1}};
    }
    r->frame = (dyn_client_frame){.name = "tip", .link = "three"};
    r->form =
        (dyn_client_model_description)DYN_CLIENT_MODEL_DESCRIPTION_INIT(.name = "spoilt", .gravity = r->gravity,
                                                                        .link_count = LINKS, .links = r->links,
                                                                        .joint_count = JOINTS, .joints = r->joints,
                                                                        .frame_count = 1, .frames = &r->frame);
    r->request = (dyn_client_load_request)DYN_CLIENT_LOAD_REQUEST_INIT(.description = &r->form, .replace = true);
}

static void cycle(robot *r) {
    r->joints[0].parent_link = "three";
}

static void two_roots(robot *r) {
    r->form.joint_count = 2;
}

static void two_parents(robot *r) {
    r->joints[2].child_link = "one";
}

static void missing_child(robot *r) {
    r->joints[1].child_link = "nowhere";
}

static void missing_parent(robot *r) {
    r->joints[2].parent_link = "nowhere";
}

static void no_parent(robot *r) {
    r->joints[2].parent_link = "";
}

static void repeated_link(robot *r) {
    r->links[2].name = "one";
}

static void repeated_joint(robot *r) {
    r->joints[2].name = "a";
}

static void nameless_link(robot *r) {
    r->links[1].name = "";
}

static void control_character(robot *r) {
    r->links[1].name = "o\nne";
}

static void bytes_that_are_no_text(robot *r) {
    r->joints[1].name = "b\xff";
}

static void negative_mass(robot *r) {
    r->links[3].inertia.mass = -1;
}

static void nan_mass(robot *r) {
    r->links[3].inertia.mass = NAN;
}

static void infinite_center(robot *r) {
    r->links[2].inertia.center_of_mass[1] = INFINITY;
}

static void nan_inertia(robot *r) {
    r->links[2].inertia.rotational[5] = NAN;
}

static void negative_moment(robot *r) {
    r->links[2].inertia.rotational[5] = -1;
}

static void unknown_type(robot *r) {
    r->joints[1].type = (dyn_client_joint_type)12;
}

static void no_type(robot *r) {
    r->joints[1].type = DYN_CLIENT_JOINT_TYPE_UNSPECIFIED;
}

static void negative_type(robot *r) {
    r->joints[1].type = (dyn_client_joint_type)-1;
}

static void zero_axis(robot *r) {
    r->joints[1].axis[2] = 0;
}

static void nan_axis(robot *r) {
    r->joints[1].axis[0] = NAN;
}

static void parallel_axes(robot *r) {
    r->joints[1].type = DYN_CLIENT_JOINT_TYPE_UNIVERSAL;
    r->joints[1].second_axis[2] = 2;
}

static void no_second_axis(robot *r) {
    r->joints[1].type = DYN_CLIENT_JOINT_TYPE_UNIVERSAL;
}

static void nan_pitch(robot *r) {
    r->joints[1].pitch = NAN;
}

static void nan_origin(robot *r) {
    r->joints[1].origin.position[2] = NAN;
}

static void shear(robot *r) {
    static const double sheared[9] = {1, 0.5, 0, 0, 1, 0, 0, 0, 1};
    r->joints[1].origin.rotation = sheared;
}

static void mirror(robot *r) {
    static const double mirrored[9] = {1, 0, 0, 0, 1, 0, 0, 0, -1};
    r->joints[1].origin.rotation = mirrored;
}

static void nan_limit(robot *r) {
    r->joints[1].has_limits = true;
    r->joints[1].limits.upper = NAN;
}

static void masterless(robot *r) {
    r->joints[1].mimic_joint = "nobody";
}

static void mimic_cycle(robot *r) {
    r->joints[0].mimic_joint = "b";
    r->joints[1].mimic_joint = "a";
}

static void nan_gravity(robot *r) {
    r->gravity[0] = NAN;
}

static void gravity_of_the_request(robot *r) {
    static const double nowhere[3] = {0, INFINITY, 0};
    r->request.gravity = nowhere;
}

static void nameless_robot(robot *r) {
    r->form.name = "";
}

static void unknown_base(robot *r) {
    r->form.base = (dyn_client_base)7;
}

static void unknown_policy(robot *r) {
    r->form.mimic = (dyn_client_mimic_policy)7;
}

static void no_links(robot *r) {
    r->form.link_count = r->form.joint_count = r->form.frame_count = 0;
}

static void frame_on_nothing(robot *r) {
    r->frame.link = "nowhere";
}

static void frame_of_taken_name(robot *r) {
    r->frame.name = "one";
}

/* Matrix that is no rotation. */
static const double crooked[9] = {1};

static void crooked_frame(robot *r) {
    r->frame.pose.rotation = crooked;
}

static void both_forms(robot *r) {
    r->request.urdf = "<robot name='r'><link name='a'/></robot>";
}

#define ELEMENT(path) "load_model.description." path

static const struct {
    const char *what;
    void (*spoil)(robot *r);
    const char *field;
} spoilt[] = {
    {"a cycle", cycle, ELEMENT("joints[1]")},
    {"two roots", two_roots, ELEMENT("links[3]")},
    {"two parents", two_parents, ELEMENT("joints[2]")},
    {"a missing child", missing_child, ELEMENT("joints[1]")},
    {"a missing parent", missing_parent, ELEMENT("joints[2]")},
    {"no parent", no_parent, ELEMENT("joints[2]")},
    {"a repeated link", repeated_link, ELEMENT("links[2]")},
    {"a repeated joint", repeated_joint, ELEMENT("joints[2]")},
    {"a link without name", nameless_link, ELEMENT("links[1]")},
    {"a control character", control_character, ELEMENT("links[1]")},
    {"a name that is no text", bytes_that_are_no_text, ELEMENT("joints[1]")},
    {"a negative mass", negative_mass, ELEMENT("links[3]")},
    {"a mass of nan", nan_mass, ELEMENT("links[3].inertia.mass")},
    {"an infinite centre", infinite_center, ELEMENT("links[2].inertia.center_of_mass")},
    {"an inertia of nan", nan_inertia, ELEMENT("links[2].inertia.rotational[5]")},
    {"a negative moment", negative_moment, ELEMENT("links[2]")},
    {"an unknown type", unknown_type, ELEMENT("joints[1].type")},
    {"no type", no_type, ELEMENT("joints[1].type")},
    {"a negative type", negative_type, ELEMENT("joints[1].type")},
    {"a zero axis", zero_axis, ELEMENT("joints[1].axis")},
    {"an axis of nan", nan_axis, ELEMENT("joints[1].axis")},
    {"parallel axes", parallel_axes, ELEMENT("joints[1]")},
    {"no second axis", no_second_axis, ELEMENT("joints[1].second_axis")},
    {"a pitch of nan", nan_pitch, ELEMENT("joints[1]")},
    {"an origin of nan", nan_origin, ELEMENT("joints[1].origin.position")},
    {"a shear", shear, ELEMENT("joints[1].origin.rotation.values")},
    {"a mirror", mirror, ELEMENT("joints[1].origin.rotation.values")},
    {"a limit of nan", nan_limit, ELEMENT("joints[1]")},
    {"a mimic joint without master", masterless, ELEMENT("joints[1]")},
    {"mimic joints in a cycle", mimic_cycle, ELEMENT("joints[0]")},
    {"gravity of nan", nan_gravity, ELEMENT("gravity")},
    {"infinite gravity", gravity_of_the_request, "load_model.gravity"},
    {"a robot without name", nameless_robot, ELEMENT("name")},
    {"an unknown base", unknown_base, ELEMENT("base_type")},
    {"an unknown policy", unknown_policy, ELEMENT("mimic")},
    {"no links", no_links, "load_model.description"},
    {"a frame on nothing", frame_on_nothing, ELEMENT("frames[0]")},
    {"a frame of a taken name", frame_of_taken_name, ELEMENT("frames[0]")},
    {"a crooked frame", crooked_frame, ELEMENT("frames[0].pose.rotation.values")},
    {"two forms", both_forms, "load_model.source"},
};

START_TEST(bad_descriptions_name_their_element) {
    robot r;
    dyn_client_loaded_model *loaded;
    describe_well(&r);
    wire_require(dyn_client_load_model(client, &r.request, &loaded, &error), &error);
    dyn_client_loaded_model_free(loaded);
    describe_well(&r);
    spoilt[_i].spoil(&r);
    dyn_client_status status = dyn_client_load_model(client, &r.request, &loaded, &error);
    ck_assert_ptr_null(loaded);
    check_refusal(spoilt[_i].what, status, DYN_CLIENT_INVALID_ARGUMENT, spoilt[_i].field);
}
END_TEST

/* Checks stars of many links: one beyond the daemon's limit, and one beyond the library's own. */
START_TEST(too_many_links_are_refused) {
    static const size_t counts[] = {101, 10001};
    for (int k = 0; k < 2; k++) {
        size_t count = counts[k];
        dyn_client_link *links = calloc(count, sizeof *links);
        dyn_client_joint *joints = calloc(count, sizeof *joints);
        char(*names)[32] = calloc(count, sizeof *names);
        for (size_t i = 0; i < count; i++) {
            snprintf(names[i], sizeof *names, "link%zu", i);
            links[i].name = names[i];
            joints[i] = (dyn_client_joint){
                .name = names[i], .type = DYN_CLIENT_JOINT_TYPE_FIXED, .parent_link = "link0", .child_link = names[i]};
        }
        const dyn_client_model_description form =
            DYN_CLIENT_MODEL_DESCRIPTION_INIT(.name = "star", .link_count = count, .links = links,
                                              .joint_count = count - 1, .joints = joints + 1);
        const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.description = &form);
        dyn_client_loaded_model *loaded;
        dyn_client_status status = dyn_client_load_model(client, &request, &loaded, &error);
        check_refusal("a star", status, DYN_CLIENT_RESOURCE_EXHAUSTED,
                      k ? "load_model.description.links[10000]" : "load_model.description");
        free(links), free(joints), free(names);
    }
}
END_TEST

/* Checks that an error names the right one of two elements whose names differ in their last byte only. */
START_TEST(elements_with_long_names_are_distinguished) {
    char names[2][256];
    for (int k = 0; k < 2; k++) {
        memset(names[k], 'x', sizeof names[k]);
        names[k][sizeof names[k] - 2] = k ? 'b' : 'a';
        names[k][sizeof names[k] - 1] = '\0';
    }
    const dyn_client_link links[3] = {{.name = "base"}, {.name = names[0]}, {.name = names[1]}};
    const dyn_client_joint joint = {
        .name = "first", .type = DYN_CLIENT_JOINT_TYPE_FIXED, .parent_link = "base", .child_link = names[0]};
    const dyn_client_model_description form =
        DYN_CLIENT_MODEL_DESCRIPTION_INIT(.name = "long", .link_count = 3, .links = links, .joint_count = 1,
                                          .joints = &joint);
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.description = &form);
    dyn_client_loaded_model *loaded;
    dyn_client_status status = dyn_client_load_model(client, &request, &loaded, &error);
    check_refusal("two roots", status, DYN_CLIENT_INVALID_ARGUMENT, "load_model.description.links[2]");
}
END_TEST

START_TEST(no_description_is_refused) {
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = "");
    dyn_client_loaded_model *loaded;
    check_refusal("nothing", dyn_client_load_model(client, &request, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT,
                  "load_model.urdf");
    const dyn_client_load_request none = DYN_CLIENT_LOAD_REQUEST_INIT(.name = "none");
    check_refusal("none", dyn_client_load_model(client, &none, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT,
                  "load_model.source");
    const dyn_client_screw_chain screws = DYN_CLIENT_SCREW_CHAIN_INIT(.name = "two");
    const dyn_client_load_request two =
        DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = "<robot name=\"r\"><link name=\"l\"/></robot>", .screws = &screws);
    check_refusal("two", dyn_client_load_model(client, &two, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT,
                  "load_model.source");
}
END_TEST

/* ---- chains ------------------------------------------------------------------------------------------------------ */

static void must_refuse_table(const dyn_client_dh_row *spoilt_row, dyn_client_dh_convention convention,
                              const char *field) {
    const dyn_client_dh_row rows[2] = {{.type = DYN_CLIENT_JOINT_TYPE_REVOLUTE, .a = 1}, *spoilt_row};
    const dyn_client_dh_table table =
        DYN_CLIENT_DH_TABLE_INIT(.name = "chain", .convention = convention, .row_count = 2, .rows = rows);
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.denavit_hartenberg = &table);
    dyn_client_loaded_model *loaded;
    char path[128];
    snprintf(path, sizeof path, "load_model.denavit_hartenberg.%s", field);
    check_refusal(field, dyn_client_load_model(client, &request, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT, path);
}

START_TEST(bad_tables_name_their_row) {
    dyn_client_dh_row row = {.type = DYN_CLIENT_JOINT_TYPE_REVOLUTE}, bad = row;
    bad.type = DYN_CLIENT_JOINT_TYPE_SPHERICAL;
    must_refuse_table(&bad, DYN_CLIENT_DH_CONVENTION_STANDARD, "rows[1].type");
    bad = row, bad.alpha = NAN;
    must_refuse_table(&bad, DYN_CLIENT_DH_CONVENTION_STANDARD, "rows[1].alpha");
    bad = row, bad.d = INFINITY;
    must_refuse_table(&bad, DYN_CLIENT_DH_CONVENTION_MODIFIED, "rows[1].d");
    bad = row, bad.inertia.mass = -1;
    must_refuse_table(&bad, DYN_CLIENT_DH_CONVENTION_MODIFIED, "rows[1]");
    bad = row, bad.inertia.mass = NAN;
    must_refuse_table(&bad, DYN_CLIENT_DH_CONVENTION_MODIFIED, "rows[1].inertia.mass");
    bad = row, bad.damping = NAN;
    must_refuse_table(&bad, DYN_CLIENT_DH_CONVENTION_STANDARD, "rows[1]");
    must_refuse_table(&row, (dyn_client_dh_convention)5, "convention");
    must_refuse_table(&row, DYN_CLIENT_DH_CONVENTION_UNSPECIFIED, "convention");
    const dyn_client_dh_table empty = DYN_CLIENT_DH_TABLE_INIT(.name = "chain");
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.denavit_hartenberg = &empty);
    dyn_client_loaded_model *loaded;
    check_refusal("no rows", dyn_client_load_model(client, &request, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT,
                  "load_model.denavit_hartenberg.rows");
}
END_TEST

/* Checks that strict loading of a chain names the row of a warning. */
START_TEST(warnings_of_strict_tables_name_their_row) {
    const dyn_client_dh_row rows[3] = {{.type = DYN_CLIENT_JOINT_TYPE_REVOLUTE, .a = 1, .inertia = {.mass = 1}},
                                       {.type = DYN_CLIENT_JOINT_TYPE_REVOLUTE, .a = 1, .inertia = {.mass = 1}},
                                       {.type = DYN_CLIENT_JOINT_TYPE_REVOLUTE,
                                        .has_limits = true,
                                        .limits = {.velocity = -1},
                                        .inertia = {.mass = 1}}};
    for (int k = 0; k < 2; k++) {
        const dyn_client_dh_table table = DYN_CLIENT_DH_TABLE_INIT(.name = "chain",
                                                                   .convention = k ? DYN_CLIENT_DH_CONVENTION_STANDARD
                                                                                   : DYN_CLIENT_DH_CONVENTION_MODIFIED,
                                                                   .row_count = 3, .rows = rows);
        const dyn_client_load_request request =
            DYN_CLIENT_LOAD_REQUEST_INIT(.denavit_hartenberg = &table, .strict = true);
        dyn_client_loaded_model *loaded;
        dyn_client_status status = dyn_client_load_model(client, &request, &loaded, &error);
        check_refusal("a warning", status, DYN_CLIENT_INVALID_ARGUMENT, "load_model.denavit_hartenberg.rows[2]");
    }
}
END_TEST

static void must_refuse_screws(const double *M, const double *G, const double *S, const char *field) {
    const dyn_client_screw_chain chain =
        DYN_CLIENT_SCREW_CHAIN_INIT(.name = "chain", .n = 1, .Mlist = M, .Glist = G, .Slist = S);
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.screws = &chain);
    dyn_client_loaded_model *loaded;
    char path[128];
    snprintf(path, sizeof path, "load_model.screws.%s", field);
    check_refusal(field, dyn_client_load_model(client, &request, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT, path);
}

START_TEST(bad_screws_name_their_matrix) {
    double M[32] = {0}, G[36] = {0}, S[6] = {0, 0, 1, 0, 0, 0};
    for (int i = 0; i < 8; i++) {
        M[16 * (i / 4) + 5 * (i % 4)] = 1;
    }
    for (int i = 0; i < 6; i++) {
        G[7 * i] = 1;
    }
    M[16] = 2;
    must_refuse_screws(M, G, S, "mlist[1]");
    M[16] = 1;
    G[1] = 1;
    must_refuse_screws(M, G, S, "glist[0]");
    G[1] = 0;
    S[2] = 0;
    must_refuse_screws(M, G, S, "slist[0]");
    S[2] = NAN;
    must_refuse_screws(M, G, S, "slist[0]");
    const dyn_client_screw_chain empty = DYN_CLIENT_SCREW_CHAIN_INIT(.name = "chain");
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.screws = &empty);
    dyn_client_loaded_model *loaded;
    check_refusal("no screws", dyn_client_load_model(client, &request, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT,
                  "load_model.screws.slist");
}
END_TEST

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* Checks that the second of two operations is refused with its field; the first one is right. */
static void must_refuse_operation(dyn_client_operation operation, dyn_client_status status, const char *field) {
    const dyn_client_operation operations[2] = {
        {.kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK, .link = "tool0", .name = "box", .inertia = {.mass = 1}},
        operation};
    const dyn_client_derive_request request =
        DYN_CLIENT_DERIVE_REQUEST_INIT(.model = "ur5", .name = "derived", .operation_count = 2,
                                       .operations = operations);
    dyn_client_loaded_model *loaded;
    char path[128];
    snprintf(path, sizeof path, "derive_model.operations[1]%s%s", field[0] ? "." : "", field);
    dyn_client_status found = dyn_client_derive_model(client, &request, &loaded, &error);
    ck_assert_ptr_null(loaded);
    check_refusal(field, found, status, path);
}

#define OPERATION(...) ((dyn_client_operation){__VA_ARGS__})

START_TEST(bad_operations_name_their_member) {
    static const char *const joints[] = {"elbow_joint", "knee_joint"}, *const twice[] = {"elbow_joint", "elbow_joint"};
    const double q[6] = {0, 0, NAN}, few[2] = {0};
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_LOCK_JOINTS, .joint_count = 2, .joints = joints),
                          DYN_CLIENT_NOT_FOUND, "lock.joints[1]");
    must_refuse_operation(
        OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_LOCK_JOINTS, .joint_count = 1, .joints = joints, .nq = 6, .q = q),
        DYN_CLIENT_INVALID_ARGUMENT, "lock.q[2]");
    must_refuse_operation(
        OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_LOCK_JOINTS, .joint_count = 1, .joints = joints, .nq = 2, .q = few),
        DYN_CLIENT_INVALID_ARGUMENT, "lock.q");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_LOCK_JOINTS), DYN_CLIENT_INVALID_ARGUMENT,
                          "lock.joints");
    must_refuse_operation(
        OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_LOCK_JOINTS, .joint_count = 2, .joints = twice, .nq = 2, .q = few),
        DYN_CLIENT_INVALID_ARGUMENT, "lock.q");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_KEEP_SUBTREE, .link = "nowhere"),
                          DYN_CLIENT_NOT_FOUND, "subtree.link");
    must_refuse_operation(
        OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_KEEP_SUBTREE, .link = "tool0", .base = (dyn_client_base)3),
        DYN_CLIENT_INVALID_ARGUMENT, "subtree.base_type");
    must_refuse_operation(
        OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_KEEP_CHAIN, .link = "base_link", .last = "nowhere"),
        DYN_CLIENT_NOT_FOUND, "chain.last");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_KEEP_CHAIN, .link = "nowhere", .last = "tool0"),
                          DYN_CLIENT_NOT_FOUND, "chain.first");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_CHANGE_BASE, .link = NULL), DYN_CLIENT_NOT_FOUND,
                          "change_base.link");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_MERGE_MODEL, .model = "nothing", .link = "tool0"),
                          DYN_CLIENT_NOT_FOUND, "merge.model");
    must_refuse_operation(
        OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_MERGE_MODEL, .model = "two_link", .link = "nowhere"),
        DYN_CLIENT_NOT_FOUND, "merge.link");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_MERGE_MODEL, .model = "ur5", .link = "tool0"),
                          DYN_CLIENT_INVALID_ARGUMENT, "merge.prefix");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK, .link = "nowhere", .name = "new"),
                          DYN_CLIENT_NOT_FOUND, "attach.link");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK, .link = "tool0", .name = "box"),
                          DYN_CLIENT_INVALID_ARGUMENT, "attach.name");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK, .link = "tool0", .name = "new",
                                    .inertia = {.mass = NAN}),
                          DYN_CLIENT_INVALID_ARGUMENT, "attach.inertia.mass");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK, .link = "tool0", .name = "new",
                                    .pose = {.rotation = crooked}),
                          DYN_CLIENT_INVALID_ARGUMENT, "attach.pose.rotation.values");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK, .link = "tool0", .name = "new",
                                    .inertia = {.mass = NAN}),
                          DYN_CLIENT_INVALID_ARGUMENT, "attach.inertia.mass");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK, .link = "tool0", .name = "new",
                                    .inertia = {.mass = -1}),
                          DYN_CLIENT_INVALID_ARGUMENT, "attach.inertia");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK, .link = "tool0", .name = "new",
                                    .pose = {.rotation = crooked}),
                          DYN_CLIENT_INVALID_ARGUMENT, "attach.pose.rotation.values");
    must_refuse_operation(
        OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_CHANGE_INERTIA, .link = "tool0", .inertia = {.mass = -1}),
        DYN_CLIENT_INVALID_ARGUMENT, "change_inertia.inertia");
    must_refuse_operation(OPERATION(.kind = DYN_CLIENT_OPERATION_KIND_DETACH_LINK, .link = "base_link"),
                          DYN_CLIENT_INVALID_ARGUMENT, "detach.link");
    must_refuse_operation(OPERATION(.kind = (dyn_client_operation_kind)0), DYN_CLIENT_INVALID_ARGUMENT, "");
    must_refuse_operation(OPERATION(.kind = (dyn_client_operation_kind)99), DYN_CLIENT_INVALID_ARGUMENT, "");
}
END_TEST

START_TEST(operations_are_bounded) {
    static dyn_client_operation many[65];
    dyn_client_derive_request request =
        DYN_CLIENT_DERIVE_REQUEST_INIT(.model = "two_link", .name = "derived", .operations = many);
    dyn_client_loaded_model *loaded;
    for (int i = 0; i < 65; i++) {
        many[i] = (dyn_client_operation){
            .kind = DYN_CLIENT_OPERATION_KIND_CHANGE_INERTIA, .link = "tip", .inertia = {.mass = i + 1}};
    }
    check_refusal("none", dyn_client_derive_model(client, &request, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT,
                  "derive_model.operations");
    request.operation_count = 65;
    check_refusal("65", dyn_client_derive_model(client, &request, &loaded, &error), DYN_CLIENT_RESOURCE_EXHAUSTED,
                  "derive_model.operations");
    request.operation_count = 64;
    request.name = "";
    check_refusal("no name", dyn_client_derive_model(client, &request, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT,
                  "derive_model.name");
    request.name = "two_link";
    check_refusal("taken", dyn_client_derive_model(client, &request, &loaded, &error), DYN_CLIENT_ALREADY_EXISTS,
                  "derive_model.name");
    request.name = "derived";
    wire_require(dyn_client_derive_model(client, &request, &loaded, &error), &error);
    ck_assert_double_eq(loaded->model.mass, 66);
    dyn_client_loaded_model_free(loaded);
    wire_require(dyn_client_unload_model(client, "derived", 0, &error), &error);
}
END_TEST

/* Checks that repeated doubling of a robot ends at the daemon's limit of links. */
START_TEST(models_do_not_grow_beyond_the_limit) {
    const dyn_client_operation merge = {
        .kind = DYN_CLIENT_OPERATION_KIND_MERGE_MODEL, .model = "grown", .link = "tip", .prefix = "x"};
    dyn_client_operation first = merge;
    first.model = "two_link";
    dyn_client_derive_request request =
        DYN_CLIENT_DERIVE_REQUEST_INIT(.model = "two_link", .name = "grown", .operation_count = 1, .operations = &first,
                                       .replace = true);
    dyn_client_loaded_model *loaded;
    dyn_client_status status = dyn_client_derive_model(client, &request, &loaded, &error);
    request.model = "grown";
    request.operations = &merge;
    for (int i = 0; status == DYN_CLIENT_OK && i < 10; i++) {
        ck_assert_uint_le(loaded->model.links, 100);
        dyn_client_loaded_model_free(loaded);
        status = dyn_client_derive_model(client, &request, &loaded, &error);
    }
    ck_assert_int_ne(status, DYN_CLIENT_OK);
    ck_assert_int_eq(strncmp(error.field, "derive_model.operations", 23), 0);
}
END_TEST

START_TEST(bad_exports_are_refused) {
    dyn_client_exported_model *exported;
    check_refusal("no model",
                  dyn_client_export_model(client, "nothing", DYN_CLIENT_MODEL_FORMAT_URDF, NULL, 0, &exported, &error),
                  DYN_CLIENT_NOT_FOUND, "export_model.model");
    check_refusal("a format",
                  dyn_client_export_model(client, "ur5", (dyn_client_model_format)9, NULL, 0, &exported, &error),
                  DYN_CLIENT_INVALID_ARGUMENT, "export_model.format");
    check_refusal(
        "no format",
        dyn_client_export_model(client, "ur5", DYN_CLIENT_MODEL_FORMAT_UNSPECIFIED, NULL, 0, &exported, &error),
        DYN_CLIENT_INVALID_ARGUMENT, "export_model.format");
    check_refusal(
        "a tip",
        dyn_client_export_model(client, "ur5", DYN_CLIENT_MODEL_FORMAT_SCREWS, "nowhere", 0, &exported, &error),
        DYN_CLIENT_NOT_FOUND, "export_model.tip");
    check_refusal(
        "a tip",
        dyn_client_export_model(client, "ur5", DYN_CLIENT_MODEL_FORMAT_SCREWS, "base_link", 0, &exported, &error),
        DYN_CLIENT_INVALID_ARGUMENT, "export_model.tip");
    check_refusal(
        "a branch",
        dyn_client_export_model(client, "quadruped", DYN_CLIENT_MODEL_FORMAT_SCREWS, NULL, 0, &exported, &error),
        DYN_CLIENT_FAILED_PRECONDITION, "export_model.format");
    robot r;
    dyn_client_loaded_model *loaded;
    describe_well(&r);
    r.joints[1].type = DYN_CLIENT_JOINT_TYPE_SPHERICAL;
    wire_require(dyn_client_load_model(client, &r.request, &loaded, &error), &error);
    dyn_client_loaded_model_free(loaded);
    check_refusal("a sphere",
                  dyn_client_export_model(client, "spoilt", DYN_CLIENT_MODEL_FORMAT_URDF, NULL, 0, &exported, &error),
                  DYN_CLIENT_FAILED_PRECONDITION, "export_model.format");
    ck_assert_ptr_nonnull(strstr(error.message, "joint b"));
}
END_TEST

int main(void) {
    TCase *all = tcase_create("hostile_models");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_loop_test(all, bad_descriptions_name_their_element, 0, (int)(sizeof spoilt / sizeof *spoilt));
    tcase_add_test(all, too_many_links_are_refused);
    tcase_add_test(all, elements_with_long_names_are_distinguished);
    tcase_add_test(all, no_description_is_refused);
    tcase_add_test(all, bad_tables_name_their_row);
    tcase_add_test(all, warnings_of_strict_tables_name_their_row);
    tcase_add_test(all, bad_screws_name_their_matrix);
    tcase_add_test(all, bad_operations_name_their_member);
    tcase_add_test(all, operations_are_bounded);
    tcase_add_test(all, models_do_not_grow_beyond_the_limit);
    tcase_add_test(all, bad_exports_are_refused);
    return run_unforked("hostile_models", all);
}
