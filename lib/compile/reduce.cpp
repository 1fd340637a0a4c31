/* SPDX-License-Identifier: BSD-2-Clause */
#include "reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>

extern "C" {
#include "model/placement.h"
}

/* Sine of the smallest angle between axes whose common normal is used. Below it, the normal is too far away or
 * undefined. */
static const double least_sine = 0.05;

/* Largest rounding error of a zero: in rotations, and as a share of the size of the robot in positions. */
static const double rounding = 1e-15;

static void snap(double *x, size_t count, double scale) {
    for (size_t i = 0; i < count; i++) {
        if (std::fabs(x[i]) < rounding * scale) {
            x[i] = 0;
        } else if (std::fabs(std::fabs(x[i]) - 1) < rounding) {
            x[i] = x[i] < 0 ? -1 : 1;
        }
    }
}

void snap_rotations(std::vector<body> &bodies) {
    for (body &b : bodies) {
        snap(b.rotation, 9, 1);
    }
}

/* Rotation of a body's frame about its z axis, then a shift along it. */
struct reframing {
    double cosine, sine, shift;
};

static dyn_pose pose_of(const reframing &f) {
    dyn_pose pose = {{0, 0, f.shift}, {f.cosine, -f.sine, 0, f.sine, f.cosine, 0, 0, 0, 1}};
    return pose;
}

static dyn_pose inverse(const dyn_pose &pose) {
    dyn_pose back;
    rotation_transpose(pose.rotation, back.rotation);
    rotation_apply(back.rotation, pose.position, back.position);
    for (double &x : back.position) {
        x = -x;
    }
    return back;
}

/* Returns the first child of body i with a revolute joint, or -1. */
static int next_joint(const std::vector<body> &bodies, int i) {
    for (int j = i + 1; j < (int)bodies.size(); j++) {
        if (bodies[j].parent == i && bodies[j].motion == MOTION_REVOLUTE) {
            return j;
        }
    }
    return -1;
}

/* Computes the unit vector along the common normal of z and the axis of a body that is placed like b. If they are
 * parallel, it points to the origin of b. It is zero if neither is defined. Returns the sine of the angle between the
 * axes. */
static double common_normal(const body &b, double normal[2]) {
    double x = -b.rotation[5], y = b.rotation[2]; /* z x z_b, which has no z */
    double sine = std::hypot(x, y), length = sine;
    if (sine < rounding) {
        x = b.position[0], y = b.position[1];
        length = std::hypot(x, y);
    }
    bool is_known = length > least_sine * 1e-6;
    normal[0] = is_known ? x / length : 0;
    normal[1] = is_known ? y / length : 0;
    return sine;
}

/* Returns the shift of the frame of b along its axis: to the common normal with the axis z of its parent, or, if there
 * is none, to the height of the parent's origin. */
static double shift_to_foot(const body &b, bool parent_turns) {
    const double *R = b.rotation, *r = b.position;
    double normal[2], sine = common_normal(b, normal);
    if (parent_turns && sine > least_sine) {
        /* The origin r + t z_b has no component along z x normal. */
        double across_r = r[1] * normal[0] - r[0] * normal[1], across_z = R[5] * normal[0] - R[2] * normal[1];
        return -across_r / across_z;
    }
    return sine < rounding || !parent_turns ? -(R[2] * r[0] + R[5] * r[1] + R[8] * r[2]) : 0;
}

/* Returns the new frame of a body that is placed like b. The x axis of a tip points to its centre of mass. */
static reframing choose_frame(const std::vector<body> &bodies, int i, const body &b) {
    bool parent_turns = b.parent >= 0 && bodies[b.parent].motion == MOTION_REVOLUTE;
    int next = next_joint(bodies, i);
    double x[2] = {b.first_moment[0], b.first_moment[1]}, length = std::hypot(x[0], x[1]);
    if (next >= 0) {
        common_normal(bodies[next], x);
        length = std::hypot(x[0], x[1]);
    }
    double shift = shift_to_foot(b, parent_turns);
    return length > 0 ? reframing{x[0] / length, x[1] / length, shift} : reframing{1, 0, shift};
}

/* Moves the rotation Rz(gamma) of a tree transform Rx(beta) Rz(gamma) to the offset of the joint variable, unless gamma
 * is a multiple of a right angle. Leaves other transforms unchanged. */
static void move_turn_to_offset(body &b) {
    double *R = b.rotation, c = R[8], s = -R[5];
    if (std::fabs(R[2]) > rounding) {
        return;
    }
    double turn_x = R[0], turn_y = c * R[3] + s * R[6];
    if (std::fabs(turn_x) < rounding || std::fabs(turn_y) < rounding) {
        return;
    }
    b.offset += std::atan2(turn_y, turn_x);
    const double about_x[9] = {1, 0, 0, 0, c, -s, 0, s, c};
    std::memcpy(R, about_x, sizeof about_x);
}

static mass_properties properties_of(const body &b) {
    mass_properties p;
    p.mass = b.mass;
    std::memcpy(p.first_moment, b.first_moment, sizeof p.first_moment);
    std::memcpy(p.inertia, b.inertia, sizeof p.inertia);
    return p;
}

static void set_properties(body &b, const mass_properties &p) {
    b.mass = p.mass;
    std::memcpy(b.first_moment, p.first_moment, sizeof p.first_moment);
    std::memcpy(b.inertia, p.inertia, sizeof p.inertia);
}

static double size_of(const std::vector<body> &bodies) {
    double size = 0;
    for (const body &b : bodies) {
        for (double x : b.position) {
            size = std::fmax(size, std::fabs(x));
        }
    }
    return size;
}

void reduce_frames(std::vector<body> &bodies) {
    double size = size_of(bodies);
    std::vector<dyn_pose> change(bodies.size(), identity_pose);
    for (int i = 0; i < (int)bodies.size(); i++) {
        body &b = bodies[i];
        dyn_pose place, moved;
        std::memcpy(place.position, b.position, sizeof place.position);
        std::memcpy(place.rotation, b.rotation, sizeof place.rotation);
        if (b.parent >= 0) {
            dyn_pose from_old = inverse(change[b.parent]);
            pose_compose(&from_old, &place, &moved);
            place = moved;
        }
        if (b.motion == MOTION_REVOLUTE) {
            body seen = b;
            std::memcpy(seen.position, place.position, sizeof place.position);
            std::memcpy(seen.rotation, place.rotation, sizeof place.rotation);
            change[i] = pose_of(choose_frame(bodies, i, seen));
            snap(change[i].rotation, 9, 1);
            dyn_pose to_new = inverse(change[i]);
            mass_properties old = properties_of(b);
            set_properties(b, mass_properties_move(&to_new, &old));
        }
        pose_compose(&place, &change[i], &moved);
        snap(moved.rotation, 9, 1);
        snap(moved.position, 3, size);
        std::memcpy(b.position, moved.position, sizeof b.position);
        std::memcpy(b.rotation, moved.rotation, sizeof b.rotation);
        if (b.motion == MOTION_REVOLUTE) {
            move_turn_to_offset(b);
        }
    }
}

/* Removes the part of a body's inertia that can be fixed to the parent, and returns it. */
static mass_properties remove_fixed_part(body &b, left_out which) {
    mass_properties fixed = {};
    if (b.motion == MOTION_REVOLUTE) {
        const double *I = b.inertia;
        double moment = which == left_out::I_yy ? I[3] : 0.5 * (I[0] + I[3] - I[5]);
        fixed.mass = b.mass;
        fixed.first_moment[2] = b.first_moment[2];
        fixed.inertia[0] = fixed.inertia[3] = moment;
        b.mass = b.first_moment[2] = 0;
        b.inertia[0] -= moment;
        b.inertia[3] -= moment;
        if (which == left_out::J_zz) {
            b.inertia[5] = b.inertia[0] + b.inertia[3];
        }
    } else if (b.motion == MOTION_PRISMATIC) {
        std::memcpy(fixed.inertia, b.inertia, sizeof fixed.inertia);
        std::memset(b.inertia, 0, sizeof b.inertia);
    }
    return fixed;
}

void reduce_inertias(std::vector<body> &bodies, left_out moment) {
    for (int i = (int)bodies.size() - 1; i >= 0; i--) {
        mass_properties fixed = remove_fixed_part(bodies[i], moment);
        if (bodies[i].parent >= 0) {
            body &p = bodies[bodies[i].parent];
            dyn_pose place;
            std::memcpy(place.position, bodies[i].position, sizeof place.position);
            std::memcpy(place.rotation, bodies[i].rotation, sizeof place.rotation);
            mass_properties moved = mass_properties_move(&place, &fixed), sum = properties_of(p);
            mass_properties_add(&sum, &moved);
            set_properties(p, sum);
        }
    }
}

/* Returns a body that does not move relative to its parent, without coordinates or inertia. Its v_index is such that a
 * search for the coordinate above its own finds the last one of the parent. */
static body fixed_body(const body &moving, int parent, int first_coordinate) {
    body b = {};
    b.parent = parent;
    b.motion = MOTION_HELICAL;
    b.q_index = moving.q_index;
    b.v_index = std::min(first_coordinate, moving.v_index); /* a mimic joint's may be lower */
    std::memcpy(b.rotation, moving.rotation, sizeof b.rotation);
    std::memcpy(b.position, moving.position, sizeof b.position);
    b.joint = moving.joint;
    return b;
}

void split_transforms(std::vector<body> &bodies) {
    std::vector<body> split;
    std::vector<int> number(bodies.size());
    for (size_t i = 0; i < bodies.size(); i++) {
        body b = bodies[i];
        int above = b.parent < 0 ? 0 : bodies[b.parent].v_index + bodies[b.parent].nv;
        b.parent = b.parent < 0 ? -1 : number[b.parent];
        if (b.motion == MOTION_REVOLUTE) {
            split.push_back(fixed_body(b, b.parent, above));
            b.parent = (int)split.size() - 1;
            std::memcpy(b.rotation, identity_pose.rotation, sizeof b.rotation);
            std::memset(b.position, 0, sizeof b.position);
        }
        number[i] = (int)split.size();
        split.push_back(b);
    }
    bodies = split;
}

void restate_for_kernels(std::vector<body> &bodies) {
    for (body &b : bodies) {
        const double *I = b.inertia, half_trace = 0.5 * (I[0] + I[3] + I[5]);
        const double moments[6] = {half_trace - I[0], -I[1], -I[2], half_trace - I[3], -I[4], half_trace - I[5]};
        std::memcpy(b.moments, moments, sizeof moments);
        b.grouped.mass = b.mass;
        std::memcpy(b.grouped.first_moment, b.first_moment, sizeof b.first_moment);
        std::memcpy(b.grouped.moments, moments, sizeof moments);
        b.hinge = b.motion == MOTION_REVOLUTE && b.ratio == 1 &&
                  std::memcmp(b.rotation, identity_pose.rotation, sizeof b.rotation) == 0;
        b.tilt[0] = 1, b.tilt[1] = 0;
        b.turn = b.offset;
        b.on_hinges = b.trunk = b.is_trunk_child = b.serial = false;
        b.forks = b.has_other_children = true;
    }
}
