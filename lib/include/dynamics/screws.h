/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Robots as products of exponentials: conversion to and from screw axes and home matrices, in the form of Modern
 * Robotics (Lynch and Park 2017, chapter 8).
 *
 *     Mlist  (n + 1) x 4 x 4  M(i-1, i): pose of frame {i} in frame {i - 1} at q = 0, i = 1 .. n + 1; {0} is the base,
 *                             {n + 1} the end effector. Modern Robotics places {i} at the centre of mass of link i.
 *     Glist  n x 6 x 6        spatial inertia of link i in frame {i}, angular first: [I, m c~; -m c~, m 1]
 *     Slist  6 x n            column i: screw axis (w; v) of joint i at q = 0, in frame {0}
 *
 * All arrays are row-major. A unit screw has |w| = 1, and v = -w x p + h w for an axis through p with pitch h (m/rad);
 * or w = 0 and |v| = 1 for a prismatic joint. A screw S need not be normalized: the velocity dq of its joint is the
 * twist S dq, so that the joint turns by |w| q, or advances by |v| q.
 */
#ifndef DYNAMICS_SCREWS_H
#define DYNAMICS_SCREWS_H

#include <dynamics/builder.h>
#include <dynamics/export.h>
#include <dynamics/model.h>
#include <dynamics/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Describes the serial chain of n joints in a new builder, which the caller frees: links "link0" (the base, massless),
 * "link1" .. "linkN" and "end_effector", whose frames are {0} .. {n + 1}; joints "joint1" .. "jointN", which are
 * continuous, prismatic or helical. Where an axis misses the origin of {i}, the joint carries a massless link
 * "jointI:frame", to which "jointI:fixed" attaches linkI. Where the length of a screw differs from 1 by more than 1e-6,
 * the joint carries a massless link "jointI:unit", and a mimic joint "jointI:rest" about the same screw, which adds the
 * length less 1 times the coordinate, carries linkI. A frame {i} need not be at the centre of mass.
 * Errors, with place "Mlist[k]", "Glist[k]" or "Slist[k]", k from 0: DYN_INVALID_ARGUMENT for a matrix that is no rigid
 * displacement (to 1e-9) or no spatial inertia, and for a screw that is zero or not finite; for the rest as in
 * builder.h. */
DYN_API dyn_status dyn_screws_describe(const char *name, int n, const double *Mlist, const double *Glist,
                                       const double *Slist, dyn_builder **builder, dyn_error *error);

/* Computes the screws of a model, where n is its nv. Frame {i} is at the centre of mass of all links that
 * move with joint i and not with the next one, in the axes of the joint's child link (for a massless body it is the
 * frame of that link); {n + 1} is the frame `tip`, which moves with the last joint. A joint that carries a massless
 * body, and a coupled mimic joint about the same screw without offset, are one joint whose screw is not normalized.
 * Thread-safe. Allocates nothing.
 * Errors: DYN_FAILED_PRECONDITION with the first of them as place for a model with constraints, machine elements or
 * contact surfaces, which screws cannot state; DYN_FAILED_PRECONDITION with the joint as place for a floating base, a
 * branch, a joint of more than one coordinate, a passive joint or another coupled mimic joint; DYN_INVALID_ARGUMENT for
 * another tip. */
DYN_API dyn_status dyn_model_screws(const dyn_model *model, int tip, double *Mlist, double *Glist, double *Slist,
                                    dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
