/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes models and their descriptions, as JSON and as tables.
 */
#include "description_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive_numbers.h"
#include "page.h"
#include "table.h"

static const char *base_name(dyn_client_base base) {
    return base == DYN_CLIENT_BASE_FLOATING ? "floating" : "fixed";
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void write_text(json_writer *writer, const char *key, const char *text) {
    emit_key(writer, key);
    emit_string(writer, text);
}

static void write_count(json_writer *writer, const char *key, uint64_t count) {
    emit_key(writer, key);
    emit_unsigned(writer, count);
}

static void write_number(json_writer *writer, const char *key, double number) {
    emit_key(writer, key);
    emit_double(writer, number);
}

static void write_numbers(json_writer *writer, const char *key, size_t count, const double *numbers) {
    emit_key(writer, key);
    emit_doubles(writer, count, numbers);
}

static void write_texts(json_writer *writer, const char *key, size_t count, const char *const *texts) {
    emit_key(writer, key);
    emit_begin_array(writer);
    for (size_t i = 0; i < count; i++) {
        emit_string(writer, texts[i]);
    }
    emit_end_array(writer);
}

static void write_pose(json_writer *writer, const char *key, const dyn_client_pose *pose) {
    emit_key(writer, key);
    emit_begin_object(writer);
    write_numbers(writer, "position", 3, pose->position);
    write_numbers(writer, "quaternion", 4, pose->orientation);
    emit_end_object(writer);
}

void write_model(json_writer *writer, const dyn_client_model *model) {
    emit_begin_object(writer);
    write_text(writer, "name", model->name);
    write_text(writer, "digest", model->digest);
    write_count(writer, "nq", model->nq);
    write_count(writer, "nv", model->nv);
    write_count(writer, "links", model->links);
    write_count(writer, "joints", model->joints);
    write_text(writer, "base", base_name(model->base));
    write_number(writer, "mass", model->mass);
    write_text(writer, "source", model->source);
    write_text(writer, "loaded_by", model->loaded_by);
    write_count(writer, "constraints", model->constraints);
    write_count(writer, "constraint_rows", model->constraint_rows);
    write_count(writer, "machine_elements", model->machine_elements);
    emit_key(writer, "kept");
    emit_bool(writer, model->kept);
    emit_end_object(writer);
}

void write_report(json_writer *writer, size_t count, const dyn_client_report_entry *report) {
    emit_begin_array(writer);
    for (size_t i = 0; i < count; i++) {
        emit_begin_object(writer);
        write_text(writer, "severity", report[i].severity == DYN_CLIENT_SEVERITY_WARNING ? "warning" : "note");
        write_count(writer, "line", report[i].line);
        write_text(writer, "place", report[i].place);
        write_text(writer, "message", report[i].message);
        emit_end_object(writer);
    }
    emit_end_array(writer);
}

/* Writes the motions of a custom joint, with the names of the protocol. */
static void write_motions(json_writer *writer, const dyn_client_joint *joint) {
    emit_key(writer, "motions");
    emit_begin_array(writer);
    for (size_t i = 0; i < joint->motion_count; i++) {
        const dyn_client_joint_motion *m = &joint->motions[i];
        bool turns = m->kind == DYN_CLIENT_JOINT_MOTION_KIND_ROTATION;
        emit_begin_object(writer);
        write_text(writer, "kind", turns ? "rotation" : "translation");
        write_numbers(writer, "axis", 3, m->axis);
        emit_key(writer, "function");
        emit_begin_object(writer);
        const struct {
            const char *key;
            const double *numbers;
        } lists[] = {{"knots", m->knots}, {"values", m->values}, {"slopes", m->slopes}, {"curvatures", m->curvatures}};
        if (m->coefficients) {
            write_numbers(writer, "coefficients", m->coefficient_count, m->coefficients);
        }
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
            if (lists[k].numbers) {
                write_numbers(writer, lists[k].key, m->knot_count, lists[k].numbers);
            }
        }
        emit_end_object(writer);
        emit_end_object(writer);
    }
    emit_end_array(writer);
}

void write_joint(json_writer *writer, const dyn_client_joint *joint) {
    emit_begin_object(writer);
    write_text(writer, "name", joint->name);
    write_text(writer, "type", dyn_client_joint_type_name(joint->type));
    write_text(writer, "parent_link", joint->parent_link);
    write_text(writer, "child_link", joint->child_link);
    write_count(writer, "q_index", joint->q_index);
    write_count(writer, "v_index", joint->v_index);
    write_count(writer, "nq", joint->nq);
    write_count(writer, "nv", joint->nv);
    if (joint->axis[0] != 0 || joint->axis[1] != 0 || joint->axis[2] != 0) {
        write_numbers(writer, "axis", 3, joint->axis);
    }
    if (joint->type == DYN_CLIENT_JOINT_TYPE_UNIVERSAL) {
        write_numbers(writer, "second_axis", 3, joint->second_axis);
    }
    if (joint->type == DYN_CLIENT_JOINT_TYPE_HELICAL) {
        emit_key(writer, "pitch");
        emit_double(writer, joint->pitch);
    }
    if (joint->motion_count > 0) {
        write_motions(writer, joint);
    }
    if (joint->has_limits) {
        emit_key(writer, "limits");
        emit_begin_object(writer);
        write_number(writer, "lower", joint->limits.lower);
        write_number(writer, "upper", joint->limits.upper);
        write_number(writer, "velocity", joint->limits.velocity);
        write_number(writer, "effort", joint->limits.effort);
        emit_end_object(writer);
    }
    write_number(writer, "damping", joint->damping);
    write_number(writer, "friction", joint->friction);
    if (joint->mimic_joint) {
        emit_key(writer, "mimic");
        emit_begin_object(writer);
        write_text(writer, "joint", joint->mimic_joint);
        write_number(writer, "multiplier", *joint->mimic_multiplier);
        write_number(writer, "offset", joint->mimic_offset);
        emit_end_object(writer);
    }
    write_texts(writer, "q_units", joint->nq, joint->q_units);
    write_texts(writer, "v_units", joint->nv, joint->v_units);
    write_texts(writer, "tau_units", joint->nv, joint->tau_units);
    write_pose(writer, "origin", &joint->origin);
    emit_end_object(writer);
}

void write_link(json_writer *writer, const dyn_client_link *link) {
    emit_begin_object(writer);
    write_text(writer, "name", link->name);
    write_number(writer, "mass", link->inertia.mass);
    write_numbers(writer, "center_of_mass", 3, link->inertia.center_of_mass);
    write_numbers(writer, "inertia", 6, link->inertia.rotational);
    write_text(writer, "parent_joint", link->parent_joint);
    write_text(writer, "moving_joint", link->moving_joint);
    emit_end_object(writer);
}

void write_frame(json_writer *writer, const dyn_client_frame *frame) {
    emit_begin_object(writer);
    write_text(writer, "name", frame->name);
    write_text(writer, "moving_joint", frame->moving_joint);
    write_pose(writer, "pose", &frame->pose);
    emit_end_object(writer);
}

const char *constraint_kind_name(dyn_client_constraint_kind kind) {
    static const char *const names[] = {"unspecified", "loop_joint", "distance",  "point_on_plane", "coupling", "", "",
                                        "rolling",     "prescribed", "polynomial"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

static void write_side(json_writer *writer, const char *key, const dyn_client_constraint_frame *frame) {
    emit_key(writer, key);
    emit_begin_object(writer);
    write_text(writer, "link", frame->link);
    write_pose(writer, "pose", &frame->pose);
    emit_end_object(writer);
}

static void write_coupling(json_writer *writer, const dyn_client_constraint *constraint) {
    emit_key(writer, "coordinates");
    emit_begin_array(writer);
    for (size_t i = 0; i < constraint->coupled_count; i++) {
        emit_begin_object(writer);
        write_text(writer, "joint", constraint->coupled[i].joint);
        write_number(writer, "coefficient", constraint->coupled[i].coefficient);
        emit_end_object(writer);
    }
    emit_end_array(writer);
    write_number(writer, "offset", constraint->offset);
}

/* Writes the members of the joint that closes a loop: type, axes and pitch. */
static void write_loop_joint(json_writer *writer, const dyn_client_constraint *constraint) {
    write_text(writer, "type", dyn_client_joint_type_name(constraint->type));
    write_numbers(writer, "axis", 3, constraint->axis);
    if (constraint->type == DYN_CLIENT_JOINT_TYPE_UNIVERSAL) {
        write_numbers(writer, "second_axis", 3, constraint->second_axis);
    }
    if (constraint->type == DYN_CLIENT_JOINT_TYPE_HELICAL) {
        write_number(writer, "pitch", constraint->pitch);
    }
    if (constraint->damping != 0 || constraint->friction != 0 || constraint->effort != 0) {
        write_number(writer, "damping", constraint->damping);
        write_number(writer, "friction", constraint->friction);
        write_number(writer, "effort", constraint->effort);
    }
}

/* Writes the members of a polynomial coupling or a prescribed motion. */
static void write_law(json_writer *writer, const dyn_client_constraint *constraint) {
    write_text(writer, "joint", constraint->coupled_count > 0 ? constraint->coupled[0].joint : "");
    if (constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_POLYNOMIAL) {
        write_text(writer, "of", constraint->coupled_count > 1 ? constraint->coupled[1].joint : "");
    }
    write_numbers(writer, "coefficients", constraint->coefficient_count, constraint->coefficients);
    if (constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_PRESCRIBED) {
        write_number(writer, "amplitude", constraint->amplitude);
        write_number(writer, "frequency", constraint->frequency);
        write_number(writer, "phase", constraint->phase);
    }
}

/* Writes the members of a body that rolls on a plane. */
static void write_rolling(json_writer *writer, const dyn_client_constraint *constraint) {
    const double *axis = constraint->second_axis;
    write_numbers(writer, "normal", 3, constraint->axis);
    write_number(writer, "radius", constraint->distance);
    if (axis[0] != 0 || axis[1] != 0 || axis[2] != 0) {
        write_numbers(writer, "wheel_axis", 3, axis);
    }
}

bool is_of_coordinates(const dyn_client_constraint *constraint) {
    return constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_COUPLING ||
           constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_POLYNOMIAL ||
           constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_PRESCRIBED;
}

void write_constraint(json_writer *writer, const dyn_client_constraint *constraint) {
    emit_begin_object(writer);
    write_text(writer, "name", constraint->name);
    write_text(writer, "kind", constraint_kind_name(constraint->kind));
    if (constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_LOOP_JOINT) {
        write_loop_joint(writer, constraint);
    }
    if (constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_DISTANCE) {
        write_number(writer, "distance", constraint->distance);
    }
    if (constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_POINT_ON_PLANE) {
        write_numbers(writer, "normal", 3, constraint->axis);
    }
    if (constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_ROLLING) {
        write_rolling(writer, constraint);
    }
    if (constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_COUPLING) {
        write_coupling(writer, constraint);
    } else if (is_of_coordinates(constraint)) {
        write_law(writer, constraint);
    } else {
        write_side(writer, "predecessor", &constraint->predecessor);
        write_side(writer, "successor", &constraint->successor);
    }
    write_count(writer, "first_row", constraint->first_row);
    write_texts(writer, "row_names", constraint->row_count, constraint->row_names);
    write_texts(writer, "directions", constraint->row_count, constraint->directions);
    write_texts(writer, "error_units", constraint->row_count, constraint->error_units);
    write_texts(writer, "multiplier_units", constraint->row_count, constraint->multiplier_units);
    emit_end_object(writer);
}

const char *machine_element_kind_name(dyn_client_machine_element_kind kind) {
    static const char *const names[] = {"unspecified", "rotor", "friction", "spring", "motor", "gear",         "brake",
                                        "strut",       "cable", "bushing",  "fluid",  "shaft", "flexible_beam"};
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

const char *rotor_coupling_name(dyn_client_rotor_coupling coupling) {
    static const char *const names[] = {"exact", "exact", "diagonal", "reflected"};
    return (size_t)coupling < sizeof names / sizeof *names ? names[coupling] : "unknown";
}

static void write_rotor(json_writer *writer, const dyn_client_rotor *rotor) {
    write_number(writer, "ratio", rotor->ratio);
    write_number(writer, "axial_inertia", rotor->axial_inertia);
    write_number(writer, "mass", rotor->mass);
    write_number(writer, "transverse_inertia", rotor->transverse_inertia);
    write_numbers(writer, "position", 3, rotor->position);
    if (rotor->axis[0] != 0 || rotor->axis[1] != 0 || rotor->axis[2] != 0) {
        write_numbers(writer, "axis", 3, rotor->axis);
    }
    write_text(writer, "coupling", rotor_coupling_name(rotor->coupling));
}

/* Writes the numbers that the table has for a kind. */
static void write_drive_numbers(json_writer *writer, dyn_client_machine_element_kind kind,
                                const dyn_client_machine_element *element) {
    size_t count;
    const drive_number *numbers = drive_numbers_of(kind, &count);
    for (size_t i = 0; i < count; i++) {
        write_number(writer, numbers[i].name, drive_number_value(&numbers[i], element));
    }
}

static void write_shaft(json_writer *writer, const dyn_client_machine_element *element) {
    const dyn_client_shaft *shaft = &element->shaft;
    write_text(writer, "link", element->link);
    write_texts(writer, "joints", shaft->joint_count, shaft->joints);
    write_numbers(writer, "ratios", shaft->ratio_count, shaft->ratios);
    if (element->rotor.axial_inertia != 0 || element->rotor.mass != 0) {
        emit_key(writer, "rotor");
        emit_begin_object(writer);
        write_rotor(writer, &element->rotor);
        emit_end_object(writer);
    }
    if (shaft->has_motor) {
        emit_key(writer, "motor");
        emit_begin_object(writer);
        write_drive_numbers(writer, DYN_CLIENT_MACHINE_ELEMENT_KIND_MOTOR, element);
        emit_end_object(writer);
    }
}

static void write_friction(json_writer *writer, const dyn_client_friction *law) {
    write_text(writer, "side", law->side == DYN_CLIENT_GEAR_SIDE_ROTOR ? "rotor" : "joint");
    write_numbers(writer, "viscous", 2, law->viscous);
    write_numbers(writer, "coulomb", 2, law->coulomb);
    write_numbers(writer, "breakaway", 2, law->breakaway);
    write_number(writer, "stribeck_velocity", law->stribeck_velocity);
    write_number(writer, "transition_velocity", law->transition_velocity);
}

static const char *contact_shape_name(dyn_client_contact_shape shape) {
    static const char *const names[] = {"unspecified", "point",    "sphere", "box",
                                        "capsule",     "cylinder", "plane",  "height_field"};
    return (size_t)shape < sizeof names / sizeof *names ? names[shape] : "unknown";
}

static void write_soft_contact(json_writer *writer, const dyn_client_soft_contact *soft) {
    emit_key(writer, "soft");
    emit_begin_object(writer);
    write_number(writer, "time_constant", soft->time_constant);
    write_number(writer, "damping_ratio", soft->damping_ratio);
    write_number(writer, "least_impedance", soft->least_impedance);
    write_number(writer, "impedance", soft->impedance);
    write_number(writer, "width", soft->width);
    write_number(writer, "midpoint", soft->midpoint);
    write_number(writer, "power", soft->power);
    emit_end_object(writer);
}

static void write_contact_surface(json_writer *writer, const dyn_client_contact_surface *surface) {
    emit_begin_object(writer);
    write_text(writer, "name", surface->name);
    write_text(writer, "link", surface->link);
    write_pose(writer, "pose", &surface->pose);
    write_text(writer, "shape", contact_shape_name(surface->shape));
    write_number(writer, "radius", surface->radius);
    write_number(writer, "length", surface->length);
    write_numbers(writer, "size", 3, surface->size);
    write_number(writer, "friction", surface->friction);
    write_number(writer, "restitution", surface->restitution);
    write_number(writer, "stiffness", surface->stiffness);
    write_number(writer, "dissipation", surface->dissipation);
    if (surface->soft.time_constant > 0) {
        write_soft_contact(writer, &surface->soft);
    }
    if (surface->shape == DYN_CLIENT_CONTACT_SHAPE_HEIGHT_FIELD) {
        write_number(writer, "columns", (double)surface->columns);
        write_numbers(writer, "heights", surface->height_count, surface->heights);
    }
    emit_end_object(writer);
}

void write_machine_element(json_writer *writer, const dyn_client_machine_element *element) {
    emit_begin_object(writer);
    write_text(writer, "name", element->name);
    if (element->kind == DYN_CLIENT_MACHINE_ELEMENT_KIND_SHAFT) {
        write_shaft(writer, element);
    } else if (element->link) {
        write_text(writer, "link", element->link);
        write_text(writer, "other_link", element->other_link ? element->other_link : "");
    } else {
        write_text(writer, "joint", element->joint);
    }
    write_text(writer, "kind", machine_element_kind_name(element->kind));
    if (element->kind == DYN_CLIENT_MACHINE_ELEMENT_KIND_ROTOR) {
        write_rotor(writer, &element->rotor);
    }
    if (element->kind == DYN_CLIENT_MACHINE_ELEMENT_KIND_FRICTION) {
        write_friction(writer, &element->friction);
    }
    if (element->kind == DYN_CLIENT_MACHINE_ELEMENT_KIND_SPRING) {
        write_number(writer, "stiffness", element->spring.stiffness);
        write_number(writer, "rest", element->spring.rest);
    }
    write_drive_numbers(writer, element->kind, element);
    emit_end_object(writer);
}

static void write_compilation(json_writer *writer, const dyn_client_description *robot) {
    static const char *const states[] = {"unspecified", "waits", "running", "done", "failed"};
    bool is_known = robot->compilation <= DYN_CLIENT_COMPILATION_FAILED;
    emit_key(writer, "compilation");
    emit_begin_object(writer);
    write_text(writer, "state", is_known ? states[robot->compilation] : "unknown");
    write_text(writer, "reason", robot->compilation_reason);
    write_text(writer, "instruction_set", robot->instruction_set);
    emit_end_object(writer);
}

void write_description(const dyn_client_description *robot) {
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, "model");
    write_model(&writer, &robot->model);
    write_text(&writer, "mimic", robot->mimic == DYN_CLIENT_MIMIC_POLICY_INDEPENDENT ? "independent" : "coupled");
    write_numbers(&writer, "gravity", 3, robot->gravity);
    emit_key(&writer, "joints");
    emit_begin_array(&writer);
    for (size_t i = 0; i < robot->joint_count; i++) {
        write_joint(&writer, &robot->joints[i]);
    }
    emit_end_array(&writer);
    write_texts(&writer, "passive_joints", robot->passive_joint_count, robot->passive_joints);
    emit_key(&writer, "links");
    emit_begin_array(&writer);
    for (size_t i = 0; i < robot->link_count; i++) {
        write_link(&writer, &robot->links[i]);
    }
    emit_end_array(&writer);
    emit_key(&writer, "frames");
    emit_begin_array(&writer);
    for (size_t i = 0; i < robot->frame_count; i++) {
        write_frame(&writer, &robot->frames[i]);
    }
    emit_end_array(&writer);
    emit_key(&writer, "constraints");
    emit_begin_array(&writer);
    for (size_t i = 0; i < robot->constraint_count; i++) {
        write_constraint(&writer, &robot->constraints[i]);
    }
    emit_end_array(&writer);
    emit_key(&writer, "machine_elements");
    emit_begin_array(&writer);
    for (size_t i = 0; i < robot->machine_element_count; i++) {
        write_machine_element(&writer, &robot->machine_elements[i]);
    }
    emit_end_array(&writer);
    emit_key(&writer, "contact_surfaces");
    emit_begin_array(&writer);
    for (size_t i = 0; i < robot->contact_surface_count; i++) {
        write_contact_surface(&writer, &robot->contact_surfaces[i]);
    }
    emit_end_array(&writer);
    emit_key(&writer, "report");
    write_report(&writer, robot->report_count, robot->report);
    write_numbers(&writer, "zero_q", robot->model.nq, robot->zero_q);
    write_numbers(&writer, "home_q", robot->model.nq, robot->home_q);
    write_texts(&writer, "q_names", robot->model.nq, robot->q_names);
    write_texts(&writer, "v_names", robot->model.nv, robot->v_names);
    write_compilation(&writer, robot);
    emit_end_object(&writer);
    emit_finish(&writer);
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static void print_entry(const dyn_client_report_entry *entry) {
    char line[32] = "";
    if (entry->line > 0) {
        snprintf(line, sizeof line, "line %zu: ", entry->line);
    }
    page_printf(4, "  %s: %s%s: %s", entry->severity == DYN_CLIENT_SEVERITY_WARNING ? "warning" : "note", line,
                entry->place, entry->message);
}

void print_report(size_t count, const dyn_client_report_entry *report, bool with_notes, const char *model) {
    size_t notes = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_of_robot = strncmp(report[i].place, "robot", strlen("robot")) == 0;
        if (report[i].severity == DYN_CLIENT_SEVERITY_WARNING || is_of_robot || with_notes) {
            print_entry(&report[i]);
        } else {
            notes++;
        }
    }
    if (notes > 0) {
        printf("  %zu note%s (dynamicsctl describe %s)\n", notes, notes == 1 ? "" : "s", model);
    }
}

/* Adds the indices of a joint's coordinates: "3", "0..6", or "-" if it has none. */
static void add_range(table *to, size_t index, size_t count) {
    if (count == 0) {
        table_add_cell(to, "-");
    } else if (count == 1) {
        table_add_cell(to, "%zu", index);
    } else {
        table_add_cell(to, "%zu..%zu", index, index + count - 1);
    }
}

bool has_range(const dyn_client_joint *joint) {
    return joint->has_limits && (joint->limits.lower < 0 || joint->limits.upper > 0);
}

static void add_limits(table *to, const dyn_client_joint *joint) {
    if (joint->mimic_joint) {
        table_add_cell(to, "= %g %s%+g", *joint->mimic_multiplier, joint->mimic_joint, joint->mimic_offset);
        table_add_cell(to, "%s", "");
    } else if (has_range(joint)) {
        table_add_cell(to, "%.4f .. %.4f", joint->limits.lower, joint->limits.upper);
        table_add_cell(to, "%s", joint->nq > 0 ? joint->q_units[0] : "");
    } else {
        table_add_cell(to, "none");
        table_add_cell(to, "%s", "");
    }
}

/* Adds a number and its unit. Adds "-" and an empty cell if the description does not state the number or it is 0. */
static void add_optional(table *to, bool is_stated, double number, const char *unit) {
    bool is_shown = is_stated && number > 0;
    if (is_shown) {
        table_add_cell(to, "%g", number);
    } else {
        table_add_cell(to, "-");
    }
    table_add_cell(to, "%s", is_shown ? unit : "");
}

const char *damping_unit(const dyn_client_joint *joint) {
    bool turns = joint->nv > 0 && strncmp(joint->v_units[0], "rad", 3) == 0;
    return turns ? "N m s/rad" : "N s/m";
}

static void add_joint(table *to, const dyn_client_joint *joint) {
    bool moves = joint->nv > 0, has_limits = moves && joint->has_limits;
    const char *force = moves ? joint->tau_units[0] : "", *speed = moves ? joint->v_units[0] : "";
    table_add_cell(to, "%s", joint->name);
    table_add_cell(to, "%s", dyn_client_joint_type_name(joint->type));
    add_range(to, joint->q_index, joint->nq);
    add_range(to, joint->v_index, joint->nv);
    table_add_cell(to, "%s", joint->parent_link);
    table_add_cell(to, "%s", joint->child_link);
    add_limits(to, joint);
    add_optional(to, has_limits, joint->limits.velocity, speed);
    add_optional(to, has_limits, joint->limits.effort, force);
    add_optional(to, moves, joint->damping, damping_unit(joint));
    add_optional(to, moves, joint->friction, force);
}

static bool print_joints(const dyn_client_description *robot) {
    static const char *const numbers[] = {"velocity", "effort", "damping", "friction"};
    table *lines = table_create();
    table_add_column(lines, "joint", TABLE_NAME);
    table_add_column(lines, "type", TABLE_LEFT);
    table_add_column(lines, "q", TABLE_RIGHT);
    table_add_column(lines, "v", TABLE_RIGHT);
    table_add_column(lines, "parent link", TABLE_NAME);
    table_add_column(lines, "child link", TABLE_NAME);
    table_add_column(lines, "range", TABLE_LEFT);
    table_add_column(lines, "", TABLE_UNIT);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        table_add_column(lines, numbers[i], TABLE_RIGHT);
        table_add_column(lines, "", TABLE_UNIT);
    }
    for (size_t i = 0; i < robot->joint_count; i++) {
        add_joint(lines, &robot->joints[i]);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

static bool print_links(const dyn_client_description *robot) {
    static const char *const headings[] = {"mass [kg]", "x [m]", "y",   "z",   "Ixx [kg m^2]",
                                           "Ixy",       "Ixz",   "Iyy", "Iyz", "Izz"};
    table *lines = table_create();
    table_add_column(lines, "link", TABLE_NAME);
    table_add_column(lines, "moves with", TABLE_NAME);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        table_add_column(lines, headings[i], TABLE_RIGHT);
    }
    for (size_t i = 0; i < robot->link_count; i++) {
        const dyn_client_link *link = &robot->links[i];
        table_add_cell(lines, "%s", link->name);
        table_add_cell(lines, "%s", link->moving_joint[0] != '\0' ? link->moving_joint : "(world)");
        table_add_number(lines, link->inertia.mass);
        for (size_t k = 0; k < 3; k++) {
            table_add_number(lines, link->inertia.center_of_mass[k]);
        }
        for (size_t k = 0; k < 6; k++) {
            table_add_number(lines, link->inertia.rotational[k]);
        }
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* Adds coordinates `first` to end - 1 of a coupling, as far as it has them, in one cell. */
static void add_coordinates(table *to, const dyn_client_constraint *constraint, size_t first, size_t end) {
    bool is_linear = constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_COUPLING;
    char text[4096] = "";
    for (size_t i = first; i < end && i < constraint->coupled_count; i++) {
        size_t used = strlen(text);
        const dyn_client_coupled_coordinate *coordinate = &constraint->coupled[i];
        if (is_linear) {
            snprintf(text + used, sizeof text - used, "%s%g %s", i > first ? " + " : "", coordinate->coefficient,
                     coordinate->joint);
        } else {
            snprintf(text + used, sizeof text - used, "%s", coordinate->joint);
        }
    }
    table_add_cell(to, "%s", text);
}

/* Adds three cells for the parts that a constraint connects: two links and their distance, if it is constrained, or the
 * first coupled coordinate, the others, and their constant sum. */
static void add_sides(table *to, const dyn_client_constraint *constraint) {
    bool is_linear = constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_COUPLING;
    if (is_of_coordinates(constraint)) {
        add_coordinates(to, constraint, 0, 1);
        add_coordinates(to, constraint, 1, constraint->coupled_count);
        if (is_linear) {
            table_add_cell(to, "= %g", constraint->offset);
        } else {
            table_add_cell(to, "%s", "");
        }
        return;
    }
    const char *sides[] = {constraint->predecessor.link, constraint->successor.link};
    for (size_t i = 0; i < 2; i++) {
        table_add_cell(to, "%s", sides[i][0] != '\0' ? sides[i] : "(world)");
    }
    if (constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_DISTANCE) {
        table_add_cell(to, "%g m apart", constraint->distance);
    } else if (constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_ROLLING) {
        table_add_cell(to, "radius %g m", constraint->distance);
    } else {
        table_add_cell(to, "%s", "");
    }
}

static bool print_constraints(const dyn_client_description *robot) {
    table *lines = table_create();
    table_add_column(lines, "constraint", TABLE_NAME);
    table_add_column(lines, "kind", TABLE_LEFT);
    table_add_column(lines, "rows", TABLE_RIGHT);
    table_add_column(lines, "predecessor", TABLE_NAME);
    table_add_column(lines, "successor", TABLE_NAME);
    table_add_column(lines, "", TABLE_LEFT);
    for (size_t i = 0; i < robot->constraint_count; i++) {
        const dyn_client_constraint *constraint = &robot->constraints[i];
        bool is_loop = constraint->kind == DYN_CLIENT_CONSTRAINT_KIND_LOOP_JOINT;
        table_add_cell(lines, "%s", constraint->name);
        table_add_cell(lines, "%s%s", is_loop ? "loop joint, " : constraint_kind_name(constraint->kind),
                       is_loop ? dyn_client_joint_type_name(constraint->type) : "");
        add_range(lines, constraint->first_row, constraint->row_count);
        add_sides(lines, constraint);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* Adds the ratio of a gear, unless its rotor states it, and its efficiencies. */
static void add_gear(table *to, const dyn_client_gear *gear) {
    if (gear->ratio != 0) {
        table_add_cell(to, "ratio %g, efficiency %g, driven back %g", gear->ratio, gear->efficiency,
                       gear->back_driving_efficiency);
    } else {
        table_add_cell(to, "efficiency %g, driven back %g", gear->efficiency, gear->back_driving_efficiency);
    }
}

/* Adds the rate of a shaft and its inertia, in one cell. */
static void add_shaft(table *to, const dyn_client_machine_element *element) {
    const dyn_client_shaft *shaft = &element->shaft;
    char text[256] = "";
    for (size_t k = 0; k < shaft->joint_count && k < shaft->ratio_count; k++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%g %s", k > 0 ? " + " : "", shaft->ratios[k], shaft->joints[k]);
    }
    if (element->rotor.axial_inertia == 0) {
        table_add_cell(to, "turns at %s", text);
    } else {
        table_add_cell(to, "turns at %s, %g kg m^2, %s", text, element->rotor.axial_inertia,
                       rotor_coupling_name(element->rotor.coupling));
    }
}

/* Adds the parameters that characterize a machine element, in one cell. */
static void add_parameters(table *to, const dyn_client_machine_element *element) {
    const dyn_client_rotor *rotor = &element->rotor;
    const dyn_client_friction *law = &element->friction;
    switch (element->kind) {
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_ROTOR:
        table_add_cell(to, "ratio %g, %g kg m^2, adds %g to M, %s", rotor->ratio, rotor->axial_inertia,
                       rotor->ratio * rotor->ratio * rotor->axial_inertia, rotor_coupling_name(rotor->coupling));
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_FRICTION:
        table_add_cell(to, "viscous %g, Coulomb %g, breakaway %g%s", law->viscous[0], law->coulomb[0],
                       law->breakaway[0] != 0 ? law->breakaway[0] : law->coulomb[0],
                       law->side == DYN_CLIENT_GEAR_SIDE_ROTOR ? ", of the rotor" : "");
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_SPRING:
        table_add_cell(to, "stiffness %g, rest %g", element->spring.stiffness, element->spring.rest);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_MOTOR:
        table_add_cell(to, "%g ohm, %g N m/A", element->motor.resistance, element->motor.torque_constant);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_GEAR:
        add_gear(to, &element->gear);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_BRAKE:
        table_add_cell(to, "%g N m", element->brake.torque);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_STRUT:
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_CABLE:
        table_add_cell(to, "stiffness %g N/m, rest %g m, damping %g N s/m, push %g N", element->strut.stiffness,
                       element->strut.rest, element->strut.damping, element->strut.push);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_BUSHING:
        table_add_cell(to, "stiffness %g %g %g N/m, %g %g %g N m/rad", element->bushing.stiffness[0],
                       element->bushing.stiffness[1], element->bushing.stiffness[2],
                       element->bushing.rotational_stiffness[0], element->bushing.rotational_stiffness[1],
                       element->bushing.rotational_stiffness[2]);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_FLUID:
        table_add_cell(to, "displaces %g kg", element->fluid.density * element->fluid.volume);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_SHAFT:
        add_shaft(to, element);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_FLEXIBLE_BEAM: /* replies show the springs of its modes */
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_UNSPECIFIED:
        table_add_cell(to, "%s", "");
        break;
    }
}

static bool print_machine_elements(const dyn_client_description *robot) {
    table *lines = table_create();
    table_add_column(lines, "machine element", TABLE_NAME);
    table_add_column(lines, "kind", TABLE_LEFT);
    table_add_column(lines, "joint or link", TABLE_NAME);
    table_add_column(lines, "", TABLE_LEFT);
    for (size_t i = 0; i < robot->machine_element_count; i++) {
        const dyn_client_machine_element *element = &robot->machine_elements[i];
        table_add_cell(lines, "%s", element->name);
        table_add_cell(lines, "%s", machine_element_kind_name(element->kind));
        table_add_cell(lines, "%s",
                       !element->link             ? element->joint
                       : element->link[0] != '\0' ? element->link
                                                  : "(world)");
        add_parameters(lines, element);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

static bool print_contact_surfaces(const dyn_client_description *robot) {
    static const char *const headings[] = {"friction", "restitution", "stiffness [N/m^1.5]", "dissipation [s/m]",
                                           "soft [s]"};
    table *lines = table_create();
    table_add_column(lines, "contact surface", TABLE_NAME);
    table_add_column(lines, "shape", TABLE_LEFT);
    table_add_column(lines, "link", TABLE_NAME);
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        table_add_column(lines, headings[i], TABLE_RIGHT);
    }
    for (size_t i = 0; i < robot->contact_surface_count; i++) {
        const dyn_client_contact_surface *surface = &robot->contact_surfaces[i];
        table_add_cell(lines, "%s", surface->name);
        table_add_cell(lines, "%s", contact_shape_name(surface->shape));
        table_add_cell(lines, "%s", surface->link[0] != '\0' ? surface->link : "(world)");
        table_add_number(lines, surface->friction);
        table_add_number(lines, surface->restitution);
        table_add_number(lines, surface->stiffness);
        table_add_number(lines, surface->dissipation);
        table_add_number(lines, surface->soft.time_constant);
    }
    bool printed = table_print(lines, 0);
    table_free(lines);
    return printed;
}

/* Prints a heading and what `write` writes after it, as a paragraph. */
static bool print_paragraph(const char *heading, const dyn_client_description *robot,
                            void (*write)(const dyn_client_description *robot, FILE *to)) {
    char *names = NULL;
    size_t size;
    FILE *to = open_memstream(&names, &size);
    if (!to) {
        return false;
    }
    fputs(heading, to);
    write(robot, to);
    bool is_written = fclose(to) == 0;
    fputc('\n', stdout);
    is_written = is_written && page_printf(2, "%s", names);
    free(names);
    return is_written;
}

static void write_frame_names(const dyn_client_description *robot, FILE *to) {
    for (size_t i = 0; i < robot->frame_count; i++) {
        fprintf(to, " %s", robot->frames[i].name);
    }
}

static void write_passive_joints(const dyn_client_description *robot, FILE *to) {
    for (size_t i = 0; i < robot->passive_joint_count; i++) {
        fprintf(to, " %s", robot->passive_joints[i]);
    }
}

bool print_description(const dyn_client_description *robot) {
    const dyn_client_model *model = &robot->model;
    page_printf(2, "%s: %s base, nq = %zu, nv = %zu, %zu links, %g kg, gravity %g %g %g m/s^2", model->name,
                base_name(model->base), model->nq, model->nv, model->links, model->mass, robot->gravity[0],
                robot->gravity[1], robot->gravity[2]);
    puts(model->digest);
    if (model->source[0] != '\0') {
        printf("from %s\n", model->source);
    }
    if (model->loaded_by[0] != '\0') {
        printf("loaded by %s\n", model->loaded_by);
    }
    if (model->kept) {
        puts("kept over restarts of the daemon");
    }
    if (robot->compilation == DYN_CLIENT_COMPILATION_DONE) {
        printf("compiled for this robot and %s\n", robot->instruction_set);
    }
    if (robot->compilation == DYN_CLIENT_COMPILATION_FAILED) {
        printf("not compiled for this robot: %s\n", robot->compilation_reason);
    }
    fputc('\n', stdout);
    bool printed = robot->joint_count == 0 || print_joints(robot);
    if (robot->passive_joint_count > 0) {
        printed = printed && print_paragraph("Joints without a motor:", robot, write_passive_joints);
    }
    fputc('\n', stdout);
    printed = printed && print_links(robot) && print_paragraph("Frames:", robot, write_frame_names);
    if (robot->constraint_count > 0) {
        fputc('\n', stdout);
        printed = printed && print_constraints(robot);
    }
    if (robot->machine_element_count > 0) {
        fputc('\n', stdout);
        printed = printed && print_machine_elements(robot);
    }
    if (robot->contact_surface_count > 0) {
        fputc('\n', stdout);
        printed = printed && print_contact_surfaces(robot);
    }
    if (robot->report_count > 0) {
        puts("\nReport of the description:");
    }
    print_report(robot->report_count, robot->report, true, model->name);
    return printed;
}
