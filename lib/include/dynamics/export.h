/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DYN_API exports a symbol from libdynamics. All other symbols are hidden.
 */
#ifndef DYNAMICS_EXPORT_H
#define DYNAMICS_EXPORT_H

#define DYN_API __attribute__((visibility("default")))

#endif
