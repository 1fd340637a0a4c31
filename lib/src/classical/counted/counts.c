/* SPDX-License-Identifier: BSD-2-Clause */
#include "counts.h"

__thread dyn_operation_counts dyn_counts;
