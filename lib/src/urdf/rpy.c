/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Roll, pitch and yaw, as URDF states rotations.
 */
#include "rpy.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rotation_from_rpy(const double rpy[3], double R[9]) {
    double sr = sin(rpy[0]), cr = cos(rpy[0]), sp = sin(rpy[1]), cp = cos(rpy[1]), sy = sin(rpy[2]), cy = cos(rpy[2]);
    R[0] = cy * cp;
    R[1] = cy * sp * sr - sy * cr;
    R[2] = cy * sp * cr + sy * sr;
    R[3] = sy * cp;
    R[4] = sy * sp * sr + cy * cr;
    R[5] = sy * sp * cr - cy * sr;
    R[6] = -sp;
    R[7] = cp * sr;
    R[8] = cp * cr;
}

/* Computes the angles to rounding, also where the pitch is near a right angle: computes roll after undoing yaw. */
static void rounded_angles(const double R[9], double rpy[3]) {
    double yaw = atan2(R[3], R[0]), c = cos(yaw), s = sin(yaw);
    rpy[0] = atan2(s * R[2] - c * R[5], c * R[4] - s * R[1]);
    rpy[1] = atan2(-R[6], c * R[0] + s * R[3]);
    rpy[2] = yaw;
}

/* Candidates for the exact value of an angle known to rounding. */
typedef struct candidates {
    double angle[4 * (13 + 1 + 2 * 16) + 1];
    int count;
} candidates;

/* Lists candidates for the angle after each of the turns: first with few digits, then unchanged, then its neighbours.
 */
static candidates candidates_near(double angle, const double *turns, int turn_count) {
    candidates found = {.count = 0};
    if (fabs(angle) < 1e-9) {
        found.angle[found.count++] = 0;
    }
    for (int t = 0; t < turn_count; t++) {
        double x = angle + turns[t], above = x, below = x;
        for (int digits = 3; digits <= 15; digits++) {
            char text[40];
            snprintf(text, sizeof text, "%.*g", digits, x);
            found.angle[found.count++] = strtod(text, NULL);
        }
        found.angle[found.count++] = x;
        for (int ulp = 0; ulp < 16; ulp++) {
            above = nextafter(above, 16);
            below = nextafter(below, -16);
            found.angle[found.count++] = above;
            found.angle[found.count++] = below;
        }
    }
    return found;
}

/* Searches for a roll among `rolls` that together with pitch and yaw in rpy yields exactly R. Returns whether there is
 * one. */
static bool find_roll(const double R[9], const candidates *rolls, double rpy[3]) {
    double cp = cos(rpy[1]), S[9];
    for (int i = 0; i < rolls->count; i++) {
        rpy[0] = rolls->angle[i];
        if (cp * sin(rpy[0]) != R[7] || cp * cos(rpy[0]) != R[8]) {
            continue;
        }
        rotation_from_rpy(rpy, S);
        bool equal = true;
        for (int k = 0; k < 9; k++) {
            equal = equal && S[k] == R[k];
        }
        if (equal) {
            return true;
        }
    }
    return false;
}

/* Searches near three angles, after any of the turns, for angles that yield exactly R. Returns whether there are such.
 * Pitch alone determines R[6]; with it, yaw determines R[0] and R[3], and roll the rest. */
static bool find_exact(const double R[9], const double near[3], const double *turns, int turn_count, double rpy[3]) {
    const candidates rolls = candidates_near(near[0], turns, turn_count);
    const candidates pitches = candidates_near(near[1], turns, turn_count);
    const candidates yaws = candidates_near(near[2], turns, turn_count);
    for (int p = 0; p < pitches.count; p++) {
        rpy[1] = pitches.angle[p];
        if (-sin(rpy[1]) != R[6]) {
            continue;
        }
        double cp = cos(rpy[1]);
        for (int y = 0; y < yaws.count; y++) {
            rpy[2] = yaws.angle[y];
            if (cos(rpy[2]) * cp == R[0] && sin(rpy[2]) * cp == R[3] && find_roll(R, &rolls, rpy)) {
                return true;
            }
        }
    }
    return false;
}

void rpy_from_rotation(const double R[9], double rpy[3]) {
    static const double whole_turns[] = {0, 2 * M_PI, -2 * M_PI}, half_turns[] = {M_PI, -M_PI, 3 * M_PI, -3 * M_PI};
    double rounded[3];
    rounded_angles(R, rounded);
    /* Roll from R[7] and R[8] is as precise as these are. With a pitch beyond a right angle, all three angles differ by
     * half a turn. */
    const double near[3] = {atan2(R[7], R[8]), rounded[1], rounded[2]}, beyond[3] = {near[0], -near[1], near[2]};
    if (!find_exact(R, near, whole_turns, 3, rpy) && !find_exact(R, beyond, half_turns, 4, rpy)) {
        memcpy(rpy, rounded, sizeof rounded);
    }
}
