/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formulations: the ways of the literature to the equation of motion, tau = M(q) a + h(q, v), each by its name.
 *
 *     dyn_formulation_create(model, "lagrange_euler", &formulation, &error);
 *     dyn_formulation_inverse_dynamics(formulation, n, NULL, q, v, a, tau, &error);
 *     dyn_formulation_coefficients(formulation, NULL, q, v, a, &blocks, &count, &error);
 *
 * They are written for clarity, compute in double precision one state after the other, and are compared with the tuned
 * algorithms of inverse_dynamics.h, forward_dynamics.h and mass_matrix.h. A formulation states some of inverse
 * dynamics, forward dynamics and mass matrix; the library derives the others from those.
 *
 * Common to all functions here
 *   n           number of samples.
 *   gravity     acceleration of gravity in the world, m/s^2; NULL: the model's own.
 *   forces      rigid bodies and gravity, as dyn_rnea, and the wrenches of dyn_formulation_apply_forces.
 *   aliasing    outputs must not overlap inputs.
 *   threads     safe as long as each thread has its own dyn_formulation.
 *   allocation  only by dyn_formulation_create.
 *   errors      DYN_INVALID_ARGUMENT, as in inverse_dynamics.h: numbers that are not finite, a missing q, quaternions
 *               whose norm is not one, results that overflow.
 */
#ifndef DYNAMICS_FORMULATION_H
#define DYNAMICS_FORMULATION_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/base_motion.h>
#include <dynamics/export.h>
#include <dynamics/external_force.h>
#include <dynamics/model.h>
#include <dynamics/status.h>
#include <dynamics/workspace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Conditions that a formulation sets for a model: bits of `needs` in dyn_formulation_traits. */
typedef enum dyn_formulation_need {
    DYN_FORMULATION_NEED_SERIAL_CHAIN = 1,      /* each joint on the link of the preceding one */
    DYN_FORMULATION_NEED_ONE_COORDINATE = 2,    /* joints of one coordinate: revolute, prismatic, helical, custom */
    DYN_FORMULATION_NEED_REVOLUTE = 4,          /* revolute or continuous joints */
    DYN_FORMULATION_NEED_SPHERICAL = 8,         /* spherical joints; a floating joint may carry the root */
    DYN_FORMULATION_NEED_NO_HELICAL = 16,       /* no helical joints */
    DYN_FORMULATION_NEED_INDEPENDENT = 32,      /* no coupled mimic joints */
    DYN_FORMULATION_NEED_REGULAR_INERTIAS = 64, /* no singular inertia, such as that inside a universal joint */
    DYN_FORMULATION_NEED_NO_CUSTOM = 128,       /* no custom joints */
} dyn_formulation_need;

/* Row of the table of formulations. Strings are static. */
typedef struct dyn_formulation_traits {
    const char *name;      /* "newton_euler" */
    const char *source;    /* literature and equations */
    unsigned needs;        /* conditions for a model, bits of dyn_formulation_need; 0: none */
    int most_coordinates;  /* largest nv, and number of joints, that it accepts, because of its memory and time */
    bool inverse_dynamics; /* true: the formulation itself states inverse dynamics; false: the library derives it */
    bool forward_dynamics; /* true: the formulation itself states forward dynamics; false: the library derives it */
    bool mass_matrix;      /* true: the formulation itself states the mass matrix; false: the library derives it */
    bool external_forces;  /* true: the formulation itself has wrenches; false: the library adds J' f */
} dyn_formulation_traits;

/* Returns the number of formulations. */
DYN_API int dyn_formulation_count(void);

/* Returns the traits of formulation i; NULL for an i that is not 0 .. count - 1. */
DYN_API const dyn_formulation_traits *dyn_formulation_traits_at(int i);

/* Checks that a formulation applies to a model.
 * Errors: DYN_INVALID_ARGUMENT for an unknown name, with a list of the names; DYN_FAILED_PRECONDITION with the joint
 * that it cannot treat, and why. */
DYN_API dyn_status dyn_formulation_applies(const dyn_model *model, const char *name, dyn_error *error);

/* Formulation of one model, with its scratch memory. */
typedef struct dyn_formulation dyn_formulation;

/* Creates a formulation by its name; the model must outlive it.
 * Errors: those of dyn_formulation_applies; DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_formulation_create(const dyn_model *model, const char *name, dyn_formulation **formulation,
                                          dyn_error *error);

/* Frees a formulation; NULL is allowed. */
DYN_API void dyn_formulation_free(dyn_formulation *formulation);

/* Returns the traits of a formulation. */
DYN_API const dyn_formulation_traits *dyn_formulation_traits_of(const dyn_formulation *formulation);

/* Returns the number of bytes that a formulation occupies. */
DYN_API size_t dyn_formulation_size(const dyn_formulation *formulation);

/* Computes tau for the motion (q, v, a). q is n x nq; v, a (NULL: zero) and tau are n x nv.
 * Errors: also DYN_FAILED_PRECONDITION where M is singular, for a formulation that states forward dynamics alone. */
DYN_API dyn_status dyn_formulation_inverse_dynamics(dyn_formulation *formulation, size_t n, const double *gravity,
                                                    const double *q, const double *v, const double *a, double *tau,
                                                    dyn_error *error);

/* Computes a for the forces tau at the state (q, v). q is n x nq; v, tau (NULL: zero) and a are n x nv.
 * Errors: also DYN_FAILED_PRECONDITION where M is singular. */
DYN_API dyn_status dyn_formulation_forward_dynamics(dyn_formulation *formulation, size_t n, const double *gravity,
                                                    const double *q, const double *v, const double *tau, double *a,
                                                    dyn_error *error);

/* Computes M(q), n x nv x nv, row-major, both triangles. q is n x nq. Errors: as dyn_formulation_inverse_dynamics. */
DYN_API dyn_status dyn_formulation_mass_matrix(dyn_formulation *formulation, size_t n, const double *q, double *M,
                                               dyn_error *error);

/* Applies external forces in inverse dynamics, forward dynamics and the blocks of all following calls: the motion
 * satisfies M a + h = tau + sum of J' f. Sample s of a call reads row s of each force, the blocks read row 0. The
 * formulation copies the two members of `forces`, not the list and the wrenches, which must outlive the calls; NULL
 * removes the forces. A formulation without wrenches of its own (traits.external_forces) has the block J_f, J' f.
 * Errors: DYN_NOT_FOUND for a frame index that is out of range. Calls return DYN_INVALID_ARGUMENT for wrenches that
 * are not finite, at the place "external_forces". */
DYN_API dyn_status dyn_formulation_apply_forces(dyn_formulation *formulation, const dyn_external_forces *forces,
                                                dyn_error *error);

/* Threads of the caller. run calls part(argument, first, end) for ranges that cover 0 .. count - 1 once, from any
 * thread and at any time until it returns. */
typedef struct dyn_spread {
    void (*run)(void *context, size_t count, void (*part)(void *argument, size_t first, size_t end), void *argument);
    void *context;
} dyn_spread;

/* Returns whether dyn_formulation_spread has an effect. */
DYN_API bool dyn_formulation_spreads(const dyn_formulation *formulation);

/* Spreads independent parts of all following calls over threads of the caller: the joints of each level of the cyclic
 * reduction of constraint_force, in blocks of as many joints as vectors have lanes. Other formulations ignore it. The
 * results have the same bits with any threads. `spread` must outlive the calls; NULL ends it. */
DYN_API void dyn_formulation_spread(dyn_formulation *formulation, const dyn_spread *spread);

/* Moves the base in inverse dynamics, forward dynamics and the blocks of all following calls (base_motion.h), in sample
 * s of a call as row s states. newton_euler, absolute_coordinates, constraint_force, newton_euler_factorization and
 * formulations of the mass matrix begin with the motion of the base; to the others the library adds the forces that it
 * causes, and their blocks have tau_base, those forces. The formulation copies the members of `base`, not the numbers,
 * which must outlive the calls; NULL is a base at rest.
 * Errors: none. Calls return DYN_INVALID_ARGUMENT for numbers that are not finite, at the place "base_motion". */
DYN_API void dyn_formulation_move_base(dyn_formulation *formulation, const dyn_base_motion *base);

/* Constraint of the last link of a chain: direction . A = acceleration, where A is the spatial acceleration (dw; dv) of
 * the link in the axes and about the origin of the world. */
typedef struct dyn_tip_constraint {
    double direction[6];
    double acceleration;
} dyn_tip_constraint;

/* Largest number of constraints of the last link. */
enum { DYN_FORMULATION_MAX_TIP_CONSTRAINTS = 6 };

/* Constrains the last link in the forward dynamics and the blocks of vereshchagin. Copies the constraints, which
 * replace earlier ones; a count of 0 removes them. Directions that no joint moves, and those that follow from earlier
 * ones, do not count. While there are constraints, the library refuses inverse dynamics and the mass matrix.
 * Errors: DYN_FAILED_PRECONDITION for another formulation; DYN_INVALID_ARGUMENT for a number of constraints that is out
 * of range, and for numbers that are not finite. */
DYN_API dyn_status dyn_formulation_constrain_tip(dyn_formulation *formulation, int count,
                                                 const dyn_tip_constraint *constraints, dyn_error *error);

/* Condition on the acceleration of a frame of the last link: direction . A = acceleration, with A = (angular; linear)
 * the acceleration that dyn_frame_motion computes for the frame and the reference frame. */
typedef struct dyn_frame_constraint {
    int frame; /* index of a link, as in kinematics.h */
    dyn_reference_frame reference_frame;
    double direction[6]; /* angular, then linear */
    double acceleration;
} dyn_frame_constraint;

/* Returns whether the last body of the model carries the frame. */
DYN_API bool dyn_model_is_tip_frame(const dyn_model *model, int frame);

/* Computes the constraint of the last link that states the same as one of a frame, in the state (q, v): the direction
 * about the origin of the world, and the acceleration less the centripetal one, w x v of the frame, where A is the
 * classical acceleration. v may be NULL: zero.
 * Errors: as dyn_frame_motion; DYN_INVALID_ARGUMENT for a frame that is not on the last link. */
DYN_API dyn_status dyn_tip_constraint_at(const dyn_model *model, dyn_workspace *workspace, const double *q,
                                         const double *v, const dyn_frame_constraint *from, dyn_tip_constraint *to,
                                         dyn_error *error);

/* Largest number of dimensions of a block, and largest number of blocks of a formulation. */
enum { DYN_FORMULATION_EXTENTS = 4, DYN_FORMULATION_MAX_BLOCKS = 24 };

/* Description of a block. Strings are static; an empty one does not apply. */
typedef struct dyn_formulation_block_traits {
    const char *formulation; /* that has the block; empty: every one, where the model or the call needs it */
    const char *name;        /* as in the literature: "h_ikm" */
    const char *meaning;     /* a few words */
    const char *frame;    /* axes, and origin where it matters, of vectors and matrices: "axes of the link". A link has
                                the frame of its joint: z along the axis, x normal to that of the next joint; block W
                                of hollerbach places it */
    const char *unit;     /* all that occur, by kind of entry, rotational before translational: "N m, N" */
    const char *equation; /* number in the sources of the formulation, or the equation itself */
    int dimensions;       /* 1 .. DYN_FORMULATION_EXTENTS */
    /* Name of each dimension. "link": links in the model's order, of which a universal joint has two. "coordinate":
     * velocities. "xyz". "part": angular, then linear. "component": xyz of these parts. "row", "column". "link
     * component" and "point component": components of all links, one after the other. "point": axes x, y, z, origin.
     * "parameter", "term", "derivative", "constraint", "number". */
    const char *axes[DYN_FORMULATION_EXTENTS];
} dyn_formulation_block_traits;

/* Returns the number of blocks of all formulations. */
DYN_API int dyn_formulation_block_count(void);

/* Returns the description of block i; NULL for an i that is not 0 .. count - 1. */
DYN_API const dyn_formulation_block_traits *dyn_formulation_block_traits_at(int i);

/* Returns the description of a block of a formulation by its name; NULL if there is none. O(count). */
DYN_API const dyn_formulation_block_traits *dyn_formulation_find_block(const char *formulation, const char *name);

/* Inner quantity of a formulation: an array of up to four dimensions, row-major. */
typedef struct dyn_formulation_block {
    const char *name;                           /* as in the literature: "h_ikm" */
    const dyn_formulation_block_traits *traits; /* its description, static */
    int dimensions;                             /* 1 .. DYN_FORMULATION_EXTENTS */
    int extents[DYN_FORMULATION_EXTENTS];       /* numbers of entries in each of the first `dimensions` dimensions */
    const double *values;                       /* product of the extents, row-major */
} dyn_formulation_block;

/* Computes the inner quantities of a formulation for the motion (q, v, a) of one state: `count` blocks, which live
 * until the next call with this formulation. v and a may be NULL: zero. */
DYN_API dyn_status dyn_formulation_coefficients(dyn_formulation *formulation, const double *gravity, const double *q,
                                                const double *v, const double *a, const dyn_formulation_block **blocks,
                                                int *count, dyn_error *error);

/* Number of blocks of a model with constraints. */
enum { DYN_FORMULATION_CONSTRAINT_BLOCKS = 13 };

/* Returns the number of values of all blocks of dyn_formulation_constraint_blocks; 0 for a model without constraints.
 */
DYN_API size_t dyn_formulation_constraint_numbers(const dyn_model *model);

/* Computes the inner quantities of the constraints of a model (constraint_space.h) by a formulation, for one state and
 * the forces tau (NULL: zero): A a = b, with b = -dA/dt v, and the errors e; M and the accelerations a_0 of the tree by
 * the formulation, with the external forces and the base that it counts; A M^-1 A', Lambda, P, P_qdd and the rank; and
 *
 *     lambda = Lambda (b - A a_0)        A' lambda        [M A'; A 0] [a_c; -lambda] = [M a_0; b]
 *
 * (Featherstone and Orin 2000, equations 18, 20 and 21), where lambda has the least norm. Forces of loop joints do not
 * count. `model` is that of the formulation and of the workspace. `memory` has dyn_formulation_constraint_numbers
 * numbers, to which the blocks point; it must not overlap inputs. The names of the blocks begin with "constraint_".
 * Cost that of the mass matrix and of the forward dynamics of the formulation, and O((nv + m)^3). Allocates nothing.
 * Thread-safe as long as each thread has its own formulation and workspace.
 * Errors: those of dyn_formulation_mass_matrix, dyn_formulation_forward_dynamics, dyn_constraint_space_quantities and
 * dyn_constrain_accelerations. */
DYN_API dyn_status dyn_formulation_constraint_blocks(dyn_formulation *formulation, const dyn_model *model,
                                                     dyn_workspace *workspace, const double *gravity, const double *q,
                                                     const double *v, const double *tau, double *memory,
                                                     dyn_formulation_block blocks[DYN_FORMULATION_CONSTRAINT_BLOCKS],
                                                     dyn_error *error);

/* Result whose operations dyn_formulation_operations counts. */
typedef enum dyn_formulation_result {
    DYN_FORMULATION_RESULT_INVERSE_DYNAMICS,
    DYN_FORMULATION_RESULT_FORWARD_DYNAMICS,
    DYN_FORMULATION_RESULT_MASS_MATRIX,
} dyn_formulation_result;

/* Arithmetic of one state, as written: products with a zero of the model count, negations do not. `sines` are pairs of
 * sine and cosine; subtractions are additions. */
typedef struct dyn_operation_counts {
    unsigned long multiplications, additions, divisions, roots, sines;
} dyn_operation_counts;

/* Counts the operations of one result. They depend on the model, not on the state.
 * Errors: DYN_FAILED_PRECONDITION in a library that was built without a C++ compiler. */
DYN_API dyn_status dyn_formulation_operations(dyn_formulation *formulation, dyn_formulation_result result,
                                              dyn_operation_counts *counts, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
