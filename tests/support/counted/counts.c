/* SPDX-License-Identifier: BSD-2-Clause */
#include "counts.h"

operation_counts counts;
