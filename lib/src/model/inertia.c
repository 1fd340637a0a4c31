/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inertias of shapes, moved, added, checked and in other coordinates.
 */
#include <dynamics/inertia.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "error.h"
#include "placement.h"

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static dyn_status check_number(const char *name, double value, dyn_error *error) {
    const dyn_error_site site = {.argument = name};
    return value >= 0 && isfinite(value) ? DYN_OK
                                         : dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                                                        "%s is %g; pass a finite number, at least 0", name, value);
}

static dyn_status check_lengths(const char *name, const double lengths[3], dyn_error *error) {
    dyn_status status = DYN_OK;
    for (int i = 0; status == DYN_OK && i < 3; i++) {
        status = check_number(name, lengths[i], error);
    }
    return status;
}

/* Returns a centred body with these principal moments. */
static dyn_inertia centred(double mass, double Ixx, double Iyy, double Izz) {
    return (dyn_inertia){.mass = mass, .rotational = {Ixx, 0, 0, Iyy, 0, Izz}};
}

dyn_status dyn_inertia_box(double mass, const double size[3], dyn_inertia *inertia, dyn_error *error) {
    dyn_status status = check_number("mass", mass, error);
    if (status == DYN_OK) {
        status = check_lengths("size", size, error);
    }
    if (status == DYN_OK) {
        double xx = size[0] * size[0], yy = size[1] * size[1], zz = size[2] * size[2], k = mass / 12;
        *inertia = centred(mass, k * (yy + zz), k * (xx + zz), k * (xx + yy));
    }
    return status;
}

/* Checks mass, radius and length of a round shape. */
static dyn_status check_round(double mass, double radius, double length, dyn_error *error) {
    dyn_status status = check_number("mass", mass, error);
    if (status == DYN_OK) {
        status = check_number("radius", radius, error);
    }
    return status == DYN_OK ? check_number("length", length, error) : status;
}

static dyn_inertia cylinder(double mass, double radius, double length) {
    double across = mass * (3 * radius * radius + length * length) / 12;
    return centred(mass, across, across, mass * radius * radius / 2);
}

dyn_status dyn_inertia_cylinder(double mass, double radius, double length, dyn_inertia *inertia, dyn_error *error) {
    dyn_status status = check_round(mass, radius, length, error);
    if (status == DYN_OK) {
        *inertia = cylinder(mass, radius, length);
    }
    return status;
}

dyn_status dyn_inertia_sphere(double mass, double radius, dyn_inertia *inertia, dyn_error *error) {
    const double semi_axes[3] = {radius, radius, radius};
    dyn_status status = check_round(mass, radius, 0, error);
    return status == DYN_OK ? dyn_inertia_ellipsoid(mass, semi_axes, inertia, error) : status;
}

dyn_status dyn_inertia_ellipsoid(double mass, const double semi_axes[3], dyn_inertia *inertia, dyn_error *error) {
    dyn_status status = check_number("mass", mass, error);
    if (status == DYN_OK) {
        status = check_lengths("semi_axes", semi_axes, error);
    }
    if (status == DYN_OK) {
        const double *a = semi_axes;
        double xx = a[0] * a[0], yy = a[1] * a[1], zz = a[2] * a[2], k = mass / 5;
        *inertia = centred(mass, k * (yy + zz), k * (xx + zz), k * (xx + yy));
    }
    return status;
}

/* Returns a half sphere whose flat side is at z = `height`, bulging along +z or, for a negative height, along -z. */
static dyn_inertia half_sphere(double mass, double radius, double height) {
    double center = height + copysign(3 * radius / 8, height);
    double moment = 2 * mass * radius * radius / 5, offset = 3 * radius / 8;
    dyn_inertia inertia = centred(mass, moment - mass * offset * offset, moment - mass * offset * offset, moment);
    inertia.center_of_mass[2] = center;
    return inertia;
}

dyn_status dyn_inertia_capsule(double mass, double radius, double length, dyn_inertia *inertia, dyn_error *error) {
    dyn_status status = check_round(mass, radius, length, error);
    if (status != DYN_OK) {
        return status;
    }
    /* Volumes over pi r^2: the cylinder's is its length, that of both half spheres 4 r / 3. */
    double whole = length + 4 * radius / 3;
    double of_cylinder = whole > 0 ? mass * length / whole : mass, of_cap = (mass - of_cylinder) / 2;
    dyn_inertia sum = cylinder(of_cylinder, radius, length);
    const dyn_inertia upper = half_sphere(of_cap, radius, length / 2);
    const dyn_inertia lower = half_sphere(of_cap, radius, -length / 2);
    dyn_inertia_add(&sum, &upper, &sum);
    dyn_inertia_add(&sum, &lower, &sum);
    sum.center_of_mass[2] = 0;
    *inertia = sum;
    return DYN_OK;
}

/* ---- Transformation and addition --------------------------------------------------------------------------------- */

void dyn_inertia_transform(const dyn_inertia *inertia, const dyn_pose *pose, dyn_inertia *moved) {
    dyn_inertia out = {.mass = inertia->mass};
    rotation_apply(pose->rotation, inertia->center_of_mass, out.center_of_mass);
    for (int i = 0; i < 3; i++) {
        out.center_of_mass[i] += pose->position[i];
    }
    rotate_symmetric(pose->rotation, inertia->rotational, out.rotational);
    *moved = out;
}

/* rotational += m (d.d 1 - d d'). */
static void add_point_mass(double m, const double d[3], double rotational[6]) {
    double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    for (int i = 0, k = 0; i < 3; i++) {
        for (int j = i; j < 3; j++, k++) {
            rotational[k] += m * ((i == j ? square : 0) - d[i] * d[j]);
        }
    }
}

void dyn_inertia_about(const dyn_inertia *inertia, const double point[3], double rotational[6]) {
    const double *c = inertia->center_of_mass, d[3] = {c[0] - point[0], c[1] - point[1], c[2] - point[2]};
    memmove(rotational, inertia->rotational, 6 * sizeof *rotational);
    add_point_mass(inertia->mass, d, rotational);
}

void dyn_inertia_add(const dyn_inertia *a, const dyn_inertia *b, dyn_inertia *sum) {
    dyn_inertia out = {.mass = a->mass + b->mass};
    double of_a[6], of_b[6];
    for (int i = 0; i < 3; i++) {
        double moment = a->mass * a->center_of_mass[i] + b->mass * b->center_of_mass[i];
        out.center_of_mass[i] = out.mass > 0 ? moment / out.mass : a->center_of_mass[i];
    }
    dyn_inertia_about(a, out.center_of_mass, of_a);
    dyn_inertia_about(b, out.center_of_mass, of_b);
    for (int k = 0; k < 6; k++) {
        out.rotational[k] = of_a[k] + of_b[k];
    }
    *sum = out;
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

void dyn_inertia_principal_moments(const dyn_inertia *inertia, double moments[3]) {
    symmetric_eigenvalues(inertia->rotational, moments);
}

dyn_status dyn_inertia_check(const dyn_inertia *inertia, dyn_error *error) {
    const double tolerance = 1e-9;
    bool finite = isfinite(inertia->mass);
    for (int i = 0; i < 3; i++) {
        finite = finite && isfinite(inertia->center_of_mass[i]);
    }
    for (int k = 0; k < 6; k++) {
        finite = finite && isfinite(inertia->rotational[k]);
    }
    if (!finite) {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_NOT_FINITE, "inertia",
                                 "a number of the inertia is not finite");
    }
    if (!(inertia->mass > 0)) {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_INERTIA, "mass",
                                 "the mass is %g kg; a body has a positive one", inertia->mass);
    }
    double moments[3];
    dyn_inertia_principal_moments(inertia, moments);
    double trace = moments[0] + moments[1] + moments[2];
    if (moments[0] < -tolerance * fabs(trace)) {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_INERTIA, "rotational",
                                 "the smallest principal moment is %g kg m^2; no body has a negative one", moments[0]);
    }
    if (moments[2] > (moments[0] + moments[1]) * (1 + tolerance)) {
        return dyn_error_because(
            error, DYN_INVALID_ARGUMENT, DYN_CAUSE_INERTIA, "rotational",
            "the principal moment %g kg m^2 is above the sum of the others, %g and %g; no density of "
            "mass has this inertia",
            moments[2], moments[0], moments[1]);
    }
    return DYN_OK;
}

/* ---- Other coordinates ------------------------------------------------------------------------------------------- */

static const double origin[3] = {0, 0, 0};

void dyn_inertia_to_spatial(const dyn_inertia *inertia, const double point[3], double spatial[36]) {
    static const int entry[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    double I[6], h[3];
    dyn_inertia_about(inertia, point, I);
    for (int i = 0; i < 3; i++) {
        h[i] = inertia->mass * (inertia->center_of_mass[i] - point[i]);
    }
    const double cross[9] = {0, -h[2], h[1], h[2], 0, -h[0], -h[1], h[0], 0};
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++) {
            spatial[6 * r + k] = I[entry[3 * r + k]];
            spatial[6 * r + 3 + k] = cross[3 * r + k];
            spatial[18 + 6 * r + k] = cross[3 * k + r];
            spatial[18 + 6 * r + 3 + k] = r == k ? inertia->mass : 0;
        }
    }
}

void dyn_inertia_to_parameters(const dyn_inertia *inertia, double p[10]) {
    double I[6];
    dyn_inertia_about(inertia, origin, I);
    p[0] = inertia->mass;
    for (int i = 0; i < 3; i++) {
        p[1 + i] = inertia->mass * inertia->center_of_mass[i];
    }
    p[4] = I[0], p[5] = I[1], p[6] = I[3], p[7] = I[2], p[8] = I[4], p[9] = I[5];
}

dyn_status dyn_inertia_from_parameters(const double p[10], dyn_inertia *inertia, dyn_error *error) {
    if (!(p[0] > 0 && isfinite(p[0]))) {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_INERTIA, "p[0]",
                                 "the mass is %g kg; without a positive one there is no centre of mass", p[0]);
    }
    dyn_inertia out = {.mass = p[0], .rotational = {p[4], p[5], p[7], p[6], p[8], p[9]}};
    for (int i = 0; i < 3; i++) {
        out.center_of_mass[i] = p[1 + i] / p[0];
    }
    add_point_mass(-p[0], out.center_of_mass, out.rotational);
    *inertia = out;
    return DYN_OK;
}

void dyn_inertia_to_pseudo(const dyn_inertia *inertia, double pseudo[16]) {
    double p[10];
    dyn_inertia_to_parameters(inertia, p);
    double half = (p[4] + p[6] + p[9]) / 2;
    const double full[16] = {
        half - p[4], -p[5],       -p[7],       p[1], /**/
        -p[5],       half - p[6], -p[8],       p[2], /**/
        -p[7],       -p[8],       half - p[9], p[3], /**/
        p[1],        p[2],        p[3],        p[0],
    };
    memcpy(pseudo, full, sizeof full);
}

dyn_status dyn_inertia_from_pseudo(const double P[16], dyn_inertia *inertia, dyn_error *error) {
    double trace = P[0] + P[5] + P[10];
    const double p[10] = {P[15], P[3], P[7], P[11], trace - P[0], -P[1], trace - P[5], -P[2], -P[6], trace - P[10]};
    if (!(p[0] > 0 && isfinite(p[0]))) {
        return dyn_error_because(error, DYN_INVALID_ARGUMENT, DYN_CAUSE_INERTIA, "pseudo[15]",
                                 "the mass is %g kg; without a positive one there is no centre of mass", p[0]);
    }
    return dyn_inertia_from_parameters(p, inertia, error);
}

void dyn_inertia_from_log_cholesky(const double x[10], dyn_inertia *inertia) {
    double scale = exp(x[0]), P[16] = {0};
    const double U[16] = {
        exp(x[1]), x[4],      x[6],      x[7], /**/
        0,         exp(x[2]), x[5],      x[8], /**/
        0,         0,         exp(x[3]), x[9], /**/
        0,         0,         0,         1,
    };
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            for (int k = 0; k < 4; k++) {
                P[4 * i + j] += scale * scale * U[4 * i + k] * U[4 * j + k];
            }
        }
    }
    if (dyn_inertia_from_pseudo(P, inertia, NULL) != DYN_OK) {
        *inertia = (dyn_inertia){.mass = NAN, .center_of_mass = {NAN, NAN, NAN}};
        for (int k = 0; k < 6; k++) {
            inertia->rotational[k] = NAN;
        }
    }
}

dyn_status dyn_inertia_to_log_cholesky(const dyn_inertia *inertia, double x[10], dyn_error *error) {
    double P[16], U[16] = {0};
    dyn_inertia_to_pseudo(inertia, P);
    /* P = U U' with U upper triangular, last column first. */
    for (int j = 3; j >= 0; j--) {
        for (int i = j; i >= 0; i--) {
            double rest = P[4 * i + j];
            for (int k = j + 1; k < 4; k++) {
                rest -= U[4 * i + k] * U[4 * j + k];
            }
            if (i == j && !(rest > 0)) {
                return dyn_error_set(error, DYN_FAILED_PRECONDITION, "inertia",
                                     "the pseudo-inertia is not positive definite: a point, a line, a plate, or no "
                                     "body at all has no log-Cholesky coordinates");
            }
            U[4 * i + j] = i == j ? sqrt(rest) : rest / U[4 * j + j];
        }
    }
    double scale = U[15];
    const double out[10] = {log(scale),   log(U[0] / scale), log(U[5] / scale), log(U[10] / scale), U[1] / scale,
                            U[6] / scale, U[2] / scale,      U[3] / scale,      U[7] / scale,       U[11] / scale};
    memcpy(x, out, sizeof out);
    return DYN_OK;
}
