/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The normal form of a model: what the algorithms read.
 *
 * A robot is a list of bodies, parents before children. Body i hangs on one joint whose motion subspace is a subset of
 * the coordinate axes of the body's own frame, so that S_i is a selection and not a matrix:
 *
 *     revolute {wz}   prismatic {vz}   helical {wz + pitch vz}   cylindrical {wz, vz}
 *     planar {vx, vy, wz}   spherical {wx, wy, wz}   floating {vx, vy, vz, wx, wy, wz}
 *
 * To this end the frame of a body is turned against the frame of its link, so that the joint's axis is +z. Links behind
 * fixed joints are merged into the body that carries them. A universal joint is two revolute ones with a massless body
 * between. The coordinates keep the order and meaning of dynamics/model.h.
 *
 * A body's frame may still be turned about its z axis. It is turned so that the axis of the first joint on the body is
 * normal to its x axis. The placement of that joint then is Rx(tilt) Rz(turn), as in the notation of Denavit and
 * Hartenberg, and a vector passes it by two plane rotations: such a joint is a hinge.
 */
#ifndef DYNAMICS_MODEL_NORMAL_FORM_H
#define DYNAMICS_MODEL_NORMAL_FORM_H

#include <stdbool.h>

#include <dynamics/builder.h>
#include <dynamics/model.h>

#include "name_index.h"

/* Coordinates of a spatial motion vector. */
typedef enum spatial_axis { AXIS_WX, AXIS_WY, AXIS_WZ, AXIS_VX, AXIS_VY, AXIS_VZ } spatial_axis;

typedef enum motion_type {
    MOTION_REVOLUTE,
    MOTION_PRISMATIC,
    MOTION_HELICAL,
    MOTION_CYLINDRICAL,
    MOTION_PLANAR,
    MOTION_SPHERICAL,
    MOTION_FLOATING,
} motion_type;

/* Ten inertial parameters that give the same joint forces as those of the bodies, with fewer of them other than zero
 * (group_inertias.h). */
typedef struct mass_grouping {
    double mass, first_moment[3], moments[6]; /* as those of a body */
} mass_grouping;

/* The constants of a body, rounded to single precision under the names that they have below (round_constants.h). */
typedef struct rounded_body {
    float tilt[2], turn;
    float position[3];
    struct {
        float mass, first_moment[3], moments[6];
    } grouped;
    float mass, first_moment[3], inertia[6], moments[6];
    float ratio, offset, pitch;
    float rotation[9];
} rounded_body;

/* Body i: its inertia, and the joint that connects it with its parent. What most algorithms read comes first, together:
 * in long chains the bodies take as much of the cache as what is computed. */
typedef struct body {
    int parent;             /* index of the parent body, less than i, or -1 for the world */
    motion_type motion;     /* how it moves against its parent */
    int q_index, v_index;   /* its coordinates; those of its master for a coupled mimic joint */
    int nq, nv;             /* number of coordinates that its motion has, also for a coupled mimic joint */
    bool hinge;             /* revolute, no mimic joint, and rotation = Rx(tilt) Rz(turn); see there */
    bool on_hinges;         /* this and all joints between the body and the world are hinges, and none is coupled */
    bool forks;             /* another body than the next one hangs on it */
    bool trunk;             /* so much hangs on it, or on another one, that M is found in the root's axes there */
    bool on_trunk;          /* its parent is of the trunk */
    bool serial;            /* a hinge on the body before; its grouped m, h_z and J_zz are zero */
    bool bears;             /* a body that is not serial hangs on it */
    double tilt[2], turn;   /* of a hinge: cosine and sine of the tilt; the turn, to be added to the joint variable */
    double position[3];     /* placement of the joint frame in the parent body's frame: r; R is below */
    mass_grouping grouped;  /* of this and the bodies behind it, for what takes joint forces alone */
    double mass;            /* m */
    double first_moment[3]; /* m c, in the body's frame */
    double inertia[6];      /* about the origin of the body's frame, in its axes: xx xy xz yy yz zz */
    double moments[6];      /* the integral of r r' dm, likewise: tr(inertia)/2 - inertia */
    double ratio, offset;   /* joint variable = ratio * q + offset, rate = ratio * v; 1 and 0 but for mimic joints */
    double pitch;           /* of a helical joint, m/rad */
    double rotation[9];     /* R of the joint frame in the parent body's frame, row-major */
    int chain;              /* of a trunk: the first of the bodies, each on the one before, that end with this one */
    int columns_behind;     /* coordinates of all that hangs on it; without mimic joints they follow its own */
    int joint;              /* index of the public joint */
    rounded_body rounded;   /* what kernels of single precision read */
} body;

/* A named frame (the frame of a link) in the normal form. */
typedef struct body_frame {
    int body;      /* that carries it, or -1 for the world */
    dyn_pose pose; /* in the body's frame or in the world, constant */
} body_frame;

struct dyn_model {
    char *name;
    int nq, nv;
    double gravity[3];
    bool floating;     /* a floating joint "root_joint" carries the root */
    bool has_coupling; /* some body shares the coordinate of another: a coupled mimic joint */
    int unresisted;    /* last joint that no inertia resists in any configuration, so that M is singular; -1: none */

    int body_count;
    body *bodies;

    int joint_count;
    dyn_joint *joints;

    int link_count;
    dyn_link *links;
    body_frame *frames; /* link_count of them, in the order of the links */

    name_index link_names;  /* numbers of the links; owns their names */
    name_index joint_names; /* of all joints, fixed ones included: the number of the child link; owns their names */

    dyn_builder *description;  /* what the model was built from, */
    dyn_build_options options; /* and how */
};

/* The nv coordinate axes of a motion, in the order of v. */
static inline const spatial_axis *motion_axes(motion_type motion) {
    static const spatial_axis axes[][6] = {
        /* revolute */ {AXIS_WZ},
        /* prismatic */ {AXIS_VZ},
        /* helical */ {AXIS_WZ},
        /* cylindrical */ {AXIS_WZ, AXIS_VZ},
        /* planar */ {AXIS_VX, AXIS_VY, AXIS_WZ},
        /* spherical */ {AXIS_WX, AXIS_WY, AXIS_WZ},
        /* floating */ {AXIS_VX, AXIS_VY, AXIS_VZ, AXIS_WX, AXIS_WY, AXIS_WZ},
    };
    return axes[motion];
}

#endif
