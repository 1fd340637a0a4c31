/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building a model by hand: links with their inertias, joints between them, then one call that checks the whole and
 * compiles it. Links and joints may be added in any order. dyn_urdf_read (urdf.h) fills a builder from a file's text.
 *
 * A builder belongs to one thread at a time. Every string is copied.
 */
#ifndef DYNAMICS_BUILDER_H
#define DYNAMICS_BUILDER_H

#include <stdbool.h>
#include <stddef.h>

#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/report.h>
#include <dynamics/sized.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Description of a robot that is being built. */
typedef struct dyn_builder dyn_builder;

/* Bounds on a description; beyond one the status is DYN_RESOURCE_EXHAUSTED. */
enum { DYN_MAX_LINKS = 10000, DYN_MAX_NAME = 255 };

/* Rigid body. `line` is its line in a file, and `row` its row in a table from 1 on, for errors; 0: none. */
typedef struct dyn_link_description {
    const char *name;
    dyn_inertia inertia; /* all zero for a massless link */
    int line, row;
} dyn_link_description;

/* Joint of a description. `position` and `rotation` place the joint frame in the parent link's frame; the child link's
 * frame coincides with the joint frame at q = 0, except for a custom joint. `rotation` is row-major and maps joint
 * coordinates to parent coordinates. */
typedef struct dyn_joint_description {
    const char *name;
    dyn_joint_type type;
    const char *parent_link;
    const char *child_link;
    double position[3]; /* m */
    double rotation[9];
    double axis[3]; /* in the joint frame, any length but zero; not read for joints without an axis (joint_type.h) */
    double second_axis[3];           /* second axis of a universal joint, which the first one moves */
    double pitch;                    /* pitch of a helical joint, m/rad */
    int motion_count;                /* motions of a custom joint, 1 to DYN_MAX_JOINT_MOTIONS; 0 for other joints */
    const dyn_joint_motion *motions; /* the builder copies them; not read for other joints */
    bool has_limits;
    dyn_joint_limits limits;
    double damping;          /* N m s/rad or N s/m; not negative */
    double friction;         /* N m or N; not negative */
    const char *mimic_joint; /* name of the joint that this one follows; NULL: none */
    double mimic_multiplier;
    double mimic_offset;
    int line, row; /* line in a file and row in a table, from 1 on, for errors; 0: none */
} dyn_joint_description;

/* Connection of the root link to the world: fixed, or by a floating joint "root_joint". */
typedef enum dyn_base { DYN_BASE_FIXED, DYN_BASE_FLOATING } dyn_base;

/* Treatment of joints that name a mimic_joint. */
typedef enum dyn_mimic_policy {
    DYN_MIMIC_POLICY_COUPLED,     /* a mimic joint shares its master's coordinate: q = multiplier * q_master + offset */
    DYN_MIMIC_POLICY_INDEPENDENT, /* a mimic joint is a joint like any other; the report holds a note */
} dyn_mimic_policy;

/* Options of building; zero selects the defaults. */
typedef struct dyn_build_options {
    size_t struct_size; /* set by DYN_BUILD_OPTIONS_INIT (sized.h) */
    dyn_base base;
    dyn_mimic_policy mimic;
    bool strict; /* refuse a model whose report contains a warning */
} dyn_build_options;

#define DYN_BUILD_OPTIONS_INIT(...) DYN_SIZED(dyn_build_options, __VA_ARGS__)

/* Creates an empty builder for a robot called `name` (1 to DYN_MAX_NAME bytes) under gravity (0, 0, -9.81).
 * Errors: DYN_INVALID_ARGUMENT, DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_builder_create(const char *name, dyn_builder **builder, dyn_error *error);

/* Frees a builder; NULL is allowed. */
DYN_API void dyn_builder_free(dyn_builder *builder);

/* Sets the acceleration of gravity in the world, m/s^2. Errors: DYN_INVALID_ARGUMENT if it is not finite. */
DYN_API dyn_status dyn_builder_set_gravity(dyn_builder *builder, const double gravity[3], dyn_error *error);

/* Adds a link. A name has 1 to DYN_MAX_NAME bytes of UTF-8 without control characters. dyn_builder_build checks whether
 * a body can have the inertia.
 * Errors, with place "link NAME": DYN_INVALID_ARGUMENT for an invalid or repeated name, a negative or not finite mass,
 * an inertia that is not finite; DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_builder_add_link(dyn_builder *builder, const dyn_link_description *link, dyn_error *error);

/* Adds a joint. Its links may be added later.
 * Errors, with place "joint NAME": DYN_INVALID_ARGUMENT for an invalid or repeated name, a zero axis, parallel axes of
 * a universal joint, no rotation (to 1e-9), a value that is not finite, negative damping or friction, with the name of
 * the member as part, a custom joint without motions or with constant ones alone, a function that
 * dyn_joint_function_check refuses, with the part "motions[2].function"; DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_builder_add_joint(dyn_builder *builder, const dyn_joint_description *joint, dyn_error *error);

/* Checks the description and compiles it to a model.
 *
 * Joints are numbered depth-first from the root, the children of a link in the order in which they were added. Fixed
 * joints are merged: their links stay known by name. With DYN_BASE_FLOATING a floating joint "root_joint" carries the
 * root link; with DYN_BASE_FIXED that link and all that fixed joints connect with it are fixed to the world.
 *
 * `options` may be NULL, which selects the defaults. `report` may be NULL. The builder can be used again afterwards.
 * Cost O(links log links).
 * Errors, with the element as place, or "urdf:LINE" for a builder that was read from a file: DYN_INVALID_ARGUMENT for
 * no link, no root or two, a cycle, a missing parent or child link, a link with two parents, a mimic joint without
 * master, with more than one coordinate or in a cycle, inertias with which the mass matrix is indefinite, values that
 * overflow when merged, or a warning under `strict`; DYN_RESOURCE_EXHAUSTED.
 *
 * An inertia that no body can have is a warning: inertia without mass, a negative principal moment (beyond 1e-9 of the
 * largest one), moments that violate the triangle inequality. The mass matrix decides on errors. Where a body, that is,
 * links that move together, has an inertia that is not positive semidefinite, the mass matrix is factorized in 32
 * configurations: at zero and at random within the limits of the joints, with mimic joints independent. A negative
 * pivot is an error whose place is the link with the smallest principal moment in that joint's subtree. A joint that no
 * inertia resists is a warning: the mass matrix is singular, and functions that solve with it, such as dyn_aba, return
 * DYN_FAILED_PRECONDITION. Other functions work. */
DYN_API dyn_status dyn_builder_build(const dyn_builder *builder, const dyn_build_options *options, dyn_report *report,
                                     dyn_model **model, dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
