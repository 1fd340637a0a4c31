/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Identification: a robot's inertial parameters and friction, estimated from a recorded motion.
 *
 *     tau = Y_b(q, v, a) b + viscous v + coulomb s + offset + inertia a + stribeck s / (1 + (v / v_s)^2)
 *           + load |tau_0| s + noise,        s = v / sqrt(v^2 + v_f^2)
 *
 * b are the base parameters of base_parameters.h. The other terms are those of each joint's drive; tau_0 is the
 * torque of the model's own bodies and of known loads, without rotors. The estimates of
 * b and of the drives, called the linear estimates, need no knowledge of the robot but its kinematics. The consistent
 * estimate consists of ten parameters for each link, as in regressor.h, that some body has. It uses the model's own
 * inertias as a prior: where the motion excites nothing, it equals them. Rotors of the model (machine_element.h) are
 * known: their forces are subtracted from tau, and `inertia` is that of what the model lacks.
 *
 * Parameters sought. By default those of all bodies; a body is a joint's child link with all links that are fixed to
 * it. With `links`, only the bodies of these links: all others have the model's inertia, and Y_b has the columns that
 * are independent among those of the bodies sought. With `payload_link`, only the inertia of one more body, a payload
 * on that link: all links have the model's inertia. With `drives_only`, none.
 *
 * Drive gains. With `estimate_gains` the gain of each joint whose gain is not given is an unknown g, which multiplies
 * its column of tau. All gains, b and drives together minimize the sum of squares of (tau - model / g) / deviation,
 * with the deviation of each joint's residuals, by the method of Gauss and Newton; DYN_ESTIMATOR_TOTAL corrects this
 * sum for errors of the rates. Deviations of b and drives include those of the gains. A part of the record is predicted
 * with gains of the other parts, or with those of all where the others fix no scale. The scale of the unknowns is that
 * of known torques: of joints with given gains, of payloads that some rows carry and others do not, of external forces,
 * or of inertias that are not sought.
 *
 * Saturation. Rows with saturated torques do not take part. Saturated are torques of joints with one coordinate at the
 * effort limit, by the gain that is given or found, and those at an extreme value of the record that at least four rows
 * share, and more than four times as many as the next value, while the torque of the model as described varies by more
 * than 2 % of that value and of its range: there a drive cuts off its current.
 *
 * Known loads. External forces and payloads of the record are computed with the model's equation of motion, and taken
 * off the torques before the estimates.
 *
 * Filter. With a cut-off frequency, positions pass a low-pass filter without delay before they are differentiated:
 * the values z that minimize
 *     integral of (z - q)^2 + (2 pi cutoff)^-6 (d^3 z / dt^3)^2 dt,
 * whose gain at frequency f is 1 / (1 + (f / cutoff)^6), that of a Butterworth filter of third order applied forwards
 * and backwards. Samples need not be equally spaced. The torques can pass the same filter. Velocities and accelerations
 * are those of a quintic spline through z (DYN_RATES_QUINTIC).
 *
 * Linear estimates. The samples are reduced to one triangular matrix per joint and fold by orthogonal transformations,
 * and the least-squares problem is solved by the singular values of their combination, with columns scaled to length
 * one. Directions whose singular value is below 1e-9 of the largest one are not excited: there the estimates equal the
 * model's own values. Standard deviations are those of independent noise in the torques, of one variance for ordinary
 * least squares, of one for each joint for weighted ones and Huber's. They do not include errors of the rates.
 *
 * Total least squares. Errors of v and a also make errors in the columns of Y, and in the torques of payloads. Errors
 * of given rates are independent of each other and from sample to sample; differences of fourth order of consecutive
 * samples tell their variances. Errors of rates that are derived from filtered positions come from independent errors
 * of the positions, whose variance differences of sixth order tell; they pass the filter and the spline to q, v and a.
 * Derivatives of Y by the motion tell their sum E' E over all rows, to first order in the errors. The estimates
 * minimize
 *     |tau - A x|^2 - k |E (-x, 1)|^2,     A = (Y, drives),   E' E = expected errors of (A tau)' (A tau)
 * with k = 1, or less where residuals are smaller than such errors make them. Columns without errors (gravity, offsets)
 * count as exact, and the torques may have errors of any variance. Standard deviations are those of the scores of the
 * samples, and include errors of the rates; scores of samples that a filter connects count together (eight periods of
 * the cut-off frequency, Newey and West). The estimates and deviations are those of ordinary least squares (with gains:
 * of weighted ones) where given rates belong to positions that are no motion that the samples resolve (more than a
 * hundredth of their variance is noise by the same differences); they are almost so where v and a are exact. Derived
 * rates without a filter are refused.
 *
 * Consistent estimate. It minimizes, over positive definite pseudo-inertias P_k of the links,
 *     sum of squares of (tau - model) / deviation, divided by two, + prior * sum of d(P_k, prior P_k),
 *     d(P, P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4        (entropic or Bregman divergence)
 * with the deviation of each joint's residuals, but not below 1e-4 of the joint's root mean square torque. Viscous and
 * Coulomb friction and inertia of a drive have the same distance as 1 x 1 matrices, so that they are positive. The
 * problem is convex and its divergence self-concordant, so that Newton's method with a damped step finds the only
 * minimum. It begins with a great weight of the prior and reduces it.
 *
 * Sources: Gautier and Briot 2014, "Global identification of joint drive gains and dynamic parameters of robots";
 * Armstrong-Helouvry, Dupont and Canudas de Wit 1994, "A survey of models, analysis tools and compensation methods for
 * the control of machines with friction" (Stribeck curve); Gautier and Khalil 1992, "Exciting trajectories for the
 * identification of base inertial parameters of robots"; Gautier 1997, "Dynamic identification of robots with power
 * model" (filter); Craven and Wahba 1979 (smoothing spline); Huber 1981, "Robust statistics"; Golub and Van Loan 1980
 * (total least squares); Fuller 1987, "Measurement error models", sections 2.2 and 2.5 (errors of rates); Van Huffel
 * and Vandewalle 1991, "The total least squares problem"; Gasser, Sroka and Jennen-Steinmetz 1986, "Residual variance
 * and residual pattern in nonlinear regression" (variance from differences); Novick and Stefanski 2002, "Corrected
 * score estimation via complex variable simulation extrapolation" (errors by simulation); Newey and West 1987 (scores
 * that depend on one another); Wensing, Kim and Slotine 2018, "Linear matrix inequalities for physically consistent
 * inertial parameter identification"; Lee, Wensing and Park 2020, "Geometric robot dynamic identification: a convex
 * programming approach"; Nesterov 2004, "Introductory lectures on convex optimization", section 4.1 (damped Newton
 * method).
 */
#ifndef DYNAMICS_IDENTIFICATION_H
#define DYNAMICS_IDENTIFICATION_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/model.h>
#include <dynamics/payload.h>
#include <dynamics/sized.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Default of the largest number of linear estimates, and least number of samples. */
enum { DYN_IDENTIFICATION_ESTIMATES = 256, DYN_IDENTIFICATION_SAMPLES = 8 };

/* Recorded motion: n rows in the order of time. q is n x nq, the others n x nv. */
typedef struct dyn_recorded_motion {
    size_t n;
    const double *time;  /* n, s, strictly increasing; may be NULL if v and a are given and no filter is wanted */
    const double *q;     /* n x nq */
    const double *v, *a; /* n x nv each; both NULL: derived from q and time */
    const double *tau;   /* n x nv: joint torques, or what `gains` multiplies */
    const double *gains; /* nv: torque for each unit of tau, such as N m/A for motor currents; NULL: 1, or sought */
    const dyn_external_forces *forces; /* known external forces; NULL: none */
    size_t payload_count;
    const dyn_payload *payloads; /* known payloads; NULL: none */
    const double *load;          /* n: share of the payloads that each sample carries, such as 0 or 1; NULL: 1 */
} dyn_recorded_motion;

/* Estimators of the linear estimates. */
typedef enum dyn_estimator {
    DYN_ESTIMATOR_ORDINARY, /* ordinary least squares: one variance for all joints */
    DYN_ESTIMATOR_WEIGHTED, /* weighted least squares: the variance of each joint is that of its residuals */
    DYN_ESTIMATOR_HUBER,    /* weighted, and rows beyond 1.345 deviations have less weight (Huber) */
    DYN_ESTIMATOR_TOTAL,    /* total least squares: errors of v and a too, of sizes that the record tells */
} dyn_estimator;

/* Terms of a drive. */
typedef enum dyn_drive_term {
    DYN_DRIVE_TERM_VISCOUS,  /* N m s/rad */
    DYN_DRIVE_TERM_COULOMB,  /* N m */
    DYN_DRIVE_TERM_OFFSET,   /* N m */
    DYN_DRIVE_TERM_INERTIA,  /* kg m^2, of the rotor at the joint */
    DYN_DRIVE_TERM_STRIBECK, /* N m, friction at rest beyond that of Coulomb */
    DYN_DRIVE_TERM_LOAD,     /* 1, friction for each unit of |tau_0| */
} dyn_drive_term;

enum { DYN_DRIVE_TERMS = 6 };

/* Options; zero selects the defaults, except where DYN_IDENTIFICATION_OPTIONS_INIT states another value. */
typedef struct dyn_identification_options {
    size_t struct_size;                /* set by DYN_IDENTIFICATION_OPTIONS_INIT (sized.h) */
    const double *gravity;             /* 3, m/s^2; NULL: the model's own */
    double cutoff;                     /* of the positions, Hz; 0: not filtered */
    double torque_cutoff;              /* of the torques, Hz; 0: not filtered */
    dyn_estimator estimator;           /* of the linear estimates */
    bool drive_terms[DYN_DRIVE_TERMS]; /* terms to estimate, for joints with one coordinate */
    bool drives_only;                  /* do not estimate inertias: they are those of the model */
    double friction_velocity;          /* v_f, rad/s or m/s, > 0; as in dyn_simulation_options */
    double prior;                      /* weight of the prior, > 0 */
    size_t folds;                      /* parts of the record, each of which is predicted from the others; 0: none */
    /* Returns false to end the computation with DYN_CANCELLED; `fraction` is the part done, 0 to 1. NULL: none. */
    bool (*proceed)(void *context, double fraction);
    void *context;
    const int *links; /* link_count: the inertias of their bodies are sought; NULL: those of all bodies */
    size_t link_count;
    int payload_link;         /* the inertia of a payload on this link is sought, and no other; -1: none */
    double stribeck_velocity; /* v_s, rad/s or m/s, > 0 */
    bool estimate_gains;      /* seek the gains that are 0; all without `gains` */
    size_t most_estimates;    /* linear estimates beyond which the computation is refused; 0: the default */
} dyn_identification_options;

/* Default options: ordinary least squares, viscous and Coulomb friction and offset of each drive, v_f = 0.01, a prior
 * of weight 1, five folds, the inertias of all bodies, v_s = 0.1. */
#define DYN_IDENTIFICATION_OPTIONS_INIT()                                                                              \
    DYN_SIZED(dyn_identification_options, .friction_velocity = 0.01, .prior = 1, .folds = 5,                           \
              .drive_terms = {true, true, true}, .payload_link = -1, .stribeck_velocity = 0.1)

/* One linear estimate: base parameter `column` of Y (parameter column % 10 of joint column / 10; parameter `column` of
 * the payload with payload_link), or a term of the drive of velocity coordinate `coordinate`. */
typedef struct dyn_linear_estimate {
    int column;     /* -1 for a term of a drive */
    int coordinate; /* -1 for a base parameter */
    dyn_drive_term term;
    double value;
    double deviation; /* standard deviation; 0 if it is not excited */
    double prior;     /* the model's own value; 0 for terms of a drive but viscous and Coulomb friction */
    bool is_excited;  /* false: the motion does not determine it alone */
    int partner;      /* if it is not excited: the estimate that it is most coupled with, or -1: no row depends on it */
    bool is_saturated; /* no row depends on it, but one that is left out does, since its torque is saturated */
} dyn_linear_estimate;

/* Quality of the estimates for one velocity coordinate, in N m or N. Predictions are of parts of the record that did
 * not take part in the estimate; they equal the residuals if `folds` is 0. */
typedef struct dyn_joint_fit {
    double lowest, highest;       /* of the torque, after its filter */
    double model_error;           /* root mean square of tau minus that of the model as described */
    double residual;              /* root mean square residual of the linear estimates */
    double consistent_residual;   /* root mean square residual of the consistent estimate */
    double prediction;            /* root mean square error of prediction by linear estimates */
    double consistent_prediction; /* root mean square error of prediction by consistent estimates */
    double accounted;             /* 1 - (consistent_prediction / standard deviation of the torque)^2 */
    size_t saturated;             /* rows left out, since the torque is saturated */
} dyn_joint_fit;

/* Result of an identification. */
typedef struct dyn_identification {
    size_t estimate_count;
    dyn_linear_estimate *estimates; /* base parameters in the order of their columns, then the terms of the drives */
    size_t rank;                    /* number of excited directions */
    double condition;               /* ratio of the largest singular value to the smallest excited one */
    size_t parameter_count;
    double *parameters; /* consistent estimate: ten for each joint, as in dyn_model_parameters */
    size_t coordinate_count;
    double *drives;          /* coordinate_count x DYN_DRIVE_TERMS, of the consistent estimate; 0: not estimated */
    dyn_joint_fit *fits;     /* coordinate_count */
    bool *lacks_prior;       /* for each joint: the model's own inertia is of no body; a small one took its place */
    size_t iterations;       /* of Newton's method for the consistent estimate */
    bool is_converged;       /* false: the method stopped before the minimum, at a possible body */
    double *v, *a;           /* n x nv each: the rates that the estimates are from */
    double payload[10];      /* consistent estimate of the payload, in its link's frame; 0 without payload_link */
    double *gains;           /* coordinate_count: gains of tau, given or estimated */
    double *gain_deviations; /* coordinate_count: their standard deviations; 0: given */
} dyn_identification;

/* Estimates inertial parameters and terms of drives from a motion. The model states the kinematics, the prior and the
 * effort limits. Cost O(n nv (joints^2 + estimates^2) + estimates^3), the first term times 4 nv for total least squares
 * with given rates, times 32 with derived ones. Thread-safe.
 *
 * Errors: DYN_INVALID_ARGUMENT with "q[13]", "tau[4]" and so on for a number that is not finite, "time[4]" for a time
 * that is not after the one before or that follows a gap of more than ten times the median interval, "cutoff" or
 * "torque_cutoff" for one that is above half the sampling rate, below a 3000th of it, or for a model with quaternions,
 * "cutoff" also for total least squares with derived rates and no filter,
 * for options out of range, "links[1]" or "payload_link" for a link that does not exist, that is fixed to the world, or
 * whose body another link of the list has, "load[4]" for a share that is not finite, and "motion" for fewer equations
 * than estimates and for a motion that excites none of them, and "gains[3]" for a gain that is sought while nothing
 * fixes its scale;
 * DYN_RESOURCE_EXHAUSTED, with "most_estimates" for more estimates than that; DYN_CANCELLED; those of
 * dyn_base_parameters_create, dyn_derive_rates, dyn_torque_regressor, dyn_workspace_load and dyn_rnea. */
DYN_API dyn_status dyn_identify(const dyn_model *model, const dyn_recorded_motion *motion,
                                const dyn_identification_options *options, dyn_identification **identification,
                                dyn_error *error);

/* Frees an identification; NULL is allowed. */
DYN_API void dyn_identification_free(dyn_identification *identification);

/* Builds the model with consistent parameters (ten for each joint; NULL: those of the model) and viscous and Coulomb
 * friction of `drives` (rows of DYN_DRIVE_TERMS; NULL: the friction of the model). Where parameters differ from the
 * model's own, the child link of the joint has the whole inertia that moves with the joint: links that fixed joints
 * connect with it become massless. Bodies with the model's own parameters keep their links. Other terms of drives are
 * not part of a model. The caller frees the result.
 * Errors: DYN_INVALID_ARGUMENT with the place "parameters" for a mass that is not positive, or "drives[5]" for negative
 * friction; those of dyn_builder_build. */
DYN_API dyn_status dyn_model_with_parameters(const dyn_model *model, const double *parameters, const double *drives,
                                             dyn_model **result, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
