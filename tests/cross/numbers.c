/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the numbers of every algorithm on random trees, one line a result, for comparison with those of another
 * processor. Checks that each sample has the same bits in a batch and alone, in single precision too.
 *
 *     numbers                          as the library computes them
 *     numbers --describe DIRECTORY     writes small trees to DIRECTORY/tree_K, for dynamics-compile
 *     numbers --compiled DIRECTORY     results that can be compiled, by the objects DIRECTORY/tree_K.so
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/algorithms.h"
#include "support/assertions.h"
#include "support/random_tree.h"

/* Number of samples, which fills lanes of up to eight and leaves a partial block. */
enum { SAMPLES = 11, TREES = 4, SEED = 20261121 };

/* Largest number of velocities of a compiled tree: C compilers are slow on more. */
enum { MOST_COMPILED = 8 };

static const random_tree_options trees[TREES] = {
    {.joints = 3, .with_mimic = true, .with_fixed = true},
    {.joints = 7},
    {.joints = 5, .with_fixed = true, .base = DYN_BASE_FLOATING},
    {.joints = 1, .with_fixed = true, .revolute_only = true, .base = DYN_BASE_FLOATING},
};

typedef struct states {
    double *q, *v, *a, *wrench;
} states;

static states states_create(random_source *random, const dyn_model *model) {
    size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    states x = {numbers(SAMPLES * nq), numbers(SAMPLES * nv), numbers(SAMPLES * nv), numbers(SAMPLES * 6)};
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(random, model, 2, x.q + s * nq);
    }
    random_vector(random, (int)(SAMPLES * nv), 2, x.v);
    random_vector(random, (int)(SAMPLES * nv), 9, x.a);
    random_vector(random, SAMPLES * 6, 5, x.wrench);
    return x;
}

static void states_free(states *x) {
    free(x->q), free(x->v), free(x->a), free(x->wrench);
}

/* Computes samples first .. first + n - 1 of one algorithm. */
static void compute(algorithm_id id, const dyn_model *model, dyn_workspace *w, const states *x, size_t first, size_t n,
                    double *out) {
    size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    const algorithm_input in = {.model = model,
                                .workspace = w,
                                .n = n,
                                .q = x->q + first * nq,
                                .v = x->v + first * nv,
                                .a = x->a + first * nv,
                                .tau = x->a + first * nv,
                                .wrench = x->wrench + first * 6,
                                .frame = dyn_model_link_count(model) - 1};
    dyn_error error;
    require(algorithm_compute(id, &in, &error, out), &error);
}

static void print_row(algorithm_id id, int tree, int output, size_t sample, size_t width, const double *row) {
    printf("tree %d, %s, output %d, sample %zu:", tree, algorithm_get(id)->name, output, sample);
    for (size_t k = 0; k < width; k++) {
        printf(" %.17g", row[k]);
    }
    printf("\n");
}

/* Prints each output of each sample, in a line that begins with its name. Single precision checks only bits, since
 * rounding differs between processors. */
static void print_algorithm(algorithm_id id, int tree, const dyn_model *model, dyn_workspace *w, const states *x) {
    size_t total = algorithm_width(id, model);
    double *batch = numbers(SAMPLES * total), *single = numbers(total);
    compute(id, model, w, x, 0, SAMPLES, batch);
    for (size_t s = 0; s < SAMPLES; s++) {
        size_t before = 0;
        compute(id, model, w, x, s, 1, single);
        for (int i = 0; i < ALGORITHM_OUTPUTS; i++) {
            size_t width = algorithm_output_width(id, model, i);
            const double *row = batch + SAMPLES * before + s * width;
            ck_assert_msg(memcmp(row, single + before, width * sizeof *row) == 0,
                          "tree %d, %s, output %d: sample %zu has other bits in a batch", tree, algorithm_get(id)->name,
                          i, s);
            before += width;
            if (dyn_workspace_precision(w) == DYN_PRECISION_DOUBLE) {
                print_row(id, tree, i, s, width, row);
            }
        }
    }
    free(batch), free(single);
}

/* Directory for descriptions, and directory of objects; NULL: not requested. */
static const char *descriptions, *objects;

/* Loads the compiled algorithms of a tree into its workspace. Returns NULL where there are none, or the tree is too
 * large. */
static dyn_compiled *use_compiled(const dyn_model *model, int tree, dyn_workspace *w) {
    char path[300];
    dyn_compiled *compiled = NULL;
    dyn_error error;
    if (objects && dyn_model_nv(model) <= MOST_COMPILED) {
        snprintf(path, sizeof path, "%s/tree_%d.so", objects, tree);
        require(dyn_compiled_load(model, path, &compiled, &error), &error);
        ck_assert_uint_eq(dyn_compiled_count(compiled), 9);
        require(dyn_workspace_use_compiled(w, compiled, &error), &error);
    }
    return compiled;
}

static dyn_model *create_tree(random_source base, int tree, random_source *random) {
    *random = random_case(base, (uint64_t)tree);
    return random_tree(random, &trees[tree]);
}

START_TEST(batch_has_the_bits_of_single_calls) {
    random_source base = random_seed("numbers on two processors", SEED);
    printf("instruction set: %s\n", dyn_instruction_set());
    for (int tree = 0; tree < TREES; tree++) {
        random_source random;
        dyn_model *model = create_tree(base, tree, &random);
        dyn_workspace *w = NULL;
        dyn_error error;
        require(dyn_workspace_create_in(model, (dyn_precision)_i, &w, &error), &error);
        dyn_compiled *compiled = use_compiled(model, tree, w);
        states x = states_create(&random, model);
        for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
            print_algorithm(id, tree, model, w, &x);
        }
        states_free(&x);
        dyn_workspace_free(w);
        dyn_compiled_free(compiled);
        dyn_model_free(model);
    }
}
END_TEST

START_TEST(trees_are_described) {
    random_source base = random_seed("numbers on two processors", SEED);
    for (int tree = 0; tree < TREES; tree++) {
        char path[300], *text;
        size_t length;
        random_source random;
        dyn_model *model = create_tree(base, tree, &random);
        dyn_error error;
        if (dyn_model_nv(model) <= MOST_COMPILED) {
            snprintf(path, sizeof path, "%s/tree_%d", descriptions, tree);
            require(dyn_description_write(model, &text, &length, &error), &error);
            FILE *file = fopen(path, "w");
            ck_assert(file && fwrite(text, 1, length, file) == length && fclose(file) == 0);
            dyn_text_free(text);
        }
        dyn_model_free(model);
    }
}
END_TEST

int main(int argc, char **argv) {
    descriptions = argc == 3 && strcmp(argv[1], "--describe") == 0 ? argv[2] : NULL;
    objects = argc == 3 && strcmp(argv[1], "--compiled") == 0 ? argv[2] : NULL;
    TCase *tests = tcase_create("numbers");
    tcase_set_timeout(tests, 120);
    if (descriptions) {
        tcase_add_test(tests, trees_are_described);
    } else {
        tcase_add_loop_test(tests, batch_has_the_bits_of_single_calls, DYN_PRECISION_DOUBLE, DYN_PRECISION_SINGLE + 1);
    }
    return run_properties("numbers", tests);
}
