/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Index of a packed number of one lane.
 */
#ifndef DYNAMICS_SIMULATION_LANE_INDEX_H
#define DYNAMICS_SIMULATION_LANE_INDEX_H

#include "../dynamics/workspace.h"

/* Returns the index of a packed number of a lane. */
static inline size_t lane_index(sample_block block, int coordinate, size_t lane) {
    return (size_t)coordinate * block.lanes + lane;
}

#endif
