/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds small robots for unit tests, and checks errors and reports.
 */
#include "robots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

dyn_builder *new_builder(void) {
    dyn_builder *builder;
    ck_assert_int_eq(dyn_builder_create("test", &builder, NULL), DYN_OK);
    return builder;
}

void add_link_with(dyn_builder *builder, const char *name, const dyn_inertia *inertia) {
    dyn_link_description link = {.name = name, .inertia = *inertia};
    dyn_error error;
    dyn_status status = dyn_builder_add_link(builder, &link, &error);
    ck_assert_msg(status == DYN_OK, "%s: %s", error.place, error.message);
}

void add_link(dyn_builder *builder, const char *name) {
    const dyn_inertia inertia = {.mass = 1, .rotational = {0.1, 0, 0, 0.1, 0, 0.1}};
    add_link_with(builder, name, &inertia);
}

dyn_joint_description joint_between(const char *name, dyn_joint_type type, const char *parent, const char *child) {
    return (dyn_joint_description){.name = name,
                                   .type = type,
                                   .parent_link = parent,
                                   .child_link = child,
                                   .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                   .axis = {0, 0, 1},
                                   .second_axis = {1, 0, 0}};
}

void add_joint(dyn_builder *builder, const dyn_joint_description *joint) {
    dyn_error error;
    dyn_status status = dyn_builder_add_joint(builder, joint, &error);
    ck_assert_msg(status == DYN_OK, "%s: %s", error.place, error.message);
}

void connect_links(dyn_builder *builder, const char *name, dyn_joint_type type, const char *parent, const char *child) {
    dyn_joint_description joint = joint_between(name, type, parent, child);
    add_joint(builder, &joint);
}

dyn_model *build_model(dyn_builder *builder, const dyn_build_options *options, dyn_report *report) {
    dyn_model *model;
    dyn_error error;
    dyn_status status = dyn_builder_build(builder, options, report, &model, &error);
    ck_assert_msg(status == DYN_OK, "%s: %s", error.place, error.message);
    dyn_builder_free(builder);
    return model;
}

dyn_model *load_urdf(const char *text, const dyn_build_options *options, dyn_report *report) {
    dyn_model *model;
    dyn_error error;
    dyn_status status = dyn_urdf_load(text, strlen(text), options, report, &model, &error);
    ck_assert_msg(status == DYN_OK, "%s: %s", error.place, error.message);
    return model;
}

dyn_report *new_report(void) {
    dyn_report *report;
    ck_assert_int_eq(dyn_report_create(&report), DYN_OK);
    return report;
}

char *read_whole_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(*length + 1, 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(fread(text, 1, *length, file), *length);
    fclose(file);
    return text;
}

void expect_error(dyn_status actual, const dyn_error *error, dyn_status status, const char *place,
                  const char *fragment) {
    ck_assert_msg(actual == status, "status %s instead of %s", dyn_status_name(actual), dyn_status_name(status));
    ck_assert_int_eq(error->status, status);
    ck_assert_str_eq(error->place, place);
    ck_assert_msg(strstr(error->message, fragment) != NULL, "\"%s\" does not hold \"%s\"", error->message, fragment);
}

void expect_entry(const dyn_report *report, dyn_severity severity, int line, const char *place, const char *fragment) {
    for (size_t i = 0; i < dyn_report_count(report); i++) {
        dyn_report_entry entry = dyn_report_at(report, i);
        if (entry.severity == severity && entry.line == line && strcmp(entry.place, place) == 0 &&
            strstr(entry.message, fragment)) {
            return;
        }
        printf("entry: severity %d, line %d, place \"%s\": %s\n", (int)entry.severity, entry.line, entry.place,
               entry.message);
    }
    ck_abort_msg("no entry of severity %d, line %d, place \"%s\" with \"%s\"", (int)severity, line, place, fragment);
}

int run_tests(TCase *tests) {
    Suite *suite = suite_create("unit");
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
