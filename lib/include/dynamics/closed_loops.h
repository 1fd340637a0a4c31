/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Closed loops of descriptions that a file states in other ways than by constraints: a link with two parents, and a
 * list of loops beside the file.
 */
#ifndef DYNAMICS_CLOSED_LOOPS_H
#define DYNAMICS_CLOSED_LOOPS_H

#include <stddef.h>

#include <dynamics/constraint.h>
#include <dynamics/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the joints of a description a tree. A link that several joints carry closes a loop. Of these joints, the one on
 * the shortest path from the root stays; among paths of equal length, the one that comes first. Each other joint
 * becomes a loop joint (constraint.h) of its name and type between its parent link, at its origin, and its child link.
 * `report` (may be NULL) receives an entry for each: a note, or a warning for a joint whose damping or friction is
 * lost. Limits of such a joint do not apply. Links that no path from a root reaches keep their joints, and building
 * reports them. A description that is a tree stays as it is. Cost O(links log links).
 * Errors, with the joint as place: DYN_INVALID_ARGUMENT for a floating joint or a mimic joint that closes a loop, or a
 * joint with the name of a constraint; DYN_RESOURCE_EXHAUSTED. After an error the builder can only be freed. */
DYN_API dyn_status dyn_builder_cut_loops(dyn_builder *builder, dyn_report *report, dyn_error *error);

/* Bound on the text of dyn_builder_read_loops; beyond it the status is DYN_RESOURCE_EXHAUSTED. */
enum { DYN_LOOPS_MAX_BYTES = 1 << 20 };

/* Adds the loops that a YAML text lists, as in the collection github.com/Gepetto/example-parallel-robots. The text has
 * these keys, each with a list in brackets or in lines that begin with "-":
 *
 *     closed_loop: [[A, B], ..]       pairs of links whose frames coincide; a joint stands for its child link. A is
 *                                     the predecessor. Each pair becomes the loop joint closed_loop_1, closed_loop_2 ..
 *     type: ['6d', ..]                for each pair: 6d, a fixed joint, or 3d, a spherical one
 *     joint_name: [..]                joints that have another type than in the description,
 *     joint_type: ['FIXED', ..]       and these types, in the spelling of joint_type.h, in small or capital letters
 *     name_mot: [..]                  joints with a motor; all others become passive
 *
 * The report (may be NULL) warns of every other key, and ignores it. Cost O(length log links).
 * Errors, with the place "loops:LINE": DYN_INVALID_ARGUMENT for a text of another form, lists of different lengths, an
 * unknown type, link or joint; DYN_RESOURCE_EXHAUSTED. After an error the builder can only be freed. */
DYN_API dyn_status dyn_builder_read_loops(dyn_builder *builder, const char *text, size_t length, dyn_report *report,
                                          dyn_error *error);

#ifdef __cplusplus
}
#endif

#endif
