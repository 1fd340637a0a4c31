/* SPDX-License-Identifier: BSD-2-Clause */
#include <dynamics/kinematics.h>

#include <math.h>

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
