/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Macros for the frames, units and shapes in the table of quantities. For quantities.c alone.
 */
#ifndef SERVER_METHODS_QUANTITY_SHAPES_H
#define SERVER_METHODS_QUANTITY_SHAPES_H

#include "methods/quantity_block.h"

#define AXIS(kind) DYNAMICS__V1__AXIS_KIND__AXIS_KIND_##kind

/* ---- frames that are fixed --------------------------------------------------------------------------------------- */

#define IN_WORLD "axes and origin of the world"
#define ALONG_WORLD "axes of the world"
#define CENTROIDAL "axes of the world, origin at the centre of mass"

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* List of units: one for all entries, or one for each combination of classes of entries along the axes, the last axis
 * changing fastest. The classes of joints and of rows of a task are rotation and translation; those of inertial
 * parameters are mass, first moments and moments of inertia. */
#define UNITS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Units of entries with three axes of joints, by the number of translations among the joints. */
#define CUBE_UNITS(none, one, two, three) UNITS(none, one, one, two, one, two, two, three)

/* Units of entries with an axis of joints, or of rows of a task or of constraints, or with two or three such axes. */
#define FORCE UNITS("N m", "N")
#define ACCELERATION UNITS("rad/s^2", "m/s^2")
#define INERTIA UNITS("kg m^2", "kg m", "kg m", "kg")
#define INVERSE_INERTIA UNITS("1/(kg m^2)", "1/(kg m)", "1/(kg m)", "1/kg")
#define DAMPING UNITS("kg m^2/s", "kg m/s", "kg m/s", "kg/s")
#define STIFFNESS UNITS("N m", "N", "N", "N/m")
#define ACCELERATION_BY_POSITION UNITS("1/s^2", "1/(m s^2)", "m/s^2", "1/s^2")
#define ACCELERATION_BY_VELOCITY UNITS("1/s", "1/(m s)", "m/s", "1/s")
#define MOTION_BY_MOTION UNITS("1", "1/m", "m", "1")
#define FORCE_BY_FORCE UNITS("1", "m", "1/m", "1")
#define SYMBOL CUBE_UNITS("kg m^2", "kg m", "kg", "kg/m")

/* Units of an energy and of a joint force, each divided by an inertial parameter. */
#define ENERGY_BY_PARAMETER UNITS("m^2/s^2", "m/s^2", "1/s^2")
#define FORCE_BY_PARAMETER UNITS("m^2/s^2", "m/s^2", "1/s^2", "m/s^2", "1/s^2", "1/(m s^2)")

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* BLOCK: block that begins at entry `first` of the first axis in the library's result. PART: block that is a part of
 * each entry of the first axis, at offset `first` with a distance of `pitch` values. The axes follow. */
#define BLOCK(name, units, first, ...) PART(name, units, first, 0, __VA_ARGS__)
#define PART(name, units, first, pitch, ...)                                                                           \
    { name, units, {__VA_ARGS__}, first, pitch, false }
/* Block that follows a block of equal size in the library's result. */
#define SECOND(name, units, ...)                                                                                       \
    { name, units, {__VA_ARGS__}, 0, 0, true }

#define VALUE(units, ...)                                                                                              \
    { BLOCK("value", units, 0, __VA_ARGS__) }
#define NUMBER(unit) VALUE(UNITS(unit), AXIS_NONE)
#define VECTOR(unit) VALUE(UNITS(unit), AXIS(XYZ))
#define ROW_VECTOR(units) VALUE(units, AXIS(CONSTRAINT_ROWS))
#define ROW_MATRIX(units) VALUE(units, AXIS(CONSTRAINT_ROWS), AXIS(CONSTRAINT_ROWS))
#define ROWS_BY_JOINTS(units) VALUE(units, AXIS(CONSTRAINT_ROWS), AXIS(JOINTS))
#define MULTIPLIERS                                                                                                    \
    { BLOCK("value", FORCE, 0, AXIS(CONSTRAINT_ROWS)), SECOND("modern_robotics", FORCE, AXIS(CONSTRAINT_ROWS)) }
#define WRENCHES(of)                                                                                                   \
    { PART("force", UNITS("N"), 3, 6, AXIS(of), AXIS(XYZ)), PART("torque", UNITS("N m"), 0, 6, AXIS(of), AXIS(XYZ)) }
#define JOINT_VECTOR(units) VALUE(units, AXIS(JOINTS))
#define JOINT_MATRIX(units) VALUE(units, AXIS(JOINTS), AXIS(JOINTS))
#define JOINT_CUBE(units) VALUE(units, AXIS(JOINTS), AXIS(JOINTS), AXIS(JOINTS))

/* Blocks of spatial vectors, "linear" and "angular". The library has the angular rows first. */
#define SPATIAL(linear, angular, ...)                                                                                  \
    { BLOCK("linear", linear, 3, __VA_ARGS__), BLOCK("angular", angular, 0, __VA_ARGS__) }
#define SPATIAL_VECTOR(linear, angular) SPATIAL(UNITS(linear), UNITS(angular), AXIS(XYZ))
#define SPATIAL_MATRIX(linear, angular) SPATIAL(linear, angular, AXIS(XYZ), AXIS(JOINTS))
#define SPATIAL_CUBE(linear, angular) SPATIAL(linear, angular, AXIS(XYZ), AXIS(JOINTS), AXIS(JOINTS))
#define POSE                                                                                                           \
    { BLOCK("position", UNITS("m"), 0, AXIS(XYZ)), BLOCK("quaternion", UNITS("1"), 3, AXIS(QUATERNION)) }
#define TWIST_BY_POSITION SPATIAL_MATRIX(UNITS("m/s", "1/s"), UNITS("1/s", "1/(m s)"))
#define MOMENTUM_BY_POSITION SPATIAL_MATRIX(UNITS("kg m/s", "kg/s"), UNITS("kg m^2/s", "kg m/s"))

#endif
