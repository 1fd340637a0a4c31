/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Normal form of a model, which the algorithms read.
 *
 * A robot is a list of bodies, parents before children. Body i is connected to its parent by one joint whose motion
 * subspace is a subset of the coordinate axes of the body's own frame, so that S_i is a selection and not a matrix:
 *
 *     revolute {wz}   prismatic {vz}   helical {wz + pitch vz}   cylindrical {wz, vz}
 *     planar {vx, vy, wz}   spherical {wx, wy, wz}   floating {vx, vy, vz, wx, wy, wz}
 *
 * To this end the frame of a body is turned relative to the frame of its link, so that the joint's axis is +z. The
 * links of fixed joints are merged into the body that carries them. A universal joint is two revolute ones with a
 * massless body between. A custom joint is a chain of revolute and prismatic ones with massless bodies between, each of
 * which follows the joint's coordinate by a function (struct stage). The coordinates keep the order and meaning of
 * dynamics/model.h.
 *
 * The turn of a body's frame about its z axis is free. It is chosen so that the axis of the first joint on the body is
 * normal to its x axis. The placement of that joint then is Rx(tilt) Rz(turn), as in the notation of Denavit and
 * Hartenberg, and two plane rotations transform a vector across it: such a joint is a hinge.
 *
 * The bodies of links come first, in depth-first order. Bodies of rotors follow (rotor.h).
 */
#ifndef DYNAMICS_MODEL_NORMAL_FORM_H
#define DYNAMICS_MODEL_NORMAL_FORM_H

#include <stdbool.h>

#include <dynamics/builder.h>
#include <dynamics/constraint.h>
#include <dynamics/model.h>

#include "name_index.h"

/* Coordinates of a spatial motion vector. */
typedef enum spatial_axis { AXIS_WX, AXIS_WY, AXIS_WZ, AXIS_VX, AXIS_VY, AXIS_VZ } spatial_axis;

/* Motion of a body relative to its parent. */
typedef enum motion_type {
    MOTION_REVOLUTE,
    MOTION_PRISMATIC,
    MOTION_HELICAL,
    MOTION_CYLINDRICAL,
    MOTION_PLANAR,
    MOTION_SPHERICAL,
    MOTION_FLOATING,
} motion_type;

/* Ten inertial parameters that cause the same joint forces as those of the bodies, with fewer of them other than zero
 * (group_inertias.h). */
typedef struct mass_grouping {
    double mass, first_moment[3], moments[6]; /* mass, first moment and second moments, as in struct body */
} mass_grouping;

/* Parameters of such a group, rounded to single precision. */
typedef struct rounded_grouping {
    float mass, first_moment[3], moments[6];
} rounded_grouping;

/* Constants of a body, rounded to single precision. Names are those of struct body (round_constants.h). */
typedef struct rounded_body {
    float tilt[2], turn;
    float position[3];
    rounded_grouping grouped, carried;
    float mass, first_moment[3], inertia[6], moments[6];
    float ratio, offset, pitch;
    float rotation[9];
    float rotor_couple[3], reflected_inertia, carried_inertia[6];
} rounded_body;

/* Body i: its inertia, and the joint that connects it with its parent. The members that most algorithms read come
 * first, together: in long chains the bodies occupy as much of the cache as the results. */
typedef struct body {
    int parent;           /* index of the parent body, less than i, or -1 for the world */
    motion_type motion;   /* motion relative to the parent */
    int q_index, v_index; /* first coordinates; those of the master for a coupled mimic joint */
    int nq, nv;           /* numbers of coordinates of the motion type, also for a coupled mimic joint */
    bool hinge;           /* revolute, no mimic joint, and rotation = Rx(tilt) Rz(turn); see above */
    bool on_hinges;       /* this and all joints between the body and the world are hinges, and none is coupled */
    bool forks;           /* a child other than the next body is connected to it */
    bool forks_links;     /* such a child is the body of a link */
    bool trunk; /* enough coordinates depend on it, or on another one, that M is computed in the root's axes there */
    bool is_trunk_child;     /* its parent belongs to the trunk */
    bool serial;             /* a hinge whose parent is the preceding body; its grouped m, h_z and J_zz are zero */
    bool has_other_children; /* a body that is not serial, nor a rotor without mimic joints, is connected to it */
    double tilt[2], turn;    /* cosine and sine of a hinge's tilt; its turn, which is added to the joint variable */
    double position[3];      /* placement of the joint frame in the parent body's frame: r; R is below */
    mass_grouping grouped;   /* of this body and its descendants, for algorithms that need joint forces only */
    double mass;             /* m */
    double first_moment[3];  /* m c, in the body's frame */
    double inertia[6];       /* about the origin of the body's frame, in its axes: xx xy xz yy yz zz */
    double moments[6];       /* integral of r r' dm, likewise: tr(inertia)/2 - inertia */
    double ratio, offset; /* joint variable = ratio * q + offset, rate = ratio * v; 1 and 0 except for mimic joints */
    double pitch;         /* pitch of a helical joint, m/rad */
    double rotation[9];   /* R of the joint frame in the parent body's frame, row-major */
    int chain; /* of a trunk: first of the chain of bodies, each on the preceding one, that ends with this one */
    int columns_behind;        /* number of coordinates of its descendants; without mimic joints they follow its own */
    int joint;                 /* index of the public joint; of a rotor, that of the joint that it drives */
    bool follows;              /* it shares the coordinate of another body: a coupled mimic joint, or a rotor */
    bool is_driven;            /* rotors drive its joint */
    double rotor_couple[3];    /* sum of G I_a u over these rotors, with their axes u in the parent's frame */
    double reflected_inertia;  /* sum of G^2 I_a over these rotors */
    double carried_inertia[6]; /* its inertia, and the sum of I_a u u' over the rotors that spin on it */
    mass_grouping carried;     /* as `grouped`, of links whose rotors rest on the bodies that carry them */
    rounded_body rounded;      /* constants for kernels of single precision */
} body;

/* Named frame (the frame of a link) in the normal form. */
typedef struct body_frame {
    int body;      /* body that carries it, or -1 for the world */
    dyn_pose pose; /* in the body's frame or in the world, constant */
} body_frame;

/* Kinds of closures: the equations that a constraint adds. */
typedef enum closure_kind {
    CLOSURE_JOINT,
    CLOSURE_UNIVERSAL,
    CLOSURE_DISTANCE,
    CLOSURE_PLANE,
    CLOSURE_COUPLING,
    CLOSURE_POLYNOMIAL,
    CLOSURE_PRESCRIBED,
    CLOSURE_BALL,
    CLOSURE_WHEEL
} closure_kind;

/* Forces of a loop joint along the directions that it allows. */
typedef struct loop_forces {
    double damping, friction; /* of each direction: N m s/rad and N m, or N s/m and N */
    double effort;            /* constant force of a motor: N m or N */
} loop_forces;

/* Normal form of a constraint: what ties a frame of the successor to a frame of the predecessor, or the coordinates of
 * a coupling. */
typedef struct closure {
    closure_kind kind;
    int count;         /* rows */
    int links[2];      /* predecessor and successor; -1: the world */
    dyn_pose poses[2]; /* their frames in those of the links; z is the axis of the joint, or the normal of the plane */
    unsigned axes;     /* constrained directions of a joint in the predecessor's frame, as in dyn_task_frame */
    double pitch;      /* of a helical joint, m/rad */
    double distance;   /* m; scalar product of the axes of a universal joint; offset of a coupling; radius of a ball */
    int coordinate_count; /* of a coupling or a prescribed motion */
    int q_index[DYN_MAX_COUPLED_COORDINATES], v_index[DYN_MAX_COUPLED_COORDINATES];
    double coefficients[DYN_MAX_COUPLED_COORDINATES];
    int degree;                                  /* of the polynomial */
    double polynomial[DYN_MAX_POLYNOMIAL_TERMS]; /* c_k: in the second coordinate of a coupling, or in time */
    dyn_motion_law law;                          /* of a prescribed motion */
    loop_forces forces;                          /* of a joint */
} closure;

/* Normal form of a rotor (rotor.h). */
typedef struct model_rotor {
    int link;                   /* child link of its joint; link that carries a shaft, -1: the world */
    int driven;                 /* body of that link; -1: the joint is fixed, or a shaft */
    int first_body, body_count; /* its bodies, none on a fixed joint */
    double mass, axial, transverse;
    double carried; /* part of `axial` that the inertia of the parent link includes */
    dyn_pose fixed; /* on a fixed joint, and of a shaft: in the frame of the link */
} model_rotor;

/* Piece of a function f: sum of terms[k] (x - origin)^k where x exceeds `from` and not the `from` of the next one. */
typedef struct function_piece {
    double from, origin;
    double terms[DYN_MAX_FUNCTION_TERMS];
} function_piece;

/* Stage of a custom joint: the joint variable of its body is f(ratio * q + offset). The kernels compute such a model as
 * one in which the body has a coordinate of its own (kernels/stages.h). */
typedef struct stage {
    int body, q_index, v_index; /* coordinate of the joint, or of its master */
    double ratio, offset;       /* 1 and 0 except for mimic joints */
    int piece_count;
    const function_piece *pieces; /* they rise; the `from` of the first one is not read */
} stage;

/* Model in normal form, with the description that it was built from. */
struct dyn_model {
    char *name;
    int nq, nv;
    double gravity[3];
    bool floating;     /* a floating joint "root_joint" carries the root */
    bool has_coupling; /* some body shares the coordinate of another */
    bool has_mimic; /* some body is that of a coupled mimic joint, of a shaft or of a custom joint, so that coordinates
                          of branches depend on each other */
    int unresisted; /* last joint that no inertia resists in any configuration, so that M is singular; -1: none */

    int body_count, link_bodies; /* all bodies, and those of links, which come first */
    body *bodies;

    int joint_count;
    dyn_joint *joints;

    int link_count;
    dyn_link *links;
    body_frame *frames; /* link_count of them, in the order of the links */

    int constraint_count, constraint_rows;
    dyn_constraint *constraints; /* their names belong to the model */
    closure *closures;           /* constraint_count of them, in the same order */

    int rotor_count;
    model_rotor *rotors;

    int stage_count; /* stages of all custom joints */
    stage *stages;
    function_piece *pieces;
    dyn_joint_motion *motions; /* those of all custom joints, one for each stage */

    name_index link_names;  /* numbers of the links; owns their names */
    name_index joint_names; /* child link numbers of all joints, including fixed ones; owns their names */

    dyn_builder *description;  /* description that the model was built from */
    dyn_build_options options; /* options that it was built with */
};

/* Returns the nv coordinate axes of a motion, in the order of v. */
static inline const spatial_axis *motion_axes(motion_type type) {
    static const spatial_axis axes[][6] = {
        /* revolute */ {AXIS_WZ},
        /* prismatic */ {AXIS_VZ},
        /* helical */ {AXIS_WZ},
        /* cylindrical */ {AXIS_WZ, AXIS_VZ},
        /* planar */ {AXIS_VX, AXIS_VY, AXIS_WZ},
        /* spherical */ {AXIS_WX, AXIS_WY, AXIS_WZ},
        /* floating */ {AXIS_VX, AXIS_VY, AXIS_VZ, AXIS_WX, AXIS_WY, AXIS_WZ},
    };
    return axes[type];
}

#endif
