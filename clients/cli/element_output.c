/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the joint, link, frame or constraint of a name, as text or as JSON.
 */
#include "element_output.h"

#include <stdio.h>
#include <string.h>

#include "description_output.h"
#include "drive_numbers.h"
#include "table.h"

/* Elements that have the wanted name, at most one of each kind. NULL: there is no element of this kind. */
typedef struct elements {
    const dyn_client_joint *joint;
    const dyn_client_link *link;
    const dyn_client_frame *frame;
    const dyn_client_constraint *constraint;
    const dyn_client_machine_element *machine_element;
} elements;

static elements find_elements(const dyn_client_description *robot, const char *name, suggestion *meant) {
    elements found = {0};
    for (size_t i = 0; i < robot->joint_count; i++) {
        found.joint = strcmp(robot->joints[i].name, name) == 0 ? &robot->joints[i] : found.joint;
        suggestion_consider(meant, robot->joints[i].name);
    }
    for (size_t i = 0; i < robot->link_count; i++) {
        found.link = strcmp(robot->links[i].name, name) == 0 ? &robot->links[i] : found.link;
        suggestion_consider(meant, robot->links[i].name);
    }
    for (size_t i = 0; i < robot->frame_count; i++) {
        found.frame = strcmp(robot->frames[i].name, name) == 0 ? &robot->frames[i] : found.frame;
        suggestion_consider(meant, robot->frames[i].name);
    }
    for (size_t i = 0; i < robot->constraint_count; i++) {
        found.constraint = strcmp(robot->constraints[i].name, name) == 0 ? &robot->constraints[i] : found.constraint;
        suggestion_consider(meant, robot->constraints[i].name);
    }
    for (size_t i = 0; i < robot->machine_element_count; i++) {
        const dyn_client_machine_element *element = &robot->machine_elements[i];
        found.machine_element = strcmp(element->name, name) == 0 ? element : found.machine_element;
        suggestion_consider(meant, element->name);
    }
    return found;
}

/* Adds a row of two cells: the name, and the numbers in one text, separated by blanks and followed by the unit ("" if
 * none). */
static void add_numbers(table *to, const char *name, size_t count, const double *numbers, const char *unit) {
    char text[256] = "";
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%.9g", i > 0 ? " " : "", numbers[i]);
    }
    table_add_cell(to, "%s", name);
    table_add_cell(to, "%s%s%s", text, unit[0] != '\0' ? " " : "", unit);
}

static void add_text(table *to, const char *name, const char *text) {
    table_add_cell(to, "%s", name);
    table_add_cell(to, "%s", text);
}

static void add_pose(table *to, const char *name, const dyn_client_pose *pose) {
    add_numbers(to, name, 3, pose->position, "m");
    add_numbers(to, "  quaternion", 4, pose->orientation, "");
}

static void add_limits(table *to, const dyn_client_joint *joint) {
    if (has_range(joint) && joint->nq > 0) {
        table_add_cell(to, "range");
        table_add_cell(to, "%.9g .. %.9g %s", joint->limits.lower, joint->limits.upper, joint->q_units[0]);
    }
    if (joint->has_limits && joint->nv > 0 && joint->limits.velocity > 0) {
        add_numbers(to, "velocity limit", 1, &joint->limits.velocity, joint->v_units[0]);
    }
    if (joint->has_limits && joint->nv > 0 && joint->limits.effort > 0) {
        add_numbers(to, "effort limit", 1, &joint->limits.effort, joint->tau_units[0]);
    }
    if (joint->nv > 0) {
        add_numbers(to, "damping", 1, &joint->damping, damping_unit(joint));
        add_numbers(to, "friction", 1, &joint->friction, joint->tau_units[0]);
    }
    if (joint->mimic_joint) {
        table_add_cell(to, "mimic");
        table_add_cell(to, "%.9g %s%+.9g", *joint->mimic_multiplier, joint->mimic_joint, joint->mimic_offset);
    }
}

/* Adds a row for each motion of a custom joint. */
static void add_motions(table *to, const dyn_client_joint *joint) {
    for (size_t i = 0; i < joint->motion_count; i++) {
        const dyn_client_joint_motion *m = &joint->motions[i];
        bool turns = m->kind == DYN_CLIENT_JOINT_MOTION_KIND_ROTATION;
        const char *function = m->coefficients ? "polynomial" : m->slopes ? "quintic spline" : "cubic spline";
        table_add_cell(to, "motion %zu", i);
        table_add_cell(to, "%s %.9g %.9g %.9g by a %s of %zu %s", turns ? "rotation about" : "translation along",
                       m->axis[0], m->axis[1], m->axis[2], function,
                       m->coefficients ? m->coefficient_count : m->knot_count, m->coefficients ? "terms" : "knots");
    }
}

static void add_joint(table *to, const dyn_client_description *robot, const dyn_client_joint *joint) {
    add_text(to, "joint", joint->name);
    add_text(to, "type", dyn_client_joint_type_name(joint->type));
    add_text(to, "parent link", joint->parent_link[0] != '\0' ? joint->parent_link : "(world)");
    add_text(to, "child link", joint->child_link);
    for (size_t i = 0; i < joint->nq; i++) {
        table_add_cell(to, "q[%zu]", (size_t)joint->q_index + i);
        table_add_cell(to, "%s, %s", robot->q_names[joint->q_index + i], joint->q_units[i]);
    }
    for (size_t i = 0; i < joint->nv; i++) {
        table_add_cell(to, "v[%zu]", (size_t)joint->v_index + i);
        table_add_cell(to, "%s, %s", robot->v_names[joint->v_index + i], joint->v_units[i]);
    }
    if (joint->type == DYN_CLIENT_JOINT_TYPE_CUSTOM) {
        add_motions(to, joint);
    } else if (joint->type != DYN_CLIENT_JOINT_TYPE_SPHERICAL && joint->type != DYN_CLIENT_JOINT_TYPE_FLOATING) {
        add_numbers(to, "axis", 3, joint->axis, "");
    }
    add_limits(to, joint);
    add_pose(to, "origin in the parent link", &joint->origin);
}

static void add_link(table *to, const dyn_client_link *link) {
    add_text(to, "link", link->name);
    add_text(to, "parent joint", link->parent_joint[0] != '\0' ? link->parent_joint : "none");
    add_text(to, "moves with", link->moving_joint[0] != '\0' ? link->moving_joint : "(world)");
    add_numbers(to, "mass", 1, &link->inertia.mass, "kg");
    add_numbers(to, "centre of mass", 3, link->inertia.center_of_mass, "m");
    add_numbers(to, "inertia xx xy xz yy yz zz", 6, link->inertia.rotational, "kg m^2");
}

static void add_frame(table *to, const dyn_client_frame *frame) {
    add_text(to, "frame", frame->name);
    add_text(to, "moves with", frame->moving_joint[0] != '\0' ? frame->moving_joint : "(world)");
    table_add_cell(to, "pose in %s", frame->link[0] != '\0' ? frame->link : "world");
    table_add_cell(to, "%.9g %.9g %.9g m", frame->pose.position[0], frame->pose.position[1], frame->pose.position[2]);
    add_numbers(to, "  quaternion", 4, frame->pose.orientation, "");
}

static void add_side(table *to, const char *name, const dyn_client_constraint_frame *side) {
    add_text(to, name, side->link[0] != '\0' ? side->link : "(world)");
    add_pose(to, "  pose", &side->pose);
}

static void add_constraint(table *to, const dyn_client_constraint *constraint) {
    bool is_loop = constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_LOOP_JOINT;
    bool rolls = constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_ROLLING;
    bool is_plane = rolls || constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_POINT_ON_PLANE;
    bool is_linear = constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_COUPLING;
    add_text(to, "constraint", constraint_kind_name(constraint->kind));
    if (is_loop) {
        add_text(to, "type", dyn_client_joint_type_name(constraint->type));
    }
    if (is_loop || is_plane) {
        add_numbers(to, is_plane ? "normal" : "axis", 3, constraint->axis, "");
    }
    if (rolls) {
        add_numbers(to, "radius", 1, &constraint->distance, "m");
        add_numbers(to, "wheel axis", 3, constraint->second_axis, "");
    }
    if (is_loop) {
        add_numbers(to, "damping", 1, &constraint->damping, "");
        add_numbers(to, "friction", 1, &constraint->friction, "");
        add_numbers(to, "effort", 1, &constraint->effort, "");
    }
    if (constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_DISTANCE) {
        add_numbers(to, "distance", 1, &constraint->distance, "m");
    }
    for (size_t i = 0; i < constraint->coupled_count; i++) {
        add_text(to, "couples", constraint->coupled[i].joint);
        if (is_linear) {
            add_numbers(to, "  coefficient", 1, &constraint->coupled[i].coefficient, "");
        }
    }
    for (size_t k = 0; k < constraint->coefficient_count; k++) {
        table_add_cell(to, "c%zu", k);
        table_add_cell(to, "%.9g", constraint->coefficients[k]);
    }
    if (constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_PRESCRIBED) {
        add_numbers(to, "amplitude", 1, &constraint->amplitude, "");
        add_numbers(to, "frequency", 1, &constraint->frequency, "rad/s");
        add_numbers(to, "phase", 1, &constraint->phase, "rad");
    }
    if (is_linear) {
        add_numbers(to, "offset", 1, &constraint->offset, "");
    } else if (!is_of_coordinates(constraint)) {
        add_side(to, "predecessor", &constraint->predecessor);
        add_side(to, "successor", &constraint->successor);
    }
    for (size_t k = 0; k < constraint->row_count; k++) {
        table_add_cell(to, "row %zu", constraint->first_row + k);
        table_add_cell(to, "%s, %s, %s", constraint->row_names[k], constraint->directions[k],
                       constraint->multiplier_units[k]);
    }
}

static void add_rotor_body(table *to, const dyn_client_rotor *rotor) {
    add_numbers(to, "axial inertia", 1, &rotor->axial_inertia, "kg m^2");
    add_numbers(to, "mass", 1, &rotor->mass, "kg");
    add_numbers(to, "transverse inertia", 1, &rotor->transverse_inertia, "kg m^2");
    add_numbers(to, "position", 3, rotor->position, "m");
    add_numbers(to, "axis", 3, rotor->axis, "");
    add_text(to, "coupling", rotor_coupling_name(rotor->coupling));
}

static void add_friction(table *to, const dyn_client_friction *law) {
    add_text(to, "side", law->side == DYN_CLIENT_GEAR_SIDE_ROTOR ? "rotor" : "joint");
    add_numbers(to, "viscous", 2, law->viscous, "");
    add_numbers(to, "Coulomb", 2, law->coulomb, "");
    add_numbers(to, "breakaway", 2, law->breakaway, "");
    add_numbers(to, "Stribeck velocity", 1, &law->stribeck_velocity, "");
    add_numbers(to, "transition velocity", 1, &law->transition_velocity, "");
    add_numbers(to, "bristle stiffness", 1, &law->bristle_stiffness, "");
    add_numbers(to, "bristle damping", 1, &law->bristle_damping, "");
    add_numbers(to, "temperature factor", 1, &law->temperature_factor, "");
}

static void add_shaft(table *to, const dyn_client_machine_element *element) {
    const dyn_client_shaft *shaft = &element->shaft;
    add_text(to, "link", element->link[0] != '\0' ? element->link : "(world)");
    for (size_t k = 0; k < shaft->joint_count && k < shaft->ratio_count; k++) {
        add_text(to, "joint", shaft->joints[k]);
        add_numbers(to, "ratio", 1, &shaft->ratios[k], "");
    }
    add_rotor_body(to, &element->rotor);
}

static void add_machine_element(table *to, const dyn_client_machine_element *element) {
    add_text(to, "machine element", machine_element_kind_name(element->kind));
    if (element->kind == DYN_CLIENT_MACHINE_ELEMENT_KIND_SHAFT) {
        add_shaft(to, element);
    } else if (element->link) {
        bool has_other = element->other_link && element->other_link[0] != '\0';
        add_text(to, "link", element->link);
        add_text(to, "other link", has_other ? element->other_link : "(world)");
    } else {
        add_text(to, "joint", element->joint);
    }
    if (element->kind == DYN_CLIENT_MACHINE_ELEMENT_KIND_ROTOR) {
        add_numbers(to, "ratio", 1, &element->rotor.ratio, "");
        add_rotor_body(to, &element->rotor);
    }
    if (element->kind == DYN_CLIENT_MACHINE_ELEMENT_KIND_FRICTION) {
        add_friction(to, &element->friction);
    }
    if (element->kind == DYN_CLIENT_MACHINE_ELEMENT_KIND_SPRING) {
        add_numbers(to, "stiffness", 1, &element->spring.stiffness, "");
        add_numbers(to, "rest", 1, &element->spring.rest, "");
    }
    size_t count;
    dyn_client_machine_element_kind kind =
        element->shaft.has_motor ? DYN_CLIENT_MACHINE_ELEMENT_KIND_MOTOR : element->kind;
    const drive_number *numbers = drive_numbers_of(kind, &count);
    for (size_t i = 0; i < count; i++) {
        double value = drive_number_value(&numbers[i], element);
        add_numbers(to, numbers[i].name, 1, &value, numbers[i].unit);
    }
}

static exit_code print_text(const dyn_client_description *robot, const elements *found) {
    table *lines = table_create();
    table_add_column(lines, "", TABLE_LEFT);
    table_add_column(lines, "", TABLE_LEFT);
    if (found->joint) {
        add_joint(lines, robot, found->joint);
    }
    if (found->link) {
        add_link(lines, found->link);
    }
    if (found->frame) {
        add_frame(lines, found->frame);
    }
    if (found->constraint) {
        add_constraint(lines, found->constraint);
    }
    if (found->machine_element) {
        add_machine_element(lines, found->machine_element);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed ? EXIT_OK : complain_memory();
}

static void write_json(const elements *found) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    if (found->joint) {
        emit_key(&writer, "joint");
        write_joint(&writer, found->joint);
    }
    if (found->link) {
        emit_key(&writer, "link");
        write_link(&writer, found->link);
    }
    if (found->frame) {
        emit_key(&writer, "frame");
        write_frame(&writer, found->frame);
    }
    if (found->constraint) {
        emit_key(&writer, "constraint");
        write_constraint(&writer, found->constraint);
    }
    if (found->machine_element) {
        emit_key(&writer, "machine_element");
        write_machine_element(&writer, found->machine_element);
    }
    emit_end_object(&writer);
    emit_finish(&writer);
}

exit_code print_element(const arguments *args, const dyn_client_description *robot, const char *name) {
    suggestion meant = {.wanted = name, .length = strlen(name)};
    elements found = find_elements(robot, name, &meant);
    if (!found.joint && !found.link && !found.frame && !found.constraint && !found.machine_element) {
        return complain(EXIT_USAGE, "%s has no element \"%s\"%s%s%s (see dynamicsctl describe %s)", robot->model.name,
                        name, meant.closest ? "; did you mean \"" : "", meant.closest ? meant.closest : "",
                        meant.closest ? "\"?" : "", robot->model.name);
    }
    if (!args->value[OPTION_JSON]) {
        return print_text(robot, &found);
    }
    write_json(&found);
    return EXIT_OK;
}
