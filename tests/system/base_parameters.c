/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks base parameters through a daemon: they produce the torques of the regressor and of the inverse dynamics of the
 * daemon, their number is the published one, and requests that cannot be answered are refused with their field.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "support/assertions.h"
#include "system/daemon_fixture.h"
#include "system/reference.h"
#include "system/wire_tree.h"
#include "system/runner.h"

enum { CASES = 30, PARAMETERS = DYN_CLIENT_LINK_PARAMETERS };

static daemon_fixture served;
static dyn_client *client;
static dyn_client_error error;
static char **files;
static int file_count;

static void start_daemon(void) {
    daemon_start(NULL, &served);
    if (dyn_client_connect(served.request_ipc, NULL, &client, &error) != DYN_CLIENT_OK) {
        ck_abort_msg("%s", error.message);
    }
}

static void stop_daemon(void) {
    dyn_client_close(client);
    daemon_stop(&served);
}

static dyn_client_base_parameters *find_parameters(const char *model, const double *gravity) {
    dyn_client_base_parameters *found;
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = model, .gravity = gravity);
    wire_require(dyn_client_find_base_parameters(client, &query, &found, &error), &error);
    return found;
}

/* ---- the torques ------------------------------------------------------------------------------------------------- */

/* Checks that the bodies and parameters of the base parameters g are those of the regressor, in its order. */
static void check_order(const dyn_client_base_parameters *g, const dyn_client_evaluation *answer) {
    const dyn_client_axis *bodies = dyn_client_find_axis(answer, DYN_CLIENT_AXIS_KIND_BODIES);
    const dyn_client_axis *parameters = dyn_client_find_axis(answer, DYN_CLIENT_AXIS_KIND_PARAMETERS);
    ck_assert_uint_eq(g->body_count, bodies->size);
    for (size_t i = 0; i < g->body_count; i++) {
        ck_assert_str_eq(g->bodies[i], bodies->labels[i]);
    }
    ck_assert_uint_eq(parameters->size, PARAMETERS);
    ck_assert_ptr_eq(answer->results[0].blocks[0].axes[2], parameters);
    for (size_t k = 0; k < PARAMETERS; k++) {
        ck_assert_str_eq(parameters->labels[k], g->names[k]);
    }
}

/* Returns the base parameters b = B p of the parameters p; the caller frees them. */
static double *reduce(const dyn_client_base_parameters *g, const double *p) {
    double *b = numbers(g->count);
    for (size_t i = 0; i < g->count; i++) {
        for (size_t k = 0; k < g->rows[i].term_count; k++) {
            b[i] += g->rows[i].factors[k] * p[g->rows[i].columns[k]];
        }
    }
    return b;
}

/* Checks that each row has its own column with a 1 there, that columns and terms ascend, and that units are those of
 * the parameter. */
static void check_rows(const dyn_client_base_parameters *g) {
    for (size_t i = 0; i < g->count; i++) {
        const dyn_client_base_parameter *row = &g->rows[i];
        double own = 0;
        ck_assert(i == 0 || row->column > g->rows[i - 1].column);
        for (size_t k = 0; k < row->term_count; k++) {
            ck_assert(k == 0 || row->columns[k] > row->columns[k - 1]);
            own += row->columns[k] == row->column ? row->factors[k] : 0;
        }
        ck_assert_double_eq(own, 1);
        size_t parameter = row->column % PARAMETERS;
        ck_assert_str_eq(row->unit, parameter == 0 ? "kg" : parameter < 4 ? "kg m" : "kg m^2");
    }
}

/* Computes Y p (whole) and Y_b b (reduced), where Y_b consists of the columns of Y that have base parameters. */
static void multiply(const dyn_client_base_parameters *g, size_t rows, const double *Y, const double *p,
                     const double *b, double *whole, double *reduced) {
    size_t width = PARAMETERS * g->body_count;
    for (size_t i = 0; i < rows; i++) {
        whole[i] = reduced[i] = 0;
        for (size_t c = 0; c < width; c++) {
            whole[i] += Y[i * width + c] * p[c];
        }
        for (size_t c = 0; c < g->count; c++) {
            reduced[i] += Y[i * width + g->rows[c].column] * b[c];
        }
    }
}

/* Checks tau = Y p = Y_b b with the model's own parameters, and Y_b B p = Y p with parameters that no body needs to
 * have. */
static void check_torques(random_source *random, int k, const dyn_client_query *query, const double *q, const double *v,
                          const double *a) {
    static const dyn_client_quantity quantities[] = {DYN_CLIENT_QUANTITY_TORQUE_REGRESSOR,
                                                     DYN_CLIENT_QUANTITY_INVERSE_DYNAMICS};
    quantity_question request = {.q = q, .v = v, .a = a, .quantity_count = 2, .quantities = quantities};
    dyn_client_evaluation *answer;
    dyn_client_base_parameters *g = find_parameters(query->model, query->gravity);
    wire_require(evaluate_quantities(client, query, &request, &error, &answer), &error);
    check_order(g, answer);
    check_rows(g);
    size_t width = PARAMETERS * g->body_count, rows = query->samples * query->nv;
    const double *Y = answer->results[0].blocks[0].values, *tau = answer->results[1].blocks[0].values;
    double *p = numbers(width), *whole = numbers(rows), *reduced = numbers(rows), *b = reduce(g, g->values);
    for (size_t i = 0; i < g->count; i++) {
        ck_assert_double_eq_tol(g->rows[i].value, b[i], 1e-10 * (1 + fabs(b[i])));
    }
    multiply(g, rows, Y, g->values, b, whole, reduced);
    assert_close("Y p = tau", k, whole, tau, rows, 1e-9);
    assert_close("Y_b b = tau", k, reduced, tau, rows, 1e-9);
    free(b);
    random_vector(random, (int)width, 1, p);
    b = reduce(g, p);
    multiply(g, rows, Y, p, b, whole, reduced);
    assert_close("Y_b B p = Y p", k, reduced, whole, rows, 1e-9);
    free(p), free(whole), free(reduced), free(b);
    dyn_client_evaluation_free(answer);
    dyn_client_base_parameters_free(g);
}

START_TEST(base_parameters_make_the_torques_of_random_trees) {
    random_source base = random_seed("base parameters through a daemon", 20261121);
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options options = {.joints = 1 + k % 15,
                                       .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                       .mimic = DYN_MIMIC_POLICY_COUPLED,
                                       .with_mimic = k % 3 == 0,
                                       .with_fixed = true};
        wire_tree tree;
        double gravity[3];
        wire_tree_open(client, &random, &options, "tree", &tree);
        check_torques(&random, k, &tree.query, tree.q, tree.v, tree.a);
        random_vector(&random, 3, 10, gravity);
        tree.query.gravity = gravity;
        check_torques(&random, k, &tree.query, tree.q, tree.v, tree.a);
        wire_tree_close(&tree);
    }
}
END_TEST

START_TEST(base_parameters_make_the_torques_of_real_robots) {
    random_source random = random_seed("base parameters of real robots", 20261122);
    reference of;
    reference_open(&of, served.request_ipc, files[_i]);
    reference_use_names(&of);
    check_torques(&random, _i, &of.query, of.q, of.v, of.a);
    reference_close(&of);
}
END_TEST

/* Checks published numbers. A planar arm: for each link Iyy, mx and mz, and where gravity is along its axes no mx and
 * mz of the first (Khalil and Dombre 2002, section 9.4). The Panda: Gaz et al. 2019, "Dynamic identification of the
 * Franka Emika Panda robot". */
START_TEST(known_robots_have_the_published_number) {
    static const uint32_t expected[] = {1, 3, 6, 11, 13, 16};
    static const double across[3] = {0, 9.81, 0};
    dyn_client_base_parameters *g = find_parameters("two_link", NULL);
    ck_assert_uint_eq(g->count, 6);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_uint_eq(g->rows[i].column, expected[i]);
    }
    /* The mass of the second link acts at the tip of the first, which is 1 m long: it is part of mx and Iyy of the
     * first link. */
    for (size_t i = 0; i <= 2; i += 2) {
        ck_assert_uint_eq(g->rows[i].term_count, 2);
        ck_assert_uint_eq(g->rows[i].columns[1], 10);
        ck_assert_double_eq_tol(g->rows[i].factors[1], 1, 1e-12);
    }
    dyn_client_base_parameters_free(g);
    g = find_parameters("two_link", across);
    ck_assert_uint_eq(g->count, 4);
    dyn_client_base_parameters_free(g);
    g = find_parameters("panda", NULL);
    ck_assert_uint_eq(g->count, 43);
    dyn_client_base_parameters_free(g);
}
END_TEST

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void must_refuse(const char *model, const double *gravity, dyn_client_status status, const char *field,
                        const char *said) {
    dyn_client_base_parameters *found;
    const dyn_client_query query = DYN_CLIENT_QUERY_INIT(.model = model, .gravity = gravity);
    ck_assert_int_eq(dyn_client_find_base_parameters(client, &query, &found, &error), status);
    ck_assert_str_eq(error.field, field);
    ck_assert_msg(strstr(error.message, said) != NULL, "\"%s\" does not say \"%s\"", error.message, said);
    ck_assert_ptr_null(found);
}

/* Loads a chain of `joints` continuous joints. If `is_coupled`, the second joint mimics the first. */
static void load_chain(const char *name, int joints, bool is_coupled) {
    dyn_client_loaded_model *loaded;
    char *urdf;
    size_t size;
    FILE *text = open_memstream(&urdf, &size);
    fprintf(text, "<robot name='chain'><link name='l0'/>");
    for (int i = 1; i <= joints; i++) {
        fprintf(text,
                "<link name='l%d'><inertial><mass value='1'/><origin xyz='.1 .2 .3'/>"
                "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
                "<joint name='j%d' type='continuous'><parent link='l%d'/><child link='l%d'/>"
                "<origin xyz='.1 .05 .2' rpy='%g 0 0'/><axis xyz='0 0 1'/>%s</joint>",
                i, i, i - 1, i, i % 2 ? 0.7 : -0.6, is_coupled && i == 2 ? "<mimic joint='j1' multiplier='2'/>" : "");
    }
    fprintf(text, "</robot>");
    fclose(text);
    dyn_client_load_request load = DYN_CLIENT_LOAD_REQUEST_INIT(.name = name, .urdf = urdf);
    wire_require(dyn_client_load_model(client, &load, &loaded, &error), &error);
    dyn_client_loaded_model_free(loaded);
    free(urdf);
}

START_TEST(wrong_requests_are_refused_with_their_field) {
    static const double bad[3] = {0, NAN, 0};
    must_refuse("nothing", NULL, DYN_CLIENT_NOT_FOUND, "find_base_parameters.query.model",
                "there is no model \"nothing\"");
    must_refuse("ur5", bad, DYN_CLIENT_INVALID_ARGUMENT, "find_base_parameters.query.gravity", "nan");
    must_refuse(NULL, NULL, DYN_CLIENT_INVALID_ARGUMENT, "find_base_parameters.query.model", "names no model");
}
END_TEST

START_TEST(models_that_are_too_large_are_refused) {
    load_chain("fits", 200, false);
    load_chain("longer", 201, false);
    load_chain("coupled", 101, true);
    dyn_client_base_parameters *g = find_parameters("fits", NULL);
    ck_assert_uint_eq(g->body_count, 200);
    dyn_client_base_parameters_free(g);
    must_refuse("longer", NULL, DYN_CLIENT_RESOURCE_EXHAUSTED, "find_base_parameters.query.model", "201 moving joints");
    must_refuse("coupled", NULL, DYN_CLIENT_RESOURCE_EXHAUSTED, "find_base_parameters.query.model",
                "coupled mimic joints");
}
END_TEST

int main(void) {
    files = reference_files(&file_count);
    if (file_count == 0) {
        printf("no reference values: only random trees and the sample robots are reduced\n");
    }
    TCase *all = tcase_create("base_parameters");
    tcase_set_timeout(all, 120);
    tcase_add_unchecked_fixture(all, start_daemon, stop_daemon);
    tcase_add_test(all, base_parameters_make_the_torques_of_random_trees);
    tcase_add_loop_test(all, base_parameters_make_the_torques_of_real_robots, 0, file_count);
    tcase_add_test(all, known_robots_have_the_published_number);
    tcase_add_test(all, wrong_requests_are_refused_with_their_field);
    tcase_add_test(all, models_that_are_too_large_are_refused);
    int failed = run_unforked("base_parameters", all);
    reference_files_free(files, file_count);
    return failed;
}
