/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Points of a contact surface that touch a plane.
 */
#ifndef DYNAMICS_CONSTRAINT_CONTACT_GEOMETRY_H
#define DYNAMICS_CONSTRAINT_CONTACT_GEOMETRY_H

#include <dynamics/contact.h>

/* Most contact points of a surface and a plane. */
enum { MOST_CONTACT_POINTS = 8 };

/* Returns the number of contact points of a shape and a plane; 0 for a plane. */
int contact_point_count(dyn_contact_shape shape);

/* Computes the contact points of a surface, whose frame has the pose `pose` in the world, and a plane with the unit
 * normal n. */
void contact_points(const dyn_contact_surface *surface, const dyn_pose *pose, const double n[3],
                    double points[MOST_CONTACT_POINTS][3]);

/* Moves a point of a surface, which is the lowest one along the axis axes[0] .. axes[2] of a ball of this radius or has
 * the radius 0, to where it touches a height field with the pose `pose` in the world. Sets the axes to the normal there
 * and its tangents, and `*gap`. Returns false beyond the grid. */
bool contact_on_field(const dyn_contact_surface *field, const dyn_pose *pose, double radius, double point[3],
                      double axes[9], double *gap);

/* Computes two unit vectors that complete the unit vector axes[0] .. axes[2] to a right-handed frame, as rows 1 and 2.
 */
void contact_tangents(double axes[9]);

#endif
