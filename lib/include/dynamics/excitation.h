/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exciting motions: periodic motions from which the parameters of a robot can be identified well (identification.h).
 *
 * Each coordinate moves as a finite Fourier series of L harmonics with the period T, w = 2 pi / T:
 *
 *     q(t) = q_0 + sum over l = 1 .. L of a_l / (w l) sin(w l t) - b_l / (w l) cos(w l t)
 *
 * with sum of a_l = 0 and sum of l b_l = 0, so that it begins and ends at rest without acceleration. The coefficients
 * minimize a criterion of the matrix W of the identification, whose rows are those of all samples and coordinates:
 *     condition    the ratio of the largest to the smallest excited singular value of W with columns of length one,
 * which
 *                  dyn_identification states
 *     determinant  -log det(W' W), with the rows of each coordinate divided by its effort limit
 * within the position, velocity and effort limits of the joints, of which a margin remains. Positions and velocities
 * keep them by construction: each series is scaled and shifted into its range. Motions whose torques, those of the
 * model's equation of motion, exceed their limits lose against all that do not (Deb 2000). The method is an evolution
 * strategy with a diagonal covariance matrix. It does not know of obstacles, nor of collisions between links.
 *
 * Sources: Gautier and Khalil 1992, "Exciting trajectories for the identification of base inertial parameters of
 * robots"; Swevers et al. 1997, "Optimal robot excitation and identification", equation 8; Ros and Hansen 2008, "A
 * simple modification in CMA-ES achieving linear time and space complexity"; Deb 2000, "An efficient constraint
 * handling method for genetic algorithms".
 */
#ifndef DYNAMICS_EXCITATION_H
#define DYNAMICS_EXCITATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynamics/export.h>
#include <dynamics/identification.h>
#include <dynamics/model.h>
#include <dynamics/sized.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest numbers of harmonics, of rows of a motion, and of motions that are tried. */
enum { DYN_EXCITATION_HARMONICS = 50, DYN_EXCITATION_ROWS = 100000, DYN_EXCITATION_TRIALS = 1000000 };

/* Criteria of a motion. */
typedef enum dyn_excitation_criterion {
    DYN_EXCITATION_CRITERION_CONDITION,
    DYN_EXCITATION_CRITERION_DETERMINANT,
} dyn_excitation_criterion;

/* Options; zero selects the defaults, except where DYN_EXCITATION_OPTIONS_INIT states another value. */
typedef struct dyn_excitation_options {
    size_t struct_size; /* set by DYN_EXCITATION_OPTIONS_INIT (sized.h) */
    dyn_excitation_criterion criterion;
    size_t harmonics; /* L, 2 to DYN_EXCITATION_HARMONICS */
    double period;    /* T, s, > 0 */
    double rate;      /* rows a second of the result, Hz: at least 20 harmonics / period */
    double margin;    /* share of each limit that is left, 0 to 0.9 */
    size_t trials;    /* motions to try, 1 to DYN_EXCITATION_TRIALS */
    uint64_t seed;    /* of the random numbers: the same seed yields the same motion */
    /* Parameters that are to be identified: gravity, links, payload_link, drives_only, drive_terms and
     * friction_velocity of these options count, and `proceed` is called. NULL: the defaults of an identification. */
    const dyn_identification_options *identification;
} dyn_excitation_options;

/* Default options: the condition of a motion of five harmonics in 10 s at 100 Hz, a margin of a tenth, 1500 trials. */
#define DYN_EXCITATION_OPTIONS_INIT()                                                                                  \
    DYN_SIZED(dyn_excitation_options, .harmonics = 5, .period = 10, .rate = 100, .margin = 0.1, .trials = 1500)

/* Shares of the limits of one coordinate that a motion uses: 1 is at the limit. A coordinate without a limit counts pi
 * rad or 1 m to either side, and pi rad/s or 1 m/s; its torque is not limited and has the share 0. */
typedef struct dyn_excitation_use {
    double position; /* of half the range, from its middle */
    double velocity, effort;
} dyn_excitation_use;

/* Exciting motion of n rows: one period from t = 0 on, without the row that repeats the first one. */
typedef struct dyn_excitation {
    size_t n, nq, nv;
    double *time, *q, *v, *a, *tau; /* n; n x nq; n x nv each. tau: torques of the model */
    size_t estimate_count, rank;    /* parameters to identify, and directions that the motion excites */
    double condition, log_determinant;
    /* Value of the best random motion: log(condition) or -log det, and more by 1e3 for each direction that it lacks. */
    double first_value;
    dyn_excitation_use *uses; /* nv */
    size_t trials;
} dyn_excitation;

/* Computes an exciting motion. The caller frees it with dyn_excitation_free. Thread-safe. Cost O(trials n_s nv
 * estimates^2), n_s = 20 harmonics samples or more.
 * Errors: DYN_INVALID_ARGUMENT for options out of range, with their name as the place, and with "model" for a joint
 * with a quaternion; DYN_FAILED_PRECONDITION with the place "model" where no motion tried keeps the effort limits,
 * which names the joint that exceeds its limit most; DYN_CANCELLED; those of dyn_identify about the parameters. */
DYN_API dyn_status dyn_excite(const dyn_model *model, const dyn_excitation_options *options,
                              dyn_excitation **excitation, dyn_error *error);

/* Frees an exciting motion; NULL is allowed. */
DYN_API void dyn_excitation_free(dyn_excitation *excitation);

#ifdef __cplusplus
}
#endif

#endif
