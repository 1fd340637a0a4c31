/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks generated C for use without the library, in other programs and on microcontrollers: it compiles as strict C99
 * without a warning, needs only libm, uses no other precision than the requested one, and computes the library's
 * results.
 */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "compile/workshop.h"
#include "support/assertions.h"
#include "support/random_tree.h"

enum { STATES = 20, NV = 6, TREES = 10 };

/* UR5 with states, and the shared object that a C compiler created from the generated file. */
typedef struct fixture {
    dyn_model *model;
    dyn_workspace *workspace;
    void *handle;
    double q[STATES * NV], v[STATES * NV], a[STATES * NV];
} fixture;

static const char ur5[] = ROBOTS_DIRECTORY "/ur5.urdf";

static dyn_model *load_ur5(void) {
    char *text = NULL;
    size_t length = 0;
    dyn_model *model = NULL;
    dyn_error error;
    FILE *file = fopen(ur5, "r");
    ck_assert_msg(file && getdelim(&text, &length, 0, file) > 0, "%s", ur5);
    fclose(file);
    require(dyn_urdf_load(text, strlen(text), NULL, NULL, &model, &error), &error);
    free(text);
    return model;
}

static fixture open_fixture(const char *options) {
    fixture f = {.model = load_ur5()};
    char source[PATH_SIZE], object[PATH_SIZE];
    dyn_error error;
    place_of("alone.c", source);
    place_of("alone.so", object);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s %s -o %s", ur5, options, source), 0);
    ck_assert_int_eq(shell("cc -std=c99 -O2 -fPIC -shared %s -o %s -lm", source, object), 0);
    f.handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(f.handle != NULL, "%s", dlerror());
    require(dyn_workspace_create(f.model, &f.workspace, &error), &error);
    random_source random = random_seed("C for itself", 11);
    random_vector(&random, STATES * NV, 3, f.q);
    random_vector(&random, STATES * NV, 2, f.v);
    random_vector(&random, STATES * NV, 9, f.a);
    return f;
}

static void close_fixture(fixture *f) {
    dlclose(f->handle);
    dyn_workspace_free(f->workspace);
    dyn_model_free(f->model);
}

typedef void rnea_function(const double *q, const double *v, const double *a, double *tau);
typedef void float_rnea_function(const float *q, const float *v, const float *a, float *tau);
typedef void frame_function(const double *q, double *position, double *rotation, double *J);

START_TEST(a_file_of_its_own_has_the_librarys_numbers) {
    fixture f = open_fixture("--functions rnea,aba --frames tool0");
    rnea_function *rnea;
    frame_function *frame;
    *(void **)&rnea = dlsym(f.handle, "ur5_rnea"), *(void **)&frame = dlsym(f.handle, "ur5_frame_tool0");
    ck_assert(rnea && frame && dlsym(f.handle, "ur5_aba"));
    double tau[NV], expected[NV], position[3], rotation[9], J[6 * NV], expected_position[3], expected_J[6 * NV];
    int tool;
    dyn_error error;
    require(dyn_model_find_frame(f.model, "tool0", &tool, &error), &error);
    for (size_t s = 0; s < STATES; s++) {
        const double *q = f.q + NV * s, *v = f.v + NV * s, *a = f.a + NV * s;
        rnea(q, v, a, tau);
        require(dyn_rnea(f.model, f.workspace, 1, NULL, q, v, a, NULL, expected, &error), &error);
        assert_close("tau", (int)s, tau, expected, NV, 1e-12);
        frame(q, position, rotation, J);
        require(dyn_frame_pose(f.model, f.workspace, 1, q, tool, expected_position, NULL, &error), &error);
        require(dyn_frame_jacobian(f.model, f.workspace, 1, q, tool, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED,
                                   expected_J, &error),
                &error);
        assert_close("position", (int)s, position, expected_position, 3, 1e-12);
        assert_close("J", (int)s, J, expected_J, 6 * NV, 1e-12);
    }
    close_fixture(&f);
}
END_TEST

START_TEST(single_precision_is_right_to_its_rounding) {
    fixture f = open_fixture(_i ? "--functions rnea --float --prefix arm" : "-f rnea --precision single --prefix arm");
    float_rnea_function *rnea;
    *(void **)&rnea = dlsym(f.handle, "arm_rnea");
    ck_assert(rnea);
    for (size_t s = 0; s < STATES; s++) {
        float q[NV], v[NV], a[NV], tau[NV];
        double found[NV], expected[NV];
        dyn_error error;
        for (size_t i = 0; i < NV; i++) {
            q[i] = (float)f.q[NV * s + i], v[i] = (float)f.v[NV * s + i], a[i] = (float)f.a[NV * s + i];
        }
        rnea(q, v, a, tau);
        for (size_t i = 0; i < NV; i++) {
            found[i] = (double)tau[i];
        }
        require(
            dyn_rnea(f.model, f.workspace, 1, NULL, f.q + NV * s, f.v + NV * s, f.a + NV * s, NULL, expected, &error),
            &error);
        assert_close("tau", (int)s, found, expected, NV, 1e-5);
    }
    close_fixture(&f);
}
END_TEST

/* Options for strict C99, with all warnings about conversions to another precision. */
#define STRICT                                                                                                         \
    "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Wmissing-prototypes -Wstrict-prototypes "      \
    "-Wshadow -Werror"

static void describe(const dyn_model *model, const char *path) {
    char *text;
    size_t length;
    dyn_error error;
    require(dyn_description_write(model, &text, &length, &error), &error);
    FILE *file = fopen(path, "w");
    ck_assert(file && fwrite(text, 1, length, file) == length && fclose(file) == 0);
    dyn_text_free(text);
}

/* Checks that all functions of robots with every joint type are strict C99. Among the robots are small ones, whose
 * functions may depend on no input. */
START_TEST(it_is_strict_c99_without_a_warning) {
    random_source base = random_seed("C for itself is strict C99", 12);
    char robot[PATH_SIZE], source[PATH_SIZE], header[PATH_SIZE];
    place_of("strict.description", robot), place_of("strict.c", source), place_of("strict.h", header);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_tree_options options = {.joints = 1 + k / 2, .with_fixed = k % 3 == 0, .with_mimic = k % 3 == 1};
        options.base = k % 4 == 3 ? DYN_BASE_FLOATING : DYN_BASE_FIXED;
        dyn_model *model = random_tree(&random, &options);
        describe(model, robot);
        ck_assert_int_eq(shell(DYNAMICS_COMPILE
                               " %s -o %s --header %s --precision %s --frames '%s' --functions rnea,bias,gravity,crba,"
                               "aba,resisted_aba,minverse,rnea_derivatives,aba_derivatives",
                               robot, source, header, k % 2 ? "single" : "double",
                               dyn_model_link(model, dyn_model_link_count(model) - 1)->name),
                         0);
        ck_assert_int_eq(shell("cc " STRICT " -fsyntax-only %s", source), 0);
        ck_assert_int_eq(shell("clang " STRICT " -fsyntax-only %s", source), 0);
        ck_assert_int_eq(shell("c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ %s", header), 0);
        dyn_model_free(model);
    }
}
END_TEST

/* Compiles for a microcontroller whose hardware has single precision alone, and checks that the object calls none of
 * the functions that emulate double precision. clang compiles without a C library, of which two functions are declared
 * here. */
START_TEST(single_precision_runs_in_the_hardware_of_a_microcontroller) {
    char source[PATH_SIZE], object[PATH_SIZE], include[PATH_SIZE], math[PATH_SIZE];
    place_of("micro.c", source), place_of("micro.o", object), place_of("include", include);
    place_of("include/math.h", math);
    ck_assert_int_eq(shell("mkdir %s && echo 'float sinf(float); float cosf(float);"
                           "double sin(double); double cos(double);' > %s",
                           include, math),
                     0);
    for (int is_double = 0; is_double < 2; is_double++) {
        ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s -o %s --precision %s --functions rnea,aba,crba", ur5, source,
                               is_double ? "double" : "single"),
                         0);
        ck_assert_int_eq(shell("clang --target=arm-none-eabi -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard "
                               "-ffreestanding -O2 -std=c99 -isystem %s -c %s -o %s",
                               include, source, object),
                         0);
        /* Code in double precision calls __aeabi_dmul and similar functions, whose names are in the object. */
        ck_assert_int_eq(shell("grep -q __aeabi_d %s", object), is_double ? 0 : 1);
        ck_assert_int_eq(shell("grep -q __aeabi %s", object), is_double ? 0 : 1);
        ck_assert_int_eq(shell("grep -q sinf %s", object), is_double ? 1 : 0);
    }
}
END_TEST

/* Checks that the comment at the beginning of the source and the header shows how to call a function and lists the
 * coordinates. */
START_TEST(the_heading_shows_how_it_is_used) {
    char source[PATH_SIZE], header[PATH_SIZE];
    place_of("heading.c", source), place_of("heading.h", header);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s -o %s --header %s --float -f gravity,rnea", ur5, source, header), 0);
    const char *const lines[] = {" \\*     float q\\[UR5_NQ\\], g\\[UR5_NV\\];", " \\*     ur5_gravity(q, g);",
                                 " \\*     5    5    wrist_3_joint (rad)"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        ck_assert_msg(shell("grep -q '^%s$' %s", lines[i], source) == 0, "%s", lines[i]);
        ck_assert_msg(shell("grep -q '^%s$' %s", lines[i], header) == 0, "%s", lines[i]);
    }
    ck_assert_int_eq(shell("grep -q '^void ur5_rnea(const float \\*q, const float \\*v, const float \\*a, float "
                           "\\*tau);$' %s",
                           header),
                     0);
}
END_TEST

/* Writes a program from the example call in a header's first comment. The program prints the gravity forces of the
 * robot at rest. */
static void write_program(const char *header, const char *path) {
    char line[512], macro[128] = "", use[2][512] = {"", ""};
    int uses = -1;
    FILE *in = fopen(header, "r"), *out = fopen(path, "w");
    ck_assert(in && out);
    while (fgets(line, sizeof line, in)) {
        if (strcmp(line, " * Use\n") == 0) {
            uses = 0;
        } else if (uses >= 0 && uses < 2) {
            snprintf(use[uses++], sizeof use[0], "%s", line + strlen(" *"));
        }
        char *end = sscanf(line, "#define %127s", macro) == 1 ? strstr(macro, "_NQ") : NULL;
        if (end) {
            *end = '\0';
            break;
        }
    }
    fprintf(out,
            "#include \"example.h\"\n#include <stdio.h>\nint main(void) {\n%s    for (int i = 0; i < %s_NQ; i++) {\n"
            "        q[i] = 0;\n    }\n%s    for (int i = 0; i < %s_NV; i++) {\n        printf(\"%%.3f \", g[i]);\n"
            "    }\n    return 0;\n}\n",
            use[0], macro, use[1], macro);
    fclose(in);
    fclose(out);
}

/* Builds and runs the example call of a robot's header, and checks the forces that it prints. */
static void check_example(const char *robot, const char *options, const char *expected) {
    char source[PATH_SIZE], header[PATH_SIZE], main_file[PATH_SIZE], program[PATH_SIZE];
    place_of("example.c", source), place_of("example.h", header);
    place_of("main.c", main_file), place_of("program", program);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s -o %s --header %s -f gravity %s", robot, source, header, options), 0);
    write_program(header, main_file);
    ck_assert_int_eq(shell("cc -std=c99 -Wall -Wextra -Wpedantic -Werror %s %s -o %s -lm", main_file, source, program),
                     0);
    ck_assert_int_eq(shell("test \"$(%s)\" = '%s'", program, expected), 0);
}

START_TEST(the_example_of_the_heading_compiles_and_runs) {
    char robot[PATH_SIZE];
    check_example(ROBOTS_DIRECTORY "/two_link.urdf", "", "29.430 9.810 ");
    check_example(ROBOTS_DIRECTORY "/two_link.urdf", "--prefix 2-arms", "29.430 9.810 ");
    place_of("hostile.urdf", robot);
    ck_assert_int_eq(shell("sed 's|robot name=\"two_link\"|robot name=\"*/ int x; /* \\\\ %%%%d\"|; "
                           "s|\"joint1\"|\"*/ #error ?\?/\"|g' %s/two_link.urdf >%s",
                           ROBOTS_DIRECTORY, robot),
                     0);
    check_example(robot, "", "29.430 9.810 ");
}
END_TEST

/* Command lines that are incomplete or wrong, with a part of the error message. */
static const struct {
    const char *arguments, *words;
    int exit_code;
} refusals[] = {
    {"", "a robot description is needed", 2},
    {"a.urdf b.urdf -o x.c", "unexpected argument b.urdf", 2},
    {ROBOTS_DIRECTORY "/ur5.urdf", "--output is needed", 2},
    {"nosuch.urdf -o x.c", "nosuch.urdf: No such file or directory", 1},
    {"/ -o x.c", "/: Is a directory", 1},
    {ROBOTS_DIRECTORY "/ur5.urdf -o /nosuch/x.c", "/nosuch/x.c: No such file or directory", 1},
    {ROBOTS_DIRECTORY "/ur5.urdf -o x.c --precision half", "--precision: \"half\" is neither double nor single", 2},
    {ROBOTS_DIRECTORY "/ur5.urdf -o x.c --gravity 0,0", "--gravity: three numbers are needed, X,Y,Z", 2},
    {ROBOTS_DIRECTORY "/ur5.urdf -o x.c --functions ''", "--functions: name at least one, or a frame", 2},
    {ROBOTS_DIRECTORY "/ur5.urdf -o x.c -f abba",
     "there is no function \"abba\"; the functions are rnea, bias, gravity, crba, aba", 2},
    {DESCRIPTIONS "/departing.urdf -o x.c", "joint ankle: no inertia resists the joint", 1},
    {DESCRIPTIONS "/departing.urdf -o x.c -f rnea,minverse", "minverse cannot be computed", 1},
    {ROBOTS_DIRECTORY "/ur5.urdf -o x.c -f rnea,aba,rnea", "\"rnea\" would be rnea for the second time", 2},
    {ROBOTS_DIRECTORY "/ur5.urdf -o x.c --frames tool0,tool0", "\"tool0\" would be frame_tool0 for the second", 2},
    {ROBOTS_DIRECTORY "/ur5.urdf -o x.c --header x.c", "--header: x.c is the output; choose another name", 2},
    {ROBOTS_DIRECTORY "/ur5.urdf -o x.c --compiler cc", "--compiler: only with --shared", 2},
    {ROBOTS_DIRECTORY "/ur5.urdf -o x.so --shared --header x.h", "--header: not with --shared", 2},
    {ROBOTS_DIRECTORY "/ur5.urdf -o x.so --shared -f rnea", "--functions: not with --shared", 2},
    {ROBOTS_DIRECTORY "/ur5.urdf -o x.so --shared --float", "--shared is in double precision", 2},
    {ROBOTS_DIRECTORY "/ur5.urdf -o - --shared", "--shared needs the name of a file", 2},
    {ROBOTS_DIRECTORY "/ur5.urdf -o x.so --shared --instruction-set mmx", "\"mmx\" is none of avx512", 2},
};

START_TEST(wrong_command_lines_are_refused_with_the_reason) {
    char directory[PATH_SIZE];
    place_of("", directory);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        int code = shell("cd %s && " DYNAMICS_COMPILE " %s 2>message", directory, refusals[i].arguments);
        ck_assert_msg(code == refusals[i].exit_code, "%s: exit code %d", refusals[i].arguments, code);
        ck_assert_msg(shell("grep -qF -- '%s' %s/message", refusals[i].words, directory) == 0, "%s: no \"%s\"",
                      refusals[i].arguments, refusals[i].words);
        ck_assert_msg(shell("test ! -e %s/x.c && test ! -e %s/x.so", directory, directory) == 0, "%s wrote",
                      refusals[i].arguments);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("alone");
    tcase_add_unchecked_fixture(tests, create_directory, remove_directory);
    tcase_add_test(tests, a_file_of_its_own_has_the_librarys_numbers);
    tcase_add_loop_test(tests, single_precision_is_right_to_its_rounding, 0, 2);
    tcase_add_test(tests, it_is_strict_c99_without_a_warning);
    tcase_add_test(tests, single_precision_runs_in_the_hardware_of_a_microcontroller);
    tcase_add_test(tests, the_heading_shows_how_it_is_used);
    tcase_add_test(tests, the_example_of_the_heading_compiles_and_runs);
    tcase_add_test(tests, wrong_command_lines_are_refused_with_the_reason);
    tcase_set_timeout(tests, 120);
    return run_properties("alone", tests);
}
