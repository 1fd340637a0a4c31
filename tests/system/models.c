/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks models from descriptions, tables, screws and other models, and their export, through a daemon.
 */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/daemon_fixture.h"
#include "system/wire_tree.h"
#include "system/runner.h"

enum { TREES = 25 };

static daemon_fixture served;
static dyn_client *client;
static _Thread_local dyn_client_error error;

static void start_daemon(void) {
    daemon_start(&(daemon_options){.configuration = "[server]\nworkers = 2\n"}, &served);
    wire_require(dyn_client_connect(served.request_ipc, NULL, &client, &error), &error);
}

static void stop_daemon(void) {
    dyn_client_close(client);
    daemon_stop(&served);
}

static dyn_client_loaded_model *load(const dyn_client_load_request *request) {
    dyn_client_loaded_model *loaded;
    wire_require(dyn_client_load_model(client, request, &loaded, &error), &error);
    return loaded;
}

/* Timeout of a derivation in seconds: sanitizers on a busy machine are slow, and the daemon allows 30. */
static const double PATIENCE = 28;

/* Derives a model; returns NULL, with the error in `own`, where that fails. Each caller has its own error, since two
 * threads derive at once. */
static dyn_client_loaded_model *derive_with(const char *model, const char *name, size_t count,
                                            const dyn_client_operation *operations, dyn_client_error *own) {
    dyn_client_loaded_model *loaded = NULL;
    const dyn_client_derive_request request =
        DYN_CLIENT_DERIVE_REQUEST_INIT(.model = model, .name = name, .operation_count = count, .operations = operations,
                                       .replace = true, .timeout = PATIENCE);
    return dyn_client_derive_model(client, &request, &loaded, own) == DYN_CLIENT_OK ? loaded : NULL;
}

static dyn_client_loaded_model *derive(const char *model, const char *name, size_t count,
                                       const dyn_client_operation *operations) {
    dyn_client_loaded_model *loaded = derive_with(model, name, count, operations, &error);
    ck_assert_msg(loaded != NULL, "%s: %s", error.field, error.message);
    return loaded;
}

static dyn_client_exported_model *export_as(const char *model, dyn_client_model_format format, const char *tip) {
    dyn_client_exported_model *exported;
    wire_require(dyn_client_export_model(client, model, format, tip, 0, &exported, &error), &error);
    return exported;
}

/* Returns the digest of a model in the daemon, valid until the fourth next call. */
static const char *digest_of(const char *model) {
    static char digests[4][80];
    static unsigned next;
    char *digest = digests[next++ % 4];
    dyn_client_exported_model *exported = export_as(model, DYN_CLIENT_MODEL_FORMAT_DESCRIPTION, NULL);
    snprintf(digest, sizeof digests[0], "%s", exported->model.digest);
    dyn_client_exported_model_free(exported);
    return digest;
}

/* Requests the torques of a model in one state from the daemon. */
static void inverse_dynamics(const char *model, size_t nq, size_t nv, const double *q, const double *v, const double *a,
                             double *tau) {
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = model, .nq = nq, .nv = nv, .samples = 1);
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error), &error);
}

/* ---- descriptions ------------------------------------------------------------------------------------------------ */

static random_tree_options tree_options(random_source *random, int k) {
    return (random_tree_options){.joints = 1 + random_index(random, 20),
                                 .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                 .mimic = k % 5 ? DYN_MIMIC_POLICY_COUPLED : DYN_MIMIC_POLICY_INDEPENDENT,
                                 .with_mimic = true,
                                 .with_fixed = true};
}

/* Exports the model `name` of a robot and loads the export, which must be an equal model with that digest. */
static void check_export(const char *name, const char *robot, const char *digest) {
    dyn_client_exported_model *exported = export_as(name, DYN_CLIENT_MODEL_FORMAT_DESCRIPTION, NULL);
    const dyn_client_load_request again =
        DYN_CLIENT_LOAD_REQUEST_INIT(.description = exported->description, .name = name);
    ck_assert_str_eq(exported->model.digest, digest);
    ck_assert_str_eq(exported->description->name, robot);
    dyn_client_loaded_model *loaded = load(&again);
    ck_assert(loaded->already_loaded);
    ck_assert_str_eq(loaded->model.digest, digest);
    dyn_client_loaded_model_free(loaded);
    dyn_client_exported_model_free(exported);
}

START_TEST(descriptions_keep_their_digest_and_their_dynamics) {
    random_source base = random_seed("descriptions through the wire", 20261121);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options options = tree_options(&random, k);
        wire_tree tree;
        dyn_error failure;
        wire_tree_open(client, &random, &options, "tree", &tree);
        check_export(tree.name, dyn_model_name(tree.model), tree.digest);
        double *expected = calloc(tree.query.nv, sizeof *expected);
        ck_assert_int_eq(
            dyn_rnea(tree.model, tree.workspace, 1, NULL, tree.q, tree.v, tree.a, NULL, expected, &failure), DYN_OK);
        inverse_dynamics("tree", tree.query.nq, tree.query.nv, tree.q, tree.v, tree.a, tree.tau);
        for (size_t i = 0; i < tree.query.nv; i++) {
            ck_assert_double_eq(tree.tau[i], expected[i]);
        }
        free(expected);
        wire_tree_close(&tree);
    }
}
END_TEST

START_TEST(sample_robots_keep_their_digest) {
    static const char *const robots[] = {"two_link", "ur5", "panda", "quadruped"};
    for (size_t i = 0; i < sizeof robots / sizeof *robots; i++) {
        dyn_client_exported_model *exported = export_as(robots[i], DYN_CLIENT_MODEL_FORMAT_DESCRIPTION, NULL);
        const dyn_client_load_request request =
            DYN_CLIENT_LOAD_REQUEST_INIT(.description = exported->description, .name = "copy", .replace = true);
        dyn_client_loaded_model *loaded = load(&request);
        ck_assert_str_eq(loaded->model.digest, exported->model.digest);
        ck_assert_double_eq(loaded->model.mass, exported->model.mass);
        dyn_client_loaded_model_free(loaded);
        dyn_client_exported_model_free(exported);
    }
}
END_TEST

/* Checks that a model exported to URDF and loaded again is the same robot. */
START_TEST(urdf_comes_back) {
    static const char *const robots[] = {"two_link", "ur5", "panda"};
    for (size_t i = 0; i < sizeof robots / sizeof *robots; i++) {
        dyn_client_exported_model *exported = export_as(robots[i], DYN_CLIENT_MODEL_FORMAT_URDF, NULL);
        const dyn_client_load_request request =
            DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = exported->urdf, .name = "copy", .replace = true);
        dyn_client_loaded_model *loaded = load(&request);
        ck_assert_ptr_null(exported->description);
        ck_assert_str_eq(loaded->model.digest, exported->model.digest);
        dyn_client_loaded_model_free(loaded);
        dyn_client_exported_model_free(exported);
    }
}
END_TEST

/* Checks that a frame is a massless link on a fixed joint. */
START_TEST(frames_are_links_without_mass) {
    const dyn_client_link links[] = {{.name = "base"}, {.name = "arm", .inertia = {.mass = 1}}};
    const dyn_client_joint joint = {.name = "turn",
                                    .type = DYN_CLIENT_JOINT_TYPE_CONTINUOUS,
                                    .parent_link = "base",
                                    .child_link = "arm",
                                    .axis = {0, 0, 2}};
    const dyn_client_frame frame = {.name = "tip", .link = "arm", .pose = {.position = {1, 0, 0}}};
    const dyn_client_model_description form =
        DYN_CLIENT_MODEL_DESCRIPTION_INIT(.name = "short", .link_count = 2, .links = links, .joint_count = 1,
                                          .joints = &joint, .frame_count = 1, .frames = &frame);
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.description = &form, .replace = true);
    dyn_client_loaded_model_free(load(&request));
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "short", .nq = 1, .nv = 1, .samples = 1);
    const char *const names[] = {"tip"};
    double position[3], quaternion[4], quarter = M_PI / 2;
    wire_require(dyn_client_poses(client, &query, &quarter, 1, names, position, quaternion, &error), &error);
    ck_assert_double_eq_tol(position[0], 0, 1e-15);
    ck_assert_double_eq_tol(position[1], 1, 1e-15);
}
END_TEST

/* Description of two joints, of which the second one mimics the first. */
typedef struct twins {
    dyn_client_model_description form;
    dyn_client_link links[3];
    dyn_client_joint joints[2];
} twins;

static void describe_twins(twins *pair, const double *multiplier) {
    *pair = (twins){.links = {{.name = "base", .inertia = {.mass = 1, .rotational = {1, 0, 0, 1, 0, 1}}},
                              {.name = "one", .inertia = {.mass = 1}},
                              {.name = "two", .inertia = {.mass = 1}}},
                    .joints = {{.name = "a",
                                .type = DYN_CLIENT_JOINT_TYPE_CONTINUOUS,
                                .parent_link = "base",
                                .child_link = "one",
                                .axis = {0, 0, 1}},
                               {.name = "b",
                                .type = DYN_CLIENT_JOINT_TYPE_CONTINUOUS,
                                .parent_link = "base",
                                .child_link = "two",
                                .axis = {0, 0, 1},
                                .mimic_joint = "a",
                                .mimic_multiplier = multiplier}}};
    pair->form = (dyn_client_model_description)DYN_CLIENT_MODEL_DESCRIPTION_INIT(.name = "twins", .link_count = 3,
                                                                                 .links = pair->links, .joint_count = 2,
                                                                                 .joints = pair->joints);
}

/* Loads a link "arm" that turns on "base" at a pose, with a frame "tip" on it. */
static dyn_client_loaded_model *load_arm_at(const dyn_client_pose *pose) {
    const dyn_client_link links[] = {{.name = "base"}, {.name = "arm", .inertia = {.mass = 1}}};
    const dyn_client_joint joint = {.name = "turn",
                                    .type = DYN_CLIENT_JOINT_TYPE_CONTINUOUS,
                                    .parent_link = "base",
                                    .child_link = "arm",
                                    .origin = *pose,
                                    .axis = {0, 0, 1}};
    const dyn_client_frame frame = {.name = "tip", .link = "arm", .pose = {.position = {1, 0, 0}}};
    const dyn_client_model_description form =
        DYN_CLIENT_MODEL_DESCRIPTION_INIT(.name = "posed", .link_count = 2, .links = links, .joint_count = 1,
                                          .joints = &joint, .frame_count = 1, .frames = &frame);
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.description = &form, .replace = true);
    return load(&request);
}

static void assert_orientation(const double orientation[4], const double expected[4]) {
    for (size_t i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(orientation[i], expected[i], 1e-15);
    }
}

/* Checks orientations whose largest component is x, y, z and w. */
START_TEST(an_orientation_is_described_and_exported_as_stated) {
    static const double orientations[][4] = {
        {0.8, -0.4, 0.4, 0.2}, {-0.4, 0.8, 0.2, 0.4}, {0.4, -0.2, 0.8, 0.4}, {0.2, 0.4, -0.4, 0.8}, {0, 0, 0, 1}};
    for (size_t i = 0; i < sizeof orientations / sizeof *orientations; i++) {
        dyn_client_pose pose = {.position = {0.1, 0.2, 0.3}};
        memcpy(pose.orientation, orientations[i], sizeof pose.orientation);
        dyn_client_loaded_model_free(load_arm_at(&pose));
        dyn_client_description *robot;
        wire_require(dyn_client_describe_model(client, "posed", 0, &robot, &error), &error);
        ck_assert_double_eq(robot->joints[0].origin.position[2], 0.3);
        assert_orientation(robot->joints[0].origin.orientation, orientations[i]);
        ck_assert_ptr_null(robot->joints[0].origin.rotation);
        dyn_client_description_free(robot);
        dyn_client_exported_model *exported = export_as("posed", DYN_CLIENT_MODEL_FORMAT_DESCRIPTION, NULL);
        assert_orientation(exported->description->joints[0].origin.orientation, orientations[i]);
        ck_assert(exported->description->joints[0].origin.rotation || orientations[i][3] == 1);
        dyn_client_exported_model_free(exported);
    }
}
END_TEST

START_TEST(a_pose_without_orientation_is_not_turned) {
    static const double identity[4] = {0, 0, 0, 1}, matrix[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const dyn_client_pose poses[] = {{.position = {1, 2, 3}},
                                     {.position = {1, 2, 3}, .orientation = {0, 0, 0, 1}},
                                     {.position = {1, 2, 3}, .orientation = {0, 0, 0, 2}},
                                     {.position = {1, 2, 3}, .orientation = {1, 0, 0, 0}, .rotation = matrix}};
    char digest[80] = "";
    for (size_t i = 0; i < sizeof poses / sizeof *poses; i++) {
        dyn_client_loaded_model *loaded = load_arm_at(&poses[i]);
        ck_assert(i == 0 || strcmp(loaded->model.digest, digest) == 0);
        snprintf(digest, sizeof digest, "%s", loaded->model.digest);
        dyn_client_loaded_model_free(loaded);
    }
    dyn_client_description *robot;
    wire_require(dyn_client_describe_model(client, "posed", 0, &robot, &error), &error);
    assert_orientation(robot->joints[0].origin.orientation, identity);
    dyn_client_description_free(robot);
}
END_TEST

/* Creates a file from a template of mkstemp, which receives its path, and writes the bytes. */
static void write_file(char path[], const void *bytes, size_t size) {
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    FILE *file = fdopen(descriptor, "wb");
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(a_file_loads_as_its_text_does) {
    static const char text[] = "<robot name='rod'><link name='base'/></robot>";
    char path[] = "/tmp/dynamicsd-file-XXXXXX";
    const dyn_client_load_request as_text = DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = text, .name = "text");
    const dyn_client_load_request as_file = DYN_CLIENT_LOAD_REQUEST_INIT(.name = "file");
    dyn_client_loaded_model *of_text = load(&as_text), *of_file, *plain;
    write_file(path, text, strlen(text));
    wire_require(dyn_client_load_model_file(client, path, &as_file, &of_file, &error), &error);
    ck_assert_str_eq(of_file->model.name, "file");
    ck_assert_str_eq(of_file->model.digest, of_text->model.digest);
    wire_require(dyn_client_load_model_file(client, path, NULL, &plain, &error), &error);
    ck_assert_str_eq(plain->model.name, "rod");
    dyn_client_loaded_model_free(of_text);
    dyn_client_loaded_model_free(of_file);
    dyn_client_loaded_model_free(plain);
    remove(path);
}
END_TEST

/* Loads a text as a file; `digest` receives the digest of its model. */
static void load_as_file(const char *text, char digest[80]) {
    char path[] = "/tmp/dynamicsd-file-XXXXXX";
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.name = "file", .replace = true);
    dyn_client_loaded_model *loaded;
    write_file(path, text, strlen(text));
    wire_require(dyn_client_load_model_file(client, path, &request, &loaded, &error), &error);
    snprintf(digest, 80, "%s", loaded->model.digest);
    dyn_client_loaded_model_free(loaded);
    remove(path);
}

START_TEST(a_file_of_each_form_loads_as_its_form_does) {
    static const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    static const double inertia[36] = {[0] = 1, [7] = 1, [14] = 1, [21] = 2, [28] = 2, [35] = 2};
    static const double axis[6] = {[2] = 1};
    double places[32];
    memcpy(places, identity, sizeof identity);
    memcpy(places + 16, identity, sizeof identity);
    const dyn_client_dh_row row = {.type = DYN_CLIENT_JOINT_TYPE_REVOLUTE, .a = 0.5, .inertia.mass = 3};
    const dyn_client_dh_table table =
        DYN_CLIENT_DH_TABLE_INIT(.name = "chain", .convention = DYN_CLIENT_DH_CONVENTION_MODIFIED, .row_count = 1,
                                 .rows = &row);
    const dyn_client_screw_chain screws =
        DYN_CLIENT_SCREW_CHAIN_INIT(.name = "chain", .n = 1, .Mlist = places, .Glist = inertia, .Slist = axis);
    const struct {
        dyn_client_load_request request;
        const char *text;
    } forms[] = {
        {DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = "<robot name='rod'><link name='base'/></robot>"),
         "\n{\"name\": \"rod\", \"links\": [{\"name\": \"base\"}]}"},
        {DYN_CLIENT_LOAD_REQUEST_INIT(.denavit_hartenberg = &table),
         "{\"name\": \"chain\", \"convention\": \"modified\", \"rows\": [{\"type\": \"revolute\", \"a\": 0.5, "
         "\"inertia\": {\"mass\": 3}}]}"},
        {DYN_CLIENT_LOAD_REQUEST_INIT(.screws = &screws),
         "{\"name\": \"chain\", \"mlist\": [1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1, 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1], "
         "\"glist\": [1,0,0,0,0,0, 0,1,0,0,0,0, 0,0,1,0,0,0, 0,0,0,2,0,0, 0,0,0,0,2,0, 0,0,0,0,0,2], "
         "\"slist\": [0,0,1,0,0,0]}"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char digest[80];
        dyn_client_load_request request = forms[i].request;
        request.name = "form";
        request.replace = true;
        dyn_client_loaded_model *loaded = load(&request);
        load_as_file(forms[i].text, digest);
        ck_assert_str_eq(digest, loaded->model.digest);
        dyn_client_loaded_model_free(loaded);
    }
}
END_TEST

START_TEST(files_that_cannot_be_read_are_errors_that_name_them) {
    char empty[] = "/tmp/dynamicsd-file-XXXXXX", binary[] = "/tmp/dynamicsd-file-XXXXXX",
         broken[] = "/tmp/dynamicsd-file-XXXXXX", unended[] = "/tmp/dynamicsd-file-XXXXXX",
         formless[] = "/tmp/dynamicsd-file-XXXXXX", wrong[] = "/tmp/dynamicsd-file-XXXXXX";
    const struct {
        const char *path;
        dyn_client_status status;
        const char *field, *fragment;
    } cases[] = {
        {NULL, DYN_CLIENT_INVALID_ARGUMENT, "path", "NULL"},
        {"/tmp/dynamicsd-none", DYN_CLIENT_NOT_FOUND, "path", "/tmp/dynamicsd-none cannot be read: No such file"},
        {"/tmp", DYN_CLIENT_FAILED_PRECONDITION, "path", "Is a directory"},
        {"/dev/zero", DYN_CLIENT_RESOURCE_EXHAUSTED, "path", "/dev/zero has more than 16777216 bytes"},
        {empty, DYN_CLIENT_INVALID_ARGUMENT, "path", "is empty"},
        {binary, DYN_CLIENT_INVALID_ARGUMENT, "path", "zero byte at offset 6"},
        {broken, DYN_CLIENT_INVALID_ARGUMENT, "load_model.urdf:1", "not well-formed"},
        {unended, DYN_CLIENT_INVALID_ARGUMENT, "path", ":2: not JSON: "},
        {formless, DYN_CLIENT_INVALID_ARGUMENT, "path", "none of the members links (ModelDescription), rows"},
        {wrong, DYN_CLIENT_INVALID_ARGUMENT, "load_model.description.links[1].inertia.mass", "is not a number"},
    };
    write_file(empty, "", 0);
    write_file(binary, "<robot\0/>", 9);
    write_file(broken, "<robot", 6);
    write_file(unended, "{\n\"name\"", 8);
    write_file(formless, "{\"name\": \"rod\"}", 15);
    static const char mass[] = "{\"links\": [{\"name\": \"a\"}, {\"inertia\": {\"mass\": \"heavy\"}}]}";
    write_file(wrong, mass, strlen(mass));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dyn_client_loaded_model *loaded;
        dyn_client_status status = dyn_client_load_model_file(client, cases[i].path, NULL, &loaded, &error);
        ck_assert_msg(status == cases[i].status && strcmp(error.field, cases[i].field) == 0 &&
                          strstr(error.message, cases[i].fragment),
                      "case %zu: %s: %s: %s", i, dyn_client_status_name(status), error.field, error.message);
        ck_assert_ptr_null(loaded);
    }
    const dyn_client_load_request both = DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = "<robot/>");
    dyn_client_loaded_model *loaded;
    ck_assert_int_eq(dyn_client_load_model_file(client, broken, &both, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "request.urdf");
    remove(empty);
    remove(binary);
    remove(broken);
    remove(unended);
    remove(formless);
    remove(wrong);
}
END_TEST

START_TEST(the_longest_file_is_the_daemons_longest_document) {
    dyn_client_server_info *info;
    wire_require(dyn_client_get_server_info(client, 0, &info, &error), &error);
    ck_assert_uint_eq(info->limits.urdf_bytes, DYN_CLIENT_MAX_FILE_BYTES);
    dyn_client_server_info_free(info);
}
END_TEST

START_TEST(a_described_frame_names_the_link_that_its_pose_refers_to) {
    dyn_client_loaded_model_free(load_arm_at(&(dyn_client_pose){.position = {0, 0, 1}}));
    dyn_client_description *robot;
    wire_require(dyn_client_describe_model(client, "posed", 0, &robot, &error), &error);
    const dyn_client_frame *tip = NULL;
    for (size_t i = 0; i < robot->frame_count; i++) {
        tip = strcmp(robot->frames[i].name, "tip") == 0 ? &robot->frames[i] : tip;
    }
    ck_assert_ptr_nonnull(tip);
    ck_assert_str_eq(tip->link, "arm");
    ck_assert_str_eq(tip->moving_joint, "turn");
    ck_assert_double_eq(tip->pose.position[0], 1);
    dyn_client_description_free(robot);
}
END_TEST

/* Checks that a description contains the pitch and the axes of helical and universal joints. */
START_TEST(described_joints_have_their_pitch_and_axes) {
    const dyn_client_link links[] = {
        {.name = "base"}, {.name = "one", .inertia = {.mass = 1}}, {.name = "two", .inertia = {.mass = 1}}};
    const dyn_client_joint joints[] = {{.name = "screw",
                                        .type = DYN_CLIENT_JOINT_TYPE_HELICAL,
                                        .parent_link = "base",
                                        .child_link = "one",
                                        .axis = {0, 0, 2},
                                        .pitch = 0.25},
                                       {.name = "cross",
                                        .type = DYN_CLIENT_JOINT_TYPE_UNIVERSAL,
                                        .parent_link = "one",
                                        .child_link = "two",
                                        .axis = {3, 0, 0},
                                        .second_axis = {0, 5, 0}}};
    const dyn_client_model_description form =
        DYN_CLIENT_MODEL_DESCRIPTION_INIT(.name = "special", .link_count = 3, .links = links, .joint_count = 2,
                                          .joints = joints);
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.description = &form, .replace = true);
    dyn_client_description *robot;
    dyn_client_loaded_model_free(load(&request));
    wire_require(dyn_client_describe_model(client, "special", 0, &robot, &error), &error);
    ck_assert_double_eq(robot->joints[0].pitch, 0.25);
    ck_assert_double_eq(robot->joints[0].axis[2], 1);
    ck_assert_double_eq(robot->joints[1].axis[0], 1);
    ck_assert_double_eq(robot->joints[1].second_axis[1], 1);
    ck_assert_double_eq(robot->model.mass, 2);
    dyn_client_description_free(robot);
}
END_TEST

/* Checks that base and mimic joints are those of the description, unless the request states others. */
START_TEST(choices_of_the_request_come_before_those_of_the_description) {
    static const struct {
        dyn_client_base described, requested;
        uint32_t nq;
    } cases[] = {{DYN_CLIENT_BASE_FLOATING, DYN_CLIENT_BASE_UNSPECIFIED, 8},
                 {DYN_CLIENT_BASE_FLOATING, DYN_CLIENT_BASE_FIXED, 1},
                 {DYN_CLIENT_BASE_FIXED, DYN_CLIENT_BASE_FLOATING, 8},
                 {DYN_CLIENT_BASE_FIXED, DYN_CLIENT_BASE_UNSPECIFIED, 1},
                 {DYN_CLIENT_BASE_UNSPECIFIED, DYN_CLIENT_BASE_UNSPECIFIED, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        twins pair;
        describe_twins(&pair, NULL);
        pair.form.base = cases[i].described;
        const dyn_client_load_request request =
            DYN_CLIENT_LOAD_REQUEST_INIT(.description = &pair.form, .base = cases[i].requested, .replace = true);
        dyn_client_loaded_model *loaded = load(&request);
        ck_assert_uint_eq(loaded->model.nq, cases[i].nq);
        ck_assert_int_eq(loaded->model.base, cases[i].nq == 8 ? DYN_CLIENT_BASE_FLOATING : DYN_CLIENT_BASE_FIXED);
        dyn_client_loaded_model_free(loaded);
    }
    twins pair;
    describe_twins(&pair, NULL);
    pair.form.mimic = DYN_CLIENT_MIMIC_POLICY_INDEPENDENT;
    dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.description = &pair.form, .replace = true);
    dyn_client_loaded_model *loaded = load(&request);
    ck_assert_uint_eq(loaded->model.nq, 2);
    dyn_client_loaded_model_free(loaded);
    request.mimic = DYN_CLIENT_MIMIC_POLICY_COUPLED;
    loaded = load(&request);
    ck_assert_uint_eq(loaded->model.nq, 1);
    dyn_client_loaded_model_free(loaded);
}
END_TEST

/* Checks that an absent multiplier of a mimic joint is 1, and that one of zero remains zero. */
START_TEST(multipliers_are_used_as_they_are_given) {
    static const double zero = 0, half = 0.5;
    static const struct {
        const double *given;
        double used;
    } cases[] = {{NULL, 1}, {&half, 0.5}, {&zero, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        twins pair;
        dyn_client_description *robot;
        describe_twins(&pair, cases[i].given);
        const dyn_client_load_request request =
            DYN_CLIENT_LOAD_REQUEST_INIT(.description = &pair.form, .replace = true);
        dyn_client_loaded_model_free(load(&request));
        wire_require(dyn_client_describe_model(client, "twins", 0, &robot, &error), &error);
        ck_assert_str_eq(robot->joints[1].mimic_joint, "a");
        ck_assert_double_eq(*robot->joints[1].mimic_multiplier, cases[i].used);
        check_export("twins", pair.form.name, robot->model.digest);
        dyn_client_description_free(robot);
    }
}
END_TEST

/* Loads a link of a mass under the name "guarded", if the model of that name has the digest `expected` (NULL: any). */
static dyn_client_status load_guarded(double mass, const char *expected, dyn_client_loaded_model **loaded) {
    const dyn_client_link link = {.name = "base", .inertia = {.mass = mass}};
    const dyn_client_model_description form =
        DYN_CLIENT_MODEL_DESCRIPTION_INIT(.name = "guarded", .link_count = 1, .links = &link);
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.description = &form, .replace = true, .expected_digest = expected);
    return dyn_client_load_model(client, &request, loaded, &error);
}

/* Checks that the second of two clients who replace the model that both have seen gets an error. */
START_TEST(a_model_that_changed_meanwhile_is_not_replaced) {
    char seen[80];
    dyn_client_loaded_model *loaded;
    wire_require(load_guarded(1, NULL, &loaded), &error);
    snprintf(seen, sizeof seen, "%s", loaded->model.digest);
    dyn_client_loaded_model_free(loaded);
    wire_require(load_guarded(2, seen, &loaded), &error);
    dyn_client_loaded_model_free(loaded);
    ck_assert_int_eq(load_guarded(3, seen, &loaded), DYN_CLIENT_ABORTED);
    ck_assert_str_eq(error.field, "load_model.expected_digest");
    ck_assert_ptr_null(loaded);
    wire_require(load_guarded(2, seen, &loaded), &error);
    ck_assert(loaded->already_loaded);
    dyn_client_loaded_model_free(loaded);
    const dyn_client_operation heavier = {
        .kind = DYN_CLIENT_OPERATION_KIND_CHANGE_INERTIA, .link = "base", .inertia = {.mass = 4}};
    dyn_client_derive_request request =
        DYN_CLIENT_DERIVE_REQUEST_INIT(.model = "guarded", .name = "guarded", .operation_count = 1,
                                       .operations = &heavier, .replace = true, .expected_digest = seen);
    ck_assert_int_eq(dyn_client_derive_model(client, &request, &loaded, &error), DYN_CLIENT_ABORTED);
    ck_assert_str_eq(error.field, "derive_model.expected_digest");
    request.name = "unknown";
    ck_assert_int_eq(dyn_client_derive_model(client, &request, &loaded, &error), DYN_CLIENT_ABORTED);
    request.name = "guarded";
    request.replace = false;
    ck_assert_int_eq(dyn_client_derive_model(client, &request, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_int_eq(load_guarded(3, "sha256:12", &loaded), DYN_CLIENT_INVALID_ARGUMENT);
    wire_require(dyn_client_unload_model(client, "guarded", 0, &error), &error);
    ck_assert_int_eq(load_guarded(3, seen, &loaded), DYN_CLIENT_ABORTED);
}
END_TEST

/* Checks that each coordinate has a unique name, which begins with that of its joint. */
START_TEST(coordinates_have_one_spelling) {
    static const char *const robots[] = {"walker", "ur5"};
    dyn_client_exported_model *quadruped = export_as("quadruped", DYN_CLIENT_MODEL_FORMAT_DESCRIPTION, NULL);
    const dyn_client_load_request walker =
        DYN_CLIENT_LOAD_REQUEST_INIT(.description = quadruped->description, .name = "walker",
                                     .base = DYN_CLIENT_BASE_FLOATING, .replace = true);
    dyn_client_loaded_model_free(load(&walker));
    dyn_client_exported_model_free(quadruped);
    for (size_t k = 0; k < 2; k++) {
        dyn_client_description *robot;
        wire_require(dyn_client_describe_model(client, robots[k], 0, &robot, &error), &error);
        for (size_t j = 0; j < robot->joint_count; j++) {
            const dyn_client_joint *joint = &robot->joints[j];
            for (uint32_t i = 0; i < joint->nq; i++) {
                char expected[96];
                snprintf(expected, sizeof expected, joint->nq == 1 ? "%s" : "%s[%u]", joint->name, i);
                ck_assert_str_eq(robot->q_names[joint->q_index + i], expected);
                if (i < joint->nv) {
                    ck_assert_str_eq(robot->v_names[joint->v_index + i], expected);
                }
            }
        }
        dyn_client_description_free(robot);
    }
}
END_TEST

/* ---- chains ------------------------------------------------------------------------------------------------------ */

/* Checks that the planar arm of two equal links, described in both conventions, has the closed form of its mass
 * matrix. */
START_TEST(tables_of_both_conventions_are_the_planar_arm) {
    for (int modified = 0; modified < 2; modified++) {
        dyn_client_dh_row rows[2] = {{.type = DYN_CLIENT_JOINT_TYPE_REVOLUTE},
                                     {.type = DYN_CLIENT_JOINT_TYPE_REVOLUTE}};
        for (int i = 0; i < 2; i++) {
            rows[i].inertia.mass = 1;
            /* The mass is at the far end of link i, which is the origin of its frame in the standard convention. */
            rows[i].inertia.center_of_mass[0] = modified ? 1 : 0;
            rows[i].a = modified && i == 0 ? 0 : 1;
        }
        const dyn_client_dh_table table =
            DYN_CLIENT_DH_TABLE_INIT(.name = "planar",
                                     .convention = modified ? DYN_CLIENT_DH_CONVENTION_MODIFIED
                                                            : DYN_CLIENT_DH_CONVENTION_STANDARD,
                                     .row_count = 2, .rows = rows);
        const dyn_client_load_request request =
            DYN_CLIENT_LOAD_REQUEST_INIT(.denavit_hartenberg = &table, .replace = true);
        dyn_client_loaded_model_free(load(&request));
        const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "planar", .nq = 2, .nv = 2, .samples = 1);
        const double q[2] = {0.4, 1.1};
        double mass[4];
        wire_require(dyn_client_mass_matrix(client, &query, q, mass, &error), &error);
        ck_assert_double_eq_tol(mass[0], 3 + 2 * cos(1.1), 1e-14);
        ck_assert_double_eq_tol(mass[1], 1 + cos(1.1), 1e-14);
        ck_assert_double_eq_tol(mass[3], 1, 1e-14);
    }
}
END_TEST

/* Checks that a robot exported as screws and loaded again has the same torques, and the same screws. */
START_TEST(screws_come_back_with_the_same_torques) {
    const double q[6] = {0.3, -1.2, 1.4, -0.8, -1.5, 0.4}, v[6] = {0.5, 0.4, -0.6, 0.2, 0.3, 1};
    const double a[6] = {1, 0.5, -1, 0.4, 0.2, 2};
    double tau[6], again[6];
    dyn_client_exported_model *screws = export_as("ur5", DYN_CLIENT_MODEL_FORMAT_SCREWS, "tool0");
    ck_assert_uint_eq(screws->screws->n, 6);
    const dyn_client_load_request request =
        DYN_CLIENT_LOAD_REQUEST_INIT(.screws = screws->screws, .name = "screwed", .replace = true);
    dyn_client_loaded_model_free(load(&request));
    inverse_dynamics("ur5", 6, 6, q, v, a, tau);
    inverse_dynamics("screwed", 6, 6, q, v, a, again);
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq_tol(again[i], tau[i], 1e-11);
    }
    dyn_client_exported_model *twice = export_as("screwed", DYN_CLIENT_MODEL_FORMAT_SCREWS, "end_effector");
    for (int i = 0; i < 36; i++) {
        ck_assert_double_eq_tol(twice->screws->Slist[i], screws->screws->Slist[i], 1e-12);
    }
    for (int i = 0; i < 7 * 16; i++) {
        ck_assert_double_eq_tol(twice->screws->Mlist[i], screws->screws->Mlist[i], 1e-12);
    }
    for (int i = 0; i < 6 * 36; i++) {
        ck_assert_double_eq_tol(twice->screws->Glist[i], screws->screws->Glist[i], 1e-12);
    }
    dyn_client_exported_model_free(twice);
    dyn_client_exported_model_free(screws);
}
END_TEST

/* Published example of Modern Robotics, section 8.11: three links of the UR5, whose first screw is not normalized. */
static const double example_M[4 * 16] = {
    1, 0, 0, 0,    0, 1, 0, 0,       0,  0, 1, 0.089159, 0, 0, 0, 1, /**/
    0, 0, 1, 0.28, 0, 1, 0, 0.13585, -1, 0, 0, 0,        0, 0, 0, 1, /**/
    1, 0, 0, 0,    0, 1, 0, -0.1197, 0,  0, 1, 0.395,    0, 0, 0, 1, /**/
    1, 0, 0, 0,    0, 1, 0, 0,       0,  0, 1, 0.14225,  0, 0, 0, 1,
};
static const double example_S[6 * 3] = {1, 0, 0, 0, 1, 1, 1, 0, 0, 0, -0.089, -0.089, 1, 0, 0, 0, 0, 0.425};

static void example_G(double G[3 * 36]) {
    static const double diagonals[3][6] = {{0.010267, 0.010267, 0.00666, 3.7, 3.7, 3.7},
                                           {0.22689, 0.22689, 0.0151074, 8.393, 8.393, 8.393},
                                           {0.0494433, 0.0494433, 0.004095, 2.275, 2.275, 2.275}};
    memset(G, 0, 3 * 36 * sizeof *G);
    for (int i = 0; i < 18; i++) {
        G[36 * (i / 6) + 7 * (i % 6)] = diagonals[i / 6][i % 6];
    }
}

static void must_be_close(const char *what, const double *x, const double *y, size_t count, double tolerance) {
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(fabs(x[i] - y[i]) <= tolerance, "%s[%zu]: %.12g instead of %.12g", what, i, x[i], y[i]);
    }
}

/* Checks that every formulation but armstrong, which needs spherical joints, computes the numbers of the example. */
static void must_be_formulated(dyn_client_query query, const double *q, const double *v, const double *a,
                               const double *tau, const double *M) {
    dyn_client_comparison *found;
    double x[9];
    wire_require(dyn_client_compare(client, &query, q, v, a, &found, &error), &error);
    ck_assert_uint_ge(found->formulation_count, 20);
    query.gravity = NULL, query.external_force_count = 0;
    for (size_t i = 0; i < found->formulation_count; i++) {
        const dyn_client_compared_formulation *one = &found->formulations[i];
        if (strcmp(one->name, "armstrong") == 0) {
            ck_assert_ptr_nonnull(strstr(one->refusal, "spherical"));
            continue;
        }
        ck_assert_msg(!one->refusal, "%s: %s", one->name, one->refusal);
        must_be_close(one->name, one->tau, tau, 3, 1e-8);
        must_be_close(one->name, one->a, a, 3, 1e-9);
        query.formulation = i > 0 ? one->name : NULL;
        wire_require(dyn_client_mass_matrix(client, &query, q, x, &error), &error);
        must_be_close(one->name, x, M, 9, 1e-7);
    }
    dyn_client_comparison_free(found);
}

/* Checks the numbers that the book's software prints for the example, of a model with three coordinates. The end
 * effector applies the wrench of six ones to the environment, so that the environment applies minus ones. */
static void must_have_the_textbook_numbers(const char *model) {
    static const double q[3] = {0.1, 0.1, 0.1}, v[3] = {0.1, 0.2, 0.3}, a[3] = {2, 1.5, 1}, down[3] = {0, 0, -9.8};
    static const double tau[3] = {74.69616155, -33.06766016, -3.23057314}, pushed[3] = {0.5, 0.6, 0.7},
                        M[9] = {22.5433380,  -0.307146754,   -0.00718426391, -0.307146754, 1.96850717,
                                0.432157368, -0.00718426391, 0.432157368,    0.191630858},
                        g[3] = {28.40331262, -37.64094817, -5.4415892},
                        h[3] = {28.40331262 + 0.26453118, -37.64094817 - 0.05505157, -5.4415892 - 0.00689132},
                        ddq[3] = {-0.97392907, 25.58466784, -32.91499212}, minus[3] = {-1, -1, -1};
    const dyn_client_external_force tip = {"end_effector", DYN_CLIENT_REFERENCE_FRAME_LOCAL, minus, minus, 1};
    dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = model, .nq = 3, .nv = 3, .samples = 1, .gravity = down,
                                                   .external_force_count = 1, .external_forces = &tip);
    double x[9];
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, x, &error), &error);
    must_be_close("tau", x, tau, 3, 1e-8);
    wire_require(dyn_client_forward_dynamics(client, &query, q, v, pushed, x, &error), &error);
    must_be_close("ddtheta", x, ddq, 3, 1e-7);
    must_be_formulated(query, q, v, a, tau, M);
    query.external_force_count = 0;
    wire_require(dyn_client_gravity(client, &query, q, x, &error), &error);
    must_be_close("g", x, g, 3, 1e-8);
    wire_require(dyn_client_bias_forces(client, &query, q, v, x, &error), &error);
    must_be_close("c + g", x, h, 3, 2e-8);
    query.gravity = NULL;
    wire_require(dyn_client_mass_matrix(client, &query, q, x, &error), &error);
    must_be_close("M", x, M, 9, 1e-7);
}

/* Loads the example, exports it as URDF, loads that, and compares the screws of both models with the lists. */
START_TEST(screws_of_any_length_come_back_from_urdf_with_the_textbook_numbers) {
    static const char *const models[] = {"example", "example_urdf"};
    double G[3 * 36];
    example_G(G);
    const dyn_client_screw_chain chain =
        DYN_CLIENT_SCREW_CHAIN_INIT(.name = "example", .n = 3, .Mlist = example_M, .Glist = G, .Slist = example_S);
    const dyn_client_load_request request = DYN_CLIENT_LOAD_REQUEST_INIT(.screws = &chain, .replace = true);
    dyn_client_loaded_model_free(load(&request));
    dyn_client_exported_model *urdf = export_as("example", DYN_CLIENT_MODEL_FORMAT_URDF, NULL);
    const dyn_client_load_request again =
        DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = urdf->urdf, .name = "example_urdf", .replace = true);
    dyn_client_loaded_model_free(load(&again));
    dyn_client_exported_model_free(urdf);
    for (int k = 0; k < 2; k++) {
        must_have_the_textbook_numbers(models[k]);
        dyn_client_exported_model *screws = export_as(models[k], DYN_CLIENT_MODEL_FORMAT_SCREWS, "end_effector");
        ck_assert_uint_eq(screws->screws->n, 3);
        must_be_close("Mlist", screws->screws->Mlist, example_M, 4 * 16, 1e-12);
        must_be_close("Glist", screws->screws->Glist, G, 3 * 36, 1e-12);
        must_be_close("Slist", screws->screws->Slist, example_S, 6 * 3, 1e-12);
        dyn_client_exported_model_free(screws);
    }
}
END_TEST

/* ---- operations -------------------------------------------------------------------------------------------------- */

START_TEST(attached_and_detached_is_as_before) {
    const dyn_client_operation there[] = {{.kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK,
                                           .link = "tool0",
                                           .name = "box",
                                           .inertia = {.mass = 2, .rotational = {0.1, 0, 0, 0.1, 0, 0.1}},
                                           .pose = {.position = {0, 0, 0.1}}}};
    const dyn_client_operation back[] = {{.kind = DYN_CLIENT_OPERATION_KIND_DETACH_LINK, .link = "box"}};
    dyn_client_loaded_model *loaded = derive("ur5", "loaded", 1, there);
    dyn_client_exported_model *bare = export_as("ur5", DYN_CLIENT_MODEL_FORMAT_DESCRIPTION, NULL);
    ck_assert_double_eq_tol(loaded->model.mass, bare->model.mass + 2, 1e-12);
    ck_assert_str_ne(loaded->model.digest, bare->model.digest);
    dyn_client_loaded_model_free(loaded);
    loaded = derive("loaded", "bare", 1, back);
    ck_assert_str_eq(loaded->model.digest, bare->model.digest);
    dyn_client_loaded_model_free(loaded);
    dyn_client_exported_model_free(bare);
}
END_TEST

/* Checks that the forces of the free joints of a locked robot are those of the whole robot with the others at rest. */
START_TEST(locked_joints_are_joints_at_rest) {
    static const char *const names[] = {"elbow_joint", "wrist_2_joint"};
    const double whole_q[6] = {0.3, -1.2, 1.4, -0.8, -1.5, 0.4}, whole_v[6] = {0.5, 0.4, 0, 0.2, 0, 1};
    const double whole_a[6] = {1, 0.5, 0, 0.4, 0, 2};
    const double q[4] = {0.3, -1.2, -0.8, 0.4}, v[4] = {0.5, 0.4, 0.2, 1}, a[4] = {1, 0.5, 0.4, 2};
    static const int kept[4] = {0, 1, 3, 5};
    const dyn_client_operation lock = {
        .kind = DYN_CLIENT_OPERATION_KIND_LOCK_JOINTS, .joint_count = 2, .joints = names, .nq = 6, .q = whole_q};
    double whole_tau[6], tau[4];
    dyn_client_loaded_model *loaded = derive("ur5", "locked", 1, &lock);
    ck_assert_uint_eq(loaded->model.nv, 4);
    dyn_client_loaded_model_free(loaded);
    inverse_dynamics("ur5", 6, 6, whole_q, whole_v, whole_a, whole_tau);
    inverse_dynamics("locked", 4, 4, q, v, a, tau);
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(tau[i], whole_tau[kept[i]], 1e-12);
    }
}
END_TEST

/* Checks that an arm merged on a quadruped and detached again is the arm. */
START_TEST(merged_robots_come_apart) {
    const dyn_client_operation operations[] = {
        {.kind = DYN_CLIENT_OPERATION_KIND_MERGE_MODEL, .model = "two_link", .link = "trunk", .prefix = "arm_"},
        {.kind = DYN_CLIENT_OPERATION_KIND_KEEP_SUBTREE, .link = "arm_base", .base = DYN_CLIENT_BASE_FIXED},
    };
    const double q[2] = {0.3, 0.7}, v[2] = {1, -2}, a[2] = {3, 4};
    double tau[2], expected[2];
    dyn_client_error described;
    dyn_client_description *walker;
    wire_require(dyn_client_describe_model(client, "quadruped", 0, &walker, &described), &described);
    dyn_client_operation merge = operations[0];
    merge.link = walker->links[0].name;
    dyn_client_loaded_model *both = derive("quadruped", "both", 1, &merge);
    ck_assert_uint_eq(both->model.nv, walker->model.nv + 2);
    dyn_client_loaded_model_free(both);
    dyn_client_loaded_model_free(derive("both", "arm", 1, &operations[1]));
    inverse_dynamics("arm", 2, 2, q, v, a, tau);
    inverse_dynamics("two_link", 2, 2, q, v, a, expected);
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq_tol(tau[i], expected[i], 1e-12);
    }
    dyn_client_description_free(walker);
}
END_TEST

/* Checks that a chain that is put on another base and back again has the torques of the first one. */
START_TEST(a_chain_is_traversed_both_ways) {
    const dyn_client_operation turn = {.kind = DYN_CLIENT_OPERATION_KIND_CHANGE_BASE, .link = "tool0"};
    const dyn_client_operation back = {
        .kind = DYN_CLIENT_OPERATION_KIND_KEEP_CHAIN, .link = "base_link", .last = "tool0"};
    const double q[6] = {0.3, -1.2, 1.4, -0.8, -1.5, 0.4}, v[6] = {0.5, 0.4, -0.6, 0.2, 0.3, 1}, a[6] = {1, 2, 3};
    double tau[6], expected[6];
    dyn_client_loaded_model_free(derive("ur5", "turned", 1, &turn));
    dyn_client_loaded_model_free(derive("turned", "restored", 1, &back));
    static const char *const reversed[6] = {"shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint",
                                            "wrist_1_joint",      "wrist_2_joint",       "wrist_3_joint"};
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "restored", .nq = 6, .nv = 6, .samples = 1,
                                                         .joint_count = 6, .joint_names = reversed);
    wire_require(dyn_client_inverse_dynamics(client, &query, q, v, a, tau, &error), &error);
    inverse_dynamics("ur5", 6, 6, q, v, a, expected);
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq_tol(tau[i], expected[i], 1e-11);
    }
}
END_TEST

/* Checks that equal operations produce equal models, under one name and under another. */
START_TEST(equal_operations_give_equal_models) {
    const dyn_client_operation attach = {
        .kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK, .link = "tip", .name = "box", .inertia = {.mass = 2}};
    dyn_client_loaded_model *first = derive("two_link", "first", 1, &attach);
    dyn_client_loaded_model *again = derive("two_link", "first", 1, &attach);
    dyn_client_loaded_model *other = derive("two_link", "other", 1, &attach);
    ck_assert(!first->already_loaded && again->already_loaded && !other->already_loaded);
    ck_assert_str_eq(again->model.digest, first->model.digest);
    ck_assert_str_eq(other->model.digest, first->model.digest);
    dyn_client_loaded_model_free(first);
    dyn_client_loaded_model_free(again);
    dyn_client_loaded_model_free(other);
}
END_TEST

START_TEST(another_inertia_counts) {
    const dyn_client_operation lighter = {
        .kind = DYN_CLIENT_OPERATION_KIND_CHANGE_INERTIA, .link = "link2", .inertia = {.mass = 0.5}};
    dyn_client_loaded_model *loaded = derive("two_link", "lighter", 1, &lighter);
    ck_assert_double_eq_tol(loaded->model.mass, 1.5, 1e-15);
    dyn_client_loaded_model_free(loaded);
    ck_assert_str_ne(digest_of("lighter"), digest_of("two_link"));
}
END_TEST

/* Checks that a call was refused with the status `expected`, and that the error shows the name with escapes. */
static void expect_escaped(dyn_client_status status, dyn_client_status expected, const char *shown) {
    ck_assert_int_eq(status, expected);
    ck_assert_msg(strstr(error.message, shown) != NULL, "%s", error.message);
    for (const char *c = error.message; *c != '\0'; c++) {
        ck_assert((unsigned char)*c >= 0x20 && *c != 0x7f);
    }
    ck_assert_ptr_null(strstr(error.message, "\xe2\x80\xae"));
    ck_assert_ptr_null(strstr(error.message, "\xc2\x9b"));
}

START_TEST(unprintable_names_are_refused_and_shown_with_escapes) {
    static const char *const names[][2] = {{"a\x1b[2J", "\"a\\x1b[2J\""},
                                           {"a\xc2\x9b", "\"a\\u009b\""},
                                           {"a\xe2\x80\xae", "\"a\\u202e\""},
                                           {"a\xe2\x80\xa8", "\"a\\u2028\""}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *name = names[i][0], *shown = names[i][1];
        char urdf[256];
        dyn_client_loaded_model *loaded;
        dyn_client_load_request load_request =
            DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = "<robot name='r'><link name='l'/></robot>", .name = name);
        expect_escaped(dyn_client_load_model(client, &load_request, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT,
                       shown);
        if (i > 0) { /* XML has no ESC */
            snprintf(urdf, sizeof urdf, "<robot name='r'><link name='%s'/></robot>", name);
            load_request = (dyn_client_load_request)DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = urdf, .name = "r");
            expect_escaped(dyn_client_load_model(client, &load_request, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT,
                           shown);
        }
        const dyn_client_operation lock = {.kind = DYN_CLIENT_OPERATION_KIND_LOCK_JOINTS};
        const dyn_client_derive_request derive_request =
            DYN_CLIENT_DERIVE_REQUEST_INIT(.model = name, .name = name, .operation_count = 1, .operations = &lock);
        expect_escaped(dyn_client_derive_model(client, &derive_request, &loaded, &error), DYN_CLIENT_NOT_FOUND, shown);
        const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = name, .nq = 1, .nv = 1, .samples = 1);
        double q[1] = {0}, g[1];
        expect_escaped(dyn_client_gravity(client, &query, q, g, &error), DYN_CLIENT_NOT_FOUND, shown);
    }
}
END_TEST

START_TEST(derived_models_have_a_report) {
    const dyn_client_operation doubtful = {.kind = DYN_CLIENT_OPERATION_KIND_ATTACH_LINK,
                                           .link = "tip",
                                           .name = "odd",
                                           .inertia = {.mass = 1, .rotational = {1, 0, 0, 1, 0, 5}}};
    dyn_client_loaded_model *loaded = derive("two_link", "odd", 1, &doubtful);
    bool is_reported = false;
    for (size_t i = 0; i < loaded->report_count; i++) {
        is_reported |= loaded->report[i].severity == DYN_CLIENT_SEVERITY_WARNING &&
                       strcmp(loaded->report[i].place, "link odd") == 0;
    }
    ck_assert(is_reported);
    dyn_client_loaded_model_free(loaded);
    const dyn_client_derive_request strict =
        DYN_CLIENT_DERIVE_REQUEST_INIT(.model = "two_link", .name = "stern", .operation_count = 1,
                                       .operations = &doubtful, .strict = true);
    ck_assert_int_eq(dyn_client_derive_model(client, &strict, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_ptr_null(loaded);
}
END_TEST

static const char departing_robot[] = "<robot name=\"departing\">\n<link name=\"base\"/>\n<joint name=\"weld\" "
                                      "type=\"fixed\"><parent link=\"world\"/><child link=\"base\"/></joint>\n"
                                      "</robot>\n";

/* Checks that departures from URDF are reported, and refused under `strict`. */
START_TEST(departures_are_loaded_with_a_warning_or_refused) {
    dyn_client_loaded_model *loaded =
        load(&(dyn_client_load_request)DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = departing_robot));
    bool is_reported = false;
    for (size_t i = 0; i < loaded->report_count; i++) {
        is_reported |= loaded->report[i].severity == DYN_CLIENT_SEVERITY_WARNING && loaded->report[i].line == 3 &&
                       strstr(loaded->report[i].message, "taken for a massless root") != NULL;
    }
    ck_assert(is_reported);
    dyn_client_loaded_model_free(loaded);
    const dyn_client_load_request strict =
        DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = departing_robot, .name = "stern", .strict = true);
    ck_assert_int_eq(dyn_client_load_model(client, &strict, &loaded, &error), DYN_CLIENT_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "load_model.urdf:3");
    ck_assert_ptr_null(loaded);
}
END_TEST

/* Robot with a massless foot on the last joint. */
static const char footed_robot[] =
    "<robot name=\"footed\"><link name=\"base\"/><link name=\"leg\"><inertial><origin xyz=\"0 0 -1\"/>"
    "<mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>\n<link name=\"foot\"/>"
    "<joint name=\"knee\" type=\"continuous\"><parent link=\"base\"/><child link=\"leg\"/></joint>\n"
    "<joint name=\"ankle\" type=\"continuous\"><parent link=\"leg\"/><child link=\"foot\"/></joint></robot>";

/* Checks that an algorithm that solves with a singular M names the joint, and that others compute. */
START_TEST(accelerations_of_a_singular_robot_are_refused_with_the_reason) {
    dyn_client_loaded_model *loaded =
        load(&(dyn_client_load_request)DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = footed_robot));
    bool is_reported = false;
    for (size_t i = 0; i < loaded->report_count; i++) {
        is_reported |=
            loaded->report[i].line == 3 && strstr(loaded->report[i].message, "mass matrix is singular") != NULL;
    }
    ck_assert(is_reported);
    dyn_client_loaded_model_free(loaded);
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = "footed", .nq = 2, .nv = 2, .samples = 1);
    const double q[2] = {0.1, 0.2}, tau[2] = {0};
    double result[2] = {NAN, NAN};
    ck_assert_int_eq(dyn_client_forward_dynamics(client, &query, q, NULL, tau, result, &error),
                     DYN_CLIENT_FAILED_PRECONDITION);
    ck_assert_msg(strstr(error.message, "joint ankle: the mass matrix is singular") &&
                      strstr(error.message, "set a mass and an inertia for the links that it moves") != NULL,
                  "%s", error.message);
    wire_require(dyn_client_inverse_dynamics(client, &query, q, NULL, NULL, result, &error), &error);
    ck_assert(isfinite(result[0]) && isfinite(result[1]));
}
END_TEST

/* Checks that a daemon whose model directory has one file loads it under the expected name, and no other model. `log`,
 * unless NULL, receives the daemon's log, which the caller frees. */
static void check_model_of_file(const char *file_name, const char *robot, const char *configuration,
                                const char *expected, char **log) {
    daemon_fixture other;
    dyn_client *peer;
    dyn_client_model_list *models;
    char directory[] = "/tmp/dynamicsd-models-XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/%s", directory, file_name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert(fputs(robot, file) >= 0 && fclose(file) == 0);
    daemon_start(&(daemon_options){.models = directory, .configuration = configuration}, &other);
    wire_require(dyn_client_connect(other.request_ipc, NULL, &peer, &error), &error);
    wire_require(dyn_client_list_models(peer, 0, &models, &error), &error);
    ck_assert_uint_eq(models->count, 1);
    ck_assert_str_eq(models->models[0].name, expected);
    if (log) {
        *log = daemon_log(&other);
    }
    dyn_client_model_list_free(models);
    dyn_client_close(peer);
    daemon_stop(&other);
    unlink(path);
    rmdir(directory);
}

/* Checks that a file is read as strictly as its section of the configuration states. */
START_TEST(files_are_read_as_strictly_as_configured) {
    char *log;
    check_model_of_file("departing.urdf", departing_robot,
                        "strict = yes\n[model lax]\nfile = departing.urdf\nstrict = no\n"
                        "[model stern]\nfile = departing.urdf\n",
                        "lax", &log);
    ck_assert_msg(strstr(log, "refused, since strict loading takes a warning for an error") != NULL, "%s", log);
    free(log);
}
END_TEST

/* Checks that robots and files whose names contain "." are loaded with "_" instead, since names of models have no
 * ".". */
START_TEST(names_of_robots_and_files_lose_their_dots) {
    static const char dotted_robot[] = "<robot name=\"arm.v1.2\"><link name=\"base\"/></robot>";
    dyn_client_loaded_model *loaded =
        load(&(dyn_client_load_request)DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = dotted_robot));
    ck_assert_str_eq(loaded->model.name, "arm_v1_2");
    dyn_client_exported_model *exported = export_as("arm_v1_2", DYN_CLIENT_MODEL_FORMAT_DESCRIPTION, NULL);
    ck_assert_str_eq(exported->description->name, "arm.v1.2");
    ck_assert_str_eq(exported->model.digest, loaded->model.digest);
    dyn_client_exported_model_free(exported);
    dyn_client_loaded_model_free(loaded);
    check_model_of_file("left.arm.urdf", dotted_robot, NULL, "left_arm", NULL);
}
END_TEST

/* Writes a robot of one link with the name `robot` into a file of the directory; "" removes the file. Returns the path,
 * valid until the next call. */
static const char *write_robot(const char *directory, const char *file, const char *robot) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    unlink(path);
    FILE *urdf = robot[0] ? fopen(path, "we") : NULL;
    ck_assert(!robot[0] || urdf);
    if (urdf) {
        fprintf(urdf, "<robot name=\"%s\"><link name=\"base\"/></robot>", robot);
        fclose(urdf);
    }
    return path;
}

/* Checks that a model was loaded from the file at `path`. */
static void check_source(dyn_client *peer, const char *model, const char *path) {
    dyn_client_model_list *models;
    const char *source = NULL;
    wire_require(dyn_client_list_models(peer, 0, &models, &error), &error);
    for (size_t i = 0; i < models->count; i++) {
        if (strcmp(models->models[i].name, model) == 0) {
            source = models->models[i].source;
        }
    }
    ck_assert_msg(source && strcmp(source, path) == 0, "%s comes from %s, not from %s", model,
                  source ? source : "nowhere", path);
    dyn_client_model_list_free(models);
}

/* Checks several directories of robots, as the administrator's beside the package's: the first one that has a file name
 * decides, also after a reload. */
START_TEST(robots_of_an_earlier_directory_come_first) {
    char own[] = "/tmp/dynamicsd-own-XXXXXX", shared[] = "/tmp/dynamicsd-shared-XXXXXX", both[128];
    ck_assert(mkdtemp(own) && mkdtemp(shared));
    snprintf(both, sizeof both, "%s\n  %s", own, shared);
    write_robot(shared, "arm.urdf", "arm");
    write_robot(shared, "leg.urdf", "leg");
    daemon_fixture other;
    daemon_start(&(daemon_options){.models = both, .configuration = "[model foot]\nfile = leg.urdf\n"}, &other);
    dyn_client *peer;
    wire_require(dyn_client_connect(other.request_ipc, NULL, &peer, &error), &error);
    char arm[128];
    snprintf(arm, sizeof arm, "%s/arm.urdf", shared);
    check_source(peer, "arm", arm);
    const char *rounds[] = {"own_arm", ""};
    for (int i = 0; i < 2; i++) {
        const char *written = write_robot(own, "arm.urdf", rounds[i]);
        daemon_signal(&other, SIGHUP);
        daemon_wait_for_notice(&other, "READY=1", 10);
        check_source(peer, "arm", rounds[i][0] ? written : arm);
    }
    snprintf(arm, sizeof arm, "%s/leg.urdf", shared);
    check_source(peer, "foot", arm);
    dyn_client_close(peer);
    daemon_stop(&other);
    write_robot(shared, "arm.urdf", "");
    write_robot(shared, "leg.urdf", "");
    rmdir(own);
    rmdir(shared);
}
END_TEST

/* Numbers of links and operations with which a derivation takes long, and limits of the test. */
enum { MANY_LINKS = 2000, MANY_OPERATIONS = 32, FEW_CHANGES = 3, MOST_ROUNDS = 20 };

static void load_large_robot(void) {
    char *text;
    size_t size;
    FILE *urdf = open_memstream(&text, &size);
    fputs("<robot name=\"large\"><link name=\"l0\"/>", urdf);
    for (int i = 1; i < MANY_LINKS; i++) {
        fprintf(urdf,
                "<link name=\"l%d\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" "
                "ixz=\"0\" iyz=\"0\"/></inertial></link><joint name=\"j%d\" type=\"continuous\"><parent "
                "link=\"l%d\"/><child link=\"l%d\"/></joint>",
                i, i, (i - 1) / 2, i);
    }
    fputs("</robot>", urdf);
    ck_assert_int_eq(fclose(urdf), 0);
    dyn_client_loaded_model_free(load(&(dyn_client_load_request)DYN_CLIENT_LOAD_REQUEST_INIT(.urdf = text)));
    free(text);
}

/* Derivation that runs in a thread of its own. */
typedef struct derivation {
    int round; /* each derives a different model */
    atomic_bool is_begun, is_done;
    dyn_client_loaded_model *loaded; /* NULL: `error` has the reason */
    dyn_client_error error;
} derivation;

static void *derive_from_large_robot(void *context) {
    derivation *d = context;
    dyn_client_operation operations[MANY_OPERATIONS];
    for (int i = 0; i < MANY_OPERATIONS; i++) {
        operations[i] = (dyn_client_operation){.kind = DYN_CLIENT_OPERATION_KIND_CHANGE_INERTIA,
                                               .link = "l1",
                                               .inertia = {1 + i + d->round, .rotational = {1, 0, 0, 1, 0, 1}}};
    }
    atomic_store(&d->is_begun, true);
    d->loaded = derive_with("large", "changed", MANY_OPERATIONS, operations, &d->error);
    atomic_store(&d->is_done, true);
    return NULL;
}

/* Returns the number of changes of other models that are answered during the derivation. */
static int count_changes_during(derivation *d) {
    pthread_t thread;
    int changes = 0;
    ck_assert_int_eq(pthread_create(&thread, NULL, derive_from_large_robot, d), 0);
    while (!atomic_load(&d->is_done)) {
        const dyn_client_operation heavier = {.kind = DYN_CLIENT_OPERATION_KIND_CHANGE_INERTIA,
                                              .link = "link2",
                                              .inertia = {.mass = 1 + d->round + 0.001 * changes}};
        bool is_counted = atomic_load(&d->is_begun);
        dyn_client_loaded_model_free(derive("two_link", "heavier", 1, &heavier));
        changes += is_counted && !atomic_load(&d->is_done);
    }
    pthread_join(thread, NULL);
    ck_assert_msg(d->loaded != NULL, "%s: %s", d->error.field, d->error.message);
    dyn_client_loaded_model_free(d->loaded);
    return changes;
}

/* Checks that changes are answered during a derivation. One or two may overtake it in any case. The number of others
 * depends on the machine, so there are several rounds. */
START_TEST(other_changes_go_on_while_a_model_is_derived) {
    int changes = 0;
    load_large_robot();
    for (int round = 0; changes < FEW_CHANGES && round < MOST_ROUNDS; round++) {
        derivation d = {.round = round};
        changes = count_changes_during(&d);
    }
    ck_assert_int_ge(changes, FEW_CHANGES);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("models");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_test(all, descriptions_keep_their_digest_and_their_dynamics);
    tcase_add_test(all, sample_robots_keep_their_digest);
    tcase_add_test(all, urdf_comes_back);
    tcase_add_test(all, frames_are_links_without_mass);
    tcase_add_test(all, an_orientation_is_described_and_exported_as_stated);
    tcase_add_test(all, a_pose_without_orientation_is_not_turned);
    tcase_add_test(all, a_described_frame_names_the_link_that_its_pose_refers_to);
    tcase_add_test(all, a_file_loads_as_its_text_does);
    tcase_add_test(all, a_file_of_each_form_loads_as_its_form_does);
    tcase_add_test(all, files_that_cannot_be_read_are_errors_that_name_them);
    tcase_add_test(all, the_longest_file_is_the_daemons_longest_document);
    tcase_add_test(all, described_joints_have_their_pitch_and_axes);
    tcase_add_test(all, choices_of_the_request_come_before_those_of_the_description);
    tcase_add_test(all, multipliers_are_used_as_they_are_given);
    tcase_add_test(all, a_model_that_changed_meanwhile_is_not_replaced);
    tcase_add_test(all, coordinates_have_one_spelling);
    tcase_add_test(all, tables_of_both_conventions_are_the_planar_arm);
    tcase_add_test(all, screws_come_back_with_the_same_torques);
    tcase_add_test(all, screws_of_any_length_come_back_from_urdf_with_the_textbook_numbers);
    tcase_add_test(all, attached_and_detached_is_as_before);
    tcase_add_test(all, locked_joints_are_joints_at_rest);
    tcase_add_test(all, merged_robots_come_apart);
    tcase_add_test(all, a_chain_is_traversed_both_ways);
    tcase_add_test(all, equal_operations_give_equal_models);
    tcase_add_test(all, another_inertia_counts);
    tcase_add_test(all, unprintable_names_are_refused_and_shown_with_escapes);
    tcase_add_test(all, derived_models_have_a_report);
    tcase_add_test(all, departures_are_loaded_with_a_warning_or_refused);
    tcase_add_test(all, files_are_read_as_strictly_as_configured);
    tcase_add_test(all, robots_of_an_earlier_directory_come_first);
    tcase_add_test(all, names_of_robots_and_files_lose_their_dots);
    tcase_add_test(all, accelerations_of_a_singular_robot_are_refused_with_the_reason);
    tcase_add_test(all, other_changes_go_on_while_a_model_is_derived);
    return run_unforked("models", all);
}
