/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts multiplications and additions of the algorithms as written (over a type that counts), and specialized for one
 * robot (in the expressions of the model compiler), beside published formulas.
 *
 * The chains are general: each of n revolute joints has a Denavit-Hartenberg row of any angle and lengths, each link
 * has ten inertial parameters, and gravity has three components. Published counts for these, without sines and cosines:
 *
 *     RNEA   93 n - 108            81 n - 100            Balafoutis and Patel 1991
 *     CRBA   10 n^2 + 22 n - 32    6 n^2 + 37 n - 43
 *     ABA    224 n - 259           205 n - 248           McMillan 1995
 */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/kernels.h"
#include "specialize.h"

extern "C" {
#include <check.h>

#include <dynamics/denavit_hartenberg.h>
#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "classical/counted/counts.h"
#include "support/random.h"
}

extern const kernel_table dyn_kernel_table_counted;

enum { RNEA, CRBA, ABA, ALGORITHMS };

static const algorithm algorithms[ALGORITHMS] = {algorithm::rnea, algorithm::crba, algorithm::aba};
static const char *const names[ALGORITHMS] = {"RNEA", "CRBA", "ABA"};

/* Numbers of operations of one algorithm. */
struct sums {
    long multiplications, additions;
};

static sums published(int a, int n) {
    switch (a) {
    case RNEA:
        return {93 * n - 108, 81 * n - 100};
    case CRBA:
        return {10 * n * n + 22 * n - 32, 6 * n * n + 37 * n - 43};
    default:
        return {224 * n - 259, 205 * n - 248};
    }
}

static sums specialized(const dyn_model *model, int a) {
    operations n = count_operations(specialize(model, algorithms[a], 0, {1 << 22, 1 << 22}));
    return {(long)n.multiplications, (long)n.additions};
}

/* Returns the operations of the kernel as written, by running it over numbers that count their operations. Such a
 * number has the size of a double. */
static sums as_written(const dyn_model *model, int a) {
    const kernel_table *table = &dyn_kernel_table_counted;
    double gravity[3];
    dyn_model_gravity(model, gravity);
    size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    std::vector<max_align_t> memory(table->memory_size(model) / sizeof(max_align_t) + 1);
    std::vector<double> q(nq, 0.1), v(nv, 0.2), out(nv * nv), pivots(nv);
    std::memset(&dyn_counts, 0, sizeof dyn_counts);
    const packed_inputs in = {gravity, q.data(), v.data(), v.data(), nullptr};
    if (a == RNEA) {
        table->rnea(model, memory.data(), &in, out.data());
    } else if (a == CRBA) {
        table->crba(model, memory.data(), q.data(), out.data());
    } else {
        table->forward_dynamics(model, memory.data(), &in, pivots.data(), out.data());
    }
    return {(long)dyn_counts.multiplications, (long)dyn_counts.additions};
}

static double any(random_source *random) {
    return random_uniform(random, 0.2, 0.9);
}

static dyn_model *general_chain(random_source *random, int n) {
    std::vector<dyn_dh_row> rows((size_t)n);
    for (dyn_dh_row &row : rows) {
        row.type = DYN_JOINT_TYPE_REVOLUTE;
        row.theta = 0;
        row.d = any(random), row.a = any(random), row.alpha = any(random);
        row.inertia.mass = any(random);
        for (double &x : row.inertia.center_of_mass) {
            x = any(random);
        }
        const double rotational[6] = {3 + any(random), any(random), any(random),
                                      3 + any(random), any(random), 3 + any(random)};
        std::memcpy(row.inertia.rotational, rotational, sizeof rotational);
    }
    const double gravity[3] = {1, 2, -9};
    dyn_error error;
    dyn_builder *builder = nullptr;
    dyn_model *model = nullptr;
    require(dyn_dh_describe("chain", DYN_DH_CONVENTION_MODIFIED, n, rows.data(), &builder, &error), &error);
    require(dyn_builder_set_gravity(builder, gravity, &error), &error);
    require(dyn_builder_build(builder, nullptr, nullptr, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

START_TEST(general_chains_need_at_most_the_published_counts) {
    random_source base = random_seed("operation counts of general chains", 71);
    std::printf("%-5s %3s  %15s  %15s  %15s\n", "", "n", "published", "as written", "specialized");
    for (int a = 0; a < ALGORITHMS; a++) {
        for (int n : {2, 6, 7, 12, 30}) {
            random_source random = random_case(base, (uint64_t)n);
            dyn_model *model = general_chain(&random, n);
            sums bar = published(a, n), generic = as_written(model, a), ours = specialized(model, a);
            std::printf("%-5s %3d  %6ld x %5ld +  %6ld x %5ld +  %6ld x %5ld +\n", names[a], n, bar.multiplications,
                        bar.additions, generic.multiplications, generic.additions, ours.multiplications,
                        ours.additions);
            if (n >= 6) {
                ck_assert_int_le(ours.multiplications, bar.multiplications);
                ck_assert_int_le(ours.additions, bar.additions);
            }
            dyn_model_free(model);
        }
    }
}
END_TEST

/* Sample robot with an upper bound of each algorithm's operations: the counts at the time of writing. */
struct sample {
    const char *name;
    dyn_base base;
    sums most[ALGORITHMS];
};

static const sample samples[] = {
    {"ur5", DYN_BASE_FIXED, {{175, 147}, {91, 69}, {332, 271}}},
    {"panda", DYN_BASE_FIXED, {{298, 286}, {179, 162}, {605, 543}}},
    {"quadruped", DYN_BASE_FLOATING, {{601, 548}, {292, 250}, {1580, 1351}}},
};

static dyn_model *load(const sample &s) {
    std::ifstream file(std::string(ROBOTS_DIRECTORY "/") + s.name + ".urdf");
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    dyn_build_options options = {};
    options.struct_size = sizeof options;
    options.base = s.base;
    dyn_error error;
    dyn_model *model = nullptr;
    require(dyn_urdf_load(text.data(), text.size(), &options, nullptr, &model, &error), &error);
    return model;
}

START_TEST(sample_robots_need_no_more_than_before) {
    for (const sample &s : samples) {
        dyn_model *model = load(s);
        for (int a = 0; a < ALGORITHMS; a++) {
            sums generic = as_written(model, a), ours = specialized(model, a);
            std::printf("%-9s %-5s  as written %6ld x %5ld +  specialized %6ld x %5ld +\n", s.name, names[a],
                        generic.multiplications, generic.additions, ours.multiplications, ours.additions);
            ck_assert_int_le(ours.multiplications, s.most[a].multiplications);
            ck_assert_int_le(ours.additions, s.most[a].additions);
        }
        dyn_model_free(model);
    }
}
END_TEST

int main() {
    TCase *tests = tcase_create("operation_counts");
    tcase_add_test(tests, general_chains_need_at_most_the_published_counts);
    tcase_add_test(tests, sample_robots_need_no_more_than_before);
    return run_properties("operation_counts", tests);
}
