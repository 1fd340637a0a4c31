/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts multiplications and additions of one state, as the algorithms are written and as the model compiler
 * specializes them for one robot, beside formulas for chains of n revolute joints with any Denavit-Hartenberg row each:
 *
 *     RNEA   93 n - 108            81 n - 100            Balafoutis and Patel 1991
 *     CRBA   10 n^2 + 22 n - 32    6 n^2 + 37 n - 43
 *     ABA    224 n - 259           205 n - 248           McMillan 1995
 *
 * Derivatives have no published formula, only a lower bound: with the columns and their products available (Singh,
 * Russell and Wensing 2022), the entries of the matrices cost
 *
 *     dRNEA  18 n^2 - 30 n + 12    15.5 n^2 - 25.5 n + 10
 *
 * A pair of joints costs five scalar products, two of nine numbers and three of six; a single joint costs three.
 * Products with the first joint are selections.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "child.h"
#include "count.h"
#include "model_compiler.h"
#include "sections.h"

/* Algorithms in the order in which dynamics-compile writes them. */
static const algorithm_id algorithms[] = {ALGORITHM_RNEA, ALGORITHM_CRBA, ALGORITHM_ABA, ALGORITHM_RNEA_DERIVATIVES,
                                          ALGORITHM_ABA_DERIVATIVES};

enum { ALGORITHMS = sizeof algorithms / sizeof algorithms[0], LARGEST_CHAIN = 25 };

typedef struct sums {
    double multiplications, additions;
} sums;

/* Returns the published counts of RNEA, CRBA or ABA for a chain of n revolute joints on a fixed base; NaN for other
 * algorithms. */
static sums published(algorithm_id id, double n) {
    switch (id) {
    case ALGORITHM_RNEA:
        return (sums){93 * n - 108, 81 * n - 100};
    case ALGORITHM_CRBA:
        return (sums){10 * n * n + 22 * n - 32, 6 * n * n + 37 * n - 43};
    case ALGORITHM_ABA:
        return (sums){224 * n - 259, 205 * n - 248};
    default:
        return (sums){NAN, NAN};
    }
}

/* Returns whether the robot is a chain of revolute joints: each body but the first is the child of its predecessor. */
static bool is_revolute_chain(const dyn_model *model) {
    for (int i = 0; i < dyn_model_joint_count(model); i++) {
        const dyn_joint *joint = dyn_model_joint(model, i);
        int parent = i > 0 ? dyn_model_joint(model, i - 1)->child_link : 0;
        bool turns = joint->type == DYN_JOINT_TYPE_REVOLUTE || joint->type == DYN_JOINT_TYPE_CONTINUOUS;
        if (!turns || (i > 0 && joint->parent_link != parent)) {
            return false;
        }
    }
    return true;
}

/* Reads the operations of each function from the comments of the C that dynamics-compile generates. */
static void read_specialized(const dyn_model *model, sums found[ALGORITHMS]) {
    char directory[64], path[128], line[512];
    make_directory(directory);
    compile_model(model, directory, "--functions=rnea,crba,aba,rnea_derivatives,aba_derivatives", "robot.c");
    snprintf(path, sizeof path, "%s/robot.c", directory);
    FILE *file = fopen(path, "r");
    int count = 0;
    while (file && count < ALGORITHMS && fgets(line, sizeof line, file)) {
        const char *description = strncmp(line, "/* ", 3) == 0 ? strstr(line, ". ") : NULL;
        sums *s = &found[count];
        count += description &&
                 sscanf(description, ". %lf multiplications, %lf additions", &s->multiplications, &s->additions) == 2;
    }
    if (!file || fclose(file) != 0 || count < ALGORITHMS) {
        die("%s does not tell the operations of its functions", path);
    }
    remove_directory(directory);
}

static const table_column columns[] = {
    {"robot", "robot", TABLE_TEXT},
    {"algorithm", "algorithm", TABLE_TEXT},
    {"published, x", "published_multiplications", 0},
    {"+", "published_additions", 0},
    {"as written, x", "written_multiplications", 0},
    {"+", "written_additions", 0},
    {"compiled, x", "compiled_multiplications", 0},
    {"+", "compiled_additions", 0},
};

static void add_rows(const bench_options *options, const bench_robot *robot, table *t) {
    contest all;
    sums specialized[ALGORITHMS];
    contest_open(&all, robot, false);
    read_specialized(all.load.model, specialized);
    bool has_formula = is_revolute_chain(all.load.model);
    for (int i = 0; i < ALGORITHMS; i++) {
        if (!is_algorithm_selected(options, robot, algorithms[i])) {
            continue;
        }
        sums formula = has_formula ? published(algorithms[i], (double)all.load.nv) : (sums){NAN, NAN};
        dyn_operation_counts written = count_operations(&all.load, algorithms[i]);
        const table_cell cells[] = {{.text = robot->title},
                                    {.text = algorithm_get(algorithms[i])->name},
                                    {.number = formula.multiplications},
                                    {.number = formula.additions},
                                    {.number = (double)written.multiplications},
                                    {.number = (double)written.additions},
                                    {.number = specialized[i].multiplications},
                                    {.number = specialized[i].additions}};
        table_add(t, cells);
    }
    contest_close(&all);
}

void bench_operations(const bench_options *options, report *r) {
    static const char note[] =
        "Published: for any chain of revolute joints; RNEA Balafoutis and Patel 1991, ABA McMillan 1995. Compiled: by "
        "dynamics-compile,\nfor this robot alone. Sines, cosines and divisions are not counted. Of dRNEA of n joints, "
        "18 n^2 - 30 n + 12\nand 15.5 n^2 - 25.5 n + 10 are the products that fill the matrices: for 7 joints they are "
        "more than RNEA as written.\n";
    table *t = table_create("Operations of one state", "operations", note, columns, sizeof columns / sizeof columns[0]);
    for (const bench_robot *robot = bench_robots; robot->title && robot->bodies <= LARGEST_CHAIN; robot++) {
        if (is_robot_selected(options, robot)) {
            add_rows(options, robot, t);
        }
    }
    report_add(r, t);
}
