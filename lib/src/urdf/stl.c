/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inertia of the body inside a closed triangle mesh, read from STL, by the divergence theorem.
 *
 * A triangle (a, b, c) and the origin span a tetrahedron with, for d = a . (b x c) and s = a + b + c,
 *     volume d / 6        first moment d s / 24        second moment d (s s' + a a' + b b' + c c') / 120
 * and the signed sum over a closed surface is that of the body.
 * Source: Mirtich 1996; Eberly 2002.
 */
#include <dynamics/inertia.h>

#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../model/error.h"
#include "../model/number.h"
#include "../model/vector3.h"

enum { HEADER_BYTES = 84, TRIANGLE_BYTES = 50, NORMAL_BYTES = 12, LINE_BYTES = 512 };

static const double default_density = 1000;

/* Part of the surface that may be missing because the coordinates are rounded to single precision. */
static const double open_tolerance = 1e-4;

/* Integrals over the mesh so far, about the first vertex. */
typedef struct mesh_integrals {
    double scale;
    double origin[3];
    size_t triangles;
    double volume, first[3], second[6]; /* second: xx xy xz yy yz zz */
    double area, area_vector[3];
} mesh_integrals;

static dyn_status add_triangle(mesh_integrals *m, const double vertices[9], dyn_error *error) {
    double v[3][3], s[3], edge[2][3], normal[3];
    char place[DYN_PLACE_SIZE];
    for (int i = 0; i < 9; i++) {
        if (!isfinite(vertices[i])) {
            snprintf(place, sizeof place, "stl[triangle %zu]", m->triangles);
            return dyn_error_set(error, DYN_INVALID_ARGUMENT, place, "a coordinate is %g; pass finite numbers",
                                 vertices[i]);
        }
        if (m->triangles == 0 && i < 3) {
            m->origin[i] = m->scale * vertices[i];
        }
        v[i / 3][i % 3] = m->scale * vertices[i] - m->origin[i % 3];
    }
    for (int i = 0; i < 3; i++) {
        s[i] = v[0][i] + v[1][i] + v[2][i];
        edge[0][i] = v[1][i] - v[0][i];
        edge[1][i] = v[2][i] - v[0][i];
    }
    vector3_cross(v[1], v[2], normal);
    double d = v[0][0] * normal[0] + v[0][1] * normal[1] + v[0][2] * normal[2];
    m->volume += d / 6;
    for (int i = 0, k = 0; i < 3; i++) {
        m->first[i] += d * s[i] / 24;
        for (int j = i; j < 3; j++, k++) {
            m->second[k] += d / 120 * (s[i] * s[j] + v[0][i] * v[0][j] + v[1][i] * v[1][j] + v[2][i] * v[2][j]);
        }
    }
    vector3_cross(edge[0], edge[1], normal);
    for (int i = 0; i < 3; i++) {
        m->area_vector[i] += normal[i] / 2;
    }
    m->area += sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]) / 2;
    m->triangles++;
    return DYN_OK;
}

/* Returns the number of triangles of a binary file, little endian. */
static size_t triangle_count(const char *stl) {
    const unsigned char *b = (const unsigned char *)stl + HEADER_BYTES - 4;
    return (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
}

static float read_float(const char *at) {
    const unsigned char *b = (const unsigned char *)at;
    uint32_t bits = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static dyn_status read_binary(const char *stl, mesh_integrals *m, dyn_error *error) {
    size_t count = triangle_count(stl);
    dyn_status status = DYN_OK;
    for (size_t t = 0; status == DYN_OK && t < count; t++) {
        const char *at = stl + HEADER_BYTES + t * TRIANGLE_BYTES + NORMAL_BYTES;
        double vertices[9];
        for (size_t i = 0; i < 9; i++) {
            vertices[i] = (double)read_float(at + 4 * i);
        }
        status = add_triangle(m, vertices, error);
    }
    return status;
}

static dyn_status fail_at_line(size_t line, const char *message, dyn_error *error) {
    char place[DYN_PLACE_SIZE];
    snprintf(place, sizeof place, "stl:%zu", line);
    return dyn_error_set(error, DYN_INVALID_ARGUMENT, place, "%s", message);
}

/* Returns the text after the word "vertex" on a line; NULL where the line begins with another word. */
static const char *vertex_numbers(const char *line) {
    static const char word[] = "vertex";
    line += strspn(line, " \t");
    return strncmp(line, word, sizeof word - 1) == 0 ? line + sizeof word - 1 : NULL;
}

static dyn_status read_ascii(const char *stl, size_t length, locale_t plain, mesh_integrals *m, dyn_error *error) {
    double vertices[9];
    size_t line = 0;
    int corners = 0;
    dyn_status status = DYN_OK;
    for (const char *at = stl, *end = stl + length; status == DYN_OK && at < end;) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t width = (size_t)((next ? next : end) - at);
        char text[LINE_BYTES];
        line++;
        if (width >= sizeof text) {
            return fail_at_line(line, "the line is longer than 511 bytes; this is no STL", error);
        }
        memcpy(text, at, width);
        text[width] = '\0';
        const char *numbers = vertex_numbers(text);
        if (numbers && numbers_read(numbers, plain, 3, vertices + 3 * corners) != 3) {
            return fail_at_line(line, "a vertex takes three finite numbers", error);
        }
        corners += numbers != NULL;
        if (corners == 3) {
            status = add_triangle(m, vertices, error);
            corners = 0;
        }
        at += width + 1;
    }
    return status != DYN_OK || corners == 0 ? status : fail_at_line(line, "the last triangle lacks a vertex", error);
}

static dyn_status read_mesh(const char *stl, size_t length, mesh_integrals *m, dyn_error *error) {
    if (length >= HEADER_BYTES && (length - HEADER_BYTES) / TRIANGLE_BYTES == triangle_count(stl) &&
        (length - HEADER_BYTES) % TRIANGLE_BYTES == 0) {
        return read_binary(stl, m, error);
    }
    if (length < 5 || memcmp(stl, "solid", 5) != 0) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "stl",
                             "%zu bytes that are neither binary STL of that length nor ASCII STL, which begins with "
                             "\"solid\"",
                             length);
    }
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain) {
        return dyn_error_memory(error);
    }
    dyn_status status = read_ascii(stl, length, plain, m, error);
    freelocale(plain);
    return status;
}

/* Checks that the mesh has triangles, is closed and encloses a positive volume. */
static dyn_status check_mesh(const mesh_integrals *m, dyn_error *error) {
    const double *a = m->area_vector;
    double open = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    if (m->triangles == 0) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "stl", "the mesh has no triangle");
    }
    if (!(open <= open_tolerance * m->area)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "stl",
                             "the mesh is open: its %zu triangles leave a hole of at least %g m^2; close it",
                             m->triangles, open);
    }
    if (!(m->volume > 0)) {
        return dyn_error_set(error, DYN_INVALID_ARGUMENT, "stl",
                             "the mesh encloses %g m^3; its faces must be turned outwards", m->volume);
    }
    return DYN_OK;
}

/* Computes the inertia from the integrals for a mass, and moves it back to the origin of the file. */
static dyn_inertia mesh_inertia(const mesh_integrals *m, double mass) {
    double density = mass / m->volume, c[3];
    dyn_inertia out = {.mass = mass};
    const double *s = m->second;
    double trace = s[0] + s[3] + s[5];
    for (int i = 0, k = 0; i < 3; i++) {
        c[i] = m->first[i] / m->volume;
        out.center_of_mass[i] = c[i] + m->origin[i];
        for (int j = i; j < 3; j++, k++) {
            out.rotational[k] = density * ((i == j ? trace : 0) - s[k]);
        }
    }
    double square = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    for (int i = 0, k = 0; i < 3; i++) {
        for (int j = i; j < 3; j++, k++) {
            out.rotational[k] -= mass * ((i == j ? square : 0) - c[i] * c[j]);
        }
    }
    return out;
}

dyn_status dyn_inertia_stl(const char *stl, size_t length, double scale, double mass, double *volume,
                           dyn_inertia *inertia, dyn_error *error) {
    mesh_integrals m = {.scale = scale};
    if (!(scale > 0 && isfinite(scale))) {
        const dyn_error_site site = {.argument = "scale"};
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "scale is %g; pass a positive number", scale);
    }
    if (!(mass >= 0 && isfinite(mass))) {
        const dyn_error_site site = {.argument = "mass"};
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "mass is %g; pass a finite number, at least 0", mass);
    }
    dyn_status status = read_mesh(stl, length, &m, error);
    if (status == DYN_OK) {
        status = check_mesh(&m, error);
    }
    if (status != DYN_OK) {
        return status;
    }
    *inertia = mesh_inertia(&m, mass > 0 ? mass : default_density * m.volume);
    if (volume) {
        *volume = m.volume;
    }
    return DYN_OK;
}
