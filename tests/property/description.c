/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that a model that is built again from the elements of its description, or from its text, equals the first one,
 * on random trees of every joint type.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { CASES = 300, MAX_JOINTS = 40 };

static dyn_model *random_model(random_source *random, int k) {
    random_tree_options options = {.joints = random_index(random, MAX_JOINTS),
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .mimic = k % 3 ? DYN_MIMIC_POLICY_COUPLED : DYN_MIMIC_POLICY_INDEPENDENT,
                                   .with_mimic = true,
                                   .with_fixed = true};
    return random_tree(random, &options);
}

static char *canonical(const dyn_model *model) {
    char *text;
    size_t length;
    dyn_error error;
    require(dyn_model_canonical(model, &text, &length, &error), &error);
    return text;
}

START_TEST(description_builds_an_equal_model) {
    random_source base = random_seed("build(describe(model)) = model", 20261201);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_model(&random, k), *again = NULL;
        dyn_builder *builder = NULL;
        dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
        require(dyn_model_build_options(model, &options, &error), &error);
        ck_assert_int_eq(options.base == DYN_BASE_FLOATING, dyn_model_is_floating(model));
        require(dyn_model_describe(model, &builder, &error), &error);
        require(dyn_builder_build(builder, &options, NULL, &again, &error), &error);
        ck_assert_str_eq(dyn_builder_name(builder), dyn_model_name(model));
        char *a = canonical(model), *b = canonical(again);
        ck_assert_str_eq(a, b);
        free(a), free(b);
        dyn_builder_free(builder);
        dyn_model_free(model), dyn_model_free(again);
    }
}
END_TEST

/* Checks that every link, and every joint with its couplings, can be read from a description and added to another
 * builder. */
START_TEST(description_can_be_read_and_added_again) {
    random_source base = random_seed("descriptions are complete", 20261202);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_model(&random, k), *again = NULL;
        dyn_builder *builder = NULL, *copy = NULL;
        require(dyn_model_describe(model, &builder, &error), &error);
        require(dyn_builder_create(dyn_builder_name(builder), &copy, &error), &error);
        double gravity[3];
        dyn_builder_gravity(builder, gravity);
        require(dyn_builder_set_gravity(copy, gravity, &error), &error);
        ck_assert_int_eq(dyn_builder_link_count(builder), dyn_model_link_count(model));
        for (int i = 0; i < dyn_builder_link_count(builder); i++) {
            require(dyn_builder_add_link(copy, dyn_builder_link(builder, i), &error), &error);
        }
        for (int j = 0; j < dyn_builder_joint_count(builder); j++) {
            require(dyn_builder_add_joint(copy, dyn_builder_joint(builder, j), &error), &error);
            ck_assert_int_eq(dyn_builder_joint(builder, j)->line, 0);
        }
        ck_assert_ptr_null(dyn_builder_link(builder, -1));
        ck_assert_ptr_null(dyn_builder_joint(builder, dyn_builder_joint_count(builder)));
        dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
        require(dyn_model_build_options(model, &options, &error), &error);
        require(dyn_builder_build(copy, &options, NULL, &again, &error), &error);
        ck_assert_int_eq(dyn_model_nq(again), dyn_model_nq(model));
        ck_assert_int_eq(dyn_model_joint_count(again), dyn_model_joint_count(model));
        ck_assert_double_eq(dyn_model_mass(again), dyn_model_mass(model));
        dyn_builder_free(builder), dyn_builder_free(copy);
        dyn_model_free(model), dyn_model_free(again);
    }
}
END_TEST

/* Returns the robot with other names of itself and of its last joint, which contain quotes, backslashes and spaces.
 * Frees `model`. */
static dyn_model *renamed(dyn_model *model) {
    dyn_builder *builder = NULL, *copy = NULL;
    dyn_model *result = NULL;
    dyn_error error;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    require(dyn_model_build_options(model, &options, &error), &error);
    require(dyn_model_describe(model, &builder, &error), &error);
    require(dyn_builder_create("a \"robot\" \\ of\xc3\xa9", &copy, &error), &error);
    for (int i = 0; i < dyn_builder_link_count(builder); i++) {
        require(dyn_builder_add_link(copy, dyn_builder_link(builder, i), &error), &error);
    }
    for (int j = 0; j < dyn_builder_joint_count(builder); j++) {
        dyn_joint_description joint = *dyn_builder_joint(builder, j);
        joint.name = j == dyn_builder_joint_count(builder) - 1 ? "\\last \" joint\"" : joint.name;
        require(dyn_builder_add_joint(copy, &joint, &error), &error);
    }
    require(dyn_builder_build(copy, &options, NULL, &result, &error), &error);
    dyn_builder_free(builder), dyn_builder_free(copy);
    dyn_model_free(model);
    return result;
}

START_TEST(text_builds_an_equal_model) {
    random_source base = random_seed("build(read(write(model))) = model", 20261203);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_model(&random, k), *again = NULL;
        dyn_builder *builder = NULL;
        dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
        char *text, *other;
        size_t length, other_length;
        model = k % 4 == 0 ? renamed(model) : model;
        require(dyn_description_write(model, &text, &length, &error), &error);
        ck_assert_uint_eq(strlen(text), length);
        ck_assert(dyn_description_is_text(text, length));
        require(dyn_description_read(text, length, &builder, &options, &error), &error);
        require(dyn_builder_build(builder, &options, NULL, &again, &error), &error);
        char *a = canonical(model), *b = canonical(again);
        ck_assert_str_eq(a, b);
        require(dyn_description_write(again, &other, &other_length, &error), &error);
        ck_assert_str_eq(text, other);
        dyn_text_free(a), dyn_text_free(b), dyn_text_free(text), dyn_text_free(other);
        dyn_builder_free(builder);
        dyn_model_free(model), dyn_model_free(again);
    }
}
END_TEST

/* Returns whether the report has a note about the robot with that message. */
static bool is_reported(const dyn_report *report, const char *message) {
    for (size_t i = 0; i < dyn_report_count(report); i++) {
        dyn_report_entry entry = dyn_report_at(report, i);
        if (entry.severity == DYN_SEVERITY_NOTE && entry.element.kind == DYN_ELEMENT_KIND_ROBOT &&
            strcmp(entry.message, message) == 0) {
            return true;
        }
    }
    return false;
}

START_TEST(notes_stay_with_the_model_and_do_not_change_it) {
    static const char *const notes[] = {"it was identified from 1500 rows", "\"residuals\" \\ of 1 N m, \xc3\xa9"};
    random_source base = random_seed("notes of descriptions", 20261204);
    dyn_error error;
    for (int k = 0; k < 40; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = random_model(&random, k), *noted = NULL, *attached = NULL, *again = NULL;
        dyn_builder *builder = NULL, *copy = NULL;
        dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
        dyn_report *report = NULL;
        char *text;
        size_t length;
        require(dyn_model_build_options(model, &options, &error), &error);
        require(dyn_model_describe(model, &builder, &error), &error);
        ck_assert_int_eq(dyn_builder_note_count(builder), 0);
        for (int i = 0; i < 2; i++) {
            require(dyn_builder_add_note(builder, notes[i], &error), &error);
        }
        require(dyn_builder_build(builder, &options, NULL, &noted, &error), &error);
        char *a = canonical(model), *b = canonical(noted);
        ck_assert_str_eq(a, b);
        /* The notes pass through an operation, and through the text. */
        const dyn_inertia body = {.mass = 1, .rotational = {1, 0, 0, 1, 0, 1}};
        require(dyn_model_attach(noted, dyn_model_link(noted, 0)->name, "added", &body, NULL, &attached, &error),
                &error);
        require(dyn_description_write(attached, &text, &length, &error), &error);
        require(dyn_description_read(text, length, &copy, &options, &error), &error);
        ck_assert_int_eq(dyn_report_create(&report), DYN_OK);
        require(dyn_builder_build(copy, &options, report, &again, &error), &error);
        ck_assert_int_eq(dyn_builder_note_count(copy), 2);
        ck_assert_ptr_null(dyn_builder_note(copy, 2));
        for (int i = 0; i < 2; i++) {
            ck_assert_str_eq(dyn_builder_note(copy, i), notes[i]);
            ck_assert(is_reported(report, notes[i]));
        }
        dyn_text_free(a), dyn_text_free(b), dyn_text_free(text);
        dyn_report_free(report);
        dyn_builder_free(builder), dyn_builder_free(copy);
        dyn_model_free(model), dyn_model_free(noted), dyn_model_free(attached), dyn_model_free(again);
    }
}
END_TEST

START_TEST(unprintable_long_and_many_notes_are_refused) {
    dyn_builder *builder = NULL;
    dyn_error error;
    char note[DYN_MAX_NOTE + 2];
    require(dyn_builder_create("robot", &builder, &error), &error);
    memset(note, 'x', sizeof note);
    note[DYN_MAX_NOTE + 1] = '\0';
    ck_assert_int_eq(dyn_builder_add_note(builder, note, &error), DYN_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "1001 bytes"));
    ck_assert_int_eq(dyn_builder_add_note(builder, "", &error), DYN_INVALID_ARGUMENT);
    ck_assert_int_eq(dyn_builder_add_note(builder, "two\nlines", &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "note");
    ck_assert_int_eq(dyn_builder_note_count(builder), 0);
    note[DYN_MAX_NOTE] = '\0';
    for (int i = 0; i < DYN_MAX_NOTES; i++) {
        require(dyn_builder_add_note(builder, note, &error), &error);
    }
    ck_assert_int_eq(dyn_builder_add_note(builder, "one more", &error), DYN_RESOURCE_EXHAUSTED);
    ck_assert_int_eq(dyn_builder_note_count(builder), DYN_MAX_NOTES);
    dyn_builder_free(builder);
}
END_TEST

/* Checks that a text with one wrong line is refused with the line's number, or the element's name, and a message. */
START_TEST(wrong_text_is_refused_by_line) {
    static const char good[] = "dynamics description 1\nrobot \"r\" base fixed mimic coupled gravity 0 0 -9.81\n"
                               "link \"a\" mass 1 center 0 0 0 inertia 1 0 0 1 0 1\n";
    static const struct {
        const char *line, *place, *fragment;
    } cases[] = {{"link \"b mass 1\n", "line 4", "the end of a name"},
                 {"link b mass 1\n", "line 4", "a name in quotes"},
                 {"limb \"b\"\n", "line 4", "link or the like is expected, not \"limb\""},
                 {"\n", "line 4", "link or the like"},
                 {"link \"b\" mass nan\n", "line 4", "a finite number is expected, not \"nan\""},
                 {"link \"b\" mass 1e999\n", "line 4", "a finite number"},
                 {"link \"b\" mass\n", "line 4", "a finite number is expected, not \"\""},
                 {"link \"b\" mess 1\n", "line 4", "mass is expected, not \"mess\""},
                 {"link \"b\" mass 1 center 0 0 0 inertia 1 0 0 1 0 1 2\n", "line 4", "the end of the line"},
                 {"link \"a\" mass 1 center 0 0 0 inertia 1 0 0 1 0 1\n", "link a", "two links of this name"},
                 {"link \"b\" mass -1 center 0 0 0 inertia 1 0 0 1 0 1\n", "link b", "not negative"},
                 {"joint \"j\" type elastic\n", "line 4", "not \"elastic\""}};
    char text[400];
    dyn_error error;
    dyn_builder *builder = NULL;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    require(dyn_description_read(good, strlen(good), &builder, &options, &error), &error);
    dyn_builder_free(builder);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text, "%s%s", good, cases[i].line);
        ck_assert_int_eq(dyn_description_read(text, strlen(text), &builder, &options, &error), DYN_INVALID_ARGUMENT);
        ck_assert_ptr_null(builder);
        ck_assert_str_eq(error.place, cases[i].place);
        ck_assert_msg(strstr(error.message, cases[i].fragment) != NULL, "%s", error.message);
    }
    /* A text that is cut off anywhere is either refused or a shorter description; a text with a zero byte is
     * refused. */
    for (size_t length = 0; length < strlen(good); length++) {
        dyn_status status = dyn_description_read(good, length, &builder, &options, &error);
        ck_assert((status == DYN_OK) == (builder != NULL));
        dyn_builder_free(builder);
    }
    ck_assert_int_eq(dyn_description_read(good, sizeof good, &builder, &options, &error), DYN_INVALID_ARGUMENT);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("description");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, description_builds_an_equal_model);
    tcase_add_test(tests, description_can_be_read_and_added_again);
    tcase_add_test(tests, text_builds_an_equal_model);
    tcase_add_test(tests, notes_stay_with_the_model_and_do_not_change_it);
    tcase_add_test(tests, unprintable_long_and_many_notes_are_refused);
    tcase_add_test(tests, wrong_text_is_refused_by_line);
    return run_properties("description", tests);
}
