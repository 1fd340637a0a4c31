/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of one robot as a C file that needs no other file, and a header for it.
 */
#ifndef DYNAMICS_COMPILE_ALONE_H
#define DYNAMICS_COMPILE_ALONE_H

#include <string>
#include <vector>

#include "emit.h"

/* Contents of the file and of its header. */
struct alone_file {
    const dyn_model *model;
    std::string digest; /* digest of the model, for the heading */
    std::string header; /* path of the header; empty: no header */
    emit_options options;
    std::vector<compiled_function> functions; /* at least one */
};

/* Returns the function for pose and Jacobian of a link, named after it. `limits` are those of specialize(). */
compiled_function specialize_frame(const dyn_model *model, int frame, const size_limits &limits);

/* Returns true if #include can name the file of this path. */
bool can_be_included(const std::string &path);

/* Returns the text of the C source. Outside of comments it contains no name of the model except as identifiers in names
 * of functions (escape.h). */
std::string alone_source(const alone_file &file);

/* Returns the text of the header. Outside of comments it contains no name of the model except as identifiers in names
 * of functions (escape.h). */
std::string alone_header(const alone_file &file);

#endif
