/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks shared objects that dynamics-compile creates by the system's compiler: results equal those of the library's
 * kernels to rounding, a sample has the same bits in every batch, bad inputs have the same errors, and an object that
 * does not fit the model is refused.
 */
#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dynamics/dynamics.h>

#include "compile/workshop.h"
#include "support/assertions.h"
#include "support/random_tree.h"

enum { STATES = 37, ROBOTS = 4 };

static const struct robot {
    const char *name;
    dyn_base base;
} robots[ROBOTS] = {
    {"two_link", DYN_BASE_FIXED}, {"ur5", DYN_BASE_FIXED}, {"panda", DYN_BASE_FIXED}, {"quadruped", DYN_BASE_FLOATING}};

static dyn_model *load(const struct robot *r) {
    char path[PATH_SIZE], *text = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, ROBOTS_DIRECTORY "/%s.urdf", r->name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file && getdelim(&text, &length, 0, file) > 0, "%s", path);
    fclose(file);
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_urdf_load(text, strlen(text), &(dyn_build_options)DYN_BUILD_OPTIONS_INIT(.base = r->base), NULL, &model,
                          &error),
            &error);
    free(text);
    return model;
}

static void compile(const struct robot *r, const char *options, const char *output, char path[PATH_SIZE]) {
    place_of(output, path);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " " ROBOTS_DIRECTORY "/%s.urdf --base-type %s %s -o %s", r->name,
                           r->base == DYN_BASE_FLOATING ? "floating" : "fixed", options, path),
                     0);
}

/* Compiles NAME.so, which all tests share, unless the file exists. */
static void compile_once(const struct robot *r, char path[PATH_SIZE]) {
    char name[64];
    snprintf(name, sizeof name, "%s.so", r->name);
    place_of(name, path);
    if (access(path, F_OK) != 0) {
        compile(r, "--shared", name, path);
    }
}

/* Robot with its compiled algorithms, states, a workspace that uses these algorithms (fast) and one that does not
 * (plain). */
typedef struct fixture {
    dyn_model *model;
    dyn_compiled *compiled;
    dyn_workspace *fast, *plain;
    double *q, *v, *a;
} fixture;

static fixture open_fixture(const struct robot *r) {
    fixture f = {.model = load(r)};
    char path[PATH_SIZE];
    dyn_error error;
    compile_once(r, path);
    require(dyn_compiled_load(f.model, path, &f.compiled, &error), &error);
    require(dyn_workspace_create(f.model, &f.fast, &error), &error);
    require(dyn_workspace_create(f.model, &f.plain, &error), &error);
    require(dyn_workspace_use_compiled(f.fast, f.compiled, &error), &error);
    random_source random = random_seed(r->name, 11);
    size_t nq = (size_t)dyn_model_nq(f.model), nv = (size_t)dyn_model_nv(f.model);
    f.q = numbers(STATES * nq), f.v = numbers(STATES * nv), f.a = numbers(STATES * nv);
    for (size_t s = 0; s < STATES; s++) {
        random_configuration(&random, f.model, 3, f.q + s * nq);
    }
    random_vector(&random, (int)(STATES * nv), 2, f.v);
    random_vector(&random, (int)(STATES * nv), 9, f.a);
    return f;
}

static void close_fixture(fixture *f) {
    free(f->q), free(f->v), free(f->a);
    dyn_workspace_free(f->fast);
    dyn_workspace_free(f->plain);
    dyn_compiled_free(f->compiled);
    dyn_model_free(f->model);
}

/* Number of algorithms that can be compiled. matrices has the number of nv x nv matrices in the result of each, 0 where
 * the result is a vector. */
enum { ALGORITHMS = 8 };
static const size_t matrices[ALGORITHMS] = {0, 0, 0, 1, 0, 1, 3, 3};

/* Runs an algorithm that can be compiled, by its number. */
static dyn_status run(const fixture *f, dyn_workspace *w, int algorithm, size_t first, size_t n, dyn_error *error,
                      double *x) {
    size_t nq = (size_t)dyn_model_nq(f->model), nv = (size_t)dyn_model_nv(f->model);
    const double *q = f->q + first * nq, *v = f->v + first * nv, *a = f->a + first * nv;
    double *y = x + n * nv * nv, *z = y + n * nv * nv;
    switch (algorithm) {
    case 0:
        return dyn_rnea(f->model, w, n, NULL, q, v, a, NULL, x, error);
    case 1:
        return dyn_bias(f->model, w, n, NULL, q, v, x, error);
    case 2:
        return dyn_gravity(f->model, w, n, NULL, q, x, error);
    case 3:
        return dyn_crba(f->model, w, n, q, x, error);
    case 4:
        return dyn_aba(f->model, w, n, NULL, q, v, a, NULL, x, error);
    case 5:
        return dyn_minverse(f->model, w, n, q, x, error);
    case 6:
        return dyn_rnea_derivatives(f->model, w, n, NULL, q, v, a, NULL, x, y, z, error);
    default:
        return dyn_aba_derivatives(f->model, w, n, NULL, q, v, a, NULL, x, y, z, error);
    }
}

/* Computes the results of all algorithms for samples first .. first + n - 1, and stores them in `out` one after the
 * other. */
static void compute(const fixture *f, dyn_workspace *w, size_t first, size_t n, double *out) {
    size_t nv = (size_t)dyn_model_nv(f->model);
    dyn_error error;
    for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++) {
        require(run(f, w, algorithm, first, n, &error, out), &error);
        out += n * (matrices[algorithm] > 0 ? matrices[algorithm] * nv * nv : nv);
    }
}

START_TEST(compiled_results_are_those_of_the_library) {
    fixture f = open_fixture(&robots[_i]);
    size_t nv = (size_t)dyn_model_nv(f.model), most = STATES * (4 * nv + 8 * nv * nv);
    double *x = numbers(most), *y = numbers(most);
    ck_assert_uint_ge(dyn_compiled_count(f.compiled), 6);
    ck_assert_str_eq(dyn_compiled_name(f.compiled, 0), "rnea");
    ck_assert_ptr_nonnull(dyn_compiled_name(f.compiled, dyn_compiled_count(f.compiled) - 1));
    ck_assert_ptr_null(dyn_compiled_name(f.compiled, dyn_compiled_count(f.compiled)));
    compute(&f, f.fast, 0, STATES, x), compute(&f, f.plain, 0, STATES, y);
    assert_close("RNEA", _i, x, y, STATES * nv, 1e-12);
    assert_close("bias", _i, x + STATES * nv, y + STATES * nv, STATES * nv, 1e-12);
    assert_close("gravity", _i, x + 2 * STATES * nv, y + 2 * STATES * nv, STATES * nv, 1e-12);
    assert_close("CRBA", _i, x + 3 * STATES * nv, y + 3 * STATES * nv, STATES * nv * nv, 1e-12);
    assert_close("all", _i, x, y, most, 1e-9);
    ck_assert_msg(memcmp(x, y, most * sizeof *x) != 0, "nothing was computed by other code");
    free(x), free(y);
    close_fixture(&f);
}
END_TEST

START_TEST(a_state_has_the_same_bits_in_every_batch) {
    fixture f = open_fixture(&robots[_i]);
    size_t nv = (size_t)dyn_model_nv(f.model);
    double *all = numbers(STATES * nv), *part = numbers(STATES * nv);
    dyn_error error;
    require(dyn_aba(f.model, f.fast, STATES, NULL, f.q, f.v, f.a, NULL, all, &error), &error);
    for (size_t n = 1; n < STATES; n += 3) {
        for (size_t first = 0; first + n <= STATES; first += 5) {
            size_t nq = (size_t)dyn_model_nq(f.model);
            require(dyn_aba(f.model, f.fast, n, NULL, f.q + first * nq, f.v + first * nv, f.a + first * nv, NULL, part,
                            &error),
                    &error);
            ck_assert_mem_eq(part, all + first * nv, n * nv * sizeof *part);
        }
    }
    /* Inverse dynamics in place: tau overwrites a. */
    memcpy(part, f.a, STATES * nv * sizeof *part);
    require(dyn_rnea(f.model, f.fast, STATES, NULL, f.q, f.v, f.a, NULL, all, &error), &error);
    for (size_t s = 0; s < STATES; s++) {
        double *row = part + s * nv;
        require(dyn_rnea(f.model, f.fast, 1, NULL, f.q + s * (size_t)dyn_model_nq(f.model), f.v + s * nv, row, NULL,
                         row, &error),
                &error);
    }
    ck_assert_mem_eq(part, all, STATES * nv * sizeof *part);
    free(all), free(part);
    close_fixture(&f);
}
END_TEST

/* Checks that calls with another gravity, external forces or payloads, which are not part of the compiled code, use the
 * kernels. */
START_TEST(inputs_without_compiled_code_use_the_kernels) {
    fixture f = open_fixture(&robots[1]);
    size_t nv = (size_t)dyn_model_nv(f.model);
    double *x = numbers(STATES * nv), *y = numbers(STATES * nv), wrench[6] = {1, 2, 3, 4, 5, 6};
    const double moon[3] = {0, 0, -1.62};
    dyn_external_force force = {.frame = dyn_model_link_count(f.model) - 1, .wrench = wrench};
    const dyn_external_forces forces = {.count = 1, .force = &force};
    dyn_error error;
    require(dyn_rnea(f.model, f.fast, STATES, moon, f.q, f.v, f.a, &forces, x, &error), &error);
    require(dyn_rnea(f.model, f.plain, STATES, moon, f.q, f.v, f.a, &forces, y, &error), &error);
    ck_assert_mem_eq(x, y, STATES * nv * sizeof *x);
    const dyn_payload payload = {.link = force.frame, .inertia = {.mass = 3}};
    const dyn_model *loaded, *plainly_loaded;
    require(dyn_workspace_load(f.fast, 1, &payload, &loaded, &error), &error);
    require(dyn_workspace_load(f.plain, 1, &payload, &plainly_loaded, &error), &error);
    require(dyn_rnea(loaded, f.fast, STATES, NULL, f.q, f.v, f.a, NULL, x, &error), &error);
    require(dyn_rnea(plainly_loaded, f.plain, STATES, NULL, f.q, f.v, f.a, NULL, y, &error), &error);
    ck_assert_mem_eq(x, y, STATES * nv * sizeof *x);
    free(x), free(y);
    close_fixture(&f);
}
END_TEST

/* Checks that inverse dynamics refuses the inputs with and without compiled code, with one and the same error. */
static void assert_same_error(const fixture *f, size_t n, const double *q, const double *v, const double *a) {
    size_t nv = (size_t)dyn_model_nv(f->model);
    double *out = numbers(n * nv);
    dyn_error fast, plain;
    dyn_status status = dyn_rnea(f->model, f->plain, n, NULL, q, v, a, NULL, out, &plain);
    ck_assert_int_eq(status, DYN_INVALID_ARGUMENT);
    ck_assert_int_eq(dyn_rnea(f->model, f->fast, n, NULL, q, v, a, NULL, out, &fast), status);
    ck_assert_str_eq(fast.place, plain.place);
    ck_assert_str_eq(fast.message, plain.message);
    free(out);
}

/* Checks inputs that are not finite, vectors that are no quaternions, and results beyond the range of a double: in a
 * full block, in a partial one, and alone. */
START_TEST(bad_inputs_have_the_errors_of_the_kernels) {
    fixture f = open_fixture(&robots[_i]);
    size_t nq = (size_t)dyn_model_nq(f.model), nv = (size_t)dyn_model_nv(f.model);
    static const size_t samples[] = {0, 13, STATES - 3, STATES - 1};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        size_t s = samples[i];
        double *const spoilt[] = {f.q + s * nq + nq - 1, f.v + s * nv, f.a + s * nv + nv - 1, f.a + s * nv};
        static const double values[] = {NAN, -INFINITY, INFINITY, 1.7e308};
        for (size_t k = 0; k < sizeof spoilt / sizeof spoilt[0]; k++) {
            double saved = *spoilt[k];
            *spoilt[k] = values[k];
            if (k < 3 || robots[_i].base == DYN_BASE_FLOATING) {
                assert_same_error(&f, STATES, f.q, f.v, f.a);
                assert_same_error(&f, 1, f.q + s * nq, f.v + s * nv, f.a + s * nv);
            }
            *spoilt[k] = saved;
        }
        if (robots[_i].base == DYN_BASE_FLOATING) {
            f.q[s * nq + 3] += 0.1;
            assert_same_error(&f, STATES, f.q, f.v, f.a);
            f.q[s * nq + 3] -= 0.1;
        }
    }
    close_fixture(&f);
}
END_TEST

/* Checks that every algorithm has the same status and the same error with and without compiled code. */
static void assert_same_answers(const fixture *f, size_t first, size_t n, double *x, double *y) {
    for (int algorithm = 0; algorithm < ALGORITHMS; algorithm++) {
        dyn_error fast, plain;
        dyn_status expected = run(f, f->plain, algorithm, first, n, &plain, y);
        dyn_status status = run(f, f->fast, algorithm, first, n, &fast, x);
        ck_assert_int_eq(status, expected);
        ck_assert(status == DYN_OK || strcmp(fast.place, plain.place) == 0);
        ck_assert(status == DYN_OK || strcmp(fast.message, plain.message) == 0);
    }
}

START_TEST(no_number_that_is_not_finite_is_overlooked) {
    fixture f = open_fixture(&robots[_i]);
    size_t nq = (size_t)dyn_model_nq(f.model), nv = (size_t)dyn_model_nv(f.model);
    double *x = numbers(STATES * 3 * nv * nv), *y = numbers(STATES * 3 * nv * nv);
    double *const arrays[] = {f.q, f.v, f.a};
    static const double values[] = {NAN, -INFINITY, INFINITY};
    for (size_t k = 0; k < nq + 2 * nv; k++) {
        size_t array = k < nq ? 0 : 1 + (k - nq) / nv, width = array == 0 ? nq : nv;
        double *spoilt = arrays[array] + 5 * width + (array == 0 ? k : (k - nq) % nv), saved = *spoilt;
        *spoilt = values[k % 3];
        assert_same_answers(&f, 5, 1, x, y);
        assert_same_answers(&f, 0, 17, x, y);
        *spoilt = saved;
    }
    free(x), free(y);
    close_fixture(&f);
}
END_TEST

/* Checks that angles so large that the library computes their sines do not change the bits of samples with small
 * angles. */
START_TEST(large_angles_leave_their_neighbours_alone) {
    fixture f = open_fixture(&robots[2]);
    size_t nq = (size_t)dyn_model_nq(f.model), nv = (size_t)dyn_model_nv(f.model);
    double *few = numbers(STATES * nv), *many = numbers(STATES * nv), *expected = numbers(STATES * nv);
    dyn_error error;
    require(dyn_rnea(f.model, f.fast, STATES, NULL, f.q, f.v, f.a, NULL, few, &error), &error);
    for (size_t s = 3; s < STATES; s += 7) {
        f.q[s * nq + s % nq] = 1e6 + (double)s;
    }
    require(dyn_rnea(f.model, f.fast, STATES, NULL, f.q, f.v, f.a, NULL, many, &error), &error);
    require(dyn_rnea(f.model, f.plain, STATES, NULL, f.q, f.v, f.a, NULL, expected, &error), &error);
    assert_close("RNEA", 0, many, expected, STATES * nv, 1e-12);
    for (size_t s = 0; s < STATES; s++) {
        if (s % 7 != 3) {
            ck_assert_mem_eq(many + s * nv, few + s * nv, nv * sizeof *few);
        }
        double alone[16];
        require(dyn_rnea(f.model, f.fast, 1, NULL, f.q + s * nq, f.v + s * nv, f.a + s * nv, NULL, alone, &error),
                &error);
        ck_assert_mem_eq(many + s * nv, alone, nv * sizeof *alone);
    }
    free(few), free(many), free(expected);
    close_fixture(&f);
}
END_TEST

static void assert_refused(const char *path, const dyn_model *model, dyn_status status, const char *fragment) {
    dyn_compiled *compiled = NULL;
    dyn_error error;
    ck_assert_int_eq(dyn_compiled_load(model, path, &compiled, &error), status);
    ck_assert_msg(strstr(error.message, fragment) != NULL, "%s", error.message);
    ck_assert_ptr_null(compiled);
}

START_TEST(an_object_that_does_not_fit_is_refused) {
    fixture f = open_fixture(&robots[1]);
    char path[PATH_SIZE];
    dyn_model *other = load(&robots[2]);
    dyn_error error;
    place_of("ur5.so", path);
    assert_refused(path, other, DYN_FAILED_PRECONDITION, "another model");
    compile(&robots[1], "--shared --gravity 0,0,-1.62", "moon.so", path);
    assert_refused(path, f.model, DYN_FAILED_PRECONDITION, "another model");
    place_of("missing.so", path);
    assert_refused(path, f.model, DYN_NOT_FOUND, "cannot be loaded");
    place_of("text.so", path);
    ck_assert_int_eq(shell("echo torques > %s", path), 0);
    assert_refused(path, f.model, DYN_NOT_FOUND, "cannot be loaded");
    dyn_workspace *foreign = NULL;
    require(dyn_workspace_create(other, &foreign, &error), &error);
    ck_assert_int_eq(dyn_workspace_use_compiled(foreign, f.compiled, &error), DYN_INVALID_ARGUMENT);
    dyn_workspace_free(foreign);
    dyn_model_free(other);
    close_fixture(&f);
}
END_TEST

/* Checks that an object is refused that has the right form but whose functions compute other results. */
START_TEST(an_object_with_other_results_is_refused) {
    static const char wrong_compiler[] =
        "#!/bin/sh\n"
        "for x; do case $x in *.c) sed -i 's/real_set(9.81)/real_set(9.82)/' $x; esac; done\n"
        "exec cc \"$@\"\n";
    dyn_model *model = load(&robots[1]);
    char path[PATH_SIZE], compiler[PATH_SIZE], options[COMMAND_SIZE];
    place_of("wrong_compiler", compiler);
    FILE *file = fopen(compiler, "w");
    ck_assert(file && fputs(wrong_compiler, file) >= 0 && fclose(file) == 0);
    ck_assert_int_eq(chmod(compiler, 0700), 0);
    snprintf(options, sizeof options, "--shared --compiler %s", compiler);
    compile(&robots[1], options, "wrong.so", path);
    assert_refused(path, model, DYN_FAILED_PRECONDITION, "differ");
    dyn_model_free(model);
}
END_TEST

START_TEST(reason_against_a_compilation_is_reported) {
    char path[PATH_SIZE];
    place_of("never.so", path);
    const char *robot = ROBOTS_DIRECTORY "/ur5.urdf";
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s --shared --compiler /no/such/cc -o %s 2>/dev/null", robot, path), 1);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s --shared --compiler false -o %s 2>/dev/null", robot, path), 1);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s --shared -o /no/such/place.so 2>/dev/null", robot), 1);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " /no/such/robot.urdf -o %s 2>/dev/null", path), 1);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s -o %s --functions rnae 2>/dev/null", robot, path), 2);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s -o %s --frames hand 2>/dev/null", robot, path), 1);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s -o %s --base-type flying 2>/dev/null", robot, path), 2);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s 2>/dev/null", robot), 2);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s --shared -o %s --instruction-set vax 2>/dev/null", robot, path), 2);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s --shared --memory-megabytes 40 -o %s 2>/dev/null", robot, path), 1);
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert_int_eq(shell("ls %s* 2>/dev/null", path), 2); /* nothing is left over */
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("shared_object");
    tcase_add_unchecked_fixture(tests, create_directory, remove_directory);
    tcase_add_loop_test(tests, compiled_results_are_those_of_the_library, 0, ROBOTS);
    tcase_add_loop_test(tests, a_state_has_the_same_bits_in_every_batch, 0, ROBOTS);
    tcase_add_test(tests, inputs_without_compiled_code_use_the_kernels);
    tcase_add_loop_test(tests, bad_inputs_have_the_errors_of_the_kernels, 1, ROBOTS);
    tcase_add_loop_test(tests, no_number_that_is_not_finite_is_overlooked, 0, ROBOTS);
    tcase_add_test(tests, large_angles_leave_their_neighbours_alone);
    tcase_add_test(tests, an_object_that_does_not_fit_is_refused);
    tcase_add_test(tests, an_object_with_other_results_is_refused);
    tcase_add_test(tests, reason_against_a_compilation_is_reported);
    tcase_set_timeout(tests, 300);
    return run_properties("shared_object", tests);
}
