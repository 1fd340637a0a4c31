/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that option --memory-megabytes bounds the memory of dynamics-compile together with the compilers that it runs.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile/workshop.h"
#include "support/assertions.h"

enum { LIMIT_MEGABYTES = 40, STAR_LINKS = 1500 };

/* Writes a robot with many links on one base: its matrices are large, and almost all of their entries are zero. */
static void write_star(const char *path) {
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("<robot name='star'><link name='base'/>", file);
    for (int i = 0; i < STAR_LINKS; i++) {
        fprintf(file,
                "<link name='l%d'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' "
                "izz='1'/></inertial></link><joint name='j%d' type='continuous'><parent link='base'/>"
                "<child link='l%d'/><axis xyz='0 1 0'/></joint>",
                i, i, i);
    }
    fputs("</robot>", file);
    ck_assert_int_eq(fclose(file), 0);
}

/* Runs dynamics-compile with its messages in a file. Returns its exit code, or -1 where a signal ended it. `resident`
 * receives its largest resident memory in bytes. */
static int run(const char *const *words, const char *messages, size_t *resident) {
    int status;
    struct rusage usage;
    pid_t child = fork();
    if (child == 0) {
        if (freopen(messages, "w", stderr)) {
            execv(DYNAMICS_COMPILE, (char *const *)words);
        }
        _exit(126);
    }
    ck_assert_int_eq(wait4(child, &status, 0, &usage), child);
    *resident = (size_t)usage.ru_maxrss << 10;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(a_robot_that_needs_more_is_refused_by_name_of_the_limit) {
    char star[PATH_SIZE], output[PATH_SIZE], messages[PATH_SIZE];
    size_t resident;
    place_of("star.urdf", star), place_of("star.out", output), place_of("messages", messages);
    write_star(star);
    const char *const words[] = {DYNAMICS_COMPILE,
                                 star,
                                 "-o",
                                 output,
                                 "--memory-megabytes",
                                 "40",
                                 "--cpu-seconds",
                                 "100",
                                 _i ? "--shared" : "--functions=rnea,crba",
                                 NULL};
    ck_assert_int_eq(run(words, messages, &resident), 1);
    ck_assert_int_eq(shell("grep -qF '%d MB of memory are not enough for this robot; raise --memory-megabytes' %s",
                           LIMIT_MEGABYTES, messages),
                     0);
    ck_assert_uint_lt(resident, (size_t)LIMIT_MEGABYTES << 20);
    ck_assert_int_eq(shell("test ! -e %s && test -z \"$(find %s.* 2>/dev/null)\"", output, output), 0);
}
END_TEST

/* Checks that the limit of the compiler's memory is the given limit less what dynamics-compile itself uses. */
START_TEST(compiler_gets_the_memory_that_the_program_leaves) {
    char compiler[PATH_SIZE], output[PATH_SIZE], messages[PATH_SIZE], left[PATH_SIZE];
    size_t resident;
    unsigned long kilobytes = 0;
    place_of("compiler", compiler), place_of("ur5.so", output), place_of("messages", messages);
    place_of("left", left);
    FILE *file = fopen(compiler, "w");
    ck_assert(file && fprintf(file, "#!/bin/sh\nsleep 0.5\nulimit -v > %s\nexit 1\n", left) > 0);
    ck_assert(fclose(file) == 0 && chmod(compiler, 0755) == 0);
    const char *const words[] = {DYNAMICS_COMPILE, ROBOTS_DIRECTORY "/ur5.urdf", "--shared", "-o", output, "--compiler",
                                 compiler,         "--memory-megabytes",         "512",      NULL};
    ck_assert_int_eq(run(words, messages, &resident), 1);
    file = fopen(left, "r");
    ck_assert(file && fscanf(file, "%lu", &kilobytes) == 1 && fclose(file) == 0);
    ck_assert_uint_gt(kilobytes, 256 << 10);
    ck_assert_uint_le((kilobytes << 10) + resident, (size_t)512 << 20);
    ck_assert_int_eq(shell("grep -q 'failed with exit code 1; it had [0-9]* MB of memory' %s", messages), 0);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("memory");
    tcase_add_unchecked_fixture(tests, create_directory, remove_directory);
    tcase_add_loop_test(tests, a_robot_that_needs_more_is_refused_by_name_of_the_limit, 0, 2);
    tcase_add_test(tests, compiler_gets_the_memory_that_the_program_leaves);
    tcase_set_timeout(tests, 120);
    return run_properties("memory", tests);
}
