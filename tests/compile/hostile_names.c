/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that names from outside, such as those of links, joints, robots and files, do not change the generated C: with
 * names that try to leave their comment or string, it compiles to the same object as with harmless ones.
 */
#include <check.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dynamics/dynamics.h>

#include "compile/workshop.h"
#include "support/assertions.h"

extern char **environ;

/* Names that would define the symbol pwn, fail to compile, or create the file "pwned" if they took effect. None has a
 * comma, since --frames could not name such a link. */
static const char *const payloads[] = {
    "*/ __attribute__((constructor)) static void pwn(void) { puts(\"\"); } /*",
    "*/ int pwn; /*",
    "*?\?/",
    "/* nested",
    "// line",
    "spliced \\",
    "\"; int pwn; const char *text = \"",
    "*/\" int pwn; \"/*",
    "trigraph ?\?/",
    "?\?)?\?>",
    "#define q pwn",
    "%s%n%d",
    "$(touch pwned)`touch pwned`; touch pwned; '",
    "--version",
    "@arguments",
    "gr\303\266\303\237e \346\234\272\345\231\250",
};

enum { PAYLOADS = sizeof payloads / sizeof payloads[0], NAME_SIZE = 128, LIST_SIZE = PAYLOADS * NAME_SIZE, MOVING = 4 };

/* Names of a robot and of its links; each joint has the name of its link. */
typedef struct name_list {
    char robot[NAME_SIZE], links[PAYLOADS][NAME_SIZE];
} name_list;

static char directory[PATH_SIZE];

/* Copies a name, with _ in place of each character that is neither a letter nor a digit. */
static void make_harmless(const char *hostile, char harmless[NAME_SIZE]) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    snprintf(harmless, NAME_SIZE, "%s", hostile);
    for (char *c = harmless; *c != '\0'; c++) {
        *c = strchr(plain, *c) ? *c : '_';
    }
}

static name_list hostile_names(int robot) {
    name_list names;
    snprintf(names.robot, NAME_SIZE, "%s", payloads[robot]);
    for (int i = 0; i < PAYLOADS; i++) {
        snprintf(names.links[i], NAME_SIZE, "%s", payloads[i]);
    }
    return names;
}

static name_list harmless_names(const name_list *hostile) {
    name_list names;
    make_harmless(hostile->robot, names.robot);
    for (int i = 0; i < PAYLOADS; i++) {
        make_harmless(hostile->links[i], names.links[i]);
    }
    return names;
}

/* Builds a chain of links with these names. The first MOVING joints move, the others are fixed. */
static dyn_model *build(const name_list *names) {
    dyn_builder *builder;
    dyn_model *model;
    dyn_error error;
    require(dyn_builder_create(names->robot, &builder, &error), &error);
    for (int i = 0; i < PAYLOADS; i++) {
        const dyn_link_description link = {.name = names->links[i],
                                           .inertia = {.mass = 1, .rotational = {1, 0, 0, 1, 0, 1}}};
        require(dyn_builder_add_link(builder, &link, &error), &error);
    }
    for (int i = 1; i < PAYLOADS; i++) {
        const dyn_joint_description joint = {.name = names->links[i],
                                             .type = i <= MOVING ? DYN_JOINT_TYPE_CONTINUOUS : DYN_JOINT_TYPE_FIXED,
                                             .parent_link = names->links[i - 1],
                                             .child_link = names->links[i],
                                             .position = {0.3, 0.1, 0},
                                             .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                             .axis = {0, i % 2, 1}};
        require(dyn_builder_add_joint(builder, &joint, &error), &error);
    }
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FIXED);
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

static void describe(const dyn_model *model, const char *name) {
    char path[PATH_SIZE], *text;
    size_t length;
    dyn_error error;
    place_of(name, path);
    require(dyn_description_write(model, &text, &length, &error), &error);
    FILE *file = fopen(path, "w");
    ck_assert(file && fwrite(text, 1, length, file) == length && fclose(file) == 0);
    dyn_text_free(text);
}

/* Runs dynamics-compile without a shell. Returns its exit code, or -1 where a signal ended it. */
static int run_compiler(const char *const *words) {
    pid_t child;
    int status;
    ck_assert_int_eq(posix_spawn(&child, DYNAMICS_COMPILE, NULL, NULL, (char *const *)words, environ), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void assert_nothing_ran(void) {
    ck_assert_int_ne(access("pwned", F_OK), 0);
}

/* Checks that an object defines no symbol pwn and has no code that runs before main. */
static void assert_no_symbol(const char *object) {
    ck_assert_msg(shell("nm './%s' | grep -qw pwn", object) == 1, "%s defines pwn", object);
    ck_assert_msg(shell("objdump -h './%s' | grep -q 'init_array\\|ctors'", object) == 1, "%s", object);
}

/* Writes the names of all links but the first as an argument of --frames. */
static void list_frames(const name_list *names, char list[LIST_SIZE]) {
    size_t length = 0;
    for (int i = 1; i < PAYLOADS; i++) {
        length += (size_t)snprintf(list + length, LIST_SIZE - length, "%s%s", i > 1 ? "," : "", names->links[i]);
    }
}

/* Writes robot.c and a header into the directory `place`, for a robot with these names. Robot 0 has all functions. */
static void write_alone(const char *place, const name_list *names, int robot) {
    static const char all[] = "rnea,bias,gravity,crba,aba,resisted_aba,minverse,rnea_derivatives,aba_derivatives";
    char source[PATH_SIZE], header[PATH_SIZE], frames[LIST_SIZE], description[PATH_SIZE];
    dyn_model *model = build(names);
    snprintf(description, sizeof description, "%s.description", place);
    describe(model, description);
    dyn_model_free(model);
    list_frames(names, frames);
    snprintf(source, sizeof source, "%s/robot.c", place);
    snprintf(header, sizeof header, "%s/it's $(touch pwned); (a) <header>.h", place);
    const char *const words[] = {DYNAMICS_COMPILE,
                                 description,
                                 "--output",
                                 source,
                                 "--header",
                                 header,
                                 "--frames",
                                 frames,
                                 "--functions",
                                 robot == 0 ? all : "gravity,rnea",
                                 "--precision",
                                 robot % 3 == 1 ? "single" : "double",
                                 robot % 2 ? "--prefix" : NULL, /* otherwise the robot's name is the prefix */
                                 names->robot,
                                 NULL};
    ck_assert_int_eq(run_compiler(words), 0);
}

/* Compiles hostile/robot.c and harmless/robot.c with trigraphs and with warnings as errors, and checks that the objects
 * are equal. */
static void compare_objects(const char *compiler) {
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(shell("cd %s && %s -std=c99 -Wall -Wextra -Werror -c robot.c -o robot.o",
                            i ? "harmless" : "hostile", compiler) == 0,
                      "%s", compiler);
    }
    assert_no_symbol("hostile/robot.o");
    ck_assert_msg(shell("cmp hostile/robot.o harmless/robot.o") == 0, "%s", compiler);
}

START_TEST(names_do_not_change_the_object) {
    const name_list hostile = hostile_names(_i), harmless = harmless_names(&hostile);
    write_alone("hostile", &hostile, _i);
    write_alone("harmless", &harmless, _i);
    ck_assert_int_eq(shell("for d in hostile harmless; do gcc -std=c99 -E -P $d/robot.c > $d/code || exit 2; done; "
                           "cmp hostile/code harmless/code"),
                     0);
    compare_objects("gcc");
    compare_objects("clang");
    ck_assert_int_eq(
        shell("cat hostile/*.h > all.h && c++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only -x c++ all.h"), 0);
    ck_assert_int_eq(shell("LC_ALL=C grep -q '[^ -~]' hostile/*.[ch]"), 1);
    assert_nothing_ran();
}
END_TEST

/* Checks files whose names a compiler or a shell could misread. */
START_TEST(shared_objects_hold_hostile_names_as_they_are) {
    static const char *const outputs[] = {"-x.so", "@x.so", "$(touch pwned); touch pwned; 'x.so"};
    const name_list names = hostile_names(_i);
    dyn_model *model = build(&names);
    dyn_compiled *compiled;
    dyn_error error;
    char path[PATH_SIZE];
    describe(model, "shared.description");
    const char *const words[] = {DYNAMICS_COMPILE, "shared.description", "--shared", "-o", outputs[_i], NULL};
    ck_assert_int_eq(run_compiler(words), 0);
    place_of(outputs[_i], path);
    require(dyn_compiled_load(model, path, &compiled, &error),
            &error); /* the object contains the description byte for byte */
    dyn_compiled_free(compiled);
    ck_assert_int_eq(rename(path, "shared.so"), 0);
    ck_assert_int_eq(shell("nm shared.so | grep -qw pwn"), 1);
    assert_nothing_ran();
    dyn_model_free(model);
}
END_TEST

/* Checks that a header's name is refused where #include, which has no escapes, cannot contain it, and that nothing is
 * written. */
START_TEST(headers_that_include_cannot_name_are_refused) {
    static const char *const headers[] = {"a\"b.h", "a\\b.h",       "a\nint pwn;.h", "a*b.h",
                                          "a?.h",   "gr\xc3\xb6.h", "a\x7f.h"};
    const char *const words[] = {
        DYNAMICS_COMPILE, ROBOTS_DIRECTORY "/ur5.urdf", "-o", "refused.c", "--header", headers[_i], NULL};
    ck_assert_int_eq(run_compiler(words), 2);
    ck_assert(access("refused.c", F_OK) != 0 && access(headers[_i], F_OK) != 0);
}
END_TEST

static void enter_directory(void) {
    create_directory();
    place_of("", directory);
    ck_assert_int_eq(chdir(directory), 0);
    ck_assert(mkdir("hostile", 0700) == 0 && mkdir("harmless", 0700) == 0);
}

int main(void) {
    TCase *tests = tcase_create("hostile_names");
    tcase_add_unchecked_fixture(tests, enter_directory, remove_directory);
    tcase_add_loop_test(tests, names_do_not_change_the_object, 0, PAYLOADS);
    tcase_add_loop_test(tests, shared_objects_hold_hostile_names_as_they_are, 0, 3);
    tcase_add_loop_test(tests, headers_that_include_cannot_name_are_refused, 0, 7);
    tcase_set_timeout(tests, 120);
    return run_properties("hostile_names", tests);
}
