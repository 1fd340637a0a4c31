/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words in which quantities.c states the frame, the shape and the units of a quantity. For that file alone.
 */
#ifndef SERVER_METHODS_QUANTITY_SHAPES_H
#define SERVER_METHODS_QUANTITY_SHAPES_H

#include "methods/quantities.h"

/* Frames that are fixed. */
#define IN_WORLD "axes and origin of the world"
#define ALONG_WORLD "axes of the world"
#define CENTROIDAL "axes of the world, origin at the centre of mass"

/* Units that depend on the joints of the row and the column. */
#define FORCE "N m for rotations, N for translations"
#define ACCELERATION "rad/s^2 for rotations, m/s^2 for translations"
#define INERTIA "kg m^2 between rotations, kg m between a rotation and a translation, kg between translations"
#define INVERSE_INERTIA                                                                                                \
    "1/(kg m^2) between rotations, 1/(kg m) between a rotation and a translation, 1/kg between translations"
#define DAMPING "kg m^2/s between rotations, kg m/s between a rotation and a translation, kg/s between translations"
#define SYMBOL "kg m^(2 - t)" OF_THREE
#define STIFFNESS "N m between rotations, N between a rotation and a translation, N/m between translations"
#define ACCELERATION_BY_POSITION                                                                                       \
    "1/s^2 between joints alike, 1/(m s^2) of a rotation by a translation, m/s^2 of a translation by a rotation"
#define ACCELERATION_BY_VELOCITY                                                                                       \
    "1/s between joints alike, 1/(m s) of a rotation by a translation, m/s of a translation by a rotation"

#define TASK_FORCE "N m of angular rows, N of linear rows"
#define TASK_INERTIA "kg m^2 between angular rows, kg m between an angular and a linear row, kg between linear rows"
#define INVERSE_TASK_INERTIA                                                                                           \
    "1/(kg m^2) between angular rows, 1/(kg m) between an angular and a linear row, 1/kg between linear rows"

/* Units of three indices. */
#define OF_THREE ", t being how many of the three joints are translations"
#define OF_TWO_AND_ONE ", t being 1 where the first joint is a translation, u how many of the other two are"

/* A block that begins at entry `first` of the library's result, and one that is a part of each entry; then its axes. */
#define BLOCK(name, unit, first, ...) PART(name, unit, first, 0, __VA_ARGS__)
#define PART(name, unit, first, pitch, ...)                                                                            \
    { name, unit, {__VA_ARGS__}, first, pitch, false }
/* A block that begins where one of its size ends. */
#define SECOND(name, unit, ...)                                                                                        \
    { name, unit, {__VA_ARGS__}, 0, 0, true }

/* A vector or a matrix that runs over joints, and a number. */
#define JOINT_VECTOR(unit)                                                                                             \
    { BLOCK("value", unit, 0, AXIS_JOINTS) }
#define JOINT_MATRIX(unit)                                                                                             \
    { BLOCK("value", unit, 0, AXIS_JOINTS, AXIS_JOINTS) }
#define NUMBER(unit)                                                                                                   \
    { BLOCK("value", unit, 0, AXIS_NONE) }
#define VECTOR(unit)                                                                                                   \
    { BLOCK("value", unit, 0, AXIS_XYZ) }

/* The library puts angular rows first. */
#define SPATIAL_VECTOR(linear, angular)                                                                                \
    { BLOCK("linear", linear, 3, AXIS_XYZ), BLOCK("angular", angular, 0, AXIS_XYZ) }
#define SPATIAL_MATRIX(linear, angular)                                                                                \
    { BLOCK("linear", linear, 3, AXIS_XYZ, AXIS_JOINTS), BLOCK("angular", angular, 0, AXIS_XYZ, AXIS_JOINTS) }
#define JOINT_CUBE(unit)                                                                                               \
    { BLOCK("value", unit, 0, AXIS_JOINTS, AXIS_JOINTS, AXIS_JOINTS) }
#define SPATIAL_CUBE(linear, angular)                                                                                  \
    {                                                                                                                  \
        BLOCK("linear", linear, 3, AXIS_XYZ, AXIS_JOINTS, AXIS_JOINTS),                                                \
            BLOCK("angular", angular, 0, AXIS_XYZ, AXIS_JOINTS, AXIS_JOINTS)                                           \
    }
#define POSE                                                                                                           \
    { BLOCK("position", "m", 0, AXIS_XYZ), BLOCK("quaternion", "1", 3, AXIS_XYZW) }
#define REGRESSOR                                                                                                      \
    { BLOCK("value", FORCE ", for each kg, kg m, kg m^2", 0, AXIS_JOINTS, AXIS_BODIES, AXIS_PARAMETERS) }
#define WRENCHES                                                                                                       \
    { PART("force", "N", 3, 6, AXIS_BODIES, AXIS_XYZ), PART("torque", "N m", 0, 6, AXIS_BODIES, AXIS_XYZ) }
#define TWIST_BY_POSITION                                                                                              \
    SPATIAL_MATRIX("m/s for rotations, 1/s for translations", "1/s for rotations, 1/(m s) for translations")

#endif
