/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readable formulas of the equation of motion tau = M(q) a + c(q, v) + g(q) of a small robot.
 *
 * Each entry is a sum of terms: a number times powers of lengths and velocities times the cosine or sine of a sum of
 * multiples of angles. This form is unique: equal functions have equal text, squares of sines and products of cosines
 * do not occur, and terms that cancel are gone.
 */
#ifndef DYNAMICS_COMPILE_FORMULA_H
#define DYNAMICS_COMPILE_FORMULA_H

#include <string>

#include "model/normal_form.h"

/* Notation of the formulas: plain text, which programs can evaluate, or LaTeX. */
enum class notation { text, latex };

/* Largest number of coordinates of a robot, and of terms of a sum. */
enum { MOST_FORMULA_COORDINATES = 4, MOST_FORMULA_TERMS = 10000 };

/* Returns the formulas with a heading. Throws std::runtime_error for a robot with more coordinates or with a spherical
 * or floating joint, and std::length_error if a sum has more terms. */
std::string formulas(const dyn_model *model, notation language);

#endif
