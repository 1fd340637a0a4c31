/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Description of a robot in a builder, with axes scaled to unit length.
 */
#ifndef DYNAMICS_MODEL_DESCRIPTION_H
#define DYNAMICS_MODEL_DESCRIPTION_H

#include <dynamics/builder.h>
#include <dynamics/constrained_inverse_dynamics.h>
#include <dynamics/constraint.h>
#include <dynamics/contact.h>
#include <dynamics/machine_element.h>

#include "element.h"
#include "name_index.h"

/* Builder: links and joints as in builder.h. Each joint owns copies of the names of its links and of its master. The
 * indices own the names of the links and joints themselves. */
struct dyn_builder {
    char *name;
    double gravity[3];
    const char *source; /* "urdf" where lines are those of a URDF document; NULL without a file */
    int line;           /* line of the robot itself */

    int link_count, link_capacity;
    dyn_link_description *links;
    name_index link_names;

    int joint_count, joint_capacity;
    dyn_joint_description *joints;
    name_index joint_names;

    int constraint_count, constraint_capacity;
    dyn_constraint_description *constraints; /* each constraint owns copies of the names of its links and joints */
    name_index constraint_names;

    int machine_element_count, machine_element_capacity;
    dyn_machine_element_description *machine_elements; /* each owns a copy of the name of its joint */
    name_index machine_element_names;

    int contact_surface_count, contact_surface_capacity;
    dyn_contact_surface *contact_surfaces; /* each owns a copy of the name of its link */
    name_index contact_surface_names;

    name_index passive_joints; /* names of joints without a motor; may hold names of joints that are gone or fixed */

    int note_count, note_capacity;
    char **notes; /* the builder owns each */
};

/* Makes room for one more element of `size` bytes in an array that holds `count`. Returns false when out of memory. */
bool builder_grow(void **array, int count, int *capacity, size_t size);

/* Scales an axis to unit length. Returns false for zero or a value that is not finite. An axis that is already scaled
 * keeps its bits, so that a description that is written and read again is the same model. */
bool builder_normalize_axis(double axis[3]);

/* Returns whether all values are finite numbers. */
bool builder_all_finite(const double *values, int count);

/* Checks the name of a new element: it must be valid (name_check.h) and not in `names`, and the element must be one of
 * at most `bound`. */
dyn_status builder_check_new_name(const dyn_builder *builder, const name_index *names, int bound, named_element at,
                                  dyn_error *error);

/* Frees the constraints of a builder and the index of their names. */
void builder_clear_constraints(dyn_builder *builder);

/* Returns whether a joint moves and has no motor. */
bool builder_is_passive(const dyn_builder *builder, int joint);

/* Makes the joints of `to` passive that are passive in `from`. Out of memory: DYN_RESOURCE_EXHAUSTED. */
dyn_status builder_copy_passive(const dyn_builder *from, dyn_error *error, dyn_builder *to);

/* Adds copies of the notes of `from`. Out of memory: DYN_RESOURCE_EXHAUSTED. */
dyn_status builder_copy_notes(const dyn_builder *from, dyn_error *error, dyn_builder *to);

/* Frees the notes of a builder. */
void builder_clear_notes(dyn_builder *builder);

/* Copies the constraints, without their lines, to a builder that has none. Errors: DYN_RESOURCE_EXHAUSTED. */
dyn_status builder_copy_constraints(const dyn_builder *from, dyn_error *error, dyn_builder *to);

/* Appends a machine element whose values have been checked. Out of memory: DYN_RESOURCE_EXHAUSTED. */
dyn_status builder_append_machine_element(dyn_builder *builder, const dyn_machine_element_description *element,
                                          dyn_error *error);

/* Frees the machine elements. */
void builder_clear_machine_elements(dyn_builder *builder);

/* Copies the machine elements. Out of memory: DYN_RESOURCE_EXHAUSTED. */
dyn_status builder_copy_machine_elements(const dyn_builder *from, dyn_error *error, dyn_builder *to);

/* Appends a link whose values have been checked, without its line and row. Errors: an invalid or repeated name, too
 * many links, out of memory. */
dyn_status builder_append_link(dyn_builder *builder, const dyn_link_description *link, dyn_error *error);

/* Appends a joint whose values have been checked, without its line and row. Errors: an invalid or repeated name, too
 * many joints, out of memory. */
dyn_status builder_append_joint(dyn_builder *builder, const dyn_joint_description *joint, dyn_error *error);

/* Checks that mass and inertia of a link are finite and its mass is not negative. Errors: DYN_INVALID_ARGUMENT. */
dyn_status builder_check_inertia(const dyn_builder *builder, named_element at, const dyn_inertia *inertia,
                                 dyn_error *error);

/* Builds as dyn_builder_build does, and makes the builder itself the model's description: the model owns it from now
 * on. Frees it on failure. */
dyn_status builder_build_own(dyn_builder *builder, const dyn_build_options *options, dyn_report *report,
                             dyn_error *error, dyn_model **model);

/* Creates a builder with the same description, except for lines and rows. */
dyn_status builder_copy(const dyn_builder *from, dyn_error *error, dyn_builder **copy);

/* Returns the element of the robot itself. */
named_element robot_element(const dyn_builder *builder);

/* Returns the element of the link of that name. For a name that the description does not contain, the element has no
 * index and no line. */
named_element link_element(const dyn_builder *builder, const char *name);

/* Returns the element of the joint of that name. For a name that the description does not contain, such as that of the
 * joint of a floating base, the element has no index and no line. */
named_element joint_element(const dyn_builder *builder, const char *name);

/* Sets an error about an element. Its place is the element, such as "joint elbow"; with a source and a line it is
 * "urdf:42", and the message begins with the element. Returns `status`. */
dyn_status builder_fail(const dyn_builder *builder, dyn_error *error, dyn_status status, named_element at,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Sets an error of status DYN_INVALID_ARGUMENT as builder_fail does, about a member of the element, such as
 * "rotor.ratio", or about the element as a whole (NULL). */
dyn_status builder_fail_member(const dyn_builder *builder, named_element at, const char *member, dyn_error *error,
                               const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Sets an error as builder_fail does, about an element that `text` names in the message. Its kind may be
 * DYN_ELEMENT_KIND_NONE. */
dyn_status builder_fail_at(const dyn_builder *builder, dyn_error *error, dyn_status status, const dyn_element *element,
                           const char *text, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Returns the name of a joint type, such as "revolute". */
const char *joint_type_name(dyn_joint_type type);

/* Returns whether joints of a type have exactly one coordinate. */
bool joint_has_one_coordinate(dyn_joint_type type);

#endif
