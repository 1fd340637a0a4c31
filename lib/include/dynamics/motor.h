/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motors of a motion: torque, current, voltage, power, heat and temperature of each motor of a model
 * (machine_element.h), and the distance to the limits of motor and gear.
 *
 * The motor of a joint turns at the speed w = G v. G is the ratio of the joint's only rotor, else that of its gear,
 * else one; for a joint that follows another, v is the rate of that one and G includes the multiplier. The force tau of
 * the coordinate consists of the load F at the output of the gear, of the force tau_R that accelerates the rotors, and
 * of the friction r_m on the side of the rotor:
 *
 *     tau = F + tau_R - r_m
 *     torque = (tau_R - r_m + F / eta) / G    where F v > 0: the motor drives
 *     torque = (tau_R - r_m + eta_b F) / G    where F v < 0: the load drives the motor back
 *
 * The motors of shafts overcome the friction of their shaft. tau = G' tau_motor has one solution where as many motors
 * as coordinates share shafts, and G is not singular. The equations above hold for a shaft with its rate w in the place
 * of v, and with its share of the forces of the coordinates, T = (G'^-1 tau)_i, in the place of tau.
 *
 * The efficiency acts on F alone, and once. For v = 0 the sign of F a decides, and for F v = F a = 0 there is no loss.
 *
 *     torque = k_t i        voltage = R i + L di/dt + k_t w        heat = R i^2
 *
 * R = R_25 (1 + c (T - 25)) for the temperature T of the winding. With the thermal resistances R_w and R_h and the time
 * constants t_w and t_h of winding and housing, and the ambient temperature T_a,
 *
 *     t_w dT/dt = R_w heat - (T - T_h)        t_h dT_h/dt = (R_h / R_w) (T - T_h) - (T_h - T_a)
 *
 * Limits. In figure 8.10 of Modern Robotics the operating region of a motor has the edges |torque| = k_t i_max,
 * |w| = w_max, and the line from the no-load speed V_max / k_t to the stall torque k_t V_max / R.
 *
 * Source: Modern Robotics (Lynch and Park 2017), section 8.9.1: equation 8.102 and figures 8.10 and 8.11.
 */
#ifndef DYNAMICS_MOTOR_H
#define DYNAMICS_MOTOR_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/machine_element.h>
#include <dynamics/passive_force.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Motor of a model with its gear. Strings live as long as the model. */
typedef struct dyn_drive {
    const char *name;  /* of the motor */
    const char *joint; /* that the motor moves */
    int v_index;       /* coordinate that the joint moves with */
    double ratio;      /* G: rate of the motor over that of the coordinate */
    double multiplier; /* rate of the joint over that of the coordinate; 1 except for a mimic joint */
    double inertia;    /* axial inertia of the joint's rotor, kg m^2; zero without one */
    dyn_motor motor;
    const char *brake_name; /* NULL: the motor has no brake */
    double brake;           /* torque of the brake, N m */
    dyn_gear gear;          /* without a gear: efficiencies of one, and no limits */
    /* Of the motor of a shaft: joint is the first one that turns it, v_index its coordinate, and the ratio is one. */
    int coordinate_count;                  /* zero for the motor of a joint */
    int coordinates[DYN_MAX_SHAFT_JOINTS]; /* that turn this shaft, and those of motors that share their load */
    double rates[DYN_MAX_SHAFT_JOINTS];    /* row of G: rate of the shaft over that of each coordinate */
    double shares[DYN_MAX_SHAFT_JOINTS];   /* row of G'^-1: torque of the shaft over the force of each */
} dyn_drive;

/* Returns the number of motors whose joints move. */
DYN_API int dyn_model_drive_count(const dyn_model *model);

/* Finds the motors whose joints move, in the order of the machine elements: dyn_model_drive_count of them.
 * Errors: DYN_FAILED_PRECONDITION, with the place "machine element NAME", for a second motor of one coordinate, since
 * the motion does not determine how both share the load, and for shafts that share coordinates, where their motors are
 * not as many as the coordinates, or these are more than DYN_MAX_SHAFT_JOINTS, or the matrix G is singular. */
DYN_API dyn_status dyn_model_drives(const dyn_model *model, dyn_drive *drives, dyn_error *error);

/* Returns the speed of a motor, rad/s, for the velocity v of the model. */
DYN_API double dyn_drive_speed(const dyn_drive *drive, const double *v);

/* Returns the number of rotors of a model that spin. */
DYN_API int dyn_model_rotor_count(const dyn_model *model);

/* Motion whose motors are evaluated: n samples. */
typedef struct dyn_drive_motion {
    size_t n;
    const double *q, *v, *a; /* n x nq, n x nv; v, a NULL: zero */
    const double *forces;    /* n x nv: inverse dynamics (dyn_rnea) of the motion */
    const double *wrenches;  /* n x joints x 6: joint wrenches (dyn_joint_wrenches); NULL for a model without rotors */
    const double *tau;       /* n x nv: forces of the joints; NULL: `forces` less the passive forces of `parts` */
    dyn_passive_parts parts; /* passive forces that count */
} dyn_drive_motion;

/* Computes the load F at the output of each gear, N m or N at its joint, and the torque of each motor, N m: n x count.
 * `drives` are those of dyn_model_drives. Cost O(machine elements) per sample and motor. Allocates nothing.
 * Thread-safe. Errors: DYN_INVALID_ARGUMENT for a friction velocity that is not positive, and for a result that
 * overflows. */
DYN_API dyn_status dyn_drive_torques(const dyn_model *model, int count, const dyn_drive *drives,
                                     const dyn_drive_motion *motion, double *loads, double *torques, dyn_error *error);

/* Returns the drive with another ratio of its gear, in the sense of dyn_gear. */
DYN_API dyn_drive dyn_drive_at_ratio(const dyn_drive *drive, double ratio);

/* Computes the torques of motors in place of that of `drive`, n x count, to choose a motor and a gear. `others` are
 * copies of `drive` with another motor, gear, ratio or inertia. The load and the motion stay; the rotor turns at the
 * other speed, with its inertia and with the friction of the model on the side of the rotor. The reaction of the rotors
 * on the links that carry them is that of the model's own. The ratio of a shaft's motor is that of a gear without loss
 * between both, beside the ratios of the shaft. Ratios are not zero. `torques` must not overlap the inputs. Cost
 * O(machine elements) per sample and other drive. Threads and errors as in dyn_drive_torques. */
DYN_API dyn_status dyn_drive_torques_of_others(const dyn_model *model, const dyn_drive *drive, int count,
                                               const dyn_drive *others, const dyn_drive_motion *motion, double *torques,
                                               dyn_error *error);

/* Temperatures, degrees Celsius. */
typedef struct dyn_motor_temperature {
    double winding, housing;
} dyn_motor_temperature;

/* Advances the temperatures of a motor by `duration` (s) with the root mean square of the current (A). The result is
 * exact for a constant current; a body without thermal resistance has the temperature of the next. */
DYN_API dyn_motor_temperature dyn_motor_heat(const dyn_motor *motor, double current, double duration, double ambient,
                                             dyn_motor_temperature before);

/* State of a motor. */
typedef struct dyn_motor_state {
    double current;          /* A */
    double voltage;          /* V */
    double electrical_power; /* voltage * current, W; negative: the motor feeds the supply */
    double mechanical_power; /* torque * speed, W */
    double heat;             /* R i^2, W */
    double gear_loss;        /* W */
    double torque_margin;    /* to the limit in the direction of the torque at this speed, N m; negative: outside */
    double speed_margin;     /* to the limit in the direction of the speed at this torque, rad/s; negative: outside */
    int quadrant;            /* 1: speed >= 0 and torque >= 0; 2: speed < 0, torque >= 0; 3: both < 0; 4: torque < 0 */
} dyn_motor_state;

/* Inputs of a motor's state. */
typedef struct dyn_motor_input {
    double load;         /* F, N m or N at the joint */
    double speed;        /* w, rad/s */
    double torque;       /* N m */
    double current_rate; /* di/dt, A/s */
    double temperature;  /* of the winding, degrees Celsius */
} dyn_motor_input;

/* Computes the state of a motor. Margins are infinite without limits. */
DYN_API dyn_motor_state dyn_motor_evaluate(const dyn_drive *drive, const dyn_motor_input *input);

/* Returns the speed without load, V_max / k_t (rad/s), and the stall torque, k_t V_max / R (N m), of a motor at 25
 * degrees Celsius; infinite without a maximum voltage. The stall torque is without the limit of the current. */
DYN_API double dyn_motor_no_load_speed(const dyn_motor *motor);
DYN_API double dyn_motor_stall_torque(const dyn_motor *motor);

/* Limits of a motor and its gear. */
typedef enum dyn_drive_limit {
    DYN_DRIVE_LIMIT_VOLTAGE,            /* V */
    DYN_DRIVE_LIMIT_CURRENT,            /* A */
    DYN_DRIVE_LIMIT_CONTINUOUS_CURRENT, /* root mean square, A */
    DYN_DRIVE_LIMIT_SPEED,              /* rad/s */
    DYN_DRIVE_LIMIT_TEMPERATURE,        /* degrees Celsius */
    DYN_DRIVE_LIMIT_GEAR_TORQUE,        /* N m or N at the joint */
    DYN_DRIVE_LIMIT_GEAR_CONTINUOUS,    /* root mean square, N m or N at the joint */
    DYN_DRIVE_LIMIT_GEAR_SPEED,         /* rad/s */
    DYN_DRIVE_LIMIT_BRAKE               /* N m at the motor, where it is at rest and the brake is engaged */
} dyn_drive_limit;

/* Number of limits. */
enum { DYN_DRIVE_LIMITS = DYN_DRIVE_LIMIT_BRAKE + 1 };

/* Returns the value of a limit of a drive; infinite where there is none. */
DYN_API double dyn_drive_limit_value(const dyn_drive *drive, dyn_drive_limit limit);

/* Returns the torque of the engaged brake (N m), which adds to that of the motor, where both together exert a torque at
 * the speed of the rotor (rad/s). At rest the brake holds up to its torque; in motion it slips, and the motor drives
 * against it. */
DYN_API double dyn_drive_brake_torque(const dyn_drive *drive, double speed, double torque);

/* Motion of one drive: n samples. */
typedef struct dyn_drive_series {
    size_t n;
    const double *time;    /* s, strictly increasing; NULL: the samples are independent */
    const double *loads;   /* F at the joint, N m or N */
    const double *speeds;  /* w, rad/s */
    const double *torques; /* of the motor, N m */
    const double *brakes;  /* torques of the brake, which `torques` are without; NULL: it is released */
    double ambient;        /* temperature, degrees Celsius */
    double start;          /* temperature of winding and housing in the first sample */
} dyn_drive_series;

/* Limit that a motion exceeds, by more than 1e-9 of it. For a root mean square, first and worst are 0, samples is n. */
typedef struct dyn_drive_excess {
    dyn_drive_limit limit;
    double bound, worst; /* the limit, and the greatest absolute value */
    size_t first, at;    /* samples of the first excess, and of the worst one */
    size_t samples;      /* number of samples beyond the limit */
} dyn_drive_excess;

/* Summary of the motion of one drive. Peaks are of absolute values. Root mean squares are over the time, or over the
 * samples where they have no times. Energies are zero then. */
typedef struct dyn_drive_summary {
    double peak_load, rms_load;       /* N m or N at the joint */
    double peak_torque, rms_torque;   /* N m */
    double peak_current, rms_current; /* A */
    double peak_voltage;              /* V */
    double peak_speed;                /* rad/s */
    double peak_power;                /* electrical, W */
    double peak_temperature;          /* of the winding, degrees Celsius */
    double electrical_energy;         /* J */
    double heat_energy;               /* J */
    double gear_loss_energy;          /* J */
    double values[DYN_DRIVE_LIMITS];  /* what each limit bounds: the greatest value, or the root mean square */
    int excess_count;
    dyn_drive_excess excesses[DYN_DRIVE_LIMITS];
} dyn_drive_summary;

/* Evaluates the motion of one drive: n states and n temperatures of the winding, and the summary. With times the
 * current is linear between samples: di/dt is its mean slope around a sample, energies follow from the trapezoidal
 * rule, and the temperature advances with the mean square of the current. Without times di/dt is zero, and the
 * temperature is `start`.
 * Allocates nothing. Thread-safe. */
DYN_API void dyn_drive_evaluate(const dyn_drive *drive, const dyn_drive_series *series, dyn_motor_state *states,
                                double *temperatures, dyn_drive_summary *summary);

#ifdef __cplusplus
}
#endif

#endif
