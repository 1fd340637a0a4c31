/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contents of a simulator. A block of samples, one in each lane, is integrated step by step without leaving the lanes.
 *
 *     simulator_load(s, block, q, v)          loads states into the lanes, or simulator_begin and s->q, s->v
 *     ... s->tau, s->tau_end, s->q_ref, s->v_ref, s->a_ref: packed inputs of a step ...
 *     simulator_advance(s, block, ...)        computes one step
 *     block.kernels->unpack(s->q, ...)        stores the states
 */
#ifndef DYNAMICS_SIMULATION_SIMULATOR_H
#define DYNAMICS_SIMULATION_SIMULATOR_H

#include <dynamics/base_motion.h>
#include <dynamics/constrained_dynamics.h>
#include <dynamics/simulation.h>

#include "../actuation/gear_law.h"
#include "../actuation/joint_properties.h"
#include "../constraint/articulated.h"
#include "../constraint/closures.h"
#include "../constraint/contacts.h"
#include "../dynamics/compiled.h"
#include "../dynamics/workspace.h"
#include "lane_index.h"
#include "rate_rows.h"

/* Largest nv with which a simulator has room for M^-1. M^-1 is compiled for small robots only. */
enum { MOST_INVERSE = 64 };

/* Rows of the constraints of the model, and of the joints that are at their limits. */
typedef struct joint_stops {
    constraint_rows rows;
    int first;   /* first row of a joint */
    int *ranges; /* index in joints.ranges of each row of a joint */
} joint_stops;

/* Bristles of the friction laws, which carry forces from the state of one substep to the next. */
typedef struct simulated_bristles {
    int count;      /* 0: none, or friction does not count */
    double *z;      /* packed deflections */
    double *tau[2]; /* packed forces of a substep, at its start and its end */
} simulated_bristles;

/* Forces of struts, cables, bushings and fluids. */
typedef struct simulated_link_forces {
    int count;         /* 0: there are none, or they do not count */
    double *q, *v, *r; /* of one lane */
    double *tau[2];    /* packed forces of a substep, at its start and its end */
} simulated_link_forces;

/* Rotors of a gear in a model in which they have a coordinate of their own. */
typedef struct separated_rotor {
    int v_index;    /* coordinate of the model at whose rate the own one moves */
    double torque;  /* torque at the rate of the gear over the force of the own coordinate; 0: there is no rotor */
    double inertia; /* at the rate of the gear */
} separated_rotor;

/* Gears whose losses depend on their load. */
typedef struct simulated_gears {
    dyn_workspace *workspace; /* as that of loops; NULL: there is no gear with losses, or these do not count */
    int count;
    gear_law *laws;         /* of each gear */
    separated_rotor *rotor; /* of each gear */
    int *gear_of_law;       /* gear on whose input side each friction law of a joint acts; -1: none */
    body *bodies;           /* of the model, with a coordinate for the rotors of each gear after those of the model */
    rate_rows rates;        /* the coordinates of the gears */
    step_constraint next;   /* the constraints of the model */
    double implicit_dt;     /* step of a semi-implicit method; 0: another method */
    sample_block block;     /* of the step whose losses are found */
    const double *tau, *tau_end;  /* packed forces of the joints in it, at its start and, unless NULL, at its end */
    double *v, *a, *torques;      /* packed numbers of the model, then of the rotors of each gear */
    double *a_free;               /* packed accelerations without losses */
    double *loss;                 /* packed losses of each gear, at its rate */
    bool *is_done;                /* lanes whose losses have settled */
    double *start, *input, *rate; /* of the gears of one lane: loss at the start of a pass, X, u */
    double *W;                    /* of one lane: response of u of each gear to the loss of each, count x count */
} simulated_gears;

/* Friction or a brake on a shaft. */
typedef struct simulated_shaft {
    int element, shaft; /* machine elements: of the friction or the brake, and of the shaft */
    shaft_rates rates;
    friction_law law; /* on the rate of the shaft */
} simulated_shaft;

/* Shafts with friction, and with engaged brakes. */
typedef struct simulated_shafts {
    dyn_workspace *workspace; /* as that of loops; NULL: there are none */
    int count;
    simulated_shaft *shafts;
    rate_rows rates;      /* the coordinates that turn them */
    step_constraint next; /* what else acts on accelerations */
    double implicit_dt;   /* step of a semi-implicit method; 0: another method */
    sample_block block;
    double *torque, *speed, *coefficient, *D; /* of the shafts of one lane: f, u without f, K, dt D */
} simulated_shafts;

/* Closed loops of the model. */
typedef struct simulated_loops {
    dyn_workspace *workspace; /* its kernels run while a kernel uses that of the simulator; NULL: there is no loop */
    closures closures;
    sample_block block; /* of the step whose accelerations are constrained */
    double *residual;   /* largest |A a - b| of each lane since the last result was stored */
    double *error;      /* largest closure error of each lane */
    bool by_bodies;     /* constrained articulated bodies compute the accelerations */
    articulated bodies; /* where they do */
    bool *is_open;      /* lanes whose positions have to be moved */
    bool *is_free;      /* lanes to which multipliers of the loops alone apply */
    bool *holds;        /* lanes in which joints at limits do not move, not even inward */
} simulated_loops;

/* Base that moves. */
typedef struct simulated_base {
    bool moves;
    sample_block block; /* of the step */
    double *motion;     /* twist and acceleration of each lane, 6 numbers each */
    double *q, *v, *f;  /* of one lane, with a coordinate for the rotors of each gear with losses */
    double *tau[2];     /* packed forces of a substep, at its start and its end */
} simulated_base;

/* Forces that the stages of Runge-Kutta 4 compute: those of a base that moves, and those on links. */
typedef struct simulated_stages {
    dyn_workspace *workspace; /* its kernels run in the stages; NULL: another method, or no such forces */
    sample_block block;       /* of the step */
    double *forces, *rest;    /* packed forces, and zeros */
    double *response;         /* packed accelerations */
    step_constraint next;     /* what else acts on accelerations */
} simulated_stages;

/* Contacts of the model. */
typedef struct simulated_contacts {
    dyn_workspace *workspace; /* its kernels run while a kernel uses that of the simulator; NULL: nothing can touch */
    contacts contacts;
    contact_joint *joints; /* nv, where the options solve joints */
    step_constraint next;  /* the constraints of the model, which act before */
    sample_block block;    /* of the step whose impulses are found */
} simulated_contacts;

/* Simulator: options, parameters of the kernels, and the packed state of one block. */
struct dyn_simulator {
    const dyn_model *model;
    dyn_simulation_options options;
    double gravity[3];
    dyn_workspace *workspace;
    joint_properties joints;
    step_parameters step; /* parameters of a substep */
    double time;          /* s: start of the substep, or instant of a correction */
    control_parameters control;
    const dyn_compiled *compiled; /* compiled functions requested for the steps, or NULL */
    compiled_step wide_step,
        lone_step;               /* functions in use, for all lanes and for one; none where `compiled` does not apply */
    double *stiffness, *damping; /* nv gains each */

    /* Packed numbers of one block: the state and the next one, inputs, forces of a substep, forces of the controller.
     */
    double *q, *v, *q_next, *v_next;
    double *tau, *tau_end, *q_ref, *v_ref, *a_ref;
    double *tau_from, *tau_to;
    double *control_tau;
    joint_stops stops;
    simulated_loops loops;
    simulated_bristles bristles;
    simulated_gears gears;
    simulated_shafts shafts;
    simulated_link_forces link_forces;
    simulated_base base;
    simulated_stages stages;
    int first_brake;       /* first friction law of an engaged brake; laws of friction precede it */
    dyn_workspace *second; /* of the constraints, contacts, gears and the base; NULL: there are none */
    simulated_contacts contacts;
    double *inverse;            /* M^-1, nv x nv, where it is compiled; NULL: nv is larger than MOST_INVERSE */
    dyn_sample_result *results; /* results of the lanes, where the caller has none */
};

/* Inputs of a block's step in addition to the packed ones. */
typedef struct simulated_step {
    sample_block block;
    wrench_set wrenches;
    bool is_linear;             /* tau changes linearly to tau_end */
    dyn_sample_result *results; /* block.count of them */
    double time;                /* s, at the start */
} simulated_step;

/* Returns the block that starts at sample `first` of n; its count is 0 where `first` is n. Compiled functions exist for
 * all lanes or for one: from FEW_SAMPLES samples on, all lanes are faster. */
static inline sample_block simulator_block(const dyn_simulator *s, size_t n, size_t first) {
    enum { FEW_SAMPLES = 3 };
    sample_block block = dyn_block_at(s->workspace, n, first, 0);
    const kernel_trio *trio = s->workspace->kernels;
    if (s->wide_step.aba && block.count > 0) {
        const kernel_table *kernels = n - first >= FEW_SAMPLES ? trio->wide : trio->one;
        size_t left = n - first, lanes = (size_t)kernels->lanes;
        block = (sample_block){first, left < lanes ? left : lanes, lanes, lanes * kernels->number_size, 0, kernels};
    }
    return block;
}

/* Selects the functions for a block. Call it before the first step of the block. */
void simulator_begin(dyn_simulator *s, sample_block block);

/* Begins a block and loads the state of its samples into the lanes. */
void simulator_load(dyn_simulator *s, sample_block block, const double *q, const double *v);

/* Adds the controller's forces to the packed tau and clamps it (and tau_end) to the effort limits. */
void simulator_actuate(dyn_simulator *s, sample_block block, bool is_linear);

/* Computes one step of the packed state. Returns the number of samples that are still running. */
size_t simulator_advance(dyn_simulator *s, const simulated_step *step);

/* Returns whether the sample of a lane runs. A lane without a sample repeats the last one. */
static inline bool simulator_lane_runs(const simulated_step *step, size_t l) {
    return step->results[l < step->block.count ? l : step->block.count - 1].status == DYN_SAMPLE_STATUS_RUNNING;
}

/* Holds the joints that are at rigid stops and closes the loops, after a step. */
void simulator_correct(dyn_simulator *s, const simulated_step *step);

/* ---- Joint stops ------------------------------------------------------------------------------------------------- */

/* Lays out the memory of the stops of a model with at most `most` ranges from `base` on; returns its size (carve.h). */
size_t joint_stops_lay_out(const dyn_model *model, int most, size_t lanes, uintptr_t base, joint_stops *stops);

/* Resets the positions of joints that are beyond a limit to it. Returns whether a joint is at a limit in any lane. */
bool simulator_clamp_joints(dyn_simulator *s, const simulated_step *step);

/* Stops, by impulses that leave the loops closed, the joints that are at a limit and move into it, in all lanes whose
 * sample is running. */
void simulator_stop_joints(dyn_simulator *s, const simulated_step *step);

/* Stores the joints at limits that move outward as those that hit their stops. Call it after simulator_clamp_joints. */
void simulator_note_stops(const dyn_simulator *s, const simulated_step *step);

/* Computes the response of the constraints and of the joints at limits in all lanes. */
void simulator_respond_at_stops(dyn_simulator *s, const simulated_step *step);

/* Computes the increment dq of a lane that removes the closure errors to first order and moves no joint beyond the
 * limit that it is at; nor inward, where the loops hold joints at limits. dq is zero before. Returns false, with dq
 * unchanged, where no joint of the lane is at a limit. */
bool simulator_increment_at_stops(dyn_simulator *s, sample_block block, size_t l, double *dq);

/* ---- Closed loops ------------------------------------------------------------------------------------------------ */

/* Lays out the memory of the loops of a model from `base` on; returns its size (carve.h). */
size_t simulated_loops_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, simulated_loops *loops);

/* Makes steps constrain accelerations, where the simulated model has loops. */
void simulator_choose_loops(dyn_simulator *s);

/* Moves q so that the loops are closed. `has_stops`: joints may be at their limits, and are held there. */
void simulator_close_positions(dyn_simulator *s, const simulated_step *step, bool has_stops);

/* Changes v so that the loops remain closed to first order. */
void simulator_close_velocities(dyn_simulator *s, const simulated_step *step);

/* Stores the largest closure errors in the results of the step. */
void simulator_report_closure(dyn_simulator *s, const simulated_step *step);

/* Computes rank and condition of the constraints in the state of one lane: 0 and 1 where no loop is computed. */
void simulator_examine_constraints(dyn_simulator *s, sample_block block, size_t l, dyn_constraint_result *result);

/* Returns the largest residual of a lane since the last call; 0 where no loop is computed. */
double simulator_take_residual(dyn_simulator *s, size_t l);

/* ---- Contacts ---------------------------------------------------------------------------------------------------- */

/* Makes steps apply the impulses of contacts, where the simulated model has surfaces that touch. */
void simulator_choose_contacts(dyn_simulator *s);

/* Stores the course of the contacts' solution in the results of the step. */
void simulator_report_contacts(const dyn_simulator *s, const simulated_step *step);

/* ---- Bristles ---------------------------------------------------------------------------------------------------- */

/* Lays out the memory of the bristles of a model from `base` on; returns its size (carve.h). */
size_t simulated_bristles_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, simulated_bristles *bristles);

/* Makes the friction laws with bristles act through them. */
void simulator_choose_bristles(dyn_simulator *s);

/* Loads the deflections of a block from rows, or zeros where rows is NULL, and stores them. */
void simulator_load_bristles(dyn_simulator *s, sample_block block, const double *rows);
void simulator_store_bristles(const dyn_simulator *s, sample_block block, double *rows);

/* Returns the packed forces `tau` of end `end` of a substep, with those of the bristles added. */
const double *simulator_add_bristles(dyn_simulator *s, sample_block block, int end, const double *tau);

/* Returns the part of the force of bristles that does not depend on the new velocity, at the packed v in one lane, as a
 * force of the rate at which they hold. */
double simulator_bristle_force(const dyn_simulator *s, sample_block block, int i, size_t lane, const double *v);

/* Moves the bristles by a substep with the velocities after it. */
void simulator_move_bristles(dyn_simulator *s, sample_block block);

/* ---- Forces on links --------------------------------------------------------------------------------------------- */

/* Lays out the memory of the forces on links from `base` on; returns its size (carve.h). */
size_t simulated_link_forces_lay_out(const dyn_model *model, size_t lanes, uintptr_t base,
                                     simulated_link_forces *forces);

/* Makes the forces on links act that the options count. */
void simulator_choose_link_forces(dyn_simulator *s);

/* Returns the packed forces `tau` of end `end` of a substep, with those on links at the packed (q, v) added. */
const double *simulator_add_link_forces(dyn_simulator *s, sample_block block, int end, const double *q, const double *v,
                                        const double *tau);

/* Returns whether elements act on links with forces that are held in a substep. */
static inline bool simulator_holds_link_forces(const dyn_simulator *s) {
    return s->link_forces.count > 0 && !s->stages.workspace;
}

/* Adds the forces on links at (q, v) to tau; all three are packed. */
void simulator_find_link_forces(dyn_simulator *s, sample_block block, const double *q, const double *v, double *tau);

/* Adds the potential energies of the elements that act on links to one packed energy. */
void simulator_add_link_energies(dyn_simulator *s, sample_block block, double *energies);

/* ---- Base -------------------------------------------------------------------------------------------------------- */

/* Lays out the memory of a base that `may_move` from `base` on; returns its size (carve.h). */
size_t simulated_base_lay_out(const dyn_model *model, bool may_move, size_t lanes, uintptr_t base, simulated_base *b);

/* Sets the motion of the base in the following steps of a block. NULL: it rests. */
void simulator_move_base(dyn_simulator *s, sample_block block, const dyn_base_motion *base);

/* Checks the motion of the base in n samples; NULL: it rests. Errors: DYN_INVALID_ARGUMENT at "base_motion". */
dyn_status simulator_check_base(const dyn_simulator *s, size_t n, const dyn_base_motion *base, dyn_error *error);

/* Returns whether the base adds forces at the start of a substep. */
static inline bool simulator_has_base_forces(const dyn_simulator *s) {
    return s->base.moves && !s->stages.workspace;
}

/* State of a model whose base moves: the simulated one, or that with separated rotors of gears. */
typedef struct base_input {
    const dyn_model *model;
    void *memory;        /* scratch memory of a workspace */
    const double *q, *v; /* packed */
} base_input;

/* Adds `sign` times the forces of the base to the packed tau. The base moves. */
void simulator_find_base_forces(dyn_simulator *s, const base_input *in, double sign, double *tau);

/* Returns the packed forces `tau` of end `end` of a substep, with those of the base at the packed (q, v) added. */
const double *simulator_add_base_forces(dyn_simulator *s, int end, const double *q, const double *v, const double *tau);

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

/* Lays out the memory of the stages' forces from `base` on, if they exist; returns its size (carve.h). */
size_t simulated_stages_lay_out(const dyn_model *model, bool exist, size_t lanes, uintptr_t base, simulated_stages *s);

/* Makes the forces act in the stages, before all that is chosen already. */
void simulator_choose_stages(dyn_simulator *s);

/* ---- Gears ------------------------------------------------------------------------------------------------------- */

/* Lays out the memory of the gears of a model from `base` on; returns its size (carve.h). */
size_t simulated_gears_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, simulated_gears *gears);

/* Makes gears with losses act in steps, before the constraints that are chosen already. */
void simulator_choose_gears(dyn_simulator *s);

/* States the packed forces of a substep, whose losses depend on them. */
void simulator_begin_gears(dyn_simulator *s, sample_block block, double implicit_dt, const double *tau,
                           const double *tau_end);

/* ---- Shafts ------------------------------------------------------------------------------------------------------ */

/* Lays out the memory of the shafts of a model from `base` on; returns its size (carve.h). */
size_t simulated_shafts_lay_out(const dyn_model *model, size_t lanes, uintptr_t base, simulated_shafts *shafts);

/* Adds the shafts with friction, and those whose brakes the options engage. */
void simulator_add_shafts(dyn_simulator *s);

/* Makes shafts act in steps, before what is chosen already. */
void simulator_choose_shafts(dyn_simulator *s);

/* Begins a substep. */
void simulator_begin_shafts(dyn_simulator *s, sample_block block, double implicit_dt);

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

/* Checks that `value` is one of the choices 0 to `most` of the option `name`. Errors: DYN_INVALID_ARGUMENT. */
dyn_status simulation_choice_check(const char *name, int value, int most, dyn_error *error);

/* Returns the machine element that is the brake of this name, or -1. */
int find_brake(const dyn_model *model, const char *name);

/* Checks all options against a model. Errors: DYN_INVALID_ARGUMENT with the option's name as the place. */
dyn_status simulation_options_check(const dyn_model *model, const dyn_simulation_options *options, dyn_error *error);

#endif
