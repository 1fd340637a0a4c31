/*
 * Reading the Unified Robot Description Format (URDF), http://wiki.ros.org/urdf/XML.
 */
#ifndef DYNAMICS_URDF_H
#define DYNAMICS_URDF_H

#include <stddef.h>

#include <dynamics/builder.h>
#include <dynamics/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds on a file; beyond one the status is DYN_RESOURCE_EXHAUSTED. */
enum { DYN_URDF_MAX_BYTES = 16 << 20, DYN_URDF_MAX_DEPTH = 64 };

/* Reads the `length` bytes of a URDF document into a new builder.
 *
 * Understood: <robot>, <link> with <inertial>, <joint> of every type (fixed, revolute, continuous, prismatic, planar,
 * floating) with <origin>, <axis>, <limit>, <dynamics>, <mimic>. No file that the document names is opened, entities
 * other than XML's own are refused. `report` (may be NULL) receives, with line numbers, each element and attribute that
 * was ignored and each value that is suspicious. Cost O(length). Errors, with place "urdf:LINE" and the element in the
 * message: DYN_INVALID_ARGUMENT, DYN_RESOURCE_EXHAUSTED. */
DYN_API dyn_status dyn_urdf_read(const char *text, size_t length, dyn_report *report, dyn_error *error,
                                 dyn_builder **builder);

/* dyn_urdf_read and dyn_builder_build in one. */
DYN_API dyn_status dyn_urdf_load(const char *text, size_t length, const dyn_build_options *options, dyn_report *report,
                                 dyn_error *error, dyn_model **model);

#ifdef __cplusplus
}
#endif

#endif
