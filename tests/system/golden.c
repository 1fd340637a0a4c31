/*
 * Reference values: every robot that has some, asked for through the daemon with libdynamicsclient.
 *
 * The values come from another library, evaluated in extended precision. A quantity agrees when the norm of the
 * difference is below 1e-10 of the norm of the reference. All states of a robot go in one request.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <jansson.h>

#include <dynamics_client.h>

#include "system/daemon_fixture.h"

static const double TOLERANCE = 1e-10;

enum { MAX_FILES = 128 };

static daemon_fixture served;
static char *files[MAX_FILES];
static int file_count;

/* One robot with its reference states. */
typedef struct reference {
    json_t *root;
    json_t *joints;
    json_t *states;
    size_t count;  /* of states */
    size_t nq, nv; /* of the reference, whose continuous joints have two coordinates */
    dyn_client *client;
    dyn_client_description *robot;
    dyn_client_query query;
    size_t *v_map; /* index in the robot's v of each entry of the reference's */
    double *q, *v, *a, *tau;
} reference;

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    ck_assert_uint_eq(fread(text, 1, (size_t)size, file), (size_t)size);
    fclose(file);
    return text;
}

static size_t read_size(const json_t *object, const char *key) {
    return (size_t)json_integer_value(json_object_get(object, key));
}

static double at(const json_t *list, size_t index) {
    return json_number_value(json_array_get(list, index));
}

static const dyn_client_joint *find_joint(const dyn_client_description *robot, const char *name) {
    for (size_t i = 0; i < robot->joint_count; i++)
        if (strcmp(robot->joints[i].name, name) == 0)
            return &robot->joints[i];
    ck_abort_msg("%s has no joint %s", robot->model.name, name);
    return NULL;
}

/* Joint i's coordinates: two are the cosine and sine of one angle. */
static void take_q(const reference *of, const json_t *joint, const json_t *from, double *to) {
    const dyn_client_joint *own = find_joint(of->robot, json_string_value(json_object_get(joint, "name")));
    size_t index = read_size(joint, "idx_q"), width = read_size(joint, "nq");
    if (width == 2 && own->nq == 1) {
        to[own->q_index] = atan2(at(from, index + 1), at(from, index));
        return;
    }
    ck_assert_uint_eq(own->nq, width);
    for (size_t k = 0; k < width; k++)
        to[own->q_index + k] = at(from, index + k);
}

static void map_velocities(reference *of) {
    for (size_t i = 0; i < json_array_size(of->joints); i++) {
        const json_t *joint = json_array_get(of->joints, i);
        const dyn_client_joint *own = find_joint(of->robot, json_string_value(json_object_get(joint, "name")));
        ck_assert_uint_eq(own->nv, read_size(joint, "nv"));
        for (size_t k = 0; k < own->nv; k++)
            of->v_map[read_size(joint, "idx_v") + k] = own->v_index + k;
    }
}

/* Rows of a field of width nv, in the robot's order. */
static double *take_velocities(const reference *of, const char *field) {
    double *rows = calloc(of->count * of->nv + 1, sizeof *rows);
    for (size_t s = 0; s < of->count; s++) {
        const json_t *from = json_object_get(json_array_get(of->states, s), field);
        ck_assert_uint_eq(json_array_size(from), of->nv);
        for (size_t k = 0; k < of->nv; k++)
            rows[s * of->nv + of->v_map[k]] = at(from, k);
    }
    return rows;
}

static void load_robot(reference *of, const char *name) {
    dyn_client_error error;
    dyn_client_loaded_model *loaded;
    char path[1024];
    snprintf(path, sizeof path, "%s/robots/%s", DYNAMICS_REFERENCE_DIR,
             json_string_value(json_object_get(of->root, "robot")));
    char *urdf = read_text(path);
    ck_assert_ptr_nonnull(urdf);
    bool floating = strcmp(json_string_value(json_object_get(of->root, "base")), "float") == 0;
    dyn_client_load_request request = {.urdf = urdf,
                                       .name = name,
                                       .base = floating ? DYN_CLIENT_BASE_FLOATING : DYN_CLIENT_BASE_FIXED,
                                       .mimic = DYN_CLIENT_MIMIC_INDEPENDENT};
    if (dyn_client_load_model(of->client, &request, 0, &error, &loaded) != DYN_CLIENT_OK)
        ck_abort_msg("load %s: %s %s", path, error.field, error.message);
    dyn_client_loaded_model_free(loaded);
    free(urdf);
    if (dyn_client_describe_model(of->client, name, 0, &error, &of->robot) != DYN_CLIENT_OK)
        ck_abort_msg("describe %s: %s", name, error.message);
}

static void reference_open(reference *of, const char *file) {
    char path[1024], name[256];
    json_error_t error;
    *of = (reference){0};
    snprintf(path, sizeof path, "%s/golden/%s", DYNAMICS_REFERENCE_DIR, file);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
    of->root = json_load_file(path, 0, &error);
    ck_assert_msg(of->root != NULL, "%s:%d: %s", path, error.line, error.text);
    of->joints = json_object_get(of->root, "joints");
    of->states = json_object_get(of->root, "states");
    of->count = json_array_size(of->states);
    of->nq = read_size(of->root, "nq");
    of->nv = read_size(of->root, "nv");
    dyn_client_error refused;
    if (dyn_client_connect(served.request_ipc, NULL, &refused, &of->client) != DYN_CLIENT_OK)
        ck_abort_msg("%s", refused.message);
    load_robot(of, name);
    ck_assert_uint_eq(of->robot->model.nv, of->nv);
    of->v_map = calloc(of->nv + 1, sizeof *of->v_map);
    map_velocities(of);
    of->q = calloc(of->count * of->robot->model.nq + 1, sizeof *of->q);
    for (size_t s = 0; s < of->count; s++)
        for (size_t i = 0; i < json_array_size(of->joints); i++)
            take_q(of, json_array_get(of->joints, i), json_object_get(json_array_get(of->states, s), "q"),
                   of->q + s * of->robot->model.nq);
    of->v = take_velocities(of, "v");
    of->a = take_velocities(of, "a");
    of->tau = take_velocities(of, "tau_in");
    of->query = (dyn_client_query){
        .model = of->robot->model.name, .nq = of->robot->model.nq, .nv = of->nv, .samples = of->count};
}

static void reference_close(reference *of) {
    free(of->q);
    free(of->v);
    free(of->a);
    free(of->tau);
    free(of->v_map);
    dyn_client_description_free(of->robot);
    dyn_client_close(of->client);
    json_decref(of->root);
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

/* A sum of squared differences and one of squared references. */
typedef struct deviation {
    double difference, norm;
} deviation;

static void add(deviation *to, double computed, double expected) {
    to->difference += (computed - expected) * (computed - expected);
    to->norm += expected * expected;
}

static double worst;
static char worst_place[256];

static void check(const reference *of, const char *quantity, size_t state, deviation found) {
    double scale = found.norm > 0 ? sqrt(found.norm) : 1;
    if (sqrt(found.difference) / scale > worst) {
        worst = sqrt(found.difference) / scale;
        snprintf(worst_place, sizeof worst_place, "%s of %s, state %zu", quantity, of->robot->model.name, state);
    }
    ck_assert_msg(sqrt(found.difference) <= TOLERANCE * scale, "%s, %s, state %zu: differs by %g of its norm %g",
                  of->robot->model.name, quantity, state, sqrt(found.difference) / scale, sqrt(found.norm));
}

/* Compares rows of width nv with a field that may be missing from some states. */
static void check_rows(const reference *of, const char *quantity, const char *field, const double *rows) {
    size_t compared = 0;
    for (size_t s = 0; s < of->count; s++) {
        const json_t *expected = json_object_get(json_array_get(of->states, s), field);
        deviation found = {0};
        for (size_t k = 0; expected != NULL && k < of->nv; k++)
            add(&found, rows[s * of->nv + of->v_map[k]], at(expected, k));
        check(of, quantity, s, found);
        compared += expected != NULL;
    }
    bool dropped = json_object_get(of->root, "dropped_nonfinite") != NULL;
    ck_assert_msg(compared > 0 || dropped, "%s: no state has %s", of->robot->model.name, field);
}

static void must(const reference *of, const char *call, dyn_client_status status, const dyn_client_error *error) {
    if (status != DYN_CLIENT_OK)
        ck_abort_msg("%s of %s: %s %s", call, of->robot->model.name, error->field, error->message);
}

static bool has(const reference *of, const char *field) {
    return json_object_get(json_array_get(of->states, 0), field) != NULL;
}

/* Wrenches on the child link of each joint, from the reference's "fext": force and torque in the joint's frame. */
static dyn_client_external_force *take_forces(const reference *of) {
    size_t bodies = json_array_size(of->joints);
    dyn_client_external_force *forces = calloc(bodies + 1, sizeof *forces);
    for (size_t i = 0; i < bodies; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(of->joints, i), "name"));
        double *force = calloc(3 * of->count, sizeof *force), *torque = calloc(3 * of->count, sizeof *torque);
        for (size_t s = 0; s < of->count; s++) {
            const json_t *from = json_object_get(json_array_get(of->states, s), "fext");
            for (size_t k = 0; k < 3; k++) {
                force[3 * s + k] = at(from, 6 * i + k);
                torque[3 * s + k] = at(from, 6 * i + 3 + k);
            }
        }
        forces[i] = (dyn_client_external_force){.link = find_joint(of->robot, name)->child_link,
                                                .reference_frame = DYN_CLIENT_LOCAL,
                                                .force = force,
                                                .torque = torque,
                                                .rows = of->count};
    }
    return forces;
}

static void free_forces(const reference *of, dyn_client_external_force *forces) {
    for (size_t i = 0; i < json_array_size(of->joints); i++) {
        free((double *)forces[i].force);
        free((double *)forces[i].torque);
    }
    free(forces);
}

/* ---- properties -------------------------------------------------------------------------------------------------- */

START_TEST(dynamics_agree_with_the_reference) {
    reference of;
    dyn_client_error error;
    reference_open(&of, files[_i]);
    double *rows = calloc(of.count * of.nv + 1, sizeof *rows);
    must(&of, "id", dyn_client_inverse_dynamics(of.client, &of.query, of.q, of.v, of.a, &error, rows), &error);
    check_rows(&of, "tau", "rnea", rows);
    must(&of, "bias", dyn_client_bias_forces(of.client, &of.query, of.q, of.v, &error, rows), &error);
    check_rows(&of, "h", "nle", rows);
    must(&of, "gravity", dyn_client_gravity(of.client, &of.query, of.q, &error, rows), &error);
    check_rows(&of, "g", "gravity", rows);
    if (has(&of, "aba")) {
        must(&of, "fd", dyn_client_forward_dynamics(of.client, &of.query, of.q, of.v, of.tau, &error, rows), &error);
        check_rows(&of, "a", "aba", rows);
    }
    free(rows);
    reference_close(&of);
}
END_TEST

START_TEST(external_forces_agree_with_the_reference) {
    reference of;
    dyn_client_error error;
    reference_open(&of, files[_i]);
    double *rows = calloc(of.count * of.nv + 1, sizeof *rows);
    dyn_client_external_force *forces = take_forces(&of);
    of.query.external_force_count = json_array_size(of.joints);
    of.query.external_forces = forces;
    must(&of, "id", dyn_client_inverse_dynamics(of.client, &of.query, of.q, of.v, of.a, &error, rows), &error);
    check_rows(&of, "tau with external forces", "rnea_fext", rows);
    if (has(&of, "aba_fext")) {
        must(&of, "fd", dyn_client_forward_dynamics(of.client, &of.query, of.q, of.v, of.tau, &error, rows), &error);
        check_rows(&of, "a with external forces", "aba_fext", rows);
    }
    free_forces(&of, forces);
    free(rows);
    reference_close(&of);
}
END_TEST

START_TEST(mass_matrix_agrees_with_the_reference) {
    reference of;
    dyn_client_error error;
    reference_open(&of, files[_i]);
    size_t compared = 0;
    double *mass = calloc(of.count * of.nv * of.nv + 1, sizeof *mass);
    must(&of, "mass", dyn_client_mass_matrix(of.client, &of.query, of.q, &error, mass), &error);
    for (size_t s = 0; s < of.count; s++) {
        const json_t *expected = json_object_get(json_array_get(of.states, s), "M");
        const double *own = mass + s * of.nv * of.nv;
        deviation found = {0};
        for (size_t i = 0; expected != NULL && i < of.nv; i++)
            for (size_t k = 0; k < of.nv; k++)
                add(&found, own[of.v_map[i] * of.nv + of.v_map[k]], at(expected, i * of.nv + k));
        check(&of, "M", s, found);
        compared += expected != NULL;
    }
    ck_assert_uint_gt(compared, 0);
    free(mass);
    reference_close(&of);
}
END_TEST

/* Row-major rotation of a unit quaternion x y z w. */
static void to_rotation(const double q[4], double rotation[9]) {
    double x = q[0], y = q[1], z = q[2], w = q[3];
    rotation[0] = 1 - 2 * (y * y + z * z);
    rotation[1] = 2 * (x * y - z * w);
    rotation[2] = 2 * (x * z + y * w);
    rotation[3] = 2 * (x * y + z * w);
    rotation[4] = 1 - 2 * (x * x + z * z);
    rotation[5] = 2 * (y * z - x * w);
    rotation[6] = 2 * (x * z - y * w);
    rotation[7] = 2 * (y * z + x * w);
    rotation[8] = 1 - 2 * (x * x + y * y);
}

static const char *frame_of(const reference *of) {
    return json_string_value(json_object_get(json_object_get(of->root, "ee_frame"), "name"));
}

START_TEST(pose_agrees_with_the_reference) {
    reference of;
    dyn_client_error error;
    reference_open(&of, files[_i]);
    const char *frame = frame_of(&of);
    double *position = calloc(3 * of.count, sizeof *position), *quaternion = calloc(4 * of.count, sizeof *quaternion);
    must(&of, "fk", dyn_client_poses(of.client, &of.query, of.q, 1, &frame, &error, position, quaternion), &error);
    for (size_t s = 0; s < of.count; s++) {
        const json_t *expected = json_object_get(json_array_get(of.states, s), "ee_placement_3x4");
        double rotation[9];
        deviation found = {0};
        to_rotation(quaternion + 4 * s, rotation);
        for (size_t i = 0; i < 3; i++) {
            for (size_t k = 0; k < 3; k++)
                add(&found, rotation[3 * i + k], at(expected, 4 * i + k));
            add(&found, position[3 * s + i], at(expected, 4 * i + 3));
        }
        check(&of, "pose", s, found);
    }
    free(position);
    free(quaternion);
    reference_close(&of);
}
END_TEST

static void check_jacobian(const reference *of, const char *frame, dyn_client_reference_frame reference_frame,
                           const char *field) {
    dyn_client_error error;
    size_t compared = 0, block = 3 * of->nv;
    double *linear = calloc(of->count * block + 1, sizeof *linear);
    double *angular = calloc(of->count * block + 1, sizeof *angular);
    must(of, "jacobian",
         dyn_client_jacobians(of->client, &of->query, of->q, 1, &frame, reference_frame, &error, linear, angular),
         &error);
    for (size_t s = 0; s < of->count; s++) {
        const json_t *expected = json_object_get(json_array_get(of->states, s), field);
        deviation found = {0};
        for (size_t i = 0; expected != NULL && i < 6; i++) {
            const double *own = i < 3 ? linear + s * block + i * of->nv : angular + s * block + (i - 3) * of->nv;
            for (size_t k = 0; k < of->nv; k++)
                add(&found, own[of->v_map[k]], at(expected, i * of->nv + k));
        }
        check(of, field, s, found);
        compared += expected != NULL;
    }
    ck_assert_uint_gt(compared, 0);
    free(linear);
    free(angular);
}

START_TEST(jacobians_agree_with_the_reference) {
    reference of;
    reference_open(&of, files[_i]);
    check_jacobian(&of, frame_of(&of), DYN_CLIENT_LOCAL, "ee_J_local");
    check_jacobian(&of, frame_of(&of), DYN_CLIENT_LOCAL_WORLD_ALIGNED, "ee_J_lwa");
    reference_close(&of);
}
END_TEST

/* The reference's own joint order, given by name, makes every answer come in it. */
START_TEST(joint_names_reorder_all_values) {
    reference of;
    dyn_client_error error;
    reference_open(&of, files[_i]);
    size_t count = json_array_size(of.joints), nq = of.robot->model.nq, at_q = 0;
    const char **names = calloc(count + 1, sizeof *names);
    double *q = calloc(nq + 1, sizeof *q), *v = calloc(of.nv + 1, sizeof *v), *a = calloc(of.nv + 1, sizeof *a);
    double *tau = calloc(of.nv + 1, sizeof *tau), *mass = calloc(of.nv * of.nv + 1, sizeof *mass);
    for (size_t i = 0; i < count; i++) {
        names[i] = json_string_value(json_object_get(json_array_get(of.joints, i), "name"));
        const dyn_client_joint *own = find_joint(of.robot, names[i]);
        for (size_t k = 0; k < own->nq; k++)
            q[at_q++] = of.q[own->q_index + k];
    }
    const json_t *state = json_array_get(of.states, 0);
    for (size_t k = 0; k < of.nv; k++) {
        v[k] = at(json_object_get(state, "v"), k);
        a[k] = at(json_object_get(state, "a"), k);
    }
    of.query.samples = 1;
    of.query.joint_count = count;
    of.query.joint_names = names;
    must(&of, "id", dyn_client_inverse_dynamics(of.client, &of.query, q, v, a, &error, tau), &error);
    must(&of, "mass", dyn_client_mass_matrix(of.client, &of.query, q, &error, mass), &error);
    deviation tau_found = {0}, mass_found = {0};
    for (size_t k = 0; k < of.nv; k++)
        add(&tau_found, tau[k], at(json_object_get(state, "rnea"), k));
    for (size_t k = 0; k < of.nv * of.nv; k++)
        add(&mass_found, mass[k], at(json_object_get(state, "M"), k));
    check(&of, "tau by names", 0, tau_found);
    check(&of, "M by names", 0, mass_found);
    free(names);
    free(q);
    free(v);
    free(a);
    free(tau);
    free(mass);
    reference_close(&of);
}
END_TEST

/* ---- main -------------------------------------------------------------------------------------------------------- */

/* Does the robot that this file is about have a description? */
static bool has_robot(const char *file) {
    char path[1024];
    snprintf(path, sizeof path, "%s/golden/%s", DYNAMICS_REFERENCE_DIR, file);
    json_t *root = json_load_file(path, 0, NULL);
    const char *robot = json_string_value(json_object_get(root, "robot"));
    snprintf(path, sizeof path, "%s/robots/%s", DYNAMICS_REFERENCE_DIR, robot != NULL ? robot : "");
    FILE *urdf = robot != NULL ? fopen(path, "r") : NULL;
    if (urdf != NULL)
        fclose(urdf);
    else
        printf("no description for %s: left out\n", file);
    json_decref(root);
    return urdf != NULL;
}

static void find_files(void) {
    DIR *directory = opendir(DYNAMICS_REFERENCE_DIR "/golden");
    struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL && file_count < MAX_FILES) {
        const char *suffix = strrchr(entry->d_name, '.');
        if (suffix != NULL && strcmp(suffix, ".json") == 0 && has_robot(entry->d_name))
            files[file_count++] = strdup(entry->d_name);
    }
    if (directory != NULL)
        closedir(directory);
}

static void start_daemon(void) {
    daemon_start(NULL, &served);
}

static void stop_daemon(void) {
    daemon_stop(&served);
}

int main(void) {
    find_files();
    if (file_count == 0) {
        printf("skipped: no reference values in %s\n", DYNAMICS_REFERENCE_DIR);
        return 77;
    }
    Suite *suite = suite_create("golden");
    TCase *all = tcase_create("golden");
    tcase_set_timeout(all, 60);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_loop_test(all, dynamics_agree_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, external_forces_agree_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, mass_matrix_agrees_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, pose_agrees_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, jacobians_agree_with_the_reference, 0, file_count);
    tcase_add_loop_test(all, joint_names_reorder_all_values, 0, file_count);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    /* nng cannot be used on both sides of a fork, and the fixture has used it already. */
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    printf("%d robots compared; largest relative deviation %.2g (%s)\n", file_count, worst, worst_place);
    for (int i = 0; i < file_count; i++)
        free(files[i]);
    return failed > 0;
}
