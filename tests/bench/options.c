/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool is_robot_selected(const bench_options *options, const bench_robot *robot) {
    return !options->robot || strcmp(options->robot, robot->title) == 0;
}

bool is_algorithm_selected(const bench_options *options, const bench_robot *robot, algorithm_id id) {
    if (options->algorithm) {
        return strcmp(options->algorithm, algorithm_get(id)->name) == 0;
    }
    return robot->bodies == 0 || id == ALGORITHM_RNEA || id == ALGORITHM_CRBA || id == ALGORITHM_ABA;
}

static _Noreturn void refuse(const char *what, const char *name, const char *const *known, int count) {
    fprintf(stderr, "dynamics-bench: there is no %s \"%s\"; choose one of\n", what, name);
    for (int i = 0; i < count; i++) {
        fprintf(stderr, "  %s\n", known[i]);
    }
    exit(2);
}

void check_names(const bench_options *options) {
    const char *robots[32], *algorithms[ALGORITHM_COUNT];
    int robot_count = 0;
    bool is_robot = false, is_algorithm = false;
    for (const bench_robot *robot = bench_robots; robot->title; robot++) {
        robots[robot_count++] = robot->title;
        is_robot = is_robot || is_robot_selected(options, robot);
    }
    for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
        algorithms[id] = algorithm_get(id)->name;
        is_algorithm = is_algorithm || is_algorithm_selected(options, bench_robots, id);
    }
    if (!is_robot) {
        refuse("robot", options->robot, robots, robot_count);
    }
    if (!is_algorithm) {
        refuse("algorithm", options->algorithm, algorithms, ALGORITHM_COUNT);
    }
}
