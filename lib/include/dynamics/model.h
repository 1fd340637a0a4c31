/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A robot: links, joints, frames. A model is immutable once built: any number of threads may read it.
 *
 * Conventions of the whole library
 *   units       SI, radians.
 *   arrays      row-major and contiguous; q is n rows of nq, v, a and tau are n rows of nv; a matrix is full.
 *   vectors     spatial vectors are angular first: motion (w; v), force (n; f).
 *   rotations   a 3 x 3 matrix maps child coordinates to parent coordinates; a quaternion is x, y, z, w.
 *   joints      in depth-first order; their coordinates are listed in joint_type.h.
 *   arguments   the model, the workspace or another object; the number of samples; inputs; options; outputs; the error.
 *   mimic       a coupled mimic joint has no coordinates of its own: nq = nv = 0, and its master's indices.
 */
#ifndef DYNAMICS_MODEL_H
#define DYNAMICS_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/custom_joint.h>
#include <dynamics/export.h>
#include <dynamics/joint_type.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Model of a robot, which dyn_builder_build creates. */
typedef struct dyn_model dyn_model;

/* Frame that a spatial quantity of a frame F is expressed in. */
typedef enum dyn_reference_frame {
    DYN_REFERENCE_FRAME_LOCAL,               /* axes and origin of F */
    DYN_REFERENCE_FRAME_WORLD,               /* axes and origin of the world */
    DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, /* axes of the world, origin of F */
} dyn_reference_frame;

/* Inertia of a rigid body in its link's frame. */
typedef struct dyn_inertia {
    double mass;              /* kg */
    double center_of_mass[3]; /* m */
    double rotational[6];     /* about the centre of mass in the link's axes, xx xy xz yy yz zz, kg m^2 */
} dyn_inertia;

/* Bounds of a joint with one coordinate. */
typedef struct dyn_joint_limits {
    double lower, upper; /* rad or m; lower = upper = 0 for a continuous joint */
    double velocity;     /* rad/s or m/s; 0: not stated */
    double effort;       /* N m or N; 0: not stated */
} dyn_joint_limits;

/* Pose of a frame in another: position of its origin, and rotation from its coordinates to the other's, row-major. */
typedef struct dyn_pose {
    double position[3];
    double rotation[9];
} dyn_pose;

/* Joint that moves. Its strings live as long as the model. */
typedef struct dyn_joint {
    const char *name;
    dyn_joint_type type;
    int parent_link, child_link;     /* link indices; parent_link is -1 for the floating base */
    int q_index, v_index, nq, nv;    /* q[q_index .. q_index + nq - 1], v[v_index .. v_index + nv - 1] */
    double axis[3];                  /* unit vector in the joint frame; zero for spherical and floating joints */
    double second_axis[3];           /* second axis of a universal joint */
    double pitch;                    /* m/rad */
    int motion_count;                /* motions of a custom joint (custom_joint.h); 0 for other joints */
    const dyn_joint_motion *motions; /* with unit axes; NULL for other joints */
    dyn_pose origin;                 /* joint frame in the parent link's frame */
    bool has_limits;
    dyn_joint_limits limits;
    double damping, friction; /* stated in the description; not included in the rigid-body quantities */
    int master;               /* joint that a coupled mimic joint follows, or -1 */
    double multiplier, offset;
} dyn_joint;

/* Link as described, before fixed joints were merged. */
typedef struct dyn_link {
    const char *name;
    dyn_inertia inertia;
    const char *parent_joint; /* joint that carries the link, fixed ones included; NULL for the root of a fixed base */
    int moving_joint; /* index of the moving joint that the link moves with, or -1 when it is fixed to the world */
    dyn_pose pose;    /* pose of the link in the frame of that joint's child link, or in the world; constant */
} dyn_link;

/* Frames are numbered 0 .. link_count - 1 like the links whose frames they are; DYN_WORLD_FRAME is the world. */
enum { DYN_WORLD_FRAME = -1 };

/* Frees a model; NULL is allowed. No other call on it may be in progress. */
DYN_API void dyn_model_free(dyn_model *model);

/* Returns the name of the robot, which lives as long as the model. */
DYN_API const char *dyn_model_name(const dyn_model *model);

/* Returns the number nq of coordinates q. */
DYN_API int dyn_model_nq(const dyn_model *model);

/* Returns the number nv of velocities v. */
DYN_API int dyn_model_nv(const dyn_model *model);

/* Returns the number of joints that move, mimic joints included. */
DYN_API int dyn_model_joint_count(const dyn_model *model);

/* Returns a joint that moves, in the order of the coordinates; NULL for an index that is out of range. It lives as long
 * as the model. */
DYN_API const dyn_joint *dyn_model_joint(const dyn_model *model, int joint);

/* Returns the number of links. */
DYN_API int dyn_model_link_count(const dyn_model *model);

/* Returns a link, in depth-first order; NULL for an index that is out of range. It lives as long as the model. */
DYN_API const dyn_link *dyn_model_link(const dyn_model *model, int link);

/* Returns the index of the moving joint of that name, or -1 if there is none. Cost O(log joints). */
DYN_API int dyn_model_find_joint(const dyn_model *model, const char *name);

/* Finds a frame by name: that of the link of this name, else that of the child link of the joint of this name, else
 * DYN_WORLD_FRAME for "world". Cost O(log links).
 * Errors: DYN_NOT_FOUND with the name in the message. */
DYN_API dyn_status dyn_model_find_frame(const dyn_model *model, const char *name, int *frame, dyn_error *error);

/* Stores the acceleration of gravity, m/s^2, in world axes. */
DYN_API void dyn_model_gravity(const dyn_model *model, double gravity[3]);

/* Returns whether a floating joint carries the root. */
DYN_API bool dyn_model_is_floating(const dyn_model *model);

/* Returns whether the model has coupled mimic joints, which share the coordinate of their master. */
DYN_API bool dyn_model_has_coupling(const dyn_model *model);

/* Returns the sum of the masses of all links that move, kg. */
DYN_API double dyn_model_mass(const dyn_model *model);

/* Writes the canonical description: text that is equal for equal models and different for different ones. It depends on
 * the order of joints and of machine elements in the source, but on no other order, spelling or formatting there. The
 * caller frees it with dyn_text_free. Cost O(links).
 * Errors: DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_model_canonical(const dyn_model *model, char **text, size_t *length, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
