/* SPDX-License-Identifier: BSD-2-Clause */
#include "alone.h"

#include <cstdio>
#include <sstream>

#include "escape.h"

compiled_function specialize_frame(const dyn_model *model, int frame, const size_limits &limits) {
    const dyn_link *link = dyn_model_link(model, frame);
    compiled_function f = specialize(model, algorithm::frame, frame, limits);
    f.name += "_" + identifier(link->name);
    f.meaning = "Pose and Jacobian of the frame " + escaped(link->name) + ".";
    return f;
}

/* Returns the units of a joint's coordinates, in the order of the coordinates, as text. */
static std::string units_of(const dyn_joint *joint) {
    const dyn_joint_traits *traits = dyn_joint_type_traits(joint->type);
    std::string units;
    for (int k = 0; k < traits->nq && k != traits->quaternion; k++) {
        units += std::string(k > 0 ? ", " : "") + (traits->q_kinds[k] == DYN_COORDINATE_KIND_ANGLE ? "rad" : "m");
    }
    if (traits->quaternion >= 0) {
        units += std::string(traits->quaternion > 0 ? ", " : "") + "quaternion x y z w";
    }
    return units;
}

static std::string upper(std::string text) {
    for (char &c : text) {
        c = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    return text;
}

/* Returns the size of an output array as C text: by the macro NV of the robot where it is nv or nv squared. */
static std::string size_of(const alone_file &file, const compiled_function &f, const output_array &o) {
    size_t nv = (size_t)dyn_model_nv(file.model), size = o.values.size();
    bool is_of_frame = f.name.rfind("frame_", 0) == 0;
    std::string macro = upper(file.options.prefix) + "NV";
    return size == 0 || is_of_frame ? std::to_string(size)
           : size == nv             ? macro
           : size == nv * nv        ? macro + " * " + macro
                                    : std::to_string(size);
}

/* Writes, for the heading, declarations of the arrays of a function and a call of it. */
static void write_use(std::ostream &out, const alone_file &file, const compiled_function &f) {
    const emit_options &options = file.options;
    out << " * Use\n *     " << (options.is_float ? "float " : "double ");
    std::string arguments;
    for (input_array array : f.inputs) {
        out << (arguments.empty() ? "" : ", ") << input_name(array) << "[" << upper(options.prefix)
            << (array == INPUT_Q ? "NQ]" : "NV]");
        arguments += (arguments.empty() ? "" : ", ") + std::string(input_name(array));
    }
    for (const output_array &o : f.outputs) {
        out << ", " << o.name << "[" << size_of(file, f, o) << "]";
        arguments += ", " + o.name;
    }
    out << ";\n *     " << options.prefix << f.name << "(" << arguments << ");\n *\n";
}

static void write_coordinates(std::ostream &out, const dyn_model *model) {
    out << " * Coordinates\n *     q    v    joint\n";
    for (int i = 0; i < dyn_model_joint_count(model); i++) {
        const dyn_joint *joint = dyn_model_joint(model, i);
        char line[64];
        std::snprintf(line, sizeof line, " *     %-4d %-4d ", joint->q_index, joint->v_index);
        out << line << escaped(joint->name) << " (" << units_of(joint) << ")" << (joint->master >= 0 ? ", mimic" : "")
            << "\n";
    }
}

static void write_heading(std::ostream &out, const alone_file &file) {
    out << "/*\n * Dynamics of the robot " << escaped(dyn_model_name(file.model))
        << ", written by dynamics-compile " DYNAMICS_VERSION ".\n *\n * Model " << file.digest
        << ", gravity included.\n"
           " * Units are SI and radians. Functions allocate nothing, keep nothing, and may be called from any thread "
           "or interrupt.\n"
           " * Outputs overlap no input. Numbers are not checked: what is not finite gives what is not finite.\n"
           " * Compile with optimization (-O2); nothing but libm is needed"
        << (file.options.is_float ? ", of it sinf and cosf" : "") << ".\n *\n";
    write_use(out, file, file.functions.front());
    write_coordinates(out, file.model);
    out << " */\n";
}

static std::string file_name(const std::string &path) {
    return path.substr(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
}

bool can_be_included(const std::string &path) {
    return escaped(file_name(path)) == file_name(path);
}

/* Returns the include guard of a header. Its suffix keeps a header named "j" from defining J. */
static std::string guard_of(const std::string &path) {
    return upper(identifier(file_name(path)) + "_INCLUDED");
}

/* Writes the macros NQ and NV, for the sizes of arrays. */
static void write_sizes(std::ostream &out, const alone_file &file) {
    std::string macro = "#define " + upper(file.options.prefix);
    out << "/* Numbers of entries of q, and of v, a and tau. */\n"
        << macro << "NQ " << dyn_model_nq(file.model) << "\n"
        << macro << "NV " << dyn_model_nv(file.model) << "\n";
}

std::string alone_header(const alone_file &file) {
    std::ostringstream out;
    out.exceptions(std::ios::badbit); /* throws when memory runs out, instead of truncating the text */
    std::string guard = guard_of(file.header);
    write_heading(out, file);
    out << "#ifndef " << guard << "\n#define " << guard << "\n\n";
    write_sizes(out, file);
    out << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
    for (const compiled_function &f : file.functions) {
        out << "\n";
        emit_prototype(out, file.model, f, file.options);
    }
    out << "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    return out.str();
}

std::string alone_source(const alone_file &file) {
    std::ostringstream out, text;
    out.exceptions(std::ios::badbit);
    text.exceptions(std::ios::badbit);
    write_heading(out, file);
    if (file.header.empty()) {
        write_sizes(out, file);
        out << "\n";
    } else {
        out << "#include \"" << file_name(file.header) << "\"\n\n";
    }
    for (const compiled_function &f : file.functions) {
        text << "\n";
        emit_function(text, file.model, f, file.options);
    }
    emit_prelude(out, file.options, text.str());
    out << text.str();
    return out.str();
}
