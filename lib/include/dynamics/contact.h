/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contact surfaces of a model: the parts of its links that touch planes and height fields.
 *
 * A surface has a shape in a frame on a link. Each shape except a plane touches the planes, and the height fields, that
 * are on other links or in the world. Two shapes that are neither do not touch each other. The surfaces 1 and 2 of a
 * pair state its law:
 *
 *     friction       mu = sqrt(mu_1 mu_2)                |f_t| <= mu f_n, and f_t opposes the slip (Coulomb)
 *     restitution    e = max(e_1, e_2)                   v_n' = -e v_n at an impact (Newton)
 *     stiffness      1/k = 1/k_1 + 1/k_2                 k = 0 states a rigid surface, which does not count
 *     dissipation    d = (d_1 k_2 + d_2 k_1) / (k_1 + k_2)
 *
 *     rigid          0 <= f_n, 0 <= g, f_n g = 0, where both surfaces are rigid
 *     compliant      f_n = max(0, k x^(3/2) (1 + 3/2 d dx/dt)), with the penetration x = -g
 *     soft           a + R f - a_ref in K*, f in K, f' (a + R f - a_ref) = 0, where one surface is soft
 *
 * The gap g is the distance of a contact point from the plane. The soft law is that of MuJoCo with elliptic cones K,
 * |f_t| <= mu f_n: a is the acceleration of the point, a_ref that of a damped spring, and R = A_nn (1 - d) / d, where d
 * is the impedance and 1 / A_nn the mass that the point presents along the normal. MuJoCo takes for it the mass and the
 * inertia of the bodies in the neutral configuration: forces of a ball agree to rounding, while a box, whose corners
 * present less than its mass, sinks in and creeps about two and a half times as far. Of two soft surfaces the
 * parameters are the means. A soft pair has no restitution.
 *
 * Source: Hunt and Crossley 1975, "Coefficient of restitution interpreted as damping in vibroimpact", equation 6;
 * Todorov 2014, "Convex and analytically-invertible dynamics with contacts and constraints".
 */
#ifndef DYNAMICS_CONTACT_H
#define DYNAMICS_CONTACT_H

#include <dynamics/builder.h>
#include <dynamics/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds on the contact surfaces of a model, and on their pairs with planes; beyond one the status is
 * DYN_RESOURCE_EXHAUSTED. */
enum { DYN_MAX_CONTACT_SURFACES = 64, DYN_MAX_CONTACT_PAIRS = 256 };

/* Most heights of a height field. */
enum { DYN_MAX_HEIGHTS = 16384 };

/* Shape of a surface in its frame. */
typedef enum dyn_contact_shape {
    DYN_CONTACT_SHAPE_POINT = 1,    /* the origin */
    DYN_CONTACT_SHAPE_SPHERE = 2,   /* of `radius` about the origin */
    DYN_CONTACT_SHAPE_BOX = 3,      /* of the edges `size` about the origin; its corners touch */
    DYN_CONTACT_SHAPE_CAPSULE = 4,  /* two spheres of `radius` at -length/2 and length/2 on the z axis */
    DYN_CONTACT_SHAPE_CYLINDER = 5, /* of `radius` and `length` about the z axis; three points of each rim touch */
    DYN_CONTACT_SHAPE_PLANE = 6,    /* half-space below z = 0 */
    /* Space below the triangles over a grid with the edges size[0] and size[1] about the origin: of each cell between
     * heights a triangle on either side of its diagonal from -x, -y to +x, +y. A ball touches below its centre. */
    DYN_CONTACT_SHAPE_HEIGHT_FIELD = 7,
} dyn_contact_shape;

/* Soft contact with the penetration x:
 *
 *     a_ref,n = -B v_n + K d x,  a_ref,t = -B v_t,  B = 2 / (d_1 T),  K = 1 / (d_1 T z)^2
 *     d = d_0 + y(x / w) (d_1 - d_0),  y = m (s / m)^p for s <= m,  1 - (1 - m) ((1 - s) / (1 - m))^p to s = 1, then 1
 *
 * T is at least two time steps. The numbers are MuJoCo's solref, (T, z), and solimp, (d_0, d_1, w, m, p). */
typedef struct dyn_soft_contact {
    double time_constant; /* T, s; 0: the surface is not soft */
    double damping_ratio; /* z, positive */
    double impedance[2];  /* d_0 and d_1, 0.0001 .. 0.9999 */
    double width;         /* w, m, positive */
    double midpoint;      /* m, between 0 and 1 */
    double power;         /* p, at least 1 */
} dyn_soft_contact;

/* Soft contact with MuJoCo's defaults. */
#define DYN_SOFT_CONTACT_INIT()                                                                                        \
    { .time_constant = 0.02, .damping_ratio = 1, .impedance = {0.9, 0.95}, .width = 0.001, .midpoint = 0.5, .power = 2 }

/* Contact surface of a description. Members that its shape does not name are not read. */
typedef struct dyn_contact_surface {
    const char *name;
    const char *link; /* NULL: the world */
    dyn_pose pose;    /* of its frame in that of the link */
    dyn_contact_shape shape;
    double radius, length, size[3]; /* m, positive */
    double friction;                /* mu, not negative */
    double restitution;             /* e, 0 .. 1 */
    double stiffness;               /* k, N/m^(3/2), not negative; 0: rigid */
    double dissipation;             /* d, s/m, not negative; 0 where the surface is rigid */
    dyn_soft_contact soft;          /* without stiffness and restitution */
    int rows, columns;              /* of a height field: along y and x, at least 2 */
    const double *heights;          /* rows x columns, m, from -x, -y on; copied */
} dyn_contact_surface;

/* Adds a contact surface. Its link may be added later: dyn_builder_build refuses a surface on an unknown link.
 * Errors, with a place such as "contact_surfaces[2].friction": DYN_INVALID_ARGUMENT for an invalid or repeated name, an
 * unknown shape, a size that is not positive, a negative friction, stiffness or dissipation, a restitution outside 0 ..
 * 1, dissipation of a rigid surface, parameters of a soft one outside their ranges or beside another law, a matrix that
 * is no rotation (to 1e-9), a grid of fewer than 2 x 2 or more than DYN_MAX_HEIGHTS heights, a value that is not
 * finite; DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_builder_add_contact_surface(dyn_builder *builder, const dyn_contact_surface *surface,
                                                   dyn_error *error);

/* Contact surfaces in the order in which they were added. The description and its strings live until the builder is
 * changed or freed. The result is NULL for an index that is out of range. */
DYN_API int dyn_builder_contact_surface_count(const dyn_builder *builder);
DYN_API const dyn_contact_surface *dyn_builder_contact_surface(const dyn_builder *builder, int surface);

/* Contact surfaces of a model, as those of a builder; they live as long as the model. */
DYN_API int dyn_model_contact_surface_count(const dyn_model *model);
DYN_API const dyn_contact_surface *dyn_model_contact_surface(const dyn_model *model, int surface);

#ifdef __cplusplus
}
#endif

#endif
