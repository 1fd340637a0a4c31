/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Elements of a URDF document that are constraints: <loop> and <coupling> of URDF+, <loop_joint>, and those of Drake.
 */
#ifndef DYNAMICS_URDF_CONSTRAINT_ELEMENTS_H
#define DYNAMICS_URDF_CONSTRAINT_ELEMENTS_H

#include "reader.h"

/* Actions of elements.c. Each opens or closes the element of its name. */
void open_loop(reader *r, const char **attributes);
void open_predecessor(reader *r, const char **attributes);
void open_predecessor_origin(reader *r, const char **attributes);
void open_successor(reader *r, const char **attributes);
void open_successor_origin(reader *r, const char **attributes);
void open_loop_axis(reader *r, const char **attributes);
void close_loop(reader *r);

void open_first_link(reader *r, const char **attributes);
void open_second_link(reader *r, const char **attributes);
void close_loop_joint(reader *r);

void open_coupling(reader *r, const char **attributes);
void open_ratio(reader *r, const char **attributes);
void close_coupling(reader *r);

void open_ball(reader *r, const char **attributes);
void close_ball(reader *r);
void open_distance(reader *r, const char **attributes);
void close_distance(reader *r);
void open_body_a(reader *r, const char **attributes);
void open_body_b(reader *r, const char **attributes);
void open_point_a(reader *r, const char **attributes);
void open_point_b(reader *r, const char **attributes);
void open_length(reader *r, const char **attributes);
void open_spring(reader *r, const char **attributes);

/* Completes the constraints at the end of the document: adds the couplings, whose joints are known then, and ties to
 * the world each side that names a link "world" that the document does not have. */
void complete_constraints(reader *r);

void couplings_clear(coupling_list *list);

#endif
