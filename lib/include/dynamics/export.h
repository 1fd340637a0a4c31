/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DYN_API marks what libdynamics offers; all else is hidden.
 */
#ifndef DYNAMICS_EXPORT_H
#define DYNAMICS_EXPORT_H

#define DYN_API __attribute__((visibility("default")))

#endif
