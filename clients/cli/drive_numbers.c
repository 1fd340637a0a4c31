/* SPDX-License-Identifier: BSD-2-Clause */
#include "drive_numbers.h"

#include <stddef.h>
#include <string.h>

#define MOTOR(member, unit)                                                                                            \
    { #member, unit, offsetof(dyn_client_machine_element, motor.member) }
#define GEAR(member, unit)                                                                                             \
    { #member, unit, offsetof(dyn_client_machine_element, gear.member) }

static const drive_number motor_numbers[] = {
    MOTOR(resistance, "ohm"),
    MOTOR(inductance, "H"),
    MOTOR(torque_constant, "N m/A"),
    MOTOR(maximum_voltage, "V"),
    MOTOR(maximum_current, "A"),
    MOTOR(continuous_current, "A"),
    MOTOR(maximum_speed, "rad/s"),
    MOTOR(winding_resistance, "K/W"),
    MOTOR(winding_time_constant, "s"),
    MOTOR(housing_resistance, "K/W"),
    MOTOR(housing_time_constant, "s"),
    MOTOR(temperature_coefficient, "1/K"),
    MOTOR(maximum_temperature, "degrees Celsius"),
};

static const drive_number gear_numbers[] = {
    GEAR(ratio, ""),          GEAR(efficiency, ""),        GEAR(back_driving_efficiency, ""),
    GEAR(maximum_torque, ""), GEAR(continuous_torque, ""), GEAR(maximum_speed, "rad/s"),
};

static const drive_number brake_numbers[] = {
    {"torque", "N m", offsetof(dyn_client_machine_element, brake.torque)},
};

static const drive_number strut_numbers[] = {
    {"position_x", "m", offsetof(dyn_client_machine_element, strut.position[0])},
    {"position_y", "m", offsetof(dyn_client_machine_element, strut.position[1])},
    {"position_z", "m", offsetof(dyn_client_machine_element, strut.position[2])},
    {"other_position_x", "m", offsetof(dyn_client_machine_element, strut.other_position[0])},
    {"other_position_y", "m", offsetof(dyn_client_machine_element, strut.other_position[1])},
    {"other_position_z", "m", offsetof(dyn_client_machine_element, strut.other_position[2])},
    {"stiffness", "N/m", offsetof(dyn_client_machine_element, strut.stiffness)},
    {"rest", "m", offsetof(dyn_client_machine_element, strut.rest)},
    {"damping", "N s/m", offsetof(dyn_client_machine_element, strut.damping)},
    {"push", "N", offsetof(dyn_client_machine_element, strut.push)},
};

static const drive_number bushing_numbers[] = {
    {"position_x", "m", offsetof(dyn_client_machine_element, bushing.position[0])},
    {"position_y", "m", offsetof(dyn_client_machine_element, bushing.position[1])},
    {"position_z", "m", offsetof(dyn_client_machine_element, bushing.position[2])},
    {"other_position_x", "m", offsetof(dyn_client_machine_element, bushing.other_position[0])},
    {"other_position_y", "m", offsetof(dyn_client_machine_element, bushing.other_position[1])},
    {"other_position_z", "m", offsetof(dyn_client_machine_element, bushing.other_position[2])},
    {"stiffness_x", "N/m", offsetof(dyn_client_machine_element, bushing.stiffness[0])},
    {"stiffness_y", "N/m", offsetof(dyn_client_machine_element, bushing.stiffness[1])},
    {"stiffness_z", "N/m", offsetof(dyn_client_machine_element, bushing.stiffness[2])},
    {"rotational_stiffness_x", "N m/rad", offsetof(dyn_client_machine_element, bushing.rotational_stiffness[0])},
    {"rotational_stiffness_y", "N m/rad", offsetof(dyn_client_machine_element, bushing.rotational_stiffness[1])},
    {"rotational_stiffness_z", "N m/rad", offsetof(dyn_client_machine_element, bushing.rotational_stiffness[2])},
    {"damping_x", "N s/m", offsetof(dyn_client_machine_element, bushing.damping[0])},
    {"damping_y", "N s/m", offsetof(dyn_client_machine_element, bushing.damping[1])},
    {"damping_z", "N s/m", offsetof(dyn_client_machine_element, bushing.damping[2])},
    {"rotational_damping_x", "N m s/rad", offsetof(dyn_client_machine_element, bushing.rotational_damping[0])},
    {"rotational_damping_y", "N m s/rad", offsetof(dyn_client_machine_element, bushing.rotational_damping[1])},
    {"rotational_damping_z", "N m s/rad", offsetof(dyn_client_machine_element, bushing.rotational_damping[2])},
};

static const drive_number fluid_numbers[] = {
    {"density", "kg/m^3", offsetof(dyn_client_machine_element, fluid.density)},
    {"volume", "m^3", offsetof(dyn_client_machine_element, fluid.volume)},
    {"center_x", "m", offsetof(dyn_client_machine_element, fluid.center[0])},
    {"center_y", "m", offsetof(dyn_client_machine_element, fluid.center[1])},
    {"center_z", "m", offsetof(dyn_client_machine_element, fluid.center[2])},
    {"drag_x", "N s/m", offsetof(dyn_client_machine_element, fluid.drag[0])},
    {"drag_y", "N s/m", offsetof(dyn_client_machine_element, fluid.drag[1])},
    {"drag_z", "N s/m", offsetof(dyn_client_machine_element, fluid.drag[2])},
    {"quadratic_drag_x", "N s^2/m^2", offsetof(dyn_client_machine_element, fluid.quadratic_drag[0])},
    {"quadratic_drag_y", "N s^2/m^2", offsetof(dyn_client_machine_element, fluid.quadratic_drag[1])},
    {"quadratic_drag_z", "N s^2/m^2", offsetof(dyn_client_machine_element, fluid.quadratic_drag[2])},
    {"rotational_drag_x", "N m s/rad", offsetof(dyn_client_machine_element, fluid.rotational_drag[0])},
    {"rotational_drag_y", "N m s/rad", offsetof(dyn_client_machine_element, fluid.rotational_drag[1])},
    {"rotational_drag_z", "N m s/rad", offsetof(dyn_client_machine_element, fluid.rotational_drag[2])},
    {"quadratic_rotational_drag_x", "N m s^2/rad^2",
     offsetof(dyn_client_machine_element, fluid.quadratic_rotational_drag[0])},
    {"quadratic_rotational_drag_y", "N m s^2/rad^2",
     offsetof(dyn_client_machine_element, fluid.quadratic_rotational_drag[1])},
    {"quadratic_rotational_drag_z", "N m s^2/rad^2",
     offsetof(dyn_client_machine_element, fluid.quadratic_rotational_drag[2])},
    {"current_x", "m/s", offsetof(dyn_client_machine_element, fluid.current[0])},
    {"current_y", "m/s", offsetof(dyn_client_machine_element, fluid.current[1])},
    {"current_z", "m/s", offsetof(dyn_client_machine_element, fluid.current[2])},
};

const drive_number *drive_numbers_of(dyn_client_machine_element_kind kind, size_t *count) {
    switch (kind) {
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_MOTOR:
        *count = sizeof motor_numbers / sizeof *motor_numbers;
        return motor_numbers;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_GEAR:
        *count = sizeof gear_numbers / sizeof *gear_numbers;
        return gear_numbers;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_BRAKE:
        *count = sizeof brake_numbers / sizeof *brake_numbers;
        return brake_numbers;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_STRUT:
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_CABLE:
        *count = sizeof strut_numbers / sizeof *strut_numbers;
        return strut_numbers;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_BUSHING:
        *count = sizeof bushing_numbers / sizeof *bushing_numbers;
        return bushing_numbers;
    case DYN_CLIENT_MACHINE_ELEMENT_KIND_FLUID:
        *count = sizeof fluid_numbers / sizeof *fluid_numbers;
        return fluid_numbers;
    default:
        *count = 0;
        return NULL;
    }
}

double drive_number_value(const drive_number *number, const dyn_client_machine_element *element) {
    double value;
    memcpy(&value, (const char *)element + number->offset, sizeof value);
    return value;
}
