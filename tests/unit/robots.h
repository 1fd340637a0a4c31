/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small robots for unit tests, and checks of errors and reports.
 */
#ifndef DYNAMICS_TESTS_ROBOTS_H
#define DYNAMICS_TESTS_ROBOTS_H

#include <check.h>

#include <dynamics/dynamics.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* Returns an empty builder for the robot "test". */
dyn_builder *new_builder(void);

/* Adds a link of 1 kg with a rotational inertia of 0.1 kg m^2 about each axis. */
void add_link(dyn_builder *builder, const char *name);

/* Adds the link with another inertia. */
void add_link_with(dyn_builder *builder, const char *name, const dyn_inertia *inertia);

/* Returns a joint about or along z, at the parent's origin. */
dyn_joint_description joint_between(const char *name, dyn_joint_type type, const char *parent, const char *child);

void add_joint(dyn_builder *builder, const dyn_joint_description *joint);

/* Adds a joint of joint_between's form to the builder. */
void connect_links(dyn_builder *builder, const char *name, dyn_joint_type type, const char *parent, const char *child);

/* Builds the model and frees the builder; the report may be NULL. */
dyn_model *build_model(dyn_builder *builder, const dyn_build_options *options, dyn_report *report);

/* Loads a URDF text. */
dyn_model *load_urdf(const char *text, const dyn_build_options *options, dyn_report *report);

dyn_report *new_report(void);

/* Returns the whole file, with a zero byte after it; NULL if it does not exist. */
char *read_whole_file(const char *path, size_t *length);

/* Asserts that the error has this status and place, and that its message holds the fragment. */
void expect_error(dyn_status actual, const dyn_error *error, dyn_status status, const char *place,
                  const char *fragment);

/* Asserts that the report has an entry of this severity, line and place whose message holds the fragment. */
void expect_entry(const dyn_report *report, dyn_severity severity, int line, const char *place, const char *fragment);

/* Runs the tests of one file and prints the failures; returns the exit status of main. */
int run_tests(TCase *tests);

#endif
