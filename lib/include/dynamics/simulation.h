/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulation: integrates M(q) a + h(q, v) = tau + r(q, v) + sum J' f_ext forward in time, step by step.
 *
 * A simulator holds a model, options and scratch memory; the states belong to the caller. So one simulator can drive
 * one robot for hours, or thousands of them side by side. Results of a sample have the same bits for any n, place and
 * thread, and do not depend on the other samples.
 *
 * Forces r that the description states, each on unless the options say otherwise
 *     damping    -b v
 *     friction   -f v / sqrt(v^2 + v_f^2): Coulomb friction, made smooth by the friction velocity v_f. Much faster than
 *                v_f it is f; a joint under less force than f creeps at less than v_f.
 *     gears      F = eta X where the motor drives, X = eta_b F where the load drives it (motor.h). A joint below v_f
 *                has less loss; a self-locking gear, eta_b = 0, stops a load that drives it, which then creeps at less
 *                than 2 v_f.
 *     brakes     an engaged brake with the torque T at the ratio G is Coulomb friction |G| T on the side of the rotor
 *     stops      a joint with one coordinate does not leave its limits (dyn_joint_stop).
 * The friction and damping of a coupled mimic joint act on its master, through the ratio. The bristles of LuGre
 * friction (machine_element.h) are a part of the state beside (q, v), and move once in an integration step.
 *
 * Integrators
 *     DYN_INTEGRATOR_SEMI_IMPLICIT_EULER  order 1; energy does not drift; stable for any damping and friction, since it
 *                                         evaluates them at the new velocity: (M + dt K) a = tau - h - K v,
 *                                         K = b + f / sqrt(v^2 + v_f^2), with dt the length of an integration step
 *     DYN_INTEGRATOR_EXPLICIT_EULER       order 1; gains energy; Modern Robotics, algorithm of section 8.5
 *     DYN_INTEGRATOR_RUNGE_KUTTA_4        order 4; needs dt K / M_ii < 2.7
 * Rotations are integrated on their manifold: increments of configuration_space.h, no drift of the quaternion's norm.
 *
 * Constraints of the model (constraint.h) add A' lambda to the forces wherever an integrator computes an acceleration:
 *
 *     A a = -dA/dt v - 2 k A v - k^2 e
 *
 * k is the stabilization (Baumgarte), whose default of 20 1/s lets closure errors e decay to a hundredth in 0.33 s,
 * adds little force (0.04 m/s^2 for e = 0.1 mm), and is stable for steps up to 41 ms by the semi-implicit method (k dt
 * < 0.828), 100 ms by the explicit one (k dt < 2) and 139 ms by Runge-Kutta 4 (k dt < 2.78). After each integration
 * step a projection moves q by the shortest way in the metric of M until e is zero to rounding, and removes A v by an
 * impulse of the constraints. A start that is far from closed jumps to a closed configuration in the first step, or
 * remains open where none is nearby: dyn_assemble finds one. Impulses at rigid stops leave the loops closed. Where a
 * stop and the loops contradict each other, closure errors remain.
 *
 * Contact surfaces of the model (contact.h) exert forces in the steps of the semi-implicit method, which the other
 * methods refuse. With the gap g, the normal velocity v_n and the step dt, a rigid contact requires v_n' >= -g / dt; it
 * ends a fifth of a penetration in each step, at most at 1 m/s; and it rebounds, v_n' >= -e v_n, where v_n exceeds the
 * rest velocity. A compliant contact is linearized at the end of the step, which is stable for any stiffness. Projected
 * Gauss-Seidel finds the impulses. Stops at joint limits act after the contacts, without regard to them, unless the
 * solver of the contacts also solves joints.
 *
 * A base that moves (base_motion.h) adds its forces -f_base(q, v) to tau where an integrator computes an acceleration;
 * its twist and acceleration are held over a step. q, v, energies, contacts and controllers are relative to the base,
 * and controllers do not know of its motion. Gravity remains along the axes of the base: where the base turns, the
 * caller adds the turn of gravity to the acceleration of the base.
 *
 * Source: Stewart and Trinkle 1996; Moreau 1988; Baumgarte 1972; Hairer, Lubich and Wanner 2006; Featherstone 2008;
 * Modern Robotics (Lynch and Park 2017), section 8.5.
 */
#ifndef DYNAMICS_SIMULATION_H
#define DYNAMICS_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/base_motion.h>
#include <dynamics/compiled.h>
#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/payload.h>
#include <dynamics/sized.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Integration methods, which the comment at the top of this file describes. */
typedef enum dyn_integrator {
    DYN_INTEGRATOR_SEMI_IMPLICIT_EULER,
    DYN_INTEGRATOR_EXPLICIT_EULER,
    DYN_INTEGRATOR_RUNGE_KUTTA_4,
} dyn_integrator;

/* Behaviour of a joint with one coordinate at its limits. The limits of coupled mimic joints bound their master. Rigid
 * stops act together on up to 64 joints at their limits in one sample: without restitution, each of them either has an
 * impulse away from the limit and comes to rest, or moves away without one. Where more joints of a sample are at their
 * limits, groups of 64 take turns, until the speed into the stops is below 1e-9 of what it was, or 32 turns are over. A
 * joint may then move away from its limit in spite of an impulse. Impacts never add energy. */
typedef enum dyn_joint_stop {
    /* An impulse through the whole robot reverses the velocity by the restitution. q stays within the limits: the first
     * step moves a joint that starts outside to its limit. */
    DYN_JOINT_STOP_RIGID,
    DYN_JOINT_STOP_SPRING, /* a spring and a damper push back beyond the limit */
    DYN_JOINT_STOP_NONE,   /* the joint passes its limits */
} dyn_joint_stop;

/* Control law by which the joints' forces follow the reference (q_ref, v_ref, a_ref), with e = q_ref (-) q. It does not
 * act on floating joints. */
typedef enum dyn_control {
    DYN_CONTROL_NONE,
    DYN_CONTROL_PD,              /* tau += K_p e + K_d (v_ref - v) */
    DYN_CONTROL_PD_GRAVITY,      /* tau += K_p e + K_d (v_ref - v) + g(q) */
    DYN_CONTROL_COMPUTED_TORQUE, /* tau += RNEA(q, v, a_ref + K_p e + K_d (v_ref - v)) */
} dyn_control;

/* Course, between two of its rows, of a number that is stated row by row. */
typedef enum dyn_hold {
    DYN_HOLD_ZERO_ORDER, /* a row holds until the next one */
    DYN_HOLD_LINEAR,     /* straight lines */
} dyn_hold;

/* Law of all contacts, in place of that which the surfaces state. */
typedef enum dyn_contact_law {
    DYN_CONTACT_LAW_OF_SURFACES, /* contact.h */
    DYN_CONTACT_LAW_RIGID,       /* all surfaces are rigid, with their friction and restitution */
    DYN_CONTACT_LAW_SOFT,        /* all are soft: by their own parameters, otherwise by MuJoCo's defaults */
} dyn_contact_law;

/* Options of a simulator. DYN_SIMULATION_OPTIONS_INIT() has the defaults. */
typedef struct dyn_simulation_options {
    size_t struct_size; /* set by DYN_SIMULATION_OPTIONS_INIT (sized.h) */
    dyn_integrator integrator;
    double step_length; /* s; > 0. A controller acts once a step. */
    int substeps;       /* integration steps in a step, 1 .. 10000 */

    bool has_gravity; /* `gravity` is used instead of the model's own */
    double gravity[3];

    /* Damping of the joints and viscous friction of the machine elements; Coulomb friction of the joints and all other
     * friction of the machine elements; springs of the machine elements (machine_element.h). */
    bool ignore_damping, ignore_friction, ignore_springs;
    double friction_velocity; /* v_f, rad/s or m/s; > 0 */

    dyn_joint_stop stop;
    double restitution;                  /* of a rigid stop, 0 .. 1 */
    double rest_velocity;                /* a slower joint does not rebound from a rigid stop, rad/s or m/s */
    double stop_stiffness, stop_damping; /* of a spring stop, N m/rad or N/m, and N m s/rad or N s/m */

    dyn_control control;
    const double *control_stiffness, *control_damping; /* K_p and K_d, nv each >= 0; copied; NULL: zeros */

    double constraint_stabilization; /* k of the model's constraints, 1/s; >= 0; 0: none */
    bool ignore_projection;          /* the loops drift as far as the stabilization lets them */

    int contact_sweeps; /* most sweeps over the contacts in an integration step, 1 .. 10000 */

    bool ignore_effort_limits; /* false: tau is clamped to the joints' effort limits, where these are stated */

    double velocity_bound; /* a sample with a faster joint has diverged, rad/s or m/s; > 0 */

    bool ignore_gear_losses; /* gears have the efficiency one */
    size_t brake_count;
    const char *const *brakes; /* names of the engaged brakes; read once */

    bool base_may_move; /* steps take the motion of the base; costs memory, and nothing while the base rests */

    /* Rigid stops and the Coulomb friction of the joints act through impulses that are found together with those of the
     * contacts (contact.h): |tau_f| <= friction, so that a joint sticks. Semi-implicit Euler only. */
    bool solve_joints;

    dyn_contact_law contact_law;
} dyn_simulation_options;

/* Default options: semi-implicit Euler with a step_length of 0.001; v_f = 0.01; rigid stops without restitution, rest
 * velocity 0.05, spring stops of 1e4 and 100; no controller; stabilization 20 with projection; 100 sweeps;
 * velocity bound 1e6. */
#define DYN_SIMULATION_OPTIONS_INIT()                                                                                  \
    DYN_SIZED(dyn_simulation_options, .step_length = 0.001, .substeps = 1, .friction_velocity = 0.01,                  \
              .rest_velocity = 0.05, .stop_stiffness = 1e4, .stop_damping = 100, .constraint_stabilization = 20,       \
              .contact_sweeps = 100, .velocity_bound = 1e6)

/* Simulator of one model. */
typedef struct dyn_simulator dyn_simulator;

/* Creates a simulator; the model must outlive it. `options` may be NULL, which selects the defaults. Threads cannot
 * share it: each needs its own. Once it is created, nothing allocates.
 * Errors: DYN_INVALID_ARGUMENT with the option's name as the place; DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_simulator_create(const dyn_model *model, const dyn_simulation_options *options,
                                        dyn_simulator **simulator, dyn_error *error);

/* Frees a simulator; NULL is allowed. */
DYN_API void dyn_simulator_free(dyn_simulator *simulator);

/* Returns the options of the simulator; their gains live as long as the simulator. */
DYN_API const dyn_simulation_options *dyn_simulator_options(const dyn_simulator *simulator);

/* Returns the acceleration of gravity that the simulator uses, 3 numbers that live as long as it does; never NULL. */
DYN_API const double *dyn_simulator_gravity(const dyn_simulator *simulator);

/* Loads the robot with `count` payloads, as dyn_workspace_load does, with the same errors. */
DYN_API dyn_status dyn_simulator_load(dyn_simulator *simulator, size_t count, const dyn_payload *payloads,
                                      dyn_error *error);

/* Makes the simulator compute steps by compiled forward dynamics (compiled.h), and the controllers' forces by other
 * compiled functions; NULL ends that use. `compiled` must outlive the simulator. Results then differ in rounding. A
 * sample still has the same bits alone and among others.
 * Errors: DYN_INVALID_ARGUMENT where `compiled` belongs to another model. */
DYN_API dyn_status dyn_simulator_use_compiled(dyn_simulator *simulator, const dyn_compiled *compiled, dyn_error *error);

/* Returns whether steps use compiled functions. They do not while payloads are loaded, with another gravity than the
 * model's, or where forward dynamics was not compiled. Steps in which external forces act always run the library's own
 * kernels. */
DYN_API bool dyn_simulator_is_compiled(const dyn_simulator *simulator);

/* Returns the simulated model, with its payloads if there are any, for other algorithms with the simulator's workspace.
 */
DYN_API const dyn_model *dyn_simulator_model(const dyn_simulator *simulator);

/* Returns the simulator's workspace, for other algorithms between two steps. */
DYN_API dyn_workspace *dyn_simulator_workspace(dyn_simulator *simulator);

/* Status of a sample. */
typedef enum dyn_sample_status {
    DYN_SAMPLE_STATUS_RUNNING = 0,
    DYN_SAMPLE_STATUS_NOT_FINITE, /* a position or velocity became NaN or infinite */
    DYN_SAMPLE_STATUS_TOO_FAST,   /* a velocity exceeded the bound */
    DYN_SAMPLE_STATUS_SINGULAR,   /* no inertia resists a joint */
} dyn_sample_status;

/* Result of a sample. The caller stores it with the state; it is all zeros at the start. */
typedef struct dyn_sample_result {
    dyn_sample_status status; /* a sample that is not running is left unchanged */
    int joint;                /* joint that caused the end of a sample that is not running; undefined while it runs */
    int hit_joint;            /* 1 + the joint that hit a rigid stop fastest in this step, or 0 */
    double hit_velocity;      /* velocity of that joint before the impact, rad/s or m/s */
    int constraint;           /* constraint with the largest closure error after the step; 0 without constraints */
    double closure_error;     /* that error, m or rad; 0 without constraints */
    int contact_sweeps;       /* sweeps over the contacts in the last integration step; 0 without contacts */
    double contact_residual;  /* largest violation of the contact laws after these, m/s */
} dyn_sample_result;

/* State of a contact surface in an integration step. */
typedef struct dyn_contact_state {
    double force[3]; /* mean force that contacts exert on its link in the step, in the world, N */
    double gap;      /* smallest gap to a plane, or of a plane to a surface, at the start, m; infinite without any */
    double slip;     /* largest tangential velocity of a contact with a force at the end, m/s */
} dyn_contact_state;

/* Stores the state of a contact surface in the last integration step of the last sample of the last call, where that
 * had one sample. Returns false where the model has no such surface, or none that touches. */
DYN_API bool dyn_simulator_contact(const dyn_simulator *simulator, int surface, dyn_contact_state *state);

/* Results of an impact of n samples. Any pointer may be NULL. */
typedef struct dyn_contact_impact {
    double *v; /* n x nv: velocities after the impact; may be those before it */
    double
        *contacts; /* n x surfaces x 3: impulses that contacts exert on the link of each surface, in the world, N s */
    double *stops; /* n x nv: impulses of the stops of joints, N m s or N s */
    double *residuals; /* n: largest violation of the laws, m/s */
} dyn_contact_impact;

/* Computes an impact, in which velocities change while the configuration q (n x nq) stays: rigid contacts, and limits
 * of joints where the simulator solves joints, strike where they touch, with a gap of at most 1e-6, or where the
 * velocities v (n x nv) close their gap within a step of the simulator:
 *
 *     M (v+ - v-) = J' p        v_n+ >= -e v_n-, p_n >= 0, and one of them is an equality        |p_t| <= mu p_n
 *
 * with the restitution e of the surfaces, or `restitution` (0 .. 1) at stops; a velocity below the rest velocity does
 * not rebound. The constraints of the model hold. Compliant and soft contacts, and dry friction of joints, exert finite
 * forces and no impulses. With friction, simultaneous impacts may add energy where e exceeds 0, as in Newton's law.
 *
 * Cost of a step; allocates nothing. Threads cannot share a simulator. Errors: those of dyn_simulator_step for q and v;
 * DYN_INVALID_ARGUMENT with the place "restitution"; DYN_FAILED_PRECONDITION with the sample where no inertia resists.
 * Source: Moreau 1988; Brogliato 2016, "Nonsmooth Mechanics", chapter 5. */
DYN_API dyn_status dyn_simulator_impact(dyn_simulator *simulator, size_t n, const double *q, const double *v,
                                        double restitution, const dyn_contact_impact *impact, dyn_error *error);

/* Inputs of n samples during a step. Any pointer may be NULL, which means zeros. */
typedef struct dyn_step_input {
    size_t struct_size; /* set by DYN_STEP_INPUT_INIT (sized.h) */
    const double *tau;  /* n x nv, at the start of the step; a controller's forces are added */
    /* n x nv, at the end of the step: tau changes linearly from `tau` to `tau_end`. NULL: tau is constant. Euler's
     * methods use the value at the start of each substep, Runge-Kutta 4 the values at its stages. */
    const double *tau_end;
    const double *q_ref; /* n x nq: position of the reference; needed if and only if there is a controller */
    const double *v_ref; /* n x nv: velocity of the reference, of a spherical joint in the axes of the moved link */
    const double *a_ref; /* n x nv: acceleration of the reference, in the same axes as v_ref */
    const dyn_external_forces *forces; /* as in external_force.h, constant in their frames */
    /* n x dyn_model_bristle_count: deflections of the bristles of friction laws (machine_element.h), which the step
     * moves; needed where there are any and friction counts. The caller stores them with the state; they are zero at
     * the start. */
    double *bristles;
    double time; /* s, at the start of the step, at which prescribed motions of constraints are evaluated */
    const dyn_base_motion *base; /* held over the step; NULL: the base rests */
} dyn_step_input;

#define DYN_STEP_INPUT_INIT(...) DYN_SIZED(dyn_step_input, __VA_ARGS__)

/* Integrates n samples from (q, v) to the state after one step, in place.
 *
 * q is n x nq, v is n x nv; the resulting quaternions have norm one. `tau` (NULL or n x nv) receives the forces that
 * acted at the start of the step: input and controller, clamped to the effort limits. `results` (NULL or n) reports
 * which samples stopped. A stopped sample retains the last state that was finite and within the bound, for as long as
 * its status stays set; without results, for this step only. `input` may be NULL. Cost O(bodies) per sample and
 * substep, 4 times that for Runge-Kutta 4; O(nv^3) for models with coupled mimic joints. Joints at rigid stops,
 * m of them in the samples that are computed together, add O(m^2 depth + m bodies) for all of these samples and O(m^3)
 * for each; more than 64 add that for each sample and turn. m rows of constraints add O(m^2 depth + m bodies) and, for
 * each sample, O(m^3) to each evaluation, and O(m^4) where a joint is at a rigid stop. Allocates nothing.
 * Errors, with the state unchanged: DYN_INVALID_ARGUMENT for NaN, infinity or a quaternion whose norm is further than
 * 1e-3 from one, with the place "q[13]", "v[13]", "tau[13]", "tau_end[13]", "q_ref[13]", "v_ref[13]", "a_ref[13]", and
 * for a missing or superfluous "q_ref"; forces as in dyn_rnea. */
DYN_API dyn_status dyn_simulator_step(dyn_simulator *simulator, size_t n, const dyn_step_input *input, double *q,
                                      double *v, double *tau, dyn_sample_result *results, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
