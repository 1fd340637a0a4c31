/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/kinematics.h>

#include <math.h>
#include <string.h>

#include "../model/error.h"
#include "../model/placement.h"

void dyn_rotation_to_quaternion(const double R[9], double q[4]) {
    /* Four times the square of each component. The largest serves as divisor. */
    double trace = R[0] + R[4] + R[8];
    double square[4] = {1 + 2 * R[0] - trace, 1 + 2 * R[4] - trace, 1 + 2 * R[8] - trace, 1 + trace};
    int k = 0;
    for (int i = 1; i < 4; i++) {
        k = square[i] > square[k] ? i : k;
    }
    double wx = R[7] - R[5], wy = R[2] - R[6], wz = R[3] - R[1];
    double xy = R[1] + R[3], xz = R[2] + R[6], yz = R[5] + R[7];
    const double products[4][4] = {
        {square[0], xy, xz, wx},
        {xy, square[1], yz, wy},
        {xz, yz, square[2], wz},
        {wx, wy, wz, square[3]},
    };
    const double *row = products[k];
    double norm = sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2] + row[3] * row[3]);
    double scale = row[3] < 0 ? -1 / norm : 1 / norm;
    for (int i = 0; i < 4; i++) {
        q[i] = scale * row[i];
    }
}

void dyn_quaternion_to_rotation(const double q[4], double R[9]) {
    double x = q[0], y = q[1], z = q[2], w = q[3];
    double s = 2 / (x * x + y * y + z * z + w * w);
    R[0] = 1 - s * (y * y + z * z), R[1] = s * (x * y - w * z), R[2] = s * (x * z + w * y);
    R[3] = s * (x * y + w * z), R[4] = 1 - s * (x * x + z * z), R[5] = s * (y * z - w * x);
    R[6] = s * (x * z - w * y), R[7] = s * (y * z + w * x), R[8] = 1 - s * (x * x + y * y);
}

/* Order of Euler angles: turns about the moved axes i, j and k. For turns about fixed axes, which are those about the
 * moved axes in the opposite order, `is_fixed` is set. */
typedef struct euler_order {
    int i, j, k;
    bool is_fixed;
} euler_order;

/* Reads the names of the axes. */
static dyn_status read_order(const char *axes, euler_order *order, dyn_error *error) {
    static const char fixed[] = "xyz", moved[] = "XYZ";
    bool is_fixed = axes && strspn(axes, fixed) == 3, is_moved = axes && strspn(axes, moved) == 3;
    if (!(is_fixed || is_moved) || axes[3] != '\0' || axes[0] == axes[1] || axes[1] == axes[2]) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "axes",
                             "the axes are \"%.16s\"; pass three letters of xyz for fixed axes, or of XYZ for moved "
                             "axes, without equal neighbours, such as \"xyz\" or \"ZYX\"",
                             axes ? axes : "");
    }
    const char first = is_fixed ? 'x' : 'X';
    *order = is_fixed ? (euler_order){axes[2] - first, axes[1] - first, axes[0] - first, true}
                      : (euler_order){axes[0] - first, axes[1] - first, axes[2] - first, false};
    return DYN_OK;
}

/* Returns 1 if axis b follows axis a in the cycle x, y, z, and -1 otherwise. */
static int sign_of(int a, int b) {
    return (a + 1) % 3 == b ? 1 : -1;
}

/* Computes the rotation by an angle about a coordinate axis. */
static void turn_about(int axis, double angle, double R[9]) {
    int a = (axis + 1) % 3, b = (axis + 2) % 3;
    double c = cos(angle), s = sin(angle);
    memset(R, 0, 9 * sizeof *R);
    R[4 * axis] = 1;
    R[4 * a] = R[4 * b] = c;
    R[3 * a + b] = -s, R[3 * b + a] = s;
}

dyn_status dyn_euler_to_rotation(const char *axes, const double angles[3], double rotation[9], dyn_error *error) {
    euler_order order;
    dyn_status status = read_order(axes, &order, error);
    if (status == DYN_OK && !(isfinite(angles[0]) && isfinite(angles[1]) && isfinite(angles[2]))) {
        status = dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_NOT_FINITE, "angles",
                                   "the angles are %g, %g, %g; pass finite numbers", angles[0], angles[1], angles[2]);
    }
    if (status != DYN_OK) {
        return status;
    }
    double first[9], second[9], third[9], both[9];
    turn_about(order.i, angles[order.is_fixed ? 2 : 0], first);
    turn_about(order.j, angles[1], second);
    turn_about(order.k, angles[order.is_fixed ? 0 : 2], third);
    rotation_multiply(first, second, both);
    rotation_multiply(both, third, rotation);
    return DYN_OK;
}

dyn_status dyn_rotation_to_euler(const char *axes, const double rotation[9], double angles[3], dyn_error *error) {
    euler_order o;
    dyn_status status = read_order(axes, &o, error);
    if (status != DYN_OK) {
        return status;
    }
    const double *R = rotation;
    int l = 3 - o.i - o.j, e = sign_of(o.i, o.j);
    bool has_two = o.k == o.i;
    double first, second;
    if (has_two) {
        double x = -e * R[3 * l + o.i], y = R[3 * o.j + o.i];
        first = atan2(y, x);
        second = atan2(hypot(x, y), R[4 * o.i]);
    } else {
        double x = R[4 * o.k], y = -e * R[3 * o.j + o.k];
        first = atan2(y, x);
        second = atan2(e * R[3 * o.i + o.k], hypot(x, y));
    }
    /* The row of axis j of R_i(first)' R is that of the last turn, whatever the first angle is. */
    double back[9], rest[9];
    turn_about(o.i, -first, back);
    rotation_multiply(back, R, rest);
    int across = has_two ? l : o.i;
    double third = atan2((has_two ? -e : e) * rest[3 * o.j + across], rest[4 * o.j]);
    angles[0] = o.is_fixed ? third : first;
    angles[1] = second;
    angles[2] = o.is_fixed ? first : third;
    return DYN_OK;
}
