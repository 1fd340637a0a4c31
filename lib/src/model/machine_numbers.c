/* SPDX-License-Identifier: BSD-2-Clause */
#include "machine_numbers.h"

#include <math.h>
#include <string.h>

#include "plain_text.h"

#define AT(member) offsetof(dyn_machine_element_description, member)

static const machine_number motor_numbers[] = {
    {"resistance", "shaft.motor.resistance", "resistance", AT(motor.resistance), POSITIVE},
    {"inductance", "shaft.motor.inductance", "inductance", AT(motor.inductance), NOT_NEGATIVE},
    {"constant", "shaft.motor.torque_constant", "torque constant", AT(motor.torque_constant), POSITIVE},
    {"voltage", "shaft.motor.maximum_voltage", "maximum voltage", AT(motor.maximum_voltage), NOT_NEGATIVE},
    {"current", "shaft.motor.maximum_current", "maximum current", AT(motor.maximum_current), NOT_NEGATIVE},
    {"continuous", "shaft.motor.continuous_current", "continuous current", AT(motor.continuous_current), NOT_NEGATIVE},
    {"speed", "shaft.motor.maximum_speed", "maximum speed", AT(motor.maximum_speed), NOT_NEGATIVE},
    {"winding", "shaft.motor.winding_resistance", "thermal resistance of the winding", AT(motor.winding_resistance),
     NOT_NEGATIVE},
    {"after", "shaft.motor.winding_time_constant", "time constant of the winding", AT(motor.winding_time_constant),
     NOT_NEGATIVE},
    {"housing", "shaft.motor.housing_resistance", "thermal resistance of the housing", AT(motor.housing_resistance),
     NOT_NEGATIVE},
    {"after", "shaft.motor.housing_time_constant", "time constant of the housing", AT(motor.housing_time_constant),
     NOT_NEGATIVE},
    {"coefficient", "shaft.motor.temperature_coefficient", "temperature coefficient", AT(motor.temperature_coefficient),
     NOT_NEGATIVE},
    {"temperature", "shaft.motor.maximum_temperature", "maximum temperature", AT(motor.maximum_temperature),
     NOT_NEGATIVE},
};

static const machine_number gear_numbers[] = {
    {"ratio", "gear.ratio", "gear ratio", AT(gear.ratio), FINITE},
    {"efficiency", "gear.efficiency", "efficiency", AT(gear.efficiency), FRACTION},
    {"back", "gear.back_driving_efficiency", "efficiency of back-driving", AT(gear.back_driving_efficiency), SHARE},
    {"torque", "gear.maximum_torque", "maximum torque", AT(gear.maximum_torque), NOT_NEGATIVE},
    {"continuous", "gear.continuous_torque", "continuous torque", AT(gear.continuous_torque), NOT_NEGATIVE},
    {"speed", "gear.maximum_speed", "maximum speed", AT(gear.maximum_speed), NOT_NEGATIVE},
};

static const machine_number brake_numbers[] = {
    {"torque", "brake.torque", "torque", AT(brake.torque), POSITIVE},
};

static const machine_number strut_numbers[] = {
    {"at_x", "strut.position", "position x", AT(strut.position[0]), FINITE},
    {"at_y", "strut.position", "position y", AT(strut.position[1]), FINITE},
    {"at_z", "strut.position", "position z", AT(strut.position[2]), FINITE},
    {"from_x", "strut.other_position", "other position x", AT(strut.other_position[0]), FINITE},
    {"from_y", "strut.other_position", "other position y", AT(strut.other_position[1]), FINITE},
    {"from_z", "strut.other_position", "other position z", AT(strut.other_position[2]), FINITE},
    {"stiffness", "strut.stiffness", "stiffness", AT(strut.stiffness), NOT_NEGATIVE},
    {"rest", "strut.rest", "length at rest", AT(strut.rest), NOT_NEGATIVE},
    {"damping", "strut.damping", "damping", AT(strut.damping), NOT_NEGATIVE},
    {"push", "strut.push", "push", AT(strut.push), FINITE},
};

static const machine_number bushing_numbers[] = {
    {"at_x", "bushing.position", "position x", AT(bushing.position[0]), FINITE},
    {"at_y", "bushing.position", "position y", AT(bushing.position[1]), FINITE},
    {"at_z", "bushing.position", "position z", AT(bushing.position[2]), FINITE},
    {"from_x", "bushing.other_position", "other position x", AT(bushing.other_position[0]), FINITE},
    {"from_y", "bushing.other_position", "other position y", AT(bushing.other_position[1]), FINITE},
    {"from_z", "bushing.other_position", "other position z", AT(bushing.other_position[2]), FINITE},
    {"stiffness_x", "bushing.stiffness", "stiffness x", AT(bushing.stiffness[0]), NOT_NEGATIVE},
    {"stiffness_y", "bushing.stiffness", "stiffness y", AT(bushing.stiffness[1]), NOT_NEGATIVE},
    {"stiffness_z", "bushing.stiffness", "stiffness z", AT(bushing.stiffness[2]), NOT_NEGATIVE},
    {"turning_x", "bushing.rotational_stiffness", "rotational stiffness x", AT(bushing.rotational_stiffness[0]),
     NOT_NEGATIVE},
    {"turning_y", "bushing.rotational_stiffness", "rotational stiffness y", AT(bushing.rotational_stiffness[1]),
     NOT_NEGATIVE},
    {"turning_z", "bushing.rotational_stiffness", "rotational stiffness z", AT(bushing.rotational_stiffness[2]),
     NOT_NEGATIVE},
    {"damping_x", "bushing.damping", "damping x", AT(bushing.damping[0]), NOT_NEGATIVE},
    {"damping_y", "bushing.damping", "damping y", AT(bushing.damping[1]), NOT_NEGATIVE},
    {"damping_z", "bushing.damping", "damping z", AT(bushing.damping[2]), NOT_NEGATIVE},
    {"spinning_x", "bushing.rotational_damping", "rotational damping x", AT(bushing.rotational_damping[0]),
     NOT_NEGATIVE},
    {"spinning_y", "bushing.rotational_damping", "rotational damping y", AT(bushing.rotational_damping[1]),
     NOT_NEGATIVE},
    {"spinning_z", "bushing.rotational_damping", "rotational damping z", AT(bushing.rotational_damping[2]),
     NOT_NEGATIVE},
};

static const machine_number fluid_numbers[] = {
    {"density", "fluid.density", "density", AT(fluid.density), NOT_NEGATIVE},
    {"volume", "fluid.volume", "volume", AT(fluid.volume), NOT_NEGATIVE},
    {"at_x", "fluid.center", "centre x", AT(fluid.center[0]), FINITE},
    {"at_y", "fluid.center", "centre y", AT(fluid.center[1]), FINITE},
    {"at_z", "fluid.center", "centre z", AT(fluid.center[2]), FINITE},
    {"drag_x", "fluid.drag", "drag x", AT(fluid.drag[0]), NOT_NEGATIVE},
    {"drag_y", "fluid.drag", "drag y", AT(fluid.drag[1]), NOT_NEGATIVE},
    {"drag_z", "fluid.drag", "drag z", AT(fluid.drag[2]), NOT_NEGATIVE},
    {"quadratic_x", "fluid.quadratic_drag", "quadratic drag x", AT(fluid.quadratic_drag[0]), NOT_NEGATIVE},
    {"quadratic_y", "fluid.quadratic_drag", "quadratic drag y", AT(fluid.quadratic_drag[1]), NOT_NEGATIVE},
    {"quadratic_z", "fluid.quadratic_drag", "quadratic drag z", AT(fluid.quadratic_drag[2]), NOT_NEGATIVE},
    {"turning_x", "fluid.rotational_drag", "rotational drag x", AT(fluid.rotational_drag[0]), NOT_NEGATIVE},
    {"turning_y", "fluid.rotational_drag", "rotational drag y", AT(fluid.rotational_drag[1]), NOT_NEGATIVE},
    {"turning_z", "fluid.rotational_drag", "rotational drag z", AT(fluid.rotational_drag[2]), NOT_NEGATIVE},
    {"quadratic_x", "fluid.quadratic_rotational_drag", "quadratic rotational drag x",
     AT(fluid.quadratic_rotational_drag[0]), NOT_NEGATIVE},
    {"quadratic_y", "fluid.quadratic_rotational_drag", "quadratic rotational drag y",
     AT(fluid.quadratic_rotational_drag[1]), NOT_NEGATIVE},
    {"quadratic_z", "fluid.quadratic_rotational_drag", "quadratic rotational drag z",
     AT(fluid.quadratic_rotational_drag[2]), NOT_NEGATIVE},
    {"current_x", "fluid.current", "current x", AT(fluid.current[0]), FINITE},
    {"current_y", "fluid.current", "current y", AT(fluid.current[1]), FINITE},
    {"current_z", "fluid.current", "current z", AT(fluid.current[2]), FINITE},
};

bool number_is_in_range(double x, number_range range) {
    bool in_range[RANGES] = {true, x >= 0, x > 0, x != 0, x > 0 && x <= 1, x >= 0 && x <= 1};
    return isfinite(x) && in_range[range];
}

const char *number_range_text(number_range range) {
    static const char *const texts[RANGES] = {"state a finite number",
                                              "state zero or a positive number",
                                              "state a positive number",
                                              "state a number that is not zero",
                                              "state a positive number that is at most one",
                                              "state a number from zero to one"};
    return texts[range];
}

const machine_number *machine_numbers_of(dyn_machine_element_kind kind, int *count) {
    switch (kind) {
    case DYN_MACHINE_ELEMENT_KIND_MOTOR:
        *count = sizeof motor_numbers / sizeof *motor_numbers;
        return motor_numbers;
    case DYN_MACHINE_ELEMENT_KIND_GEAR:
        *count = sizeof gear_numbers / sizeof *gear_numbers;
        return gear_numbers;
    case DYN_MACHINE_ELEMENT_KIND_BRAKE:
        *count = sizeof brake_numbers / sizeof *brake_numbers;
        return brake_numbers;
    case DYN_MACHINE_ELEMENT_KIND_STRUT:
    case DYN_MACHINE_ELEMENT_KIND_CABLE:
        *count = sizeof strut_numbers / sizeof *strut_numbers;
        return strut_numbers;
    case DYN_MACHINE_ELEMENT_KIND_BUSHING:
        *count = sizeof bushing_numbers / sizeof *bushing_numbers;
        return bushing_numbers;
    case DYN_MACHINE_ELEMENT_KIND_FLUID:
        *count = sizeof fluid_numbers / sizeof *fluid_numbers;
        return fluid_numbers;
    default:
        *count = 0;
        return NULL;
    }
}

void print_machine_numbers(FILE *out, dyn_machine_element_kind kind, const dyn_machine_element_description *element) {
    int count;
    const machine_number *numbers = machine_numbers_of(kind, &count);
    for (int i = 0; i < count; i++) {
        double value = machine_number_value(&numbers[i], element);
        print_numbers(out, numbers[i].word, &value, 1);
    }
}

double *machine_number_in(const machine_number *number, dyn_machine_element_description *element) {
    return (double *)(void *)((char *)element + number->offset);
}

double machine_number_value(const machine_number *number, const dyn_machine_element_description *element) {
    double value;
    memcpy(&value, (const char *)element + number->offset, sizeof value);
    return value;
}
