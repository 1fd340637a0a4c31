/* SPDX-License-Identifier: BSD-2-Clause */
#include "machine_numbers.h"

#include <math.h>
#include <string.h>

#include "plain_text.h"

#define AT(member) offsetof(dyn_machine_element_description, member)

static const machine_number motor_numbers[] = {
    {"resistance", "motor.resistance", "resistance", AT(motor.resistance), POSITIVE},
    {"inductance", "motor.inductance", "inductance", AT(motor.inductance), NOT_NEGATIVE},
    {"constant", "motor.torque_constant", "torque constant", AT(motor.torque_constant), POSITIVE},
    {"voltage", "motor.maximum_voltage", "maximum voltage", AT(motor.maximum_voltage), NOT_NEGATIVE},
    {"current", "motor.maximum_current", "maximum current", AT(motor.maximum_current), NOT_NEGATIVE},
    {"continuous", "motor.continuous_current", "continuous current", AT(motor.continuous_current), NOT_NEGATIVE},
    {"speed", "motor.maximum_speed", "maximum speed", AT(motor.maximum_speed), NOT_NEGATIVE},
    {"winding", "motor.winding_resistance", "thermal resistance of the winding", AT(motor.winding_resistance),
     NOT_NEGATIVE},
    {"after", "motor.winding_time_constant", "time constant of the winding", AT(motor.winding_time_constant),
     NOT_NEGATIVE},
    {"housing", "motor.housing_resistance", "thermal resistance of the housing", AT(motor.housing_resistance),
     NOT_NEGATIVE},
    {"after", "motor.housing_time_constant", "time constant of the housing", AT(motor.housing_time_constant),
     NOT_NEGATIVE},
    {"coefficient", "motor.temperature_coefficient", "temperature coefficient", AT(motor.temperature_coefficient),
     NOT_NEGATIVE},
    {"temperature", "motor.maximum_temperature", "maximum temperature", AT(motor.maximum_temperature), NOT_NEGATIVE},
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
    default:
        *count = 0;
        return NULL;
    }
}

void print_machine_numbers(FILE *out, const dyn_machine_element_description *element) {
    int count;
    const machine_number *numbers = machine_numbers_of(element->kind, &count);
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
