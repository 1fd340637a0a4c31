/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Modes of a uniform beam that is clamped at one end. With s from the clamped end, b the wave number and L the length,
 * the shape is phi(s) = cosh bs - cos bs - c (sinh bs - sin bs), where cos bL cosh bL = -1 and
 * c = (cosh bL + cos bL) / (sinh bL + sin bL). Where bs is large, the hyperbolic terms cancel. With d = 1 - c they are
 * ((2 - d) exp(-bs) + d exp(bs)) / 2, where d = (sin bL - cos bL - exp(-bL)) / (sinh bL + sin bL), and nothing cancels.
 * The integrals of the shape follow from phi'''' = b^4 phi and the conditions at the ends, phi = phi' = 0 and
 * phi'' = phi''' = 0:
 *
 *     integral of phi ds = 2 c / b       of s phi ds = 2 / b^2       of phi^2 ds = L       of phi''^2 ds = b^4 L
 *     phi(L) = 2 (-1)^k                  phi'(L) = 2 b c (-1)^k                              mode k = 0, 1, ...
 *
 * Source: Meirovitch 1967, Analytical Methods in Vibrations, section 5.10, written from memory.
 */
#ifndef DYNAMICS_MODEL_BEAM_SHAPE_H
#define DYNAMICS_MODEL_BEAM_SHAPE_H

#include <stdbool.h>

/* Axes of a beam: its length, and unit vectors along it and of its bending planes. */
typedef struct beam_axes {
    double length, along[3], across[2][3];
} beam_axes;

/* Sets the length of a beam, and unless that is zero or not finite the vector along it. Returns whether it is set. */
bool beam_axes_between(const double start[3], const double end[3], beam_axes *axes);

/* Sets the bending planes from the unit vector of the first one, which is normal to the beam. */
void beam_axes_bend(const double direction[3], beam_axes *axes);

/* Shape of a mode. */
typedef struct beam_shape {
    double b, c, d, sign; /* sign = (-1)^k */
} beam_shape;

/* Returns the shape of mode k of a beam. */
beam_shape beam_shape_of(int k, double length);

/* Computes phi(s), and its derivative along s. */
double beam_shape_at(const beam_shape *shape, double s, double *slope);

#endif
