/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/motor.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../model/description.h"
#include "../model/error.h"
#include "../model/normal_form.h"
#include "joint_properties.h"

/* ---- Motors of a model ------------------------------------------------------------------------------------------- */

/* Returns the first element of a kind at a joint, or NULL. */
static const dyn_machine_element_description *element_at(const dyn_builder *description, const char *joint,
                                                         dyn_machine_element_kind kind) {
    for (int i = 0; i < description->machine_element_count; i++) {
        const dyn_machine_element_description *e = &description->machine_elements[i];
        if (e->kind == kind && strcmp(e->joint, joint) == 0) {
            return e;
        }
    }
    return NULL;
}

/* Finds the drive of a machine element. Returns false for one that is no motor, and for one whose joint does not
 * move. */
static bool find_drive(const dyn_model *model, int element, dyn_drive *drive) {
    const dyn_builder *description = model->description;
    const dyn_machine_element_description *e = &description->machine_elements[element];
    const dyn_joint *joint = dyn_model_joint(model, dyn_model_find_joint(model, e->joint));
    if (e->kind != DYN_MACHINE_ELEMENT_KIND_MOTOR || !joint || (joint->master >= 0 && joint->multiplier == 0)) {
        return false;
    }
    const dyn_machine_element_description *rotor = element_at(description, e->joint, DYN_MACHINE_ELEMENT_KIND_ROTOR);
    const dyn_machine_element_description *gear = element_at(description, e->joint, DYN_MACHINE_ELEMENT_KIND_GEAR);
    const dyn_machine_element_description *brake = element_at(description, e->joint, DYN_MACHINE_ELEMENT_KIND_BRAKE);
    double stated = gear && gear->gear.ratio != 0 ? gear->gear.ratio : 1;
    *drive = (dyn_drive){.name = e->name,
                         .joint = e->joint,
                         .v_index = joint->v_index,
                         .multiplier = joint->master >= 0 ? joint->multiplier : 1,
                         .inertia = rotor ? rotor->rotor.axial_inertia : 0,
                         .motor = e->motor,
                         .brake_name = brake ? brake->name : NULL,
                         .brake = brake ? brake->brake.torque : 0,
                         .gear = {.efficiency = 1, .back_driving_efficiency = 1}};
    if (gear) {
        drive->gear = gear->gear;
    }
    drive->gear.ratio = rotor ? rotor->rotor.ratio : stated;
    drive->ratio = drive->gear.ratio * drive->multiplier;
    return true;
}

int dyn_model_rotor_count(const dyn_model *model) {
    return model->rotor_count;
}

int dyn_model_drive_count(const dyn_model *model) {
    int count = 0;
    for (int i = 0; i < model->description->machine_element_count; i++) {
        dyn_drive drive;
        count += find_drive(model, i, &drive);
    }
    return count;
}

dyn_status dyn_model_drives(const dyn_model *model, dyn_drive *drives, dyn_error *error) {
    int count = 0;
    for (int i = 0; i < model->description->machine_element_count; i++) {
        if (!find_drive(model, i, &drives[count])) {
            continue;
        }
        for (int k = 0; k < count; k++) {
            if (drives[k].v_index == drives[count].v_index) {
                char place[320];
                snprintf(place, sizeof place, "machine element %s", drives[count].name);
                return dyn_error_set(
                    error, DYN_FAILED_PRECONDITION, place,
                    "motors \"%s\" and \"%s\" move the same coordinate, that of joint \"%s\"; the motion "
                    "does not determine how they share its load",
                    drives[k].name, drives[count].name, drives[k].joint);
            }
        }
        count++;
    }
    return DYN_OK;
}

/* ---- Torques ----------------------------------------------------------------------------------------------------- */

/* Returns the force that accelerates the rotors of a coordinate: the inverse dynamics of the coordinate less what its
 * joints transmit. */
static double rotor_force(const dyn_model *model, const dyn_drive_motion *motion, int v_index, size_t sample) {
    size_t nv = (size_t)model->nv, joints = (size_t)model->joint_count;
    if (!motion->wrenches) {
        return 0;
    }
    return motion->forces[sample * nv + (size_t)v_index] -
           dyn_transmitted_force(model, v_index, motion->wrenches + sample * joints * 6);
}

/* Passive forces of a coordinate: all that count, and those of them that act on the side of the rotor. */
typedef struct passive_sum {
    double all, rotor;
} passive_sum;

/* Returns a friction law of the rate w as that of another gear, at which the rate is `factor` times as great. */
static friction_law scale_law(const friction_law *law, double factor) {
    friction_law scaled = *law;
    double size = fabs(factor);
    scaled.stribeck_velocity /= size;
    scaled.transition_velocity /= size;
    for (int i = 0; i < 2; i++) {
        int from = factor < 0 ? 1 - i : i;
        scaled.viscous[i] = size * size * law->viscous[from];
        scaled.coulomb[i] = size * law->coulomb[from];
        scaled.excess[i] = size * law->excess[from];
    }
    return scaled;
}

/* Adds up the passive forces of a coordinate. `factor` is the speed of the rotors over that of the model's gear. */
static passive_sum passive_forces_of(const dyn_model *model, const dyn_passive_parts *parts, int v_index, double factor,
                                     double q, double v) {
    passive_sum sum = {0};
    for (int j = 0; j < model->joint_count; j++) {
        joint_losses losses = dyn_joint_losses(model, &model->joints[j]);
        if (v_index >= losses.v_index && v_index < losses.v_index + losses.nv) {
            sum.all += dyn_joint_loss_force(&losses, parts, v);
        }
    }
    for (int i = 0; i < model->description->machine_element_count; i++) {
        const dyn_machine_element_description *e = &model->description->machine_elements[i];
        friction_law law;
        spring_law spring;
        if (dyn_element_friction(model, i, &law) && law.v_index == v_index) {
            bool is_of_rotor = e->friction.side == DYN_GEAR_SIDE_ROTOR;
            sum.all += dyn_friction_force(&law, parts, v);
            law = is_of_rotor ? scale_law(&law, factor) : law;
            sum.rotor += is_of_rotor ? dyn_friction_force(&law, parts, v) : 0;
        }
        if (parts->springs && dyn_element_spring(model, i, &spring) && spring.v_index == v_index) {
            sum.all -= spring.stiffness * (q - spring.rest);
        }
    }
    return sum;
}

/* Returns the load at the input of the gear, as a force of the coordinate. */
static double load_at_motor(const dyn_gear *gear, double load, double v, double a) {
    double power = load * v, rise = load * a, sign = power != 0 ? power : rise;
    if (sign > 0) {
        return load / gear->efficiency;
    }
    return sign < 0 ? load * gear->back_driving_efficiency : load;
}

/* Returns the coordinate q of a drive. Joints with one coordinate have one number in q. */
static double position_of(const dyn_model *model, const dyn_drive *drive, const double *q) {
    const dyn_joint *joint = dyn_model_joint(model, dyn_model_find_joint(model, drive->joint));
    return q[joint->q_index];
}

/* Forces of the coordinate of one drive in one sample. */
typedef struct drive_forces {
    double q, v, a;
    double load;     /* F, as a force of the coordinate */
    double rotors;   /* tau_R */
    double friction; /* r_m */
} drive_forces;

static drive_forces forces_of(const dyn_model *model, const dyn_drive *drive, const dyn_drive_motion *m,
                              size_t sample) {
    size_t nv = (size_t)model->nv, k = sample * nv + (size_t)drive->v_index;
    drive_forces f = {.q = position_of(model, drive, m->q + sample * (size_t)model->nq),
                      .v = m->v ? m->v[k] : 0,
                      .a = m->a ? m->a[k] : 0};
    passive_sum passive = passive_forces_of(model, &m->parts, drive->v_index, 1, f.q, f.v);
    f.rotors = rotor_force(model, m, drive->v_index, sample);
    f.friction = passive.rotor;
    f.load = (m->tau ? m->tau[k] : m->forces[k] - passive.all) - f.rotors + f.friction;
    return f;
}

/* Returns the torque of a motor with these forces. */
static double torque_of(const dyn_drive *drive, const drive_forces *f) {
    return (f->rotors - f->friction + load_at_motor(&drive->gear, f->load, f->v, f->a)) / drive->ratio;
}

static dyn_status check_width(const dyn_drive_motion *motion, dyn_error *error) {
    double width = motion->parts.friction_velocity;
    return width > 0 && isfinite(width) ? DYN_OK
                                        : dyn_error_set(error, DYN_INVALID_ARGUMENT, "friction_velocity",
                                                        "it is %g; state a positive number", width);
}

static dyn_status check_torque(const dyn_drive *drive, size_t sample, double torque, dyn_error *error) {
    return isfinite(torque)
               ? DYN_OK
               : dyn_error_set(error, DYN_INVALID_ARGUMENT, "torques", "the torque of motor \"%s\" in sample %zu is %g",
                               drive->name, sample, torque);
}

dyn_status dyn_drive_torques(const dyn_model *model, int count, const dyn_drive *drives, const dyn_drive_motion *motion,
                             double *loads, double *torques, dyn_error *error) {
    dyn_status status = check_width(motion, error);
    for (size_t s = 0; s < motion->n; s++) {
        for (int i = 0; i < count && status == DYN_OK; i++) {
            size_t k = s * (size_t)count + (size_t)i;
            drive_forces f = forces_of(model, &drives[i], motion, s);
            loads[k] = f.load / drives[i].multiplier;
            torques[k] = torque_of(&drives[i], &f);
            status = check_torque(&drives[i], s, torques[k], error);
        }
    }
    return status;
}

dyn_drive dyn_drive_at_ratio(const dyn_drive *drive, double ratio) {
    dyn_drive other = *drive;
    other.gear.ratio = ratio;
    other.ratio = ratio * drive->multiplier;
    return other;
}

dyn_status dyn_drive_torques_at_ratios(const dyn_model *model, int count, const dyn_drive *drives, int ratio_count,
                                       const double *ratios, const dyn_drive_motion *motion, double *torques,
                                       dyn_error *error) {
    dyn_status status = check_width(motion, error);
    for (size_t s = 0; s < motion->n; s++) {
        for (int i = 0; i < count; i++) {
            const drive_forces own = forces_of(model, &drives[i], motion, s);
            double G = drives[i].ratio, inertial = drives[i].inertia * own.a;
            for (int k = 0; k < ratio_count && status == DYN_OK; k++) {
                const dyn_drive other = dyn_drive_at_ratio(&drives[i], ratios[k]);
                double factor = other.ratio / G;
                drive_forces f = own;
                f.rotors = inertial * other.ratio * other.ratio + factor * (own.rotors - inertial * G * G);
                f.friction = passive_forces_of(model, &motion->parts, other.v_index, factor, f.q, f.v).rotor;
                *torques = torque_of(&other, &f);
                status = check_torque(&other, s, *torques++, error);
            }
        }
    }
    return status;
}

/* ---- Heat -------------------------------------------------------------------------------------------------------- */

static const double REFERENCE_TEMPERATURE = 25; /* of the resistance, degrees Celsius */

/* Returns (e^x - 1) / x. */
static double phi(double x) {
    return x != 0 ? expm1(x) / x : 1;
}

/* Returns the temperature of one body after `duration`: time dT/dt = resistance heat - (T - outside). */
static double heat_one(const dyn_motor *motor, double square, double resistance, double time, double duration,
                       double outside, double before) {
    double gain = resistance * square * motor->resistance, c = motor->temperature_coefficient;
    double rate = (gain * c - 1) / time;
    double slope = (gain * (1 + c * (before - REFERENCE_TEMPERATURE)) - (before - outside)) / time;
    return before + duration * phi(rate * duration) * slope;
}

/* Advances both bodies: T(t) = T + t phi(A t) T' for the linear system with the matrix A. The off-diagonal entries of A
 * are positive, so that its eigenvalues x and y are real and differ:
 *
 *     phi(A t) = phi(x t) + (A - x) (phi(y t) - phi(x t)) / (y - x) */
static dyn_motor_temperature heat_two(const dyn_motor *m, double square, double duration, double ambient,
                                      dyn_motor_temperature before) {
    double gain = m->winding_resistance * square * m->resistance, c = m->temperature_coefficient;
    double share = m->housing_resistance / m->winding_resistance;
    const double A[4] = {(gain * c - 1) / m->winding_time_constant, 1 / m->winding_time_constant,
                         share / m->housing_time_constant, -(share + 1) / m->housing_time_constant};
    double step = before.winding - before.housing;
    const double slope[2] = {(gain * (1 + c * (before.winding - REFERENCE_TEMPERATURE)) - step) /
                                 m->winding_time_constant,
                             (share * step - (before.housing - ambient)) / m->housing_time_constant};
    double mean = (A[0] + A[3]) / 2, half = hypot((A[0] - A[3]) / 2, sqrt(A[1] * A[2])), x = mean + half,
           y = mean - half;
    double phi_x = phi(x * duration), slant = (phi(y * duration) - phi_x) / (y - x);
    double w = phi_x * slope[0] + slant * ((A[0] - x) * slope[0] + A[1] * slope[1]);
    double h = phi_x * slope[1] + slant * (A[2] * slope[0] + (A[3] - x) * slope[1]);
    return (dyn_motor_temperature){before.winding + duration * w, before.housing + duration * h};
}

dyn_motor_temperature dyn_motor_heat(const dyn_motor *motor, double current, double duration, double ambient,
                                     dyn_motor_temperature before) {
    double square = current * current;
    if (motor->winding_resistance > 0 && motor->housing_resistance > 0) {
        return heat_two(motor, square, duration, ambient, before);
    }
    if (motor->winding_resistance > 0) {
        before.winding = heat_one(motor, square, motor->winding_resistance, motor->winding_time_constant, duration,
                                  ambient, before.winding);
        before.housing = ambient;
    } else if (motor->housing_resistance > 0) {
        before.winding = heat_one(motor, square, motor->housing_resistance, motor->housing_time_constant, duration,
                                  ambient, before.housing);
        before.housing = before.winding;
    } else {
        before = (dyn_motor_temperature){ambient, ambient};
    }
    return before;
}

/* ---- State and limits -------------------------------------------------------------------------------------------- */

/* Returns a limit, of which zero is none. */
static double limit_of(double stated) {
    return stated > 0 ? stated : INFINITY;
}

double dyn_motor_no_load_speed(const dyn_motor *motor) {
    return limit_of(motor->maximum_voltage) / motor->torque_constant;
}

double dyn_motor_stall_torque(const dyn_motor *motor) {
    return motor->torque_constant * limit_of(motor->maximum_voltage) / motor->resistance;
}

double dyn_drive_limit_value(const dyn_drive *drive, dyn_drive_limit limit) {
    const dyn_motor *m = &drive->motor;
    const dyn_gear *g = &drive->gear;
    const double stated[DYN_DRIVE_LIMITS] = {
        [DYN_DRIVE_LIMIT_VOLTAGE] = m->maximum_voltage,
        [DYN_DRIVE_LIMIT_CURRENT] = m->maximum_current,
        [DYN_DRIVE_LIMIT_CONTINUOUS_CURRENT] = m->continuous_current,
        [DYN_DRIVE_LIMIT_SPEED] = m->maximum_speed,
        [DYN_DRIVE_LIMIT_TEMPERATURE] = m->maximum_temperature,
        [DYN_DRIVE_LIMIT_GEAR_TORQUE] = g->maximum_torque,
        [DYN_DRIVE_LIMIT_GEAR_CONTINUOUS] = g->continuous_torque,
        [DYN_DRIVE_LIMIT_GEAR_SPEED] = g->maximum_speed,
        [DYN_DRIVE_LIMIT_BRAKE] = drive->brake,
    };
    return limit_of(stated[limit]);
}

/* Sets the distances to the limits of figure 8.10: of torque at this speed, and of speed at this torque. */
static void set_margins(const dyn_drive *drive, const dyn_motor_input *in, double R, dyn_motor_state *state) {
    const dyn_motor *m = &drive->motor;
    double k_t = m->torque_constant, V = limit_of(m->maximum_voltage);
    double backward = in->torque < 0 ? -k_t * in->speed : k_t * in->speed;
    double torque = fmin(k_t * limit_of(m->maximum_current), k_t * (V - backward) / R);
    double drop = in->speed < 0 ? -R * state->current : R * state->current;
    double speed = fmin(fmin(limit_of(m->maximum_speed), limit_of(drive->gear.maximum_speed)), (V - drop) / k_t);
    state->torque_margin = torque - fabs(in->torque);
    state->speed_margin = speed - fabs(in->speed);
}

dyn_motor_state dyn_motor_evaluate(const dyn_drive *drive, const dyn_motor_input *in) {
    const dyn_motor *m = &drive->motor;
    double R = m->resistance * (1 + m->temperature_coefficient * (in->temperature - REFERENCE_TEMPERATURE));
    double i = in->torque / m->torque_constant;
    dyn_motor_state state = {.current = i,
                             .voltage = R * i + m->inductance * in->current_rate + m->torque_constant * in->speed,
                             .mechanical_power = in->torque * in->speed,
                             .heat = R * i * i};
    double through = in->load * in->speed / drive->gear.ratio;
    state.electrical_power = state.voltage * i;
    state.gear_loss =
        through > 0 ? through * (1 / drive->gear.efficiency - 1) : -through * (1 - drive->gear.back_driving_efficiency);
    state.quadrant = in->torque >= 0 ? (in->speed >= 0 ? 1 : 2) : (in->speed < 0 ? 3 : 4);
    set_margins(drive, in, R, &state);
    return state;
}
