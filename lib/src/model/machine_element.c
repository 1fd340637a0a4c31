/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machine elements of a description: checks of each by itself and against the joints, and storage.
 */
#include "machine_element.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "load_report.h"
#include "machine_numbers.h"
#include "name_check.h"

static named_element new_element(const dyn_builder *builder, const dyn_machine_element_description *e) {
    return (named_element){
        {.kind = DYN_ELEMENT_KIND_MACHINE_ELEMENT, .index = builder->machine_element_count, .line = e->line}, e->name};
}

static named_element element_of(const dyn_builder *builder, int i) {
    const dyn_machine_element_description *e = &builder->machine_elements[i];
    return (named_element){{.kind = DYN_ELEMENT_KIND_MACHINE_ELEMENT, .index = i, .line = e->line}, e->name};
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* Number of an element, its member and its name in messages. */
typedef struct element_number {
    const char *member, *name;
    double value;
    number_range range;
} element_number;

/* Returns the name of a member in messages: that of a rotor or a motor begins with "shaft." in a shaft only. */
static const char *own_member(const dyn_machine_element_description *e, const char *member) {
    bool of_shaft = strncmp(member, "shaft.", strlen("shaft.")) == 0;
    return of_shaft && e->kind != DYN_MACHINE_ELEMENT_KIND_SHAFT ? member + strlen("shaft.") : member;
}

static dyn_status check_numbers(const dyn_builder *builder, named_element at, const element_number *numbers, int count,
                                dyn_error *error) {
    for (int i = 0; i < count; i++) {
        if (!number_is_in_range(numbers[i].value, numbers[i].range)) {
            return builder_fail_member(builder, at, numbers[i].member, error, "the %s is %g; %s", numbers[i].name,
                                       numbers[i].value, number_range_text(numbers[i].range));
        }
    }
    return DYN_OK;
}

/* Checks and normalizes the axis of a rotor. */
static dyn_status check_axis(const dyn_builder *builder, named_element at, dyn_machine_element_description *e,
                             dyn_error *error) {
    double *axis = e->rotor.axis;
    if ((axis[0] == 0 && axis[1] == 0 && axis[2] == 0) || builder_normalize_axis(axis)) {
        return DYN_OK;
    }
    return builder_fail_member(builder, at, own_member(e, "shaft.rotor.axis"), error,
                               "the axis is (%g, %g, %g); state a finite vector, or zero for the axis of the %s",
                               axis[0], axis[1], axis[2], e->kind == DYN_MACHINE_ELEMENT_KIND_SHAFT ? "link" : "joint");
}

/* Checks that the members of a rotor agree. */
static dyn_status check_rotor_body(const dyn_builder *builder, named_element at,
                                   const dyn_machine_element_description *e, dyn_error *error) {
    const dyn_rotor *rotor = &e->rotor;
    if (rotor->coupling != DYN_ROTOR_COUPLING_EXACT && rotor->coupling != DYN_ROTOR_COUPLING_DIAGONAL &&
        rotor->coupling != DYN_ROTOR_COUPLING_REFLECTED) {
        return builder_fail_member(builder, at, own_member(e, "shaft.rotor.coupling"), error,
                                   "%d is no coupling of a rotor", (int)rotor->coupling);
    }
    if (rotor->mass == 0 && rotor->transverse_inertia != 0) {
        return builder_fail_member(
            builder, at, own_member(e, "shaft.rotor.transverse_inertia"), error,
            "the inertia normal to the axis is %g kg m^2 and the mass is zero; state the mass, or let the "
            "parent link include both",
            rotor->transverse_inertia);
    }
    if (rotor->transverse_inertia != 0 && rotor->axial_inertia > 2 * rotor->transverse_inertia * (1 + 1e-9)) {
        return builder_fail_member(
            builder, at, own_member(e, "shaft.rotor.axial_inertia"), error,
            "the inertia about the axis is %g kg m^2 and the one normal to it %g; no body has more than twice "
            "as much about the axis",
            rotor->axial_inertia, rotor->transverse_inertia);
    }
    return DYN_OK;
}

/* Checks a rotor of a joint, or of a shaft, which states its ratios itself and may have no inertia. */
static dyn_status check_rotor(const dyn_builder *builder, named_element at, dyn_machine_element_description *e,
                              dyn_error *error) {
    bool of_shaft = e->kind == DYN_MACHINE_ELEMENT_KIND_SHAFT;
    const dyn_rotor *rotor = &e->rotor;
    const element_number numbers[] = {
        {"shaft.rotor.axial_inertia", "inertia about the axis", rotor->axial_inertia,
         of_shaft ? NOT_NEGATIVE : POSITIVE},
        {"shaft.rotor.transverse_inertia", "inertia normal to the axis", rotor->transverse_inertia, NOT_NEGATIVE},
        {"shaft.rotor.mass", "mass", rotor->mass, NOT_NEGATIVE},
        {"shaft.rotor.position", "position x", rotor->position[0], FINITE},
        {"shaft.rotor.position", "position y", rotor->position[1], FINITE},
        {"shaft.rotor.position", "position z", rotor->position[2], FINITE},
    };
    const element_number ratio = {"rotor.ratio", "gear ratio", rotor->ratio, NOT_ZERO};
    dyn_status status = of_shaft ? DYN_OK : check_numbers(builder, at, &ratio, 1, error);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == DYN_OK; i++) {
        element_number number = numbers[i];
        number.member = own_member(e, number.member);
        status = check_numbers(builder, at, &number, 1, error);
    }
    if (status == DYN_OK) {
        status = check_axis(builder, at, e, error);
    }
    return status == DYN_OK ? check_rotor_body(builder, at, e, error) : status;
}

/* Checks a shaft without its rotor: its joints are different ones, and each has a ratio. */
static dyn_status check_shaft(const dyn_builder *builder, named_element at, const dyn_machine_element_description *e,
                              dyn_error *error) {
    const dyn_shaft *shaft = &e->shaft;
    dyn_error bad;
    if (e->joint && e->joint[0] != '\0') {
        return builder_fail_member(
            builder, at, "joint", error,
            "the joints that turn a shaft are in shaft.joints, and joint is \"%s\"; leave it out", e->joint);
    }
    if (shaft->joint_count < 1 || shaft->joint_count > DYN_MAX_SHAFT_JOINTS) {
        return builder_fail_member(builder, at, "shaft.joints", error, "%d joints turn it; state 1 to %d",
                                   shaft->joint_count, DYN_MAX_SHAFT_JOINTS);
    }
    if (e->rotor.ratio != 0) {
        return builder_fail_member(builder, at, "shaft.rotor.ratio", error,
                                   "the ratio is %g, and shaft.ratios states one for each joint; leave it out",
                                   e->rotor.ratio);
    }
    if (e->link && name_check(e->link, &bad, "link", "link") != DYN_OK) {
        return builder_fail_member(builder, at, "shaft.link", error, "its link: %s", bad.message);
    }
    for (int k = 0; k < shaft->joint_count; k++) {
        if (name_check(shaft->joints[k], &bad, "joint", "joint") != DYN_OK) {
            return builder_fail_member(builder, at, "shaft.joints", error, "joint %d: %s", k, bad.message);
        }
        for (int i = 0; i < k; i++) {
            if (strcmp(shaft->joints[i], shaft->joints[k]) == 0) {
                return builder_fail_member(builder, at, "shaft.joints", error,
                                           "joint \"%s\" occurs twice; add its ratios up", shaft->joints[k]);
            }
        }
        if (!number_is_in_range(shaft->ratios[k], NOT_ZERO)) {
            return builder_fail_member(builder, at, "shaft.ratios", error, "the ratio of joint \"%s\" is %g; %s",
                                       shaft->joints[k], shaft->ratios[k], number_range_text(NOT_ZERO));
        }
    }
    return DYN_OK;
}

/* Checks that bristles have a stiffness, and a friction to which they deflect. */
static dyn_status check_bristles(const dyn_builder *builder, named_element at, const dyn_friction *f,
                                 dyn_error *error) {
    static const char *const members[] = {"friction.coulomb[0]", "friction.coulomb[1]"};
    if (f->bristle_stiffness == 0 && f->bristle_damping != 0) {
        return builder_fail_member(builder, at, "friction.bristle_damping", error,
                                   "the damping of the bristles is %g without a stiffness; state the stiffness too",
                                   f->bristle_damping);
    }
    for (int i = 0; f->bristle_stiffness != 0 && i < 2; i++) {
        if (f->coulomb[i] == 0) {
            return builder_fail_member(builder, at, members[i], error,
                                       "the Coulomb friction is 0, and bristles of the stiffness %g carry it; state a "
                                       "positive number",
                                       f->bristle_stiffness);
        }
    }
    return DYN_OK;
}

static dyn_status check_friction(const dyn_builder *builder, named_element at, const dyn_friction *f,
                                 dyn_error *error) {
    const element_number numbers[] = {
        {"friction.viscous[0]", "viscous friction", f->viscous[0], NOT_NEGATIVE},
        {"friction.viscous[1]", "viscous friction of negative rates", f->viscous[1], NOT_NEGATIVE},
        {"friction.coulomb[0]", "Coulomb friction", f->coulomb[0], NOT_NEGATIVE},
        {"friction.coulomb[1]", "Coulomb friction of negative rates", f->coulomb[1], NOT_NEGATIVE},
        {"friction.breakaway[0]", "breakaway friction", f->breakaway[0], NOT_NEGATIVE},
        {"friction.breakaway[1]", "breakaway friction of negative rates", f->breakaway[1], NOT_NEGATIVE},
        {"friction.stribeck_velocity", "Stribeck velocity", f->stribeck_velocity, NOT_NEGATIVE},
        {"friction.transition_velocity", "transition velocity", f->transition_velocity, NOT_NEGATIVE},
        {"friction.bristle_stiffness", "stiffness of the bristles", f->bristle_stiffness, NOT_NEGATIVE},
        {"friction.bristle_damping", "damping of the bristles", f->bristle_damping, NOT_NEGATIVE},
        {"friction.temperature_factor", "temperature factor", f->temperature_factor, NOT_NEGATIVE},
    };
    static const char *const members[] = {"friction.breakaway[0]", "friction.breakaway[1]"};
    dyn_status status = check_numbers(builder, at, numbers, sizeof numbers / sizeof *numbers, error);
    if (status != DYN_OK) {
        return status;
    }
    if (f->side != DYN_GEAR_SIDE_JOINT && f->side != DYN_GEAR_SIDE_ROTOR) {
        return builder_fail_member(builder, at, "friction.side", error, "%d is no side of a gear", (int)f->side);
    }
    for (int i = 0; i < 2; i++) {
        if (f->breakaway[i] != 0 && f->breakaway[i] < f->coulomb[i]) {
            return builder_fail_member(
                builder, at, members[i], error,
                "the breakaway friction is %g, less than the Coulomb friction of %g; state at least that, or "
                "zero for the same",
                f->breakaway[i], f->coulomb[i]);
        }
        if (f->breakaway[i] > f->coulomb[i] && f->stribeck_velocity == 0) {
            return builder_fail_member(
                builder, at, "friction.stribeck_velocity", error,
                "the Stribeck velocity is zero, and the breakaway friction %g differs from the Coulomb "
                "friction %g; state the velocity at which half of the difference remains",
                f->breakaway[i], f->coulomb[i]);
        }
    }
    return check_bristles(builder, at, f, error);
}

static dyn_status check_spring(const dyn_builder *builder, named_element at, const dyn_spring *spring,
                               dyn_error *error) {
    const element_number numbers[] = {
        {"spring.stiffness", "stiffness", spring->stiffness, NOT_NEGATIVE},
        {"spring.rest", "rest position", spring->rest, FINITE},
    };
    return check_numbers(builder, at, numbers, sizeof numbers / sizeof *numbers, error);
}

/* Checks the numbers of an element that the table of numbers has for a kind. */
static dyn_status check_numbers_of(const dyn_builder *builder, named_element at, dyn_machine_element_kind kind,
                                   const dyn_machine_element_description *e, dyn_error *error) {
    int count;
    const machine_number *numbers = machine_numbers_of(kind, &count);
    dyn_status status = DYN_OK;
    for (int i = 0; i < count && status == DYN_OK; i++) {
        const machine_number *n = &numbers[i];
        const element_number checked = {own_member(e, n->member), n->name, machine_number_value(n, e), n->range};
        status = check_numbers(builder, at, &checked, 1, error);
    }
    return status;
}

/* Checks the numbers of an element whose kind is in the table of numbers. */
static dyn_status check_table(const dyn_builder *builder, named_element at, const dyn_machine_element_description *e,
                              dyn_error *error) {
    return check_numbers_of(builder, at, e->kind, e, error);
}

/* Checks numbers of a motor whose members are those in a shaft. */
static dyn_status check_motor_numbers(const dyn_builder *builder, named_element at,
                                      const dyn_machine_element_description *e, const element_number *numbers,
                                      int count, dyn_error *error) {
    dyn_status status = DYN_OK;
    for (int i = 0; i < count && status == DYN_OK; i++) {
        element_number number = numbers[i];
        number.member = own_member(e, number.member);
        status = check_numbers(builder, at, &number, 1, error);
    }
    return status;
}

/* Converts the values of a data sheet to resistance and torque constant. */
static dyn_status convert_nominal_values(const dyn_builder *builder, named_element at,
                                         dyn_machine_element_description *e, dyn_error *error) {
    dyn_motor *motor = &e->motor;
    const dyn_nominal_values n = motor->nominal;
    const element_number numbers[] = {
        {"shaft.motor.nominal.voltage", "nominal voltage", n.voltage, POSITIVE},
        {"shaft.motor.nominal.no_load_speed", "speed without load", n.no_load_speed, POSITIVE},
        {"shaft.motor.nominal.no_load_current", "current without load", n.no_load_current, NOT_NEGATIVE},
        {"shaft.motor.nominal.stall_current", "stall current", n.stall_current, POSITIVE},
    };
    motor->nominal = (dyn_nominal_values){0};
    if (n.voltage == 0 && n.no_load_speed == 0 && n.no_load_current == 0 && n.stall_current == 0) {
        return DYN_OK;
    }
    dyn_status status = check_motor_numbers(builder, at, e, numbers, sizeof numbers / sizeof *numbers, error);
    if (status != DYN_OK) {
        return status;
    }
    if (motor->resistance != 0 || motor->torque_constant != 0) {
        return builder_fail_member(builder, at, own_member(e, "shaft.motor.nominal"), error,
                                   "nominal values are stated beside a resistance of %g ohm and a torque constant of "
                                   "%g N m/A; state the ones or the others",
                                   motor->resistance, motor->torque_constant);
    }
    if (n.no_load_current >= n.stall_current) {
        return builder_fail_member(builder, at, own_member(e, "shaft.motor.nominal.no_load_current"), error,
                                   "the current without load is %g A, and the stall current %g A; state less than that",
                                   n.no_load_current, n.stall_current);
    }
    motor->resistance = n.voltage / n.stall_current;
    motor->torque_constant = (n.voltage - motor->resistance * n.no_load_current) / n.no_load_speed;
    return DYN_OK;
}

/* Checks the motor of a joint or of a shaft. */
static dyn_status check_motor(const dyn_builder *builder, named_element at, dyn_machine_element_description *e,
                              dyn_error *error) {
    const dyn_motor *m = &e->motor;
    dyn_status status = convert_nominal_values(builder, at, e, error);
    if (status == DYN_OK) {
        status = check_numbers_of(builder, at, DYN_MACHINE_ELEMENT_KIND_MOTOR, e, error);
    }
    const element_number constants[] = {
        {"shaft.motor.winding_time_constant", "time constant of the winding", m->winding_time_constant, POSITIVE},
        {"shaft.motor.housing_time_constant", "time constant of the housing", m->housing_time_constant, POSITIVE},
    };
    if (status == DYN_OK && m->winding_resistance > 0) {
        status = check_motor_numbers(builder, at, e, &constants[0], 1, error);
    }
    if (status == DYN_OK && m->housing_resistance > 0) {
        status = check_motor_numbers(builder, at, e, &constants[1], 1, error);
    }
    return status;
}

/* Returns the member that names a link, or the other one, of a kind. */
static const char *link_member(dyn_machine_element_kind kind, int other) {
    static const char *const members[][2] = {{"strut.link", "strut.other_link"},
                                             {"strut.link", "strut.other_link"},
                                             {"bushing.link", "bushing.other_link"},
                                             {"fluid.link", "fluid.link"}};
    return members[kind - DYN_MACHINE_ELEMENT_KIND_STRUT][other];
}

/* Checks an element that acts on links, whose numbers are in the table. */
static dyn_status check_link_element(const dyn_builder *builder, named_element at,
                                     const dyn_machine_element_description *e, dyn_error *error) {
    const char *const links[] = {e->link ? e->link : "", e->other_link};
    dyn_error bad;
    for (int i = 0; i < 2; i++) {
        if (links[i] && name_check(links[i], &bad, "link", "link") != DYN_OK) {
            return builder_fail_member(builder, at, link_member(e->kind, i), error, "its link: %s", bad.message);
        }
    }
    if (e->joint && e->joint[0] != '\0') {
        return builder_fail_member(builder, at, "joint", error, "it acts on links, not on joint \"%s\"; leave it out",
                                   e->joint);
    }
    if (e->kind == DYN_MACHINE_ELEMENT_KIND_CABLE && e->strut.push != 0) {
        return builder_fail_member(builder, at, "strut.push", error, "the push is %g N, and a cable never pushes",
                                   e->strut.push);
    }
    return check_table(builder, at, e, error);
}

/* Checks a shaft by itself, and sets the members that it does not have to zero. */
static dyn_status check_shaft_element(const dyn_builder *builder, named_element at, dyn_machine_element_description *e,
                                      dyn_error *error) {
    dyn_machine_element_description own = {.name = e->name,
                                           .kind = e->kind,
                                           .link = e->link,
                                           .rotor = e->rotor,
                                           .motor = e->shaft.has_motor ? e->motor : (dyn_motor){0},
                                           .shaft = e->shaft,
                                           .line = e->line};
    dyn_status status = check_shaft(builder, at, e, error);
    if (status == DYN_OK) {
        status = check_rotor(builder, at, &own, error);
    }
    if (status == DYN_OK && own.shaft.has_motor) {
        status = check_motor(builder, at, &own, error);
    }
    if (own.rotor.axial_inertia == 0 && own.rotor.mass == 0) {
        own.rotor = (dyn_rotor){.coupling = DYN_ROTOR_COUPLING_EXACT};
    }
    *e = own;
    return status;
}

/* Checks an element by itself, and sets members that its kind does not name to zero. */
static dyn_status check(const dyn_builder *builder, dyn_machine_element_description *e, dyn_error *error) {
    named_element at = new_element(builder, e);
    dyn_error bad;
    if (acts_on_links(e->kind)) {
        e->shaft = (dyn_shaft){0};
        if (e->kind == DYN_MACHINE_ELEMENT_KIND_FLUID) {
            e->other_link = NULL;
        }
        return check_link_element(builder, at, e, error);
    }
    if (e->kind == DYN_MACHINE_ELEMENT_KIND_SHAFT) {
        return check_shaft_element(builder, at, e, error);
    }
    e->link = e->other_link = NULL;
    if (name_check(e->joint, &bad, "joint", "joint") != DYN_OK) {
        return builder_fail_member(builder, at, "joint", error, "its joint: %s", bad.message);
    }
    dyn_machine_element_description own = {.name = e->name, .kind = e->kind, .joint = e->joint, .line = e->line};
    dyn_status status = DYN_OK;
    switch (e->kind) {
    case DYN_MACHINE_ELEMENT_KIND_STRUT:
    case DYN_MACHINE_ELEMENT_KIND_CABLE:
    case DYN_MACHINE_ELEMENT_KIND_BUSHING:
    case DYN_MACHINE_ELEMENT_KIND_FLUID:
    case DYN_MACHINE_ELEMENT_KIND_SHAFT:
        break;
    case DYN_MACHINE_ELEMENT_KIND_ROTOR:
        own.rotor = e->rotor;
        status = check_rotor(builder, at, &own, error);
        break;
    case DYN_MACHINE_ELEMENT_KIND_FRICTION:
        own.friction = e->friction;
        status = check_friction(builder, at, &own.friction, error);
        break;
    case DYN_MACHINE_ELEMENT_KIND_SPRING:
        own.spring = e->spring;
        status = check_spring(builder, at, &own.spring, error);
        break;
    case DYN_MACHINE_ELEMENT_KIND_MOTOR:
        own.motor = e->motor;
        status = check_motor(builder, at, &own, error);
        break;
    case DYN_MACHINE_ELEMENT_KIND_GEAR:
        own.gear = e->gear;
        status = check_table(builder, at, &own, error);
        break;
    case DYN_MACHINE_ELEMENT_KIND_BRAKE:
        own.brake = e->brake;
        status = check_table(builder, at, &own, error);
        break;
    default:
        status = builder_fail_member(builder, at, NULL, error, "%d is no kind of machine element", (int)e->kind);
    }
    *e = own;
    return status;
}

int count_rotors(const dyn_builder *builder) {
    int count = 0;
    for (int i = 0; i < builder->machine_element_count; i++) {
        dyn_machine_element_kind kind = builder->machine_elements[i].kind;
        count += kind == DYN_MACHINE_ELEMENT_KIND_ROTOR || kind == DYN_MACHINE_ELEMENT_KIND_SHAFT;
    }
    return count;
}

int count_rotor_bodies(const dyn_builder *builder) {
    int count = 0;
    for (int i = 0; i < builder->machine_element_count; i++) {
        const dyn_machine_element_description *e = &builder->machine_elements[i];
        count += e->kind == DYN_MACHINE_ELEMENT_KIND_ROTOR   ? 2
                 : e->kind == DYN_MACHINE_ELEMENT_KIND_SHAFT ? 2 * e->shaft.joint_count
                                                             : 0;
    }
    return count;
}

int find_shaft(const dyn_builder *builder, const dyn_machine_element_description *e) {
    bool may_be = e->kind == DYN_MACHINE_ELEMENT_KIND_FRICTION || e->kind == DYN_MACHINE_ELEMENT_KIND_GEAR ||
                  e->kind == DYN_MACHINE_ELEMENT_KIND_BRAKE;
    if (!may_be || name_index_find(&builder->joint_names, e->joint) >= 0) {
        return -1;
    }
    for (int i = 0; i < builder->machine_element_count; i++) {
        const dyn_machine_element_description *shaft = &builder->machine_elements[i];
        if (shaft->kind == DYN_MACHINE_ELEMENT_KIND_SHAFT && strcmp(shaft->name, e->joint) == 0) {
            return i;
        }
    }
    return -1;
}

/* Numbers of elements of a joint. */
typedef struct joint_elements {
    int rotors, motors, gears, brakes;
    const char *shaft; /* one that the joint turns, or NULL */
} joint_elements;

/* Checks a gear of a shaft: the shaft states its ratios, and the rotors of its joints are not on its motor's side. */
static dyn_status check_gear_on_shaft(const dyn_builder *builder, int i, const dyn_shaft *shaft,
                                      const joint_elements *elements, dyn_error *error) {
    const dyn_machine_element_description *e = &builder->machine_elements[i];
    if (e->gear.ratio != 0) {
        return builder_fail_member(builder, element_of(builder, i), "gear.ratio", error,
                                   "the gear ratio is %g, and the ratios of shaft \"%s\" state it; leave it out",
                                   e->gear.ratio, e->joint);
    }
    for (int k = 0; k < shaft->joint_count; k++) {
        int j = name_index_find(&builder->joint_names, shaft->joints[k]);
        if (j >= 0 && elements[j].rotors > 0) {
            return builder_fail_member(builder, element_of(builder, i), "joint", error,
                                       "joint \"%s\", which turns shaft \"%s\", has a rotor of its own, whose torque "
                                       "the gear would carry; describe that rotor as a link",
                                       shaft->joints[k], e->joint);
        }
    }
    return DYN_OK;
}

/* Checks friction, a gear or a brake of a shaft. */
static dyn_status check_on_shaft(const dyn_builder *builder, int i, int shaft, const joint_elements *elements,
                                 dyn_error *error) {
    const dyn_machine_element_description *e = &builder->machine_elements[i], *all = builder->machine_elements;
    bool is_gear = e->kind == DYN_MACHINE_ELEMENT_KIND_GEAR;
    if (e->kind == DYN_MACHINE_ELEMENT_KIND_FRICTION) {
        return DYN_OK;
    }
    if (!all[shaft].shaft.has_motor) {
        return builder_fail_member(builder, element_of(builder, i), "joint", error,
                                   "shaft \"%s\" has no motor %s; add the motor", e->joint,
                                   is_gear ? "whose torque the gear transmits" : "that the brake holds");
    }
    for (int k = 0; k < i; k++) {
        if (all[k].kind == e->kind && strcmp(all[k].joint, e->joint) == 0) {
            return builder_fail_member(builder, element_of(builder, i), "joint", error,
                                       "shaft \"%s\" has %s \"%s\" too; state one", e->joint,
                                       is_gear ? "gear" : "brake", all[k].name);
        }
    }
    return is_gear ? check_gear_on_shaft(builder, i, &all[shaft].shaft, elements, error) : DYN_OK;
}

/* Checks a motor, a gear or a brake against the elements of its joint. */
static dyn_status check_drive(const dyn_builder *builder, int i, joint_elements has, dyn_error *error) {
    const dyn_machine_element_description *e = &builder->machine_elements[i];
    bool is_motor = e->kind == DYN_MACHINE_ELEMENT_KIND_MOTOR, is_brake = e->kind == DYN_MACHINE_ELEMENT_KIND_BRAKE;
    int count = is_motor ? has.motors : is_brake ? has.brakes : has.gears;
    if (count > 1) {
        return builder_fail_member(builder, element_of(builder, i), "joint", error,
                                   "joint \"%s\" has %d %ss; state one", e->joint, count,
                                   is_motor   ? "motor"
                                   : is_brake ? "brake"
                                              : "gear");
    }
    if (has.shaft) {
        return builder_fail_member(builder, element_of(builder, i), "joint", error,
                                   "joint \"%s\" turns shaft \"%s\", so that its load is shared; leave out the motor, "
                                   "gear and brake of the joint",
                                   e->joint, has.shaft);
    }
    if (is_brake && has.motors == 0) {
        return builder_fail_member(builder, element_of(builder, i), "joint", error,
                                   "joint \"%s\" has no motor whose shaft the brake holds; add the motor", e->joint);
    }
    if (is_motor && has.rotors > 1) {
        return builder_fail_member(builder, element_of(builder, i), "joint", error,
                                   "joint \"%s\" has %d rotors, so that the speed of its motor is not known; state "
                                   "one rotor",
                                   e->joint, has.rotors);
    }
    if (!is_motor && !is_brake && e->gear.ratio != 0 && has.rotors > 0) {
        return builder_fail_member(builder, element_of(builder, i), "gear.ratio", error,
                                   "the gear ratio is %g, and joint \"%s\" has a rotor; leave it out, since the rotor "
                                   "states the ratio",
                                   e->gear.ratio, e->joint);
    }
    return DYN_OK;
}

/* Checks one element against the joints. `elements` counts those of each joint. */
static dyn_status check_joint(const dyn_builder *builder, int i, const joint_elements *elements, dyn_error *error) {
    const dyn_machine_element_description *e = &builder->machine_elements[i];
    int j = name_index_find(&builder->joint_names, e->joint), shaft = find_shaft(builder, e);
    if (shaft >= 0) {
        return check_on_shaft(builder, i, shaft, elements, error);
    }
    if (j < 0) {
        return builder_fail_member(builder, element_of(builder, i), "joint", error,
                                   "there is no joint \"%s\"; add it or correct the name", e->joint);
    }
    dyn_joint_type type = builder->joints[j].type;
    if (type != DYN_JOINT_TYPE_FIXED && !joint_has_one_coordinate(type)) {
        return builder_fail_member(builder, element_of(builder, i), "joint", error,
                                   "its joint \"%s\" is %s; only joints with one coordinate have machine elements",
                                   e->joint, joint_type_name(type));
    }
    if (type == DYN_JOINT_TYPE_CUSTOM && e->kind != DYN_MACHINE_ELEMENT_KIND_FRICTION &&
        e->kind != DYN_MACHINE_ELEMENT_KIND_SPRING) {
        return builder_fail_member(builder, element_of(builder, i), "joint", error,
                                   "its joint \"%s\" is custom; only friction and springs act on a custom joint",
                                   e->joint);
    }
    bool on_rotor = e->kind == DYN_MACHINE_ELEMENT_KIND_FRICTION && e->friction.side == DYN_GEAR_SIDE_ROTOR;
    bool has_ratio = elements[j].rotors == 1 || (elements[j].rotors == 0 && elements[j].gears == 1);
    if (on_rotor && !has_ratio) {
        return builder_fail_member(
            builder, element_of(builder, i), "friction.side", error,
            "it holds on the side of the rotor, and joint \"%s\" has %d rotors and no gear; state it on the side of "
            "the joint",
            e->joint, elements[j].rotors);
    }
    bool is_drive = e->kind == DYN_MACHINE_ELEMENT_KIND_MOTOR || e->kind == DYN_MACHINE_ELEMENT_KIND_GEAR ||
                    e->kind == DYN_MACHINE_ELEMENT_KIND_BRAKE;
    return is_drive ? check_drive(builder, i, elements[j], error) : DYN_OK;
}

/* Checks that the link and the joints of a shaft exist, and that each joint has one coordinate or is fixed. */
static dyn_status check_shaft_names(const dyn_builder *builder, int i, dyn_error *error) {
    const dyn_machine_element_description *e = &builder->machine_elements[i];
    if (e->link && name_index_find(&builder->link_names, e->link) < 0) {
        return builder_fail_member(builder, element_of(builder, i), "shaft.link", error,
                                   "there is no link \"%s\"; add it or correct the name", e->link);
    }
    for (int k = 0; k < e->shaft.joint_count; k++) {
        const char *name = e->shaft.joints[k];
        int j = name_index_find(&builder->joint_names, name);
        if (j < 0) {
            return builder_fail_member(builder, element_of(builder, i), "shaft.joints", error,
                                       "there is no joint \"%s\"; add it or correct the name", name);
        }
        dyn_joint_type type = builder->joints[j].type;
        if (type != DYN_JOINT_TYPE_FIXED && !joint_has_one_coordinate(type)) {
            return builder_fail_member(builder, element_of(builder, i), "shaft.joints", error,
                                       "its joint \"%s\" is %s; only joints with one coordinate turn shafts", name,
                                       joint_type_name(type));
        }
        if (type == DYN_JOINT_TYPE_CUSTOM) {
            return builder_fail_member(builder, element_of(builder, i), "shaft.joints", error,
                                       "its joint \"%s\" is custom; a custom joint turns no shaft", name);
        }
    }
    return DYN_OK;
}

/* Checks that the links of an element exist and are not the same one. */
static dyn_status check_links(const dyn_builder *builder, int i, dyn_error *error) {
    const dyn_machine_element_description *e = &builder->machine_elements[i];
    const char *const links[] = {e->link, e->other_link};
    for (int k = 0; k < 2; k++) {
        if (links[k] && name_index_find(&builder->link_names, links[k]) < 0) {
            return builder_fail_member(builder, element_of(builder, i), link_member(e->kind, k), error,
                                       "there is no link \"%s\"; add it or correct the name", links[k]);
        }
    }
    if (e->other_link && strcmp(e->link, e->other_link) == 0) {
        return builder_fail_member(builder, element_of(builder, i), link_member(e->kind, 1), error,
                                   "it acts between link \"%s\" and itself; name another link", e->link);
    }
    return DYN_OK;
}

/* Counts the elements of each joint. */
static void count_elements(const dyn_builder *builder, joint_elements *elements) {
    for (int i = 0; i < builder->machine_element_count; i++) {
        const dyn_machine_element_description *e = &builder->machine_elements[i];
        int j = name_index_find(&builder->joint_names, e->joint);
        if (j >= 0) {
            elements[j].rotors += e->kind == DYN_MACHINE_ELEMENT_KIND_ROTOR;
            elements[j].motors += e->kind == DYN_MACHINE_ELEMENT_KIND_MOTOR;
            elements[j].brakes += e->kind == DYN_MACHINE_ELEMENT_KIND_BRAKE;
            elements[j].gears += e->kind == DYN_MACHINE_ELEMENT_KIND_GEAR;
        }
        for (int k = 0; k < e->shaft.joint_count; k++) {
            int turned_by = name_index_find(&builder->joint_names, e->shaft.joints[k]);
            if (turned_by >= 0) {
                elements[turned_by].shaft = e->name;
            }
        }
    }
}

dyn_status check_machine_elements(const dyn_builder *builder, dyn_error *error) {
    joint_elements *elements = calloc((size_t)builder->joint_count + 1, sizeof *elements);
    dyn_status status = elements ? DYN_OK : dyn_error_memory(error);
    if (status == DYN_OK) {
        count_elements(builder, elements);
    }
    for (int i = 0; i < builder->machine_element_count && status == DYN_OK; i++) {
        dyn_machine_element_kind kind = builder->machine_elements[i].kind;
        status = kind == DYN_MACHINE_ELEMENT_KIND_SHAFT ? check_shaft_names(builder, i, error)
                 : acts_on_links(kind)                  ? check_links(builder, i, error)
                                                        : check_joint(builder, i, elements, error);
    }
    free(elements);
    return status;
}

void inspect_machine_elements(const dyn_builder *builder, dyn_report *report) {
    for (int i = 0; i < builder->machine_element_count; i++) {
        const dyn_machine_element_description *e = &builder->machine_elements[i];
        int j = name_index_find(&builder->joint_names, e->joint);
        if (j >= 0 && builder->joints[j].type == DYN_JOINT_TYPE_FIXED) {
            report_add_element(report, DYN_SEVERITY_NOTE, element_of(builder, i), "%s: joint \"%s\" is fixed",
                               e->kind == DYN_MACHINE_ELEMENT_KIND_ROTOR ? "it does not spin" : "it has no effect",
                               e->joint);
        }
    }
}

/* ---- Storage ----------------------------------------------------------------------------------------------------- */

/* Frees the names of joints and links. */
static void free_names(const dyn_machine_element_description *element) {
    for (int k = 0; k < element->shaft.joint_count; k++) {
        free((char *)element->shaft.joints[k]);
    }
    free((char *)element->joint);
    free((char *)element->link);
    free((char *)element->other_link);
}

dyn_status builder_append_machine_element(dyn_builder *builder, const dyn_machine_element_description *element,
                                          dyn_error *error) {
    if (!builder_grow((void **)&builder->machine_elements, builder->machine_element_count,
                      &builder->machine_element_capacity, sizeof *builder->machine_elements)) {
        return dyn_error_memory(error);
    }
    dyn_machine_element_description added = *element;
    added.joint = strdup(element->joint ? element->joint : "");
    added.link = element->link ? strdup(element->link) : NULL;
    added.other_link = element->other_link ? strdup(element->other_link) : NULL;
    bool is_complete = added.joint && !added.link == !element->link && !added.other_link == !element->other_link;
    for (int k = 0; k < element->shaft.joint_count; k++) {
        added.shaft.joints[k] = strdup(element->shaft.joints[k]);
        is_complete = is_complete && added.shaft.joints[k];
    }
    added.name = is_complete
                     ? name_index_add(&builder->machine_element_names, element->name, builder->machine_element_count)
                     : NULL;
    if (!added.name) {
        free_names(&added);
        return dyn_error_memory(error);
    }
    builder->machine_elements[builder->machine_element_count++] = added;
    return DYN_OK;
}

dyn_status dyn_builder_add_machine_element(dyn_builder *builder, const dyn_machine_element_description *element,
                                           dyn_error *error) {
    dyn_machine_element_description checked = *element;
    dyn_status status = builder_check_new_name(builder, &builder->machine_element_names, DYN_MAX_MACHINE_ELEMENTS,
                                               new_element(builder, element), error);
    if (status == DYN_OK) {
        status = check(builder, &checked, error);
    }
    return status == DYN_OK ? builder_append_machine_element(builder, &checked, error) : status;
}

void builder_clear_machine_elements(dyn_builder *builder) {
    for (int i = 0; i < builder->machine_element_count; i++) {
        free_names(&builder->machine_elements[i]);
    }
    name_index_clear(&builder->machine_element_names);
    free(builder->machine_elements);
    builder->machine_elements = NULL;
    builder->machine_element_count = builder->machine_element_capacity = 0;
}

dyn_status builder_copy_machine_elements(const dyn_builder *from, dyn_error *error, dyn_builder *to) {
    dyn_status status = DYN_OK;
    for (int i = 0; i < from->machine_element_count && status == DYN_OK; i++) {
        dyn_machine_element_description element = from->machine_elements[i];
        element.line = 0;
        status = builder_append_machine_element(to, &element, error);
    }
    return status;
}

int dyn_builder_machine_element_count(const dyn_builder *builder) {
    return builder->machine_element_count;
}

const dyn_machine_element_description *dyn_builder_machine_element(const dyn_builder *builder, int element) {
    return element >= 0 && element < builder->machine_element_count ? &builder->machine_elements[element] : NULL;
}

int dyn_model_machine_element_count(const dyn_model *model) {
    return model->description->machine_element_count;
}
