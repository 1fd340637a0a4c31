/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Element <transmission> of a URDF document, and those in it. A simple transmission with the rotor inertia of Drake is
 * a rotor of the model. Others are ignored, whatever they contain.
 */
#ifndef DYNAMICS_URDF_TRANSMISSION_H
#define DYNAMICS_URDF_TRANSMISSION_H

#include "reader.h"

/* Actions of elements.c. Each opens or closes the element of its name. */
void open_transmission(reader *r, const char **attributes);
void close_transmission(reader *r);
void open_driven_joint(reader *r, const char **attributes);
void open_actuator(reader *r, const char **attributes);
void open_reduction(reader *r, const char **attributes);
void open_rotor_inertia(reader *r, const char **attributes);
void open_gear_ratio(reader *r, const char **attributes);

/* Reads text in an element of a transmission: that of <mechanicalReduction> is a number. */
void transmission_text(reader *r, const char *text, int length);

#endif
