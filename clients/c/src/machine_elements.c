/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts machine elements.
 */
#include "machine_elements.h"

#include "model_parts.h"
#include "poses.h"

#define KIND(name) DYNAMICS__V1__MACHINE_ELEMENT__KIND_##name

/* ---- conversion to the protocol's form --------------------------------------------------------------------------- */

static Dynamics__V1__Rotor *from_rotor(pool *memory, const dyn_client_rotor *from) {
    Dynamics__V1__Rotor *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__rotor__init(made);
        made->ratio = from->ratio;
        made->axial_inertia = from->axial_inertia;
        made->mass = from->mass;
        made->transverse_inertia = from->transverse_inertia;
        made->position = from_nonzero(memory, from->position);
        made->axis = from_nonzero(memory, from->axis);
        made->coupling = (Dynamics__V1__RotorCoupling)from->coupling;
    }
    return made;
}

static Dynamics__V1__Friction *from_friction(pool *memory, const dyn_client_friction *from) {
    Dynamics__V1__Friction *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__friction__init(made);
        made->side = (Dynamics__V1__GearSide)from->side;
        made->n_viscous = made->n_coulomb = made->n_breakaway = 2;
        made->viscous = (double *)from->viscous;
        made->coulomb = (double *)from->coulomb;
        made->breakaway = (double *)from->breakaway;
        made->stribeck_velocity = from->stribeck_velocity;
        made->transition_velocity = from->transition_velocity;
        made->bristle_stiffness = from->bristle_stiffness;
        made->bristle_damping = from->bristle_damping;
        made->temperature_factor = from->temperature_factor;
    }
    return made;
}

static Dynamics__V1__Spring *from_spring(pool *memory, const dyn_client_spring *from) {
    Dynamics__V1__Spring *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__spring__init(made);
        made->stiffness = from->stiffness;
        made->rest = from->rest;
    }
    return made;
}

/* Returns the values of a data sheet, or NULL where none is stated. */
static Dynamics__V1__NominalValues *from_nominal(pool *memory, const dyn_client_motor *from) {
    bool is_stated = from->nominal_voltage != 0 || from->no_load_speed != 0 || from->no_load_current != 0 ||
                     from->stall_current != 0;
    Dynamics__V1__NominalValues *made = is_stated ? pool_allocate(memory, 1, sizeof *made) : NULL;
    if (made) {
        dynamics__v1__nominal_values__init(made);
        made->voltage = from->nominal_voltage;
        made->no_load_speed = from->no_load_speed;
        made->no_load_current = from->no_load_current;
        made->stall_current = from->stall_current;
    }
    return made;
}

Dynamics__V1__Motor *from_motor(pool *memory, const dyn_client_motor *from) {
    Dynamics__V1__Motor *made = !from ? NULL : pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__motor__init(made);
        made->resistance = from->resistance;
        made->inductance = from->inductance;
        made->torque_constant = from->torque_constant;
        made->nominal = from_nominal(memory, from);
        made->maximum_voltage = from->maximum_voltage;
        made->maximum_current = from->maximum_current;
        made->continuous_current = from->continuous_current;
        made->maximum_speed = from->maximum_speed;
        made->winding_resistance = from->winding_resistance;
        made->winding_time_constant = from->winding_time_constant;
        made->housing_resistance = from->housing_resistance;
        made->housing_time_constant = from->housing_time_constant;
        made->temperature_coefficient = from->temperature_coefficient;
        made->maximum_temperature = from->maximum_temperature;
    }
    return made;
}

/* Returns a shaft, whose names and ratios belong to the caller. */
static Dynamics__V1__Shaft *from_shaft(pool *memory, const dyn_client_machine_element *from) {
    Dynamics__V1__Shaft *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__shaft__init(made);
        made->n_joints = from->shaft.joint_count;
        made->joints = (char **)from->shaft.joints;
        made->n_ratios = from->shaft.ratio_count;
        made->ratios = (double *)from->shaft.ratios;
        made->link = (char *)(from->link ? from->link : "");
        made->rotor = from_rotor(memory, &from->rotor);
        made->motor = from->shaft.has_motor ? from_motor(memory, &from->motor) : NULL;
    }
    return made;
}

Dynamics__V1__Gear *from_gear(pool *memory, const dyn_client_gear *from) {
    Dynamics__V1__Gear *made = !from ? NULL : pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__gear__init(made);
        made->ratio = from->ratio;
        made->efficiency = from->efficiency;
        made->optional_back_driving_efficiency_case =
            DYNAMICS__V1__GEAR__OPTIONAL_BACK_DRIVING_EFFICIENCY_BACK_DRIVING_EFFICIENCY;
        made->back_driving_efficiency = from->back_driving_efficiency;
        made->maximum_torque = from->maximum_torque;
        made->continuous_torque = from->continuous_torque;
        made->maximum_speed = from->maximum_speed;
    }
    return made;
}

static Dynamics__V1__Brake *from_brake(pool *memory, const dyn_client_brake *from) {
    Dynamics__V1__Brake *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__brake__init(made);
        made->torque = from->torque;
    }
    return made;
}

static Dynamics__V1__Strut *from_strut(pool *memory, const dyn_client_machine_element *from) {
    Dynamics__V1__Strut *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__strut__init(made);
        made->link = (char *)(from->link ? from->link : "");
        made->other_link = (char *)(from->other_link ? from->other_link : "");
        made->position = from_nonzero(memory, from->strut.position);
        made->other_position = from_nonzero(memory, from->strut.other_position);
        made->stiffness = from->strut.stiffness;
        made->rest = from->strut.rest;
        made->damping = from->strut.damping;
        made->push = from->strut.push;
        made->is_cable = from->kind == DYN_CLIENT_MACHINE_ELEMENT_KIND_CABLE;
    }
    return made;
}

static Dynamics__V1__Bushing *from_bushing(pool *memory, const dyn_client_machine_element *from) {
    Dynamics__V1__Bushing *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__bushing__init(made);
        made->link = (char *)(from->link ? from->link : "");
        made->other_link = (char *)(from->other_link ? from->other_link : "");
        made->position = from_nonzero(memory, from->bushing.position);
        made->other_position = from_nonzero(memory, from->bushing.other_position);
        made->stiffness = from_nonzero(memory, from->bushing.stiffness);
        made->rotational_stiffness = from_nonzero(memory, from->bushing.rotational_stiffness);
        made->damping = from_nonzero(memory, from->bushing.damping);
        made->rotational_damping = from_nonzero(memory, from->bushing.rotational_damping);
    }
    return made;
}

static Dynamics__V1__FlexibleBeam *from_flexible_beam(pool *memory, const dyn_client_flexible_beam *from) {
    Dynamics__V1__FlexibleBeam *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__flexible_beam__init(made);
        made->start = from_nonzero(memory, from->start);
        made->direction = from_nonzero(memory, from->direction);
        made->mass_per_length = from->mass_per_length;
        made->rigidity = from->rigidity;
        made->normal_rigidity = from->normal_rigidity;
        made->modes = from->modes <= UINT32_MAX ? (uint32_t)from->modes : UINT32_MAX;
        made->damping_ratio = from->damping_ratio;
    }
    return made;
}

static Dynamics__V1__Fluid *from_fluid(pool *memory, const dyn_client_machine_element *from) {
    Dynamics__V1__Fluid *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__fluid__init(made);
        made->link = (char *)(from->link ? from->link : "");
        made->density = from->fluid.density;
        made->volume = from->fluid.volume;
        made->center = from_nonzero(memory, from->fluid.center);
        made->drag = from_nonzero(memory, from->fluid.drag);
        made->quadratic_drag = from_nonzero(memory, from->fluid.quadratic_drag);
        made->rotational_drag = from_nonzero(memory, from->fluid.rotational_drag);
        made->quadratic_rotational_drag = from_nonzero(memory, from->fluid.quadratic_rotational_drag);
        made->current = from_nonzero(memory, from->fluid.current);
    }
    return made;
}

Dynamics__V1__MachineElement *from_machine_element(pool *memory, const dyn_client_machine_element *from) {
    Dynamics__V1__MachineElement *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__machine_element__init(made);
    made->name = (char *)(from->name ? from->name : "");
    made->joint = (char *)(from->joint ? from->joint : "");
    switch (from->kind) {
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_ROTOR:
        made->kind_case = KIND(ROTOR);
        made->rotor = from_rotor(memory, &from->rotor);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_FRICTION:
        made->kind_case = KIND(FRICTION);
        made->friction = from_friction(memory, &from->friction);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_SPRING:
        made->kind_case = KIND(SPRING);
        made->spring = from_spring(memory, &from->spring);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_MOTOR:
        made->kind_case = KIND(MOTOR);
        made->motor = from_motor(memory, &from->motor);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_GEAR:
        made->kind_case = KIND(GEAR);
        made->gear = from_gear(memory, &from->gear);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_BRAKE:
        made->kind_case = KIND(BRAKE);
        made->brake = from_brake(memory, &from->brake);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_STRUT:
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_CABLE:
        made->kind_case = KIND(STRUT);
        made->strut = from_strut(memory, from);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_BUSHING:
        made->kind_case = KIND(BUSHING);
        made->bushing = from_bushing(memory, from);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_FLEXIBLE_BEAM:
        made->kind_case = KIND(FLEXIBLE_BEAM);
        made->flexible_beam = from_flexible_beam(memory, &from->flexible_beam);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_FLUID:
        made->kind_case = KIND(FLUID);
        made->fluid = from_fluid(memory, from);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_SHAFT:
        made->kind_case = KIND(SHAFT);
        made->shaft = from_shaft(memory, from);
        break;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_UNSPECIFIED:
        break;
    }
    return made;
}

/* ---- conversion from the protocol's form ------------------------------------------------------------------------- */

/* Sets a parameter for positive and for negative rates: none is zero, one holds for both. */
static void set_directions(size_t count, const double *from, double made[2]) {
    made[0] = count > 0 ? from[0] : 0;
    made[1] = count > 1 ? from[1] : made[0];
}

static void set_rotor(const Dynamics__V1__Rotor *from, dyn_client_rotor *made) {
    *made = (dyn_client_rotor){.ratio = from->ratio,
                               .axial_inertia = from->axial_inertia,
                               .mass = from->mass,
                               .transverse_inertia = from->transverse_inertia,
                               .coupling = (dyn_client_rotor_coupling)from->coupling};
    to_vector3(from->position, made->position);
    to_vector3(from->axis, made->axis);
}

static void set_friction(const Dynamics__V1__Friction *from, dyn_client_friction *made) {
    *made = (dyn_client_friction){.side = (dyn_client_gear_side)from->side,
                                  .stribeck_velocity = from->stribeck_velocity,
                                  .transition_velocity = from->transition_velocity,
                                  .bristle_stiffness = from->bristle_stiffness,
                                  .bristle_damping = from->bristle_damping,
                                  .temperature_factor = from->temperature_factor};
    set_directions(from->n_viscous, from->viscous, made->viscous);
    set_directions(from->n_coulomb, from->coulomb, made->coulomb);
    set_directions(from->n_breakaway, from->breakaway, made->breakaway);
}

static void set_motor(const Dynamics__V1__Motor *from, dyn_client_motor *made) {
    *made = (dyn_client_motor){.resistance = from->resistance,
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
}

static void set_gear(const Dynamics__V1__Gear *from, dyn_client_gear *made) {
    *made = (dyn_client_gear){.ratio = from->ratio,
                              .efficiency = from->efficiency,
                              .back_driving_efficiency = from->back_driving_efficiency,
                              .maximum_torque = from->maximum_torque,
                              .continuous_torque = from->continuous_torque,
                              .maximum_speed = from->maximum_speed};
}

static void set_strut(const Dynamics__V1__Strut *from, dyn_client_machine_element *made) {
    made->kind = from->is_cable ? DYN_CLIENT_MACHINE_ELEMENT_KIND_CABLE : DYN_CLIENT_MACHINE_ELEMENT_KIND_STRUT;
    made->link = from->link;
    made->other_link = from->other_link;
    to_vector3(from->position, made->strut.position);
    to_vector3(from->other_position, made->strut.other_position);
    made->strut.stiffness = from->stiffness;
    made->strut.rest = from->rest;
    made->strut.damping = from->damping;
    made->strut.push = from->push;
}

static void set_bushing(const Dynamics__V1__Bushing *from, dyn_client_machine_element *made) {
    made->kind = DYN_CLIENT_MACHINE_ELEMENT_KIND_BUSHING;
    made->link = from->link;
    made->other_link = from->other_link;
    to_vector3(from->position, made->bushing.position);
    to_vector3(from->other_position, made->bushing.other_position);
    to_vector3(from->stiffness, made->bushing.stiffness);
    to_vector3(from->rotational_stiffness, made->bushing.rotational_stiffness);
    to_vector3(from->damping, made->bushing.damping);
    to_vector3(from->rotational_damping, made->bushing.rotational_damping);
}

static void set_fluid(const Dynamics__V1__Fluid *from, dyn_client_machine_element *made) {
    made->kind = DYN_CLIENT_MACHINE_ELEMENT_KIND_FLUID;
    made->link = from->link;
    made->fluid.density = from->density;
    made->fluid.volume = from->volume;
    to_vector3(from->center, made->fluid.center);
    to_vector3(from->drag, made->fluid.drag);
    to_vector3(from->quadratic_drag, made->fluid.quadratic_drag);
    to_vector3(from->rotational_drag, made->fluid.rotational_drag);
    to_vector3(from->quadratic_rotational_drag, made->fluid.quadratic_rotational_drag);
    to_vector3(from->current, made->fluid.current);
}

static void set_shaft(const Dynamics__V1__Shaft *from, dyn_client_machine_element *made) {
    made->kind = DYN_CLIENT_MACHINE_ELEMENT_KIND_SHAFT;
    made->link = from->link;
    made->shaft = (dyn_client_shaft){.joint_count = from->n_joints,
                                     .joints = (const char *const *)from->joints,
                                     .ratio_count = from->n_ratios,
                                     .ratios = from->ratios,
                                     .has_motor = from->motor != NULL};
    if (from->rotor) {
        set_rotor(from->rotor, &made->rotor);
    }
    if (from->motor) {
        set_motor(from->motor, &made->motor);
    }
}

/* Sets the members that the element's kind has. */
static void set_kind(const Dynamics__V1__MachineElement *from, dyn_client_machine_element *made) {
    if (from->kind_case == KIND(ROTOR)) {
        made->kind = DYN_CLIENT_MACHINE_ELEMENT_KIND_ROTOR;
        set_rotor(from->rotor, &made->rotor);
    } else if (from->kind_case == KIND(FRICTION)) {
        made->kind = DYN_CLIENT_MACHINE_ELEMENT_KIND_FRICTION;
        set_friction(from->friction, &made->friction);
    } else if (from->kind_case == KIND(SPRING)) {
        made->kind = DYN_CLIENT_MACHINE_ELEMENT_KIND_SPRING;
        made->spring = (dyn_client_spring){from->spring->stiffness, from->spring->rest};
    } else if (from->kind_case == KIND(MOTOR)) {
        made->kind = DYN_CLIENT_MACHINE_ELEMENT_KIND_MOTOR;
        set_motor(from->motor, &made->motor);
    } else if (from->kind_case == KIND(GEAR)) {
        made->kind = DYN_CLIENT_MACHINE_ELEMENT_KIND_GEAR;
        set_gear(from->gear, &made->gear);
    } else if (from->kind_case == KIND(BRAKE)) {
        made->kind = DYN_CLIENT_MACHINE_ELEMENT_KIND_BRAKE;
        made->brake = (dyn_client_brake){from->brake->torque};
    } else if (from->kind_case == KIND(STRUT)) {
        set_strut(from->strut, made);
    } else if (from->kind_case == KIND(BUSHING)) {
        set_bushing(from->bushing, made);
    } else if (from->kind_case == KIND(FLUID)) {
        set_fluid(from->fluid, made);
    } else if (from->kind_case == KIND(SHAFT)) {
        set_shaft(from->shaft, made);
    }
}

const dyn_client_machine_element *to_machine_elements(pool *memory, size_t count,
                                                      Dynamics__V1__MachineElement *const *from) {
    dyn_client_machine_element *made = pool_allocate(memory, count, sizeof *made);
    for (size_t i = 0; made && i < count; i++) {
        made[i].name = from[i]->name;
        made[i].joint = from[i]->joint;
        set_kind(from[i], &made[i]);
    }
    return memory->is_exhausted ? NULL : made;
}
