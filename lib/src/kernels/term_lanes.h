/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Defines types that hold terms of TERM_LANES columns of one tree side by side, and loads and stores of one lane.
 *
 * In an instance of one sample the lanes of a vector hold DYN_COLUMN_LANES columns. The recursions from body to body
 * compute one column at a time with scalars. The files of column_sources (CMakeLists.txt) compute all columns of a
 * vector at once. Both use the same arrays, whose elements hold one term for each lane. A type such as motion_lanes is
 * such a set of motions: for a recursion, number c of lane l is x[c][l]; for the files of column_sources it is a motion
 * whose numbers are vectors. In other instances the lanes hold samples, and the set is one motion.
 */
#ifndef DYNAMICS_KERNELS_TERM_LANES_H
#define DYNAMICS_KERNELS_TERM_LANES_H

#include "coriolis_map.h"
#include "instance.h"

#if defined DYN_COLUMN_LANES
#define TERM_LANES DYN_COLUMN_LANES
#else
#define TERM_LANES 1
#endif

/* Inertial terms of a body or of a subtree: the inertia I, the matrix 2 B of coriolis_map.h, and the inertial wrench
 * f. */
typedef struct inertial_terms {
    rigid_inertia I;
    coriolis_map B;
    force f;
} inertial_terms;

/* Part of inertial_terms that the rotors of a joint add to the sums of its parent's subtree: to 2 B, and the moment n
 * to f. */
typedef struct rotor_moments {
    coriolis_map B;
    vec3 n;
} rotor_moments;

/* Counts of the numbers in inertial_terms: those of I and B, which precede f, and all of them. */
enum {
    MASS_NUMBERS = (sizeof(rigid_inertia) + sizeof(coriolis_map)) / sizeof(real),
    INERTIAL_NUMBERS = sizeof(inertial_terms) / sizeof(real),
    /* Index of the first number that rotors add to, and the count of these numbers. */
    ROTOR_NUMBER = sizeof(rigid_inertia) / sizeof(real),
    ROTOR_NUMBERS = sizeof(rotor_moments) / sizeof(real)
};

#if DYN_LANES < TERM_LANES

typedef struct real_lanes {
    real x[TERM_LANES];
} real_lanes;

typedef struct vec3_lanes {
    real x[sizeof(vec3) / sizeof(real)][TERM_LANES];
} vec3_lanes;

typedef struct motion_lanes {
    real x[sizeof(motion) / sizeof(real)][TERM_LANES];
} motion_lanes;

typedef struct force_lanes {
    real x[sizeof(force) / sizeof(real)][TERM_LANES];
} force_lanes;

typedef struct placement_lanes {
    real x[sizeof(placement) / sizeof(real)][TERM_LANES];
} placement_lanes;

typedef struct inertial_lanes {
    real x[INERTIAL_NUMBERS][TERM_LANES];
} inertial_lanes;

typedef struct rotor_lanes {
    real x[ROTOR_NUMBERS][TERM_LANES];
} rotor_lanes;

/* Loads `count` numbers of one lane, the first of which is at `from`. */
KERNEL_STEP void load_lane(const real *from, real *to, size_t count) {
    for (size_t c = 0; c < count; c++) {
        to[c] = from[c * TERM_LANES];
    }
}

/* Stores `count` numbers of one lane, the first of them at `to`. */
KERNEL_STEP void store_lane(const real *from, real *to, size_t count) {
    for (size_t c = 0; c < count; c++) {
        to[c * TERM_LANES] = from[c];
    }
}

KERNEL_STEP motion load_motion(const motion_lanes *from, int lane) {
    motion m;
    load_lane(&from->x[0][lane], (real *)&m, sizeof m / sizeof(real));
    return m;
}

KERNEL_STEP void store_motion(motion m, motion_lanes *to, int lane) {
    store_lane((const real *)&m, &to->x[0][lane], sizeof m / sizeof(real));
}

KERNEL_STEP void store_vec3(vec3 a, vec3_lanes *to, int lane) {
    store_lane((const real *)&a, &to->x[0][lane], sizeof a / sizeof(real));
}

KERNEL_STEP force load_force(const force_lanes *from, int lane) {
    force f;
    load_lane(&from->x[0][lane], (real *)&f, sizeof f / sizeof(real));
    return f;
}

KERNEL_STEP placement load_placement(const placement_lanes *from, int lane) {
    placement W;
    load_lane(&from->x[0][lane], (real *)&W, sizeof W / sizeof(real));
    return W;
}

/* Subtracts F from the inertial wrench of one lane. */
KERNEL_STEP void subtract_wrench(force F, inertial_lanes *from, int lane) {
    force f;
    load_lane(&from->x[MASS_NUMBERS][lane], (real *)&f, sizeof f / sizeof(real));
    f = force_sub(f, F);
    store_lane((const real *)&f, &from->x[MASS_NUMBERS][lane], sizeof f / sizeof(real));
}

#else

typedef real real_lanes;
typedef vec3 vec3_lanes;
typedef motion motion_lanes;
typedef force force_lanes;
typedef placement placement_lanes;
typedef inertial_terms inertial_lanes;
typedef rotor_moments rotor_lanes;

#if TERM_LANES == 1

/* Loads and stores of the only term, for the files that all instances share. */
static inline motion load_motion(const motion *from, int lane) {
    (void)lane;
    return *from;
}

static inline void store_motion(motion m, motion *to, int lane) {
    (void)lane;
    *to = m;
}

static inline force load_force(const force *from, int lane) {
    (void)lane;
    return *from;
}

static inline placement load_placement(const placement *from, int lane) {
    (void)lane;
    return *from;
}

static inline void subtract_wrench(force F, inertial_terms *from, int lane) {
    (void)lane;
    from->f = force_sub(from->f, F);
}

#endif

#endif

#endif
