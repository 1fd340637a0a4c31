/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declares functions that build small robots for unit tests, and checks of errors and reports. A function that the
 * library refuses fails the test.
 */
#ifndef DYNAMICS_TESTS_ROBOTS_H
#define DYNAMICS_TESTS_ROBOTS_H

#include <check.h>

#include <dynamics/dynamics.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* Returns an empty builder for the robot "test". The caller frees it. */
dyn_builder *new_builder(void);

/* Adds a link of 1 kg with a rotational inertia of 0.1 kg m^2 about each axis. */
void add_link(dyn_builder *builder, const char *name);

/* Adds a link with this inertia. */
void add_link_with(dyn_builder *builder, const char *name, const dyn_inertia *inertia);

/* Returns the description of a joint whose frame is that of the parent. Its axis is z, and its second axis x. */
dyn_joint_description joint_between(const char *name, dyn_joint_type type, const char *parent, const char *child);

void add_joint(dyn_builder *builder, const dyn_joint_description *joint);

/* Adds the joint that joint_between describes. */
void connect_links(dyn_builder *builder, const char *name, dyn_joint_type type, const char *parent, const char *child);

/* Builds the model and frees the builder. The options and the report may be NULL. */
dyn_model *build_model(dyn_builder *builder, const dyn_build_options *options, dyn_report *report);

/* Loads a URDF text. The options and the report may be NULL. The caller frees the model. */
dyn_model *load_urdf(const char *text, const dyn_build_options *options, dyn_report *report);

dyn_report *new_report(void);

/* Returns the whole file with a zero byte after it, or NULL if it cannot be opened. The caller frees the text. */
char *read_whole_file(const char *path, size_t *length);

/* Asserts that the error has this status and place, and that its message holds the fragment. */
void expect_error(dyn_status actual, const dyn_error *error, dyn_status status, const char *place,
                  const char *fragment);

/* Asserts that the report has an entry of this severity, line and place whose message holds the fragment. */
void expect_entry(const dyn_report *report, dyn_severity severity, int line, const char *place, const char *fragment);

/* Runs the tests of one file and prints the failures; returns the exit status of main. */
int run_tests(TCase *tests);

#endif
