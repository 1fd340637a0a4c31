/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Equation 28 of the constraint force algorithm, with the joints of a chain in the lanes of vectors.
 *
 * Joint i has a wrench of `rows` components beta_i: rows without a constraint have a column of zeros in T_i and a one
 * on the diagonal of A_ii. Link i, which T_i and -T_i+1 act on, contributes
 *     T_i' I_i^-1 T_i to A_ii      T_i+1' I_i^-1 T_i+1 to A_i+1,i+1      C_i = -T_i' I_i^-1 T_i+1 to A_i,i+1
 * Cyclic reduction eliminates the joints of odd number at each level, so that level l has count / 2^l joints. With the
 * odd joint o between e and n, and A_o x = B solved for both couplings:
 *     A_e -= A_oe' A_o^-1 A_oe     A_n -= A_on' A_o^-1 A_on     C_e = -A_oe' A_o^-1 A_on
 * So an eliminated joint contributes to its neighbours as a link does, and a level is stored as these contributions: no
 * joint of a level reads another one of the level below but its two neighbours, and writes are its own.
 *
 * A phase is a range of blocks of `lanes` joints, which may be computed in any order, by several threads. Each phase
 * needs the preceding one:
 *     set_links      from the numbers of links, level 0
 *     eliminate      level l + 1, for l = 0 .. level_count - 2
 *     solve_last     the one joint of the last level
 *     substitute     beta of level l, for l = level_count - 2 .. 0
 *     accelerate     the accelerations of links
 *
 * Instances differ in the number of lanes: one for each type of number, and vectors of doubles.
 *
 * Source: Featherstone and Orin 2000, section 3.5; Fijany, Sharf and D'Eleuterio 1995; Hockney 1965 (cyclic reduction).
 */
#ifndef DYNAMICS_CLASSICAL_CONSTRAINT_LEVELS_H
#define DYNAMICS_CLASSICAL_CONSTRAINT_LEVELS_H

#include "../spatial/real.h"
#include "scratch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of one lane. */
#if DYN_LANES == 1
typedef real lane_number;
#else
typedef number lane_number;
#endif

/* Numbers of a link that set_links reads, at these offsets: mass, first moment and rotational inertia about the origin
 * (xx, xy, xz, yy, yz, zz); wrench without constraints (n; f); c (angular; linear); then T (n; f) of each row, and for
 * each row the one on the diagonal of a row without a constraint, or zero. */
enum { LINK_MASS = 0, LINK_MOMENT = 1, LINK_INERTIA = 4, LINK_WRENCH = 10, LINK_C = 16, LINK_T = 22 };

/* Largest number of levels, for 2^15 joints. */
enum { MOST_LEVELS = 16 };

/* Joints that are left at one level. */
typedef struct constraint_level {
    int blocks;              /* of joints at this level */
    lane_number *equations;  /* contributions of each joint */
    lane_number *eliminated; /* of each joint of odd number: A_o^-1 of its couplings and right-hand side */
    lane_number *beta;
} constraint_level;

/* Chain of `count` joints and links. Arrays have the same sizes for all numbers of lanes. */
typedef struct constraint_chain {
    int count, rows, level_count;
    lane_number *links;     /* input: link_numbers(rows) each */
    lane_number *responses; /* I^-1 T_i, I^-1 T_i+1 and I^-1 of the wrench */
    lane_number *a;         /* accelerations of links (angular; linear) */
    constraint_level levels[MOST_LEVELS];
} constraint_chain;

/* Functions of one number of lanes. They compute blocks first .. end - 1 of a phase. `level` is that of their input; it
 * has no meaning for set_links and accelerate. */
typedef struct constraint_lanes {
    int lanes;
    void (*set_links)(const constraint_chain *chain, int level, int first, int end);
    void (*eliminate)(const constraint_chain *chain, int level, int first, int end);
    void (*solve_last)(const constraint_chain *chain, int level, int first, int end);
    void (*substitute)(const constraint_chain *chain, int level, int first, int end);
    void (*accelerate)(const constraint_chain *chain, int level, int first, int end);
} constraint_lanes;

extern const constraint_lanes KERNEL(constraint_lanes);

#ifdef __cplusplus
}
#endif

static inline int link_numbers(int rows) {
    return LINK_T + 7 * rows;
}

/* Contributions of a joint: the lower triangle of its own A and right-hand side, the same for the next joint, and C. */
static inline int equation_numbers(int rows) {
    return rows * (rows + 1) + 2 * rows + rows * rows;
}

/* Solutions of an eliminated joint for its couplings with both neighbours and for its right-hand side. */
static inline int eliminated_numbers(int rows) {
    return 2 * rows * rows + rows;
}

static inline int response_numbers(int rows) {
    return 12 * rows + 6;
}

/* Returns number k of joint i in an array with `numbers` for each joint, in blocks of `lanes` joints. */
static inline lane_number *lane_at(lane_number *array, int lanes, int numbers, int i, int k) {
    return &array[((size_t)(i / lanes) * (size_t)numbers + (size_t)k) * (size_t)lanes + (size_t)(i % lanes)];
}

/* Returns the numbers that an array for `count` joints has room for: two full blocks of any number of lanes. */
static inline size_t lane_room(int count, int numbers) {
    return (size_t)((count + 15) / 16 * 16) * (size_t)numbers;
}

#if DYN_LANES == 1

/* Allocates the arrays of a chain from the scratch. */
static inline constraint_chain constraint_chain_take(int count, int rows, int lanes, scratch *s) {
    constraint_chain x;
    x.count = count, x.rows = rows, x.level_count = 0;
    x.links = scratch_reals(s, lane_room(count, link_numbers(rows)));
    x.responses = scratch_reals(s, lane_room(count, response_numbers(rows)));
    x.a = scratch_reals(s, lane_room(count, 6));
    for (int left = count;; left = (left + 1) / 2) {
        constraint_level *level = &x.levels[x.level_count++];
        level->blocks = (left + lanes - 1) / lanes;
        level->equations = scratch_reals(s, lane_room(left, equation_numbers(rows)));
        level->eliminated = scratch_reals(s, lane_room(left, eliminated_numbers(rows)));
        level->beta = scratch_reals(s, lane_room(left, rows));
        if (left <= 1) {
            return x;
        }
    }
}

#endif

#endif
