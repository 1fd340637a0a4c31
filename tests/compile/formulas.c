/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks readable formulas: the textbook's planar arm has the textbook's formulas, and formulas of random robots, in
 * text and in LaTeX, evaluate to the library's numbers.
 */
#include <check.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "compile/workshop.h"
#include "support/assertions.h"
#include "support/random_tree.h"

enum { TREES = 40, MOST_NV = 4, TEXT_SIZE = 1 << 20 };

/* ---- evaluation -------------------------------------------------------------------------------------------------- */

/* Text that is being evaluated, and the values of q1 .. and v1 .. */
typedef struct formula {
    const char *at;
    const double *q, *v;
} formula;

static void skip_space(formula *f) {
    while (*f->at == ' ' || (*f->at == '\n' && f->at[1] == ' ')) {
        f->at++;
    }
}

static bool take(formula *f, const char *word) {
    skip_space(f);
    bool is_there = strncmp(f->at, word, strlen(word)) == 0;
    f->at += is_there ? strlen(word) : 0;
    return is_there;
}

/* Evaluates a sum that contains no parentheses: multiples of coordinates. */
static double angle(formula *f) {
    double sum = 0;
    ck_assert(take(f, "("));
    do {
        double sign = take(f, "-") ? -1 : (take(f, "+"), 1), multiple = 1;
        skip_space(f);
        if (isdigit((unsigned char)*f->at)) {
            multiple = strtod(f->at, (char **)&f->at);
            ck_assert(take(f, "*"));
        }
        ck_assert(take(f, "q"));
        sum += sign * multiple * f->q[strtol(f->at, (char **)&f->at, 10) - 1];
        skip_space(f);
    } while (*f->at == '+' || *f->at == '-');
    ck_assert(take(f, ")"));
    return sum;
}

static double factor(formula *f) {
    double x;
    if (take(f, "sin")) {
        return sin(angle(f));
    }
    if (take(f, "cos")) {
        return cos(angle(f));
    }
    if (take(f, "q")) {
        x = f->q[strtol(f->at, (char **)&f->at, 10) - 1];
    } else if (take(f, "v")) {
        x = f->v[strtol(f->at, (char **)&f->at, 10) - 1];
    } else {
        ck_assert_msg(isdigit((unsigned char)*f->at), "no factor: %.40s", f->at);
        x = strtod(f->at, (char **)&f->at);
    }
    return take(f, "^") ? pow(x, (double)strtol(f->at, (char **)&f->at, 10)) : x;
}

/* Evaluates the formula "NAME = ..." of a text. */
static double evaluate(const char *text, const char *name, const double *q, const double *v) {
    char start[16];
    snprintf(start, sizeof start, "\n%s = ", name);
    const char *line = strstr(text, start);
    ck_assert_msg(line != NULL, "there is no formula of %s", name);
    formula f = {line + strlen(start), q, v};
    double sum = 0;
    do {
        double product = take(&f, "-") ? -1 : (take(&f, "+"), 1);
        do {
            product *= factor(&f);
        } while (take(&f, "*"));
        sum += product;
        skip_space(&f);
    } while (*f.at == '+' || *f.at == '-');
    ck_assert_msg(*f.at == '\n' || *f.at == '\0', "%s ends at: %.40s", name, f.at);
    return sum;
}

/* Turns LaTeX into plain text, in place. */
static void translate(char *text) {
    static const char *const words[][2] = {{"{", ""},        {"}", ""},        {"_", ""},        {"&", ""},
                                           {"\\quad", ""},   {"\\,", "*"},     {"\\cdot", "*"},  {"\\dotq", "v"},
                                           {"\\cos", "cos"}, {"\\sin", "sin"}, {" \\\\\n", "\n"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char *to = text;
        for (const char *from = text; *from != '\0';) {
            if (strncmp(from, words[i][0], strlen(words[i][0])) == 0) {
                from += strlen(words[i][0]);
                to = stpcpy(to, words[i][1]);
            } else {
                *to++ = *from++;
            }
        }
        *to = '\0';
    }
}

/* Returns the formulas of a file with a robot. The caller frees them. */
static char *formulas_of(const char *robot, const char *language) {
    char path[PATH_SIZE], *text = calloc(TEXT_SIZE, 1);
    place_of("formulas", path);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s -o %s --language %s", robot, path, language), 0);
    FILE *file = fopen(path, "r");
    ck_assert(file && text && fread(text, 1, TEXT_SIZE - 1, file) > 0);
    fclose(file);
    return text;
}

/* ---- properties -------------------------------------------------------------------------------------------------- */

START_TEST(planar_arm_has_the_formulas_of_the_textbook) {
    static const char expected[] = "M11 = 3 + 2*cos(q2)\n"
                                   "M12 = 1 + cos(q2)\n"
                                   "M22 = 1\n"
                                   "c1 = -2*sin(q2)*v1*v2 - sin(q2)*v2^2\n"
                                   "c2 = sin(q2)*v1^2\n"
                                   "g1 = 19.62*cos(q1) + 9.81*cos(q1 + q2)\n"
                                   "g2 = 9.81*cos(q1 + q2)\n";
    char *text = formulas_of(ROBOTS_DIRECTORY "/two_link.urdf", "text");
    ck_assert_str_eq(strstr(text, "M11"), expected);
    free(text);
    text = formulas_of(ROBOTS_DIRECTORY "/two_link.urdf", "latex");
    ck_assert_ptr_nonnull(strstr(text, "\nc_{2} &= \\sin(q_{2}) \\, \\dot{q}_{1}^2 \\\\\n"));
    free(text);
}
END_TEST

/* Draws a robot for which formulas exist. */
static dyn_model *small_tree(random_source *random, int k) {
    for (;;) {
        random_tree_options options = {
            .joints = 1 + random_index(random, 4), .with_mimic = k % 4 == 1, .with_fixed = true};
        dyn_model *model = random_tree(random, &options);
        bool is_small = dyn_model_nv(model) >= 1 && dyn_model_nv(model) <= MOST_NV;
        for (int i = 0; i < dyn_model_joint_count(model); i++) {
            is_small = is_small && dyn_joint_type_traits(dyn_model_joint(model, i)->type)->quaternion < 0;
        }
        if (is_small) {
            return model;
        }
        dyn_model_free(model);
    }
}

static void describe(const dyn_model *model, const char *path) {
    char *text;
    size_t length;
    dyn_error error;
    require(dyn_description_write(model, &text, &length, &error), &error);
    FILE *file = fopen(path, "w");
    ck_assert(file && fwrite(text, 1, length, file) == length && fclose(file) == 0);
    dyn_text_free(text);
}

/* Compares formulas with the library in one random state. */
static void must_agree(const dyn_model *model, const char *text, random_source *random, int k) {
    const double none[3] = {0};
    double q[MOST_NV], v[MOST_NV], M[MOST_NV * MOST_NV], c[MOST_NV], g[MOST_NV];
    double found_M[MOST_NV * MOST_NV], found_c[MOST_NV], found_g[MOST_NV];
    dyn_workspace *workspace;
    dyn_error error;
    size_t nv = (size_t)dyn_model_nv(model);
    random_vector(random, (int)nv, 2, q), random_vector(random, (int)nv, 2, v);
    require(dyn_workspace_create(model, &workspace, &error), &error);
    require(dyn_crba(model, workspace, 1, q, M, &error), &error);
    require(dyn_bias(model, workspace, 1, none, q, v, c, &error), &error);
    require(dyn_gravity(model, workspace, 1, NULL, q, g, &error), &error);
    for (size_t i = 0; i < nv; i++) {
        char name[8];
        for (size_t j = 0; j < nv; j++) {
            snprintf(name, sizeof name, "M%zu%zu", i < j ? i + 1 : j + 1, i < j ? j + 1 : i + 1);
            found_M[i * nv + j] = evaluate(text, name, q, v);
        }
        snprintf(name, sizeof name, "c%zu", i + 1);
        found_c[i] = evaluate(text, name, q, v);
        snprintf(name, sizeof name, "g%zu", i + 1);
        found_g[i] = evaluate(text, name, q, v);
    }
    assert_close("M", k, found_M, M, nv * nv, 1e-7);
    assert_close("c", k, found_c, c, nv, 1e-7);
    assert_close("g", k, found_g, g, nv, 1e-7);
    dyn_workspace_free(workspace);
}

START_TEST(formulas_have_the_librarys_numbers) {
    random_source base = random_seed("formulas", 1901);
    char path[PATH_SIZE];
    place_of("small.description", path);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = small_tree(&random, k);
        describe(model, path);
        char *text = formulas_of(path, "text"), *latex = formulas_of(path, "latex");
        translate(latex);
        must_agree(model, text, &random, k);
        must_agree(model, latex, &random, k);
        free(text), free(latex);
        dyn_model_free(model);
    }
}
END_TEST

static const struct {
    const char *robot, *options, *message;
    int code;
} refusals[] = {
    {"ur5", "--language text", "the robot has 6 coordinates; formulas exist for robots with 1 to 4", 1},
    {"two_link", "--language latex --base-type floating", "root_joint: it is floating", 1},
    {"two_link", "--language html", "\"html\" is none of c, text and latex", 2},
    {"two_link", "--language text --functions rnea", "--functions: not with --language text", 2},
    {"two_link", "--language text --shared", "--shared: not with --language text", 2},
};

START_TEST(robots_and_options_without_formulas_are_refused) {
    char path[PATH_SIZE];
    place_of("refusal", path);
    ck_assert_int_eq(shell(DYNAMICS_COMPILE " " ROBOTS_DIRECTORY "/%s.urdf %s -o /dev/null 2>%s", refusals[_i].robot,
                           refusals[_i].options, path),
                     refusals[_i].code);
    ck_assert_int_eq(shell("grep -qF -e '%s' %s", refusals[_i].message, path), 0);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("formulas");
    tcase_add_unchecked_fixture(tests, create_directory, remove_directory);
    tcase_add_test(tests, planar_arm_has_the_formulas_of_the_textbook);
    tcase_add_test(tests, formulas_have_the_librarys_numbers);
    tcase_add_loop_test(tests, robots_and_options_without_formulas_are_refused, 0,
                        (int)(sizeof refusals / sizeof refusals[0]));
    return run_properties("formulas", tests);
}
