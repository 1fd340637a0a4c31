/* SPDX-License-Identifier: BSD-2-Clause */
/* Machine elements of a ModelDescription. */
#include "methods/machine_elements.h"

#include <limits.h>
#include <stdio.h>

#include "methods/bounds.h"
#include "methods/description_parts.h"
#include "methods/geometry.h"

#define KIND(name) DYNAMICS__V1__MACHINE_ELEMENT__KIND_##name

/* Sets the field of an error about machine element i of a description. */
static void blame(call *c, size_t i, const dyn_error_site *site) {
    call_blame(c, "description.machine_elements[%zu]%s%s", i, site->part ? "." : "", site->part ? site->part : "");
}

void machine_elements_blame(call *c, const Dynamics__V1__ModelDescription *from, size_t i, const dyn_error_site *site) {
    for (size_t k = 0; k < from->n_machine_elements; k++) {
        if (from->machine_elements[k]->kind_case != KIND(FLEXIBLE_BEAM) && i-- == 0) {
            blame(c, k, site);
            return;
        }
    }
    call_blame(c, "description.machine_elements");
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Ends the call with an error about an enumeration. Returns false. */
static bool refuse_choice(call *c, const char *path, const char *member, int value, const char *choices) {
    call_blame(c, "%s.%s", path, member);
    call_fail(c, REASON_UNKNOWN_VALUE, "the %s is %d; pass %s", member, value, choices);
    return false;
}

static bool read_rotor(call *c, const char *path, const Dynamics__V1__Rotor *from, dyn_rotor *rotor) {
    char member[PATH_SIZE];
    *rotor = (dyn_rotor){.ratio = from->ratio,
                         .axial_inertia = from->axial_inertia,
                         .transverse_inertia = from->transverse_inertia,
                         .mass = from->mass};
    switch (from->coupling) {
    case DYNAMICS__V1__ROTOR_COUPLING__ROTOR_COUPLING_UNSPECIFIED:
    case DYNAMICS__V1__ROTOR_COUPLING__ROTOR_COUPLING_EXACT:
        rotor->coupling = DYN_ROTOR_COUPLING_EXACT;
        break;
    case DYNAMICS__V1__ROTOR_COUPLING__ROTOR_COUPLING_DIAGONAL:
        rotor->coupling = DYN_ROTOR_COUPLING_DIAGONAL;
        break;
    case DYNAMICS__V1__ROTOR_COUPLING__ROTOR_COUPLING_REFLECTED:
        rotor->coupling = DYN_ROTOR_COUPLING_REFLECTED;
        break;
    default:
        return refuse_choice(c, path, "coupling", (int)from->coupling, "EXACT (1), DIAGONAL (2) or REFLECTED (3)");
    }
    return geometry_read_vector(c, path_join(member, path, "position"), from->position, rotor->position) &&
           geometry_read_vector(c, path_join(member, path, "axis"), from->axis, rotor->axis);
}

static void read_motor(const Dynamics__V1__Motor *from, dyn_machine_element_description *to) {
    to->motor = (dyn_motor){.resistance = from->resistance,
                            .inductance = from->inductance,
                            .torque_constant = from->torque_constant,
                            .maximum_voltage = from->maximum_voltage,
                            .maximum_current = from->maximum_current,
                            .continuous_current = from->continuous_current,
                            .maximum_speed = from->maximum_speed,
                            .winding_resistance = from->winding_resistance,
                            .winding_time_constant = from->winding_time_constant,
                            .housing_resistance = from->housing_resistance,
                            .housing_time_constant = from->housing_time_constant,
                            .temperature_coefficient = from->temperature_coefficient,
                            .maximum_temperature = from->maximum_temperature};
    if (from->nominal) {
        to->motor.nominal = (dyn_nominal_values){from->nominal->voltage, from->nominal->no_load_speed,
                                                 from->nominal->no_load_current, from->nominal->stall_current};
    }
}

/* Returns the name of a link, or NULL for the world. */
static const char *link_or_world(const char *name) {
    return name[0] != '\0' ? name : NULL;
}

/* Reads a shaft. Its names belong to the message. */
static bool read_shaft(call *c, const char *path, const Dynamics__V1__Shaft *from,
                       dyn_machine_element_description *to) {
    char member[PATH_SIZE];
    to->kind = DYN_MACHINE_ELEMENT_KIND_SHAFT;
    to->link = link_or_world(from->link);
    if (from->n_joints != from->n_ratios || from->n_joints == 0 || from->n_joints > DYN_MAX_SHAFT_JOINTS) {
        call_blame(c, "%s.ratios", path);
        call_fail(c, REASON_WRONG_COUNT, "there are %zu joints and %zu ratios; pass 1 to %d joints with one ratio each",
                  from->n_joints, from->n_ratios, DYN_MAX_SHAFT_JOINTS);
        return false;
    }
    to->shaft.joint_count = (int)from->n_joints;
    for (size_t k = 0; k < from->n_joints; k++) {
        to->shaft.joints[k] = from->joints[k];
        to->shaft.ratios[k] = from->ratios[k];
    }
    if (from->motor) {
        to->shaft.has_motor = true;
        read_motor(from->motor, to);
    }
    return !from->rotor || read_rotor(c, path_join(member, path, "rotor"), from->rotor, &to->rotor);
}

/* Reads a parameter for positive and for negative rates: none, one for both, or two. */
static bool read_directions(call *c, const char *path, const char *member, size_t count, const double *from,
                            double to[2]) {
    if (count > 2) {
        call_blame(c, "%s.%s", path, member);
        call_fail(c, REASON_WRONG_COUNT,
                  "there are %zu numbers; pass one for both directions, or two: for positive and for negative rates",
                  count);
        return false;
    }
    to[0] = count > 0 ? from[0] : 0;
    to[1] = count > 0 ? from[count - 1] : 0;
    return true;
}

static bool read_friction(call *c, const char *path, const Dynamics__V1__Friction *from,
                          dyn_machine_element_description *to) {
    dyn_friction *law = &to->friction;
    to->kind = DYN_MACHINE_ELEMENT_KIND_FRICTION;
    law->stribeck_velocity = from->stribeck_velocity;
    law->transition_velocity = from->transition_velocity;
    law->bristle_stiffness = from->bristle_stiffness;
    law->bristle_damping = from->bristle_damping;
    law->temperature_factor = from->temperature_factor;
    switch (from->side) {
    case DYNAMICS__V1__GEAR_SIDE__GEAR_SIDE_UNSPECIFIED:
    case DYNAMICS__V1__GEAR_SIDE__GEAR_SIDE_JOINT:
        law->side = DYN_GEAR_SIDE_JOINT;
        break;
    case DYNAMICS__V1__GEAR_SIDE__GEAR_SIDE_ROTOR:
        law->side = DYN_GEAR_SIDE_ROTOR;
        break;
    default:
        return refuse_choice(c, path, "side", (int)from->side, "JOINT (1) or ROTOR (2)");
    }
    return read_directions(c, path, "viscous", from->n_viscous, from->viscous, law->viscous) &&
           read_directions(c, path, "coulomb", from->n_coulomb, from->coulomb, law->coulomb) &&
           read_directions(c, path, "breakaway", from->n_breakaway, from->breakaway, law->breakaway);
}

static void read_gear(const Dynamics__V1__Gear *from, dyn_machine_element_description *to) {
    double efficiency = from->efficiency != 0 ? from->efficiency : 1;
    bool has_back = from->optional_back_driving_efficiency_case ==
                    DYNAMICS__V1__GEAR__OPTIONAL_BACK_DRIVING_EFFICIENCY_BACK_DRIVING_EFFICIENCY;
    to->kind = DYN_MACHINE_ELEMENT_KIND_GEAR;
    to->gear = (dyn_gear){.ratio = from->ratio,
                          .efficiency = efficiency,
                          .back_driving_efficiency = has_back ? from->back_driving_efficiency : efficiency,
                          .maximum_torque = from->maximum_torque,
                          .continuous_torque = from->continuous_torque,
                          .maximum_speed = from->maximum_speed};
}

/* Vector of a message, and its place in a description. */
typedef struct vector_member {
    const char *name;
    const Dynamics__V1__Vector3 *from;
    double *to;
} vector_member;

static bool read_vectors(call *c, const char *path, const vector_member *members, size_t count) {
    char member[PATH_SIZE];
    bool is_good = true;
    for (size_t i = 0; i < count && is_good; i++) {
        is_good = geometry_read_vector(c, path_join(member, path, members[i].name), members[i].from, members[i].to);
    }
    return is_good;
}

static bool read_strut(call *c, const char *path, const Dynamics__V1__Strut *from,
                       dyn_machine_element_description *to) {
    dyn_strut *s = &to->strut;
    const vector_member vectors[] = {{"position", from->position, s->position},
                                     {"other_position", from->other_position, s->other_position}};
    to->kind = from->is_cable ? DYN_MACHINE_ELEMENT_KIND_CABLE : DYN_MACHINE_ELEMENT_KIND_STRUT;
    to->link = from->link;
    to->other_link = link_or_world(from->other_link);
    s->stiffness = from->stiffness;
    s->rest = from->rest;
    s->damping = from->damping;
    s->push = from->push;
    return read_vectors(c, path, vectors, sizeof vectors / sizeof *vectors);
}

static bool read_bushing(call *c, const char *path, const Dynamics__V1__Bushing *from,
                         dyn_machine_element_description *to) {
    dyn_bushing *b = &to->bushing;
    const vector_member vectors[] = {{"position", from->position, b->position},
                                     {"other_position", from->other_position, b->other_position},
                                     {"stiffness", from->stiffness, b->stiffness},
                                     {"rotational_stiffness", from->rotational_stiffness, b->rotational_stiffness},
                                     {"damping", from->damping, b->damping},
                                     {"rotational_damping", from->rotational_damping, b->rotational_damping}};
    to->kind = DYN_MACHINE_ELEMENT_KIND_BUSHING;
    to->link = from->link;
    to->other_link = link_or_world(from->other_link);
    return read_vectors(c, path, vectors, sizeof vectors / sizeof *vectors);
}

static bool read_fluid(call *c, const char *path, const Dynamics__V1__Fluid *from,
                       dyn_machine_element_description *to) {
    dyn_fluid *f = &to->fluid;
    const vector_member vectors[] = {
        {"center", from->center, f->center},
        {"drag", from->drag, f->drag},
        {"quadratic_drag", from->quadratic_drag, f->quadratic_drag},
        {"rotational_drag", from->rotational_drag, f->rotational_drag},
        {"quadratic_rotational_drag", from->quadratic_rotational_drag, f->quadratic_rotational_drag},
        {"current", from->current, f->current}};
    to->kind = DYN_MACHINE_ELEMENT_KIND_FLUID;
    to->link = from->link;
    f->density = from->density;
    f->volume = from->volume;
    return read_vectors(c, path, vectors, sizeof vectors / sizeof *vectors);
}

/* Adds a flexible beam, which becomes links, joints and springs of the builder. */
static bool add_beam(call *c, size_t i, const Dynamics__V1__MachineElement *element, dyn_builder *builder) {
    const Dynamics__V1__FlexibleBeam *from = element->flexible_beam;
    dyn_flexible_beam beam = {.name = element->name,
                              .joint = element->joint,
                              .mass_per_length = from->mass_per_length,
                              .rigidity = {from->rigidity, from->normal_rigidity},
                              .modes = from->modes <= INT_MAX ? (int)from->modes : INT_MAX,
                              .damping_ratio = from->damping_ratio};
    const vector_member vectors[] = {{"start", from->start, beam.start},
                                     {"direction", from->direction, beam.direction}};
    char path[PATH_SIZE];
    dyn_error error;
    snprintf(path, sizeof path, "description.machine_elements[%zu].flexible_beam", i);
    if (!read_vectors(c, path, vectors, sizeof vectors / sizeof *vectors)) {
        return false;
    }
    if (dyn_builder_add_flexible_beam(builder, &beam, &error) != DYN_OK) {
        blame(c, i, &error.site);
        return description_fail_element(c, &error);
    }
    return true;
}

/* Reads the members that the element's kind has. */
static bool read_kind(call *c, size_t i, const Dynamics__V1__MachineElement *from,
                      dyn_machine_element_description *to) {
    char path[PATH_SIZE];
    switch (from->kind_case) {
    case KIND(ROTOR):
        snprintf(path, sizeof path, "description.machine_elements[%zu].rotor", i);
        to->kind = DYN_MACHINE_ELEMENT_KIND_ROTOR;
        return read_rotor(c, path, from->rotor, &to->rotor);
    case KIND(SHAFT):
        snprintf(path, sizeof path, "description.machine_elements[%zu].shaft", i);
        return read_shaft(c, path, from->shaft, to);
    case KIND(FRICTION):
        snprintf(path, sizeof path, "description.machine_elements[%zu].friction", i);
        return read_friction(c, path, from->friction, to);
    case KIND(SPRING):
        to->kind = DYN_MACHINE_ELEMENT_KIND_SPRING;
        to->spring = (dyn_spring){from->spring->stiffness, from->spring->rest};
        return true;
    case KIND(MOTOR):
        to->kind = DYN_MACHINE_ELEMENT_KIND_MOTOR;
        read_motor(from->motor, to);
        return true;
    case KIND(GEAR):
        read_gear(from->gear, to);
        return true;
    case KIND(BRAKE):
        to->kind = DYN_MACHINE_ELEMENT_KIND_BRAKE;
        to->brake = (dyn_brake){from->brake->torque};
        return true;
    case KIND(STRUT):
        snprintf(path, sizeof path, "description.machine_elements[%zu].strut", i);
        return read_strut(c, path, from->strut, to);
    case KIND(BUSHING):
        snprintf(path, sizeof path, "description.machine_elements[%zu].bushing", i);
        return read_bushing(c, path, from->bushing, to);
    case KIND(FLUID):
        snprintf(path, sizeof path, "description.machine_elements[%zu].fluid", i);
        return read_fluid(c, path, from->fluid, to);
    default:
        call_blame(c, "description.machine_elements[%zu]", i);
        call_fail(c, REASON_MISSING_VALUE,
                  "the machine element has no kind; pass one of rotor, friction, "
                  "spring, motor, gear, brake, strut, bushing, fluid, shaft and flexible_beam");
        return false;
    }
}

bool machine_elements_check_count(call *c, const char *field, size_t count) {
    const part_limit limit = {"machine elements", "limits.machine_elements", BOUND_MACHINE_ELEMENTS,
                              atomic_load(&c->service->limits->machine_elements)};
    return description_check_count(c, field, count, &limit);
}

/* Adds machine element i of a description, which is no flexible beam. */
static bool add_element(call *c, size_t i, const Dynamics__V1__MachineElement *element, dyn_builder *builder) {
    dyn_machine_element_description to = {.name = element->name, .joint = element->joint};
    dyn_error error;
    if (!read_kind(c, i, element, &to)) {
        return false;
    }
    if (dyn_builder_add_machine_element(builder, &to, &error) != DYN_OK) {
        blame(c, i, &error.site);
        return description_fail_element(c, &error);
    }
    return true;
}

bool machine_elements_read(call *c, const Dynamics__V1__ModelDescription *from, dyn_builder *builder) {
    size_t count = from->n_machine_elements;
    bool is_good = machine_elements_check_count(c, "description.machine_elements", count);
    for (size_t i = 0; i < count && is_good; i++) {
        bool is_beam = from->machine_elements[i]->kind_case == KIND(FLEXIBLE_BEAM);
        is_good = is_beam || add_element(c, i, from->machine_elements[i], builder);
    }
    for (size_t i = 0; i < count && is_good; i++) {
        bool is_beam = from->machine_elements[i]->kind_case == KIND(FLEXIBLE_BEAM);
        is_good = !is_beam || add_beam(c, i, from->machine_elements[i], builder);
    }
    return is_good;
}

/* Checks an element that is no part of a description, and converts its nominal values. */
static bool check_alone(call *c, const char *path, dyn_machine_element_description *element) {
    dyn_builder *builder = NULL;
    dyn_error error;
    element->name = element->joint = "choice";
    dyn_status status = dyn_builder_create("choice", &builder, &error);
    if (status == DYN_OK) {
        status = dyn_builder_add_machine_element(builder, element, &error);
    }
    if (status == DYN_OK) {
        *element = *dyn_builder_machine_element(builder, 0);
    } else {
        call_blame(c, "%s%s%s", path, error.site.part ? "." : "", error.site.part ? error.site.part : "");
        call_fail_description(c, &error, "");
    }
    dyn_builder_free(builder);
    return status == DYN_OK;
}

bool machine_elements_read_motor(call *c, const char *path, const Dynamics__V1__Motor *from, dyn_motor *motor) {
    dyn_machine_element_description element = {.kind = DYN_MACHINE_ELEMENT_KIND_MOTOR};
    if (!from) {
        return true;
    }
    read_motor(from, &element);
    bool is_good = check_alone(c, path, &element);
    *motor = element.motor;
    return is_good;
}

bool machine_elements_read_gear(call *c, const char *path, const Dynamics__V1__Gear *from, dyn_gear *gear) {
    dyn_machine_element_description element = {.kind = DYN_MACHINE_ELEMENT_KIND_GEAR};
    if (!from) {
        return true;
    }
    read_gear(from, &element);
    bool is_good = check_alone(c, path, &element);
    *gear = element.gear;
    return is_good;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* Returns whether a vector is zero. */
static bool is_zero(const double x[3]) {
    return x[0] == 0 && x[1] == 0 && x[2] == 0;
}

static Dynamics__V1__Rotor *write_rotor(call *c, const dyn_rotor *from) {
    Dynamics__V1__Rotor *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__rotor__init(to);
        to->ratio = from->ratio;
        to->axial_inertia = from->axial_inertia;
        to->mass = from->mass;
        to->transverse_inertia = from->transverse_inertia;
        to->position = is_zero(from->position) ? NULL : geometry_write_vector(c, from->position);
        to->axis = is_zero(from->axis) ? NULL : geometry_write_vector(c, from->axis);
        to->coupling =
            (Dynamics__V1__RotorCoupling)((int)from->coupling + DYNAMICS__V1__ROTOR_COUPLING__ROTOR_COUPLING_EXACT);
    }
    return to;
}

static Dynamics__V1__Motor *write_motor(call *c, const dyn_motor *from) {
    Dynamics__V1__Motor *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__motor__init(to);
        to->resistance = from->resistance;
        to->inductance = from->inductance;
        to->torque_constant = from->torque_constant;
        to->maximum_voltage = from->maximum_voltage;
        to->maximum_current = from->maximum_current;
        to->continuous_current = from->continuous_current;
        to->maximum_speed = from->maximum_speed;
        to->winding_resistance = from->winding_resistance;
        to->winding_time_constant = from->winding_time_constant;
        to->housing_resistance = from->housing_resistance;
        to->housing_time_constant = from->housing_time_constant;
        to->temperature_coefficient = from->temperature_coefficient;
        to->maximum_temperature = from->maximum_temperature;
    }
    return to;
}

/* Writes a shaft, without a rotor where that has no inertia. */
static Dynamics__V1__Shaft *write_shaft(call *c, const dyn_machine_element_description *from) {
    Dynamics__V1__Shaft *to = call_allocate(c, 1, sizeof *to);
    size_t count = (size_t)from->shaft.joint_count;
    char **joints = call_allocate(c, count, sizeof *joints);
    double *ratios = call_allocate(c, count, sizeof *ratios);
    if (!to || !joints || !ratios) {
        return NULL;
    }
    dynamics__v1__shaft__init(to);
    for (size_t k = 0; k < count; k++) {
        joints[k] = call_string(c, from->shaft.joints[k]);
        ratios[k] = from->shaft.ratios[k];
    }
    to->n_joints = to->n_ratios = count;
    to->joints = joints;
    to->ratios = ratios;
    to->link = call_string(c, from->link ? from->link : "");
    to->rotor = from->rotor.axial_inertia != 0 || from->rotor.mass != 0 ? write_rotor(c, &from->rotor) : NULL;
    to->motor = from->shaft.has_motor ? write_motor(c, &from->motor) : NULL;
    return to;
}

/* Writes a parameter for two directions: no number where both are zero, one where they are equal. */
static double *write_directions(call *c, const double from[2], size_t *count) {
    *count = from[0] != from[1] ? 2 : from[0] != 0;
    double *to = *count > 0 ? call_allocate(c, *count, sizeof *to) : NULL;
    for (size_t k = 0; to && k < *count; k++) {
        to[k] = from[k];
    }
    return to;
}

static Dynamics__V1__Friction *write_friction(call *c, const dyn_friction *from) {
    Dynamics__V1__Friction *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__friction__init(to);
        to->side = from->side == DYN_GEAR_SIDE_ROTOR ? DYNAMICS__V1__GEAR_SIDE__GEAR_SIDE_ROTOR
                                                     : DYNAMICS__V1__GEAR_SIDE__GEAR_SIDE_JOINT;
        to->viscous = write_directions(c, from->viscous, &to->n_viscous);
        to->coulomb = write_directions(c, from->coulomb, &to->n_coulomb);
        to->breakaway = write_directions(c, from->breakaway, &to->n_breakaway);
        to->stribeck_velocity = from->stribeck_velocity;
        to->transition_velocity = from->transition_velocity;
        to->bristle_stiffness = from->bristle_stiffness;
        to->bristle_damping = from->bristle_damping;
        to->temperature_factor = from->temperature_factor;
    }
    return to;
}

static Dynamics__V1__Spring *write_spring(call *c, const dyn_spring *from) {
    Dynamics__V1__Spring *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__spring__init(to);
        to->stiffness = from->stiffness;
        to->rest = from->rest;
    }
    return to;
}

static Dynamics__V1__Gear *write_gear(call *c, const dyn_gear *from) {
    Dynamics__V1__Gear *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__gear__init(to);
        to->ratio = from->ratio;
        to->efficiency = from->efficiency;
        to->optional_back_driving_efficiency_case =
            DYNAMICS__V1__GEAR__OPTIONAL_BACK_DRIVING_EFFICIENCY_BACK_DRIVING_EFFICIENCY;
        to->back_driving_efficiency = from->back_driving_efficiency;
        to->maximum_torque = from->maximum_torque;
        to->continuous_torque = from->continuous_torque;
        to->maximum_speed = from->maximum_speed;
    }
    return to;
}

static Dynamics__V1__Brake *write_brake(call *c, const dyn_brake *from) {
    Dynamics__V1__Brake *to = call_allocate(c, 1, sizeof *to);
    if (to) {
        dynamics__v1__brake__init(to);
        to->torque = from->torque;
    }
    return to;
}

/* Writes a vector; NULL for zeros. */
static Dynamics__V1__Vector3 *write_vector(call *c, const double from[3]) {
    return is_zero(from) ? NULL : geometry_write_vector(c, from);
}

static Dynamics__V1__Strut *write_strut(call *c, const dyn_machine_element_description *from) {
    Dynamics__V1__Strut *to = call_allocate(c, 1, sizeof *to);
    const dyn_strut *s = &from->strut;
    if (to) {
        dynamics__v1__strut__init(to);
        to->link = call_string(c, from->link);
        to->other_link = call_string(c, from->other_link ? from->other_link : "");
        to->position = write_vector(c, s->position);
        to->other_position = write_vector(c, s->other_position);
        to->stiffness = s->stiffness;
        to->rest = s->rest;
        to->damping = s->damping;
        to->push = s->push;
        to->is_cable = from->kind == DYN_MACHINE_ELEMENT_KIND_CABLE;
    }
    return to;
}

static Dynamics__V1__Bushing *write_bushing(call *c, const dyn_machine_element_description *from) {
    Dynamics__V1__Bushing *to = call_allocate(c, 1, sizeof *to);
    const dyn_bushing *b = &from->bushing;
    if (to) {
        dynamics__v1__bushing__init(to);
        to->link = call_string(c, from->link);
        to->other_link = call_string(c, from->other_link ? from->other_link : "");
        to->position = write_vector(c, b->position);
        to->other_position = write_vector(c, b->other_position);
        to->stiffness = write_vector(c, b->stiffness);
        to->rotational_stiffness = write_vector(c, b->rotational_stiffness);
        to->damping = write_vector(c, b->damping);
        to->rotational_damping = write_vector(c, b->rotational_damping);
    }
    return to;
}

static Dynamics__V1__Fluid *write_fluid(call *c, const dyn_machine_element_description *from) {
    Dynamics__V1__Fluid *to = call_allocate(c, 1, sizeof *to);
    const dyn_fluid *f = &from->fluid;
    if (to) {
        dynamics__v1__fluid__init(to);
        to->link = call_string(c, from->link);
        to->density = f->density;
        to->volume = f->volume;
        to->center = write_vector(c, f->center);
        to->drag = write_vector(c, f->drag);
        to->quadratic_drag = write_vector(c, f->quadratic_drag);
        to->rotational_drag = write_vector(c, f->rotational_drag);
        to->quadratic_rotational_drag = write_vector(c, f->quadratic_rotational_drag);
        to->current = write_vector(c, f->current);
    }
    return to;
}

static Dynamics__V1__MachineElement *write_element(call *c, const dyn_machine_element_description *from) {
    Dynamics__V1__MachineElement *to = call_allocate(c, 1, sizeof *to);
    if (!to) {
        return NULL;
    }
    dynamics__v1__machine_element__init(to);
    to->name = call_string(c, from->name);
    to->joint = call_string(c, from->joint);
    switch (from->kind) {
    case DYN_MACHINE_ELEMENT_KIND_ROTOR:
        to->kind_case = KIND(ROTOR);
        to->rotor = write_rotor(c, &from->rotor);
        break;
    case DYN_MACHINE_ELEMENT_KIND_FRICTION:
        to->kind_case = KIND(FRICTION);
        to->friction = write_friction(c, &from->friction);
        break;
    case DYN_MACHINE_ELEMENT_KIND_SPRING:
        to->kind_case = KIND(SPRING);
        to->spring = write_spring(c, &from->spring);
        break;
    case DYN_MACHINE_ELEMENT_KIND_MOTOR:
        to->kind_case = KIND(MOTOR);
        to->motor = write_motor(c, &from->motor);
        break;
    case DYN_MACHINE_ELEMENT_KIND_GEAR:
        to->kind_case = KIND(GEAR);
        to->gear = write_gear(c, &from->gear);
        break;
    case DYN_MACHINE_ELEMENT_KIND_BRAKE:
        to->kind_case = KIND(BRAKE);
        to->brake = write_brake(c, &from->brake);
        break;
    case DYN_MACHINE_ELEMENT_KIND_STRUT:
    case DYN_MACHINE_ELEMENT_KIND_CABLE:
        to->kind_case = KIND(STRUT);
        to->strut = write_strut(c, from);
        break;
    case DYN_MACHINE_ELEMENT_KIND_BUSHING:
        to->kind_case = KIND(BUSHING);
        to->bushing = write_bushing(c, from);
        break;
    case DYN_MACHINE_ELEMENT_KIND_FLUID:
        to->kind_case = KIND(FLUID);
        to->fluid = write_fluid(c, from);
        break;
    case DYN_MACHINE_ELEMENT_KIND_SHAFT:
        to->kind_case = KIND(SHAFT);
        to->shaft = write_shaft(c, from);
        break;
    }
    return to;
}

Dynamics__V1__MachineElement **machine_elements_write(call *c, const dyn_builder *from, size_t *count) {
    size_t total = (size_t)dyn_builder_machine_element_count(from);
    Dynamics__V1__MachineElement **to = total ? call_allocate(c, total, sizeof(Dynamics__V1__MachineElement *)) : NULL;
    *count = 0;
    for (size_t i = 0; to && i < total && !call_has_ended(c); i++) {
        to[i] = write_element(c, dyn_builder_machine_element(from, (int)i));
        *count = i + 1;
    }
    return call_has_ended(c) ? NULL : to;
}

Dynamics__V1__MachineElement **machine_elements_describe(call *c, const dyn_model *model, size_t *count) {
    dyn_builder *builder;
    dyn_error error;
    *count = 0;
    if (dyn_model_machine_element_count(model) == 0) {
        return NULL;
    }
    if (dyn_model_describe(model, &builder, &error) != DYN_OK) {
        call_fail_memory(c);
        return NULL;
    }
    Dynamics__V1__MachineElement **to = machine_elements_write(c, builder, count);
    dyn_builder_free(builder);
    return to;
}
