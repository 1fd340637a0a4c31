/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of coordinates and velocities as sums: Fourier series in the angles, polynomials in all inputs.
 */
#ifndef DYNAMICS_COMPILE_SERIES_H
#define DYNAMICS_COMPILE_SERIES_H

#include <map>
#include <vector>

#include "compiled_function.h"

/* Term without its factor: a product of powers of the inputs, times cos or sin of the sum of turns[i] q[i]. The first
 * turn that is not zero is positive. A constant has the cosine of zero. */
struct series_term {
    std::vector<double> turns;    /* one for each entry of q */
    std::vector<unsigned> powers; /* one for each entry of q, then of v */
    bool is_sine;

    bool operator<(const series_term &other) const;
};

/* Sum: the factor of each term. */
typedef std::map<series_term, double> series;

/* Returns the sums of all values of an output. `most` bounds the terms of each sum, also of intermediate ones. Throws
 * std::length_error for more terms, and std::runtime_error for a division by something that is not constant. */
std::vector<series> expand(const compiled_function &f, const output_array &output, size_t nq, size_t nv, size_t most);

#endif
