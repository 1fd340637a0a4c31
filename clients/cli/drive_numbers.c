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
