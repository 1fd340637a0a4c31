/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motion of one drive over time: states, temperatures, energies and limits.
 */
#include <math.h>

#include <dynamics/motor.h>

/* ---- States ------------------------------------------------------------------------------------------------------ */

/* Returns the current of a sample. */
static double current_of(const dyn_drive *drive, const dyn_drive_series *s, size_t i) {
    return s->torques[i] / drive->motor.torque_constant;
}

/* Returns the mean slope of the current around a sample. */
static double current_rate(const dyn_drive *drive, const dyn_drive_series *s, size_t i) {
    size_t from = i > 0 ? i - 1 : i, to = i + 1 < s->n ? i + 1 : i;
    return s->time && to > from
               ? (current_of(drive, s, to) - current_of(drive, s, from)) / (s->time[to] - s->time[from])
               : 0;
}

/* Computes the temperature of the winding in each sample. */
static void warm(const dyn_drive *drive, const dyn_drive_series *s, double *temperatures) {
    dyn_motor_temperature at = {s->start, s->start};
    for (size_t i = 0; i < s->n; i++) {
        if (s->time && i > 0) {
            double x = current_of(drive, s, i - 1), y = current_of(drive, s, i);
            double square = (x * x + x * y + y * y) / 3;
            at = dyn_motor_heat(&drive->motor, sqrt(square), s->time[i] - s->time[i - 1], s->ambient, at);
        }
        temperatures[i] = at.winding;
    }
}

/* ---- Summary ----------------------------------------------------------------------------------------------------- */

/* Returns the weight of a sample in a mean over the motion, whose sum is one. */
static double weight_of(const dyn_drive_series *s, size_t i) {
    if (!s->time || s->n < 2) {
        return 1 / (double)s->n;
    }
    double from = s->time[i > 0 ? i - 1 : i], to = s->time[i + 1 < s->n ? i + 1 : i];
    return (to - from) / 2 / (s->time[s->n - 1] - s->time[0]);
}

static void add_sample(const dyn_drive_series *s, size_t i, const dyn_motor_state *state, double temperature,
                       dyn_drive_summary *sum) {
    double weight = weight_of(s, i);
    sum->peak_load = fmax(sum->peak_load, fabs(s->loads[i]));
    sum->peak_torque = fmax(sum->peak_torque, fabs(s->torques[i]));
    sum->peak_current = fmax(sum->peak_current, fabs(state->current));
    sum->peak_voltage = fmax(sum->peak_voltage, fabs(state->voltage));
    sum->peak_speed = fmax(sum->peak_speed, fabs(s->speeds[i]));
    sum->peak_power = fmax(sum->peak_power, fabs(state->electrical_power));
    sum->peak_temperature = fmax(sum->peak_temperature, temperature);
    sum->rms_load += weight * s->loads[i] * s->loads[i];
    sum->rms_torque += weight * s->torques[i] * s->torques[i];
    sum->rms_current += weight * state->current * state->current;
    sum->electrical_energy += weight * state->electrical_power;
    sum->heat_energy += weight * state->heat;
    sum->gear_loss_energy += weight * state->gear_loss;
}

/* A motion along the edge of the region does not exceed it by its rounding. */
static const double EDGE = 1 + 1e-9;

/* Adds the sample's value of a limit to the excess of that limit. */
static void compare(double value, size_t sample, dyn_drive_excess *excess) {
    if (!(value > excess->bound * EDGE)) {
        return;
    }
    excess->first = excess->samples == 0 ? sample : excess->first;
    excess->samples++;
    if (value > excess->worst) {
        excess->worst = value, excess->at = sample;
    }
}

double dyn_drive_brake_torque(const dyn_drive *drive, double speed, double torque) {
    double most = drive->brake;
    return speed != 0 ? copysign(most, -speed) : fmax(-most, fmin(most, torque));
}

/* Returns the torque that keeps a rotor with an engaged brake at rest; zero for one that turns or is free. */
static double held_torque(const dyn_drive_series *s, size_t i) {
    return s->brakes && s->speeds[i] == 0 ? fabs(s->torques[i] + s->brakes[i]) : 0;
}

/* Finds what all limits bound, and their excesses. The root mean squares of the summary are known. */
static void find_excesses(const dyn_drive *drive, const dyn_drive_series *s, const dyn_motor_state *states,
                          const double *temperatures, dyn_drive_summary *sum) {
    for (int limit = 0; limit < DYN_DRIVE_LIMITS; limit++) {
        dyn_drive_excess found = {.limit = (dyn_drive_limit)limit,
                                  .bound = dyn_drive_limit_value(drive, (dyn_drive_limit)limit)};
        for (size_t i = 0; i < s->n; i++) {
            const double values[DYN_DRIVE_LIMITS] = {
                [DYN_DRIVE_LIMIT_VOLTAGE] = fabs(states[i].voltage),
                [DYN_DRIVE_LIMIT_CURRENT] = fabs(states[i].current),
                [DYN_DRIVE_LIMIT_CONTINUOUS_CURRENT] = sum->rms_current,
                [DYN_DRIVE_LIMIT_SPEED] = fabs(s->speeds[i]),
                [DYN_DRIVE_LIMIT_TEMPERATURE] = temperatures[i],
                [DYN_DRIVE_LIMIT_GEAR_TORQUE] = fabs(s->loads[i]),
                [DYN_DRIVE_LIMIT_GEAR_CONTINUOUS] = sum->rms_load,
                [DYN_DRIVE_LIMIT_GEAR_SPEED] = fabs(s->speeds[i]),
                [DYN_DRIVE_LIMIT_BRAKE] = held_torque(s, i),
            };
            sum->values[limit] = i == 0 ? values[limit] : fmax(sum->values[limit], values[limit]);
            compare(values[limit], i, &found);
        }
        if (found.samples > 0) {
            sum->excesses[sum->excess_count++] = found;
        }
    }
}

void dyn_drive_evaluate(const dyn_drive *drive, const dyn_drive_series *series, dyn_motor_state *states,
                        double *temperatures, dyn_drive_summary *summary) {
    *summary = (dyn_drive_summary){.peak_temperature = -INFINITY};
    warm(drive, series, temperatures);
    for (size_t i = 0; i < series->n; i++) {
        const dyn_motor_input in = {.load = series->loads[i],
                                    .speed = series->speeds[i],
                                    .torque = series->torques[i],
                                    .current_rate = current_rate(drive, series, i),
                                    .temperature = temperatures[i]};
        states[i] = dyn_motor_evaluate(drive, &in);
        add_sample(series, i, &states[i], temperatures[i], summary);
    }
    double duration = series->time ? series->time[series->n - 1] - series->time[0] : 0;
    summary->electrical_energy *= duration;
    summary->heat_energy *= duration;
    summary->gear_loss_energy *= duration;
    summary->rms_load = sqrt(summary->rms_load);
    summary->rms_torque = sqrt(summary->rms_torque);
    summary->rms_current = sqrt(summary->rms_current);
    find_excesses(drive, series, states, temperatures, summary);
}
