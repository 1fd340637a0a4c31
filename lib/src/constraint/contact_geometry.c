/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Points of a contact surface that touch a plane or a height field.
 *
 * The lowest point of a sphere is its centre less r n. The lowest point of a rim of a cylinder is in the direction of
 * -n, projected on the plane of the rim. Where that vanishes, the x axis takes its place: all points of the rim are
 * equally low then.
 */
#include "contact_geometry.h"

#include <math.h>
#include <string.h>

#include "../model/placement.h"

int contact_point_count(dyn_contact_shape shape) {
    static const int counts[] = {0, 1, 1, 8, 2, 6, 0, 0};
    return counts[shape];
}

/* Computes the point of the world that has these coordinates in the frame. */
static void place_point(const dyn_pose *pose, double x, double y, double z, double point[3]) {
    const double own[3] = {x, y, z};
    rotation_apply(pose->rotation, own, point);
    for (int k = 0; k < 3; k++) {
        point[k] += pose->position[k];
    }
}

/* Computes the direction, in the plane of a rim and in the frame of its cylinder, that descends most. */
static void lowest_direction(const dyn_pose *pose, const double n[3], double direction[2]) {
    const double *R = pose->rotation;
    double x = -(R[0] * n[0] + R[3] * n[1] + R[6] * n[2]), y = -(R[1] * n[0] + R[4] * n[1] + R[7] * n[2]);
    double length = hypot(x, y);
    bool is_level = length < 1e-9;
    direction[0] = is_level ? 1 : x / length;
    direction[1] = is_level ? 0 : y / length;
}

static void rim_points(const dyn_contact_surface *s, const dyn_pose *pose, const double n[3],
                       double points[MOST_CONTACT_POINTS][3]) {
    static const double cosine[] = {1, -0.5, -0.5}, sine[] = {0, 0.86602540378443865, -0.86602540378443865};
    double d[2];
    lowest_direction(pose, n, d);
    for (int i = 0; i < 6; i++) {
        double x = cosine[i % 3] * d[0] - sine[i % 3] * d[1], y = sine[i % 3] * d[0] + cosine[i % 3] * d[1];
        place_point(pose, s->radius * x, s->radius * y, (i < 3 ? -0.5 : 0.5) * s->length, points[i]);
    }
}

void contact_points(const dyn_contact_surface *s, const dyn_pose *pose, const double n[3],
                    double points[MOST_CONTACT_POINTS][3]) {
    int count = contact_point_count(s->shape);
    switch (s->shape) {
    case DYN_CONTACT_SHAPE_POINT:
    case DYN_CONTACT_SHAPE_SPHERE:
        memcpy(points[0], pose->position, sizeof points[0]);
        break;
    case DYN_CONTACT_SHAPE_BOX:
        for (int i = 0; i < count; i++) {
            place_point(pose, (i & 1 ? 0.5 : -0.5) * s->size[0], (i & 2 ? 0.5 : -0.5) * s->size[1],
                        (i & 4 ? 0.5 : -0.5) * s->size[2], points[i]);
        }
        break;
    case DYN_CONTACT_SHAPE_CAPSULE:
        place_point(pose, 0, 0, -0.5 * s->length, points[0]);
        place_point(pose, 0, 0, 0.5 * s->length, points[1]);
        break;
    case DYN_CONTACT_SHAPE_CYLINDER:
        rim_points(s, pose, n, points);
        break;
    case DYN_CONTACT_SHAPE_PLANE:
    case DYN_CONTACT_SHAPE_HEIGHT_FIELD:
        break;
    }
    bool is_ball = s->shape == DYN_CONTACT_SHAPE_SPHERE || s->shape == DYN_CONTACT_SHAPE_CAPSULE;
    for (int i = 0; is_ball && i < count; i++) {
        for (int k = 0; k < 3; k++) {
            points[i][k] -= s->radius * n[k];
        }
    }
}

/* Place in the grid of a height field: the height there, and its slopes along x and y. */
typedef struct field_place {
    double height, slope[2];
} field_place;

/* Finds the place at the coordinates (x, y) of the frame of a field. Returns false beyond the grid. */
static bool find_place(const dyn_contact_surface *field, double x, double y, field_place *place) {
    double per_x = (field->columns - 1) / field->size[0], per_y = (field->rows - 1) / field->size[1];
    double u = (x + field->size[0] / 2) * per_x, v = (y + field->size[1] / 2) * per_y;
    if (!(u >= 0 && u <= field->columns - 1 && v >= 0 && v <= field->rows - 1)) {
        return false;
    }
    int column = (int)fmin(u, field->columns - 2), row = (int)fmin(v, field->rows - 2);
    const double *h = field->heights + row * field->columns + column, *above = h + field->columns;
    u -= column, v -= row;
    double along_x = u >= v ? h[1] - h[0] : above[1] - above[0], along_y = u >= v ? above[1] - h[1] : above[0] - h[0];
    *place = (field_place){h[0] + u * along_x + v * along_y, {along_x * per_x, along_y * per_y}};
    return true;
}

bool contact_on_field(const dyn_contact_surface *field, const dyn_pose *pose, double radius, double point[3],
                      double axes[9], double *gap) {
    const double *R = pose->rotation;
    double own[3] = {0}, center[3];
    for (int k = 0; k < 3; k++) {
        center[k] = point[k] + radius * axes[k];
        for (int i = 0; i < 3; i++) {
            own[i] += R[3 * k + i] * (center[k] - pose->position[k]);
        }
    }
    field_place place;
    if (!find_place(field, own[0], own[1], &place)) {
        return false;
    }
    double length = sqrt(1 + place.slope[0] * place.slope[0] + place.slope[1] * place.slope[1]);
    const double n[3] = {-place.slope[0] / length, -place.slope[1] / length, 1 / length};
    rotation_apply(R, n, axes);
    contact_tangents(axes);
    *gap = (own[2] - place.height) / length - radius;
    for (int k = 0; k < 3; k++) {
        point[k] = center[k] - radius * axes[k];
    }
    return true;
}

void contact_tangents(double axes[9]) {
    const double *n = axes;
    double *t = axes + 3, *b = axes + 6;
    int least = fabs(n[0]) <= fabs(n[1]) && fabs(n[0]) <= fabs(n[2]) ? 0 : fabs(n[1]) <= fabs(n[2]) ? 1 : 2;
    double length = sqrt(1 - n[least] * n[least]);
    for (int k = 0; k < 3; k++) {
        t[k] = ((k == least) - n[least] * n[k]) / length;
    }
    b[0] = n[1] * t[2] - n[2] * t[1];
    b[1] = n[2] * t[0] - n[0] * t[2];
    b[2] = n[0] * t[1] - n[1] * t[0];
}
