/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Report on the choice of the base, which a description in URDF does not state.
 */
#ifndef DYNAMICS_MODEL_BASE_REPORT_H
#define DYNAMICS_MODEL_BASE_REPORT_H

#include <dynamics/report.h>

#include "tree.h"

/* Reports what speaks against the chosen base: a floating base whose root link is the world or that a joint lets float
 * already (warnings), a floating base of a robot that looks like an arm, or a fixed one of a robot that looks as if it
 * walked (notes). Returns false when out of memory. */
bool base_report(const dyn_builder *builder, const tree *links, dyn_base base, dyn_report *report);

#endif
