/* SPDX-License-Identifier: BSD-2-Clause */
#include "object.h"

#include <sstream>

#include "kernels/compiled_object.h"
#include "emit.h"
#include "escape.h"

static const emit_options style = {emit_target::object, false, "compute_"};

/* Returns true if an output is a matrix. Single states compute it directly in the row of the caller, which is no input.
 * Blocks of several states compute it in scratch memory. */
static bool is_matrix(const dyn_model *model, const output_array &o) {
    return o.values.size() > (size_t)dyn_model_nv(model);
}

/* Returns the doubles of scratch memory of one state in a block of several. */
static size_t scratch_width(const dyn_model *model, const compiled_function &f) {
    size_t width = 0;
    for (const output_array &o : f.outputs) {
        width += is_matrix(model, o) ? o.values.size() : 0;
    }
    return width;
}

/* Returns true if the library calls a function with packed arrays, for simulations or frames. */
static bool is_called_packed(const compiled_function &f) {
    for (const char *name : {"rnea", "gravity", "aba", "minverse"}) {
        if (f.name == name) {
            return true;
        }
    }
    return f.is_packed;
}

/* Writes a wrapper with the signature of compiled_packed (compiled_object.h), for packed arrays. */
static void emit_packed(std::ostream &out, const compiled_function &f) {
    out << "\nstatic void packed_" << f.name
        << "(const void *const *in, sines_function *sines, void *const *out) {\n    compute_" << f.name << "(";
    for (size_t i = 0; i < f.inputs.size(); i++) {
        out << (is_late_input(f.inputs[i]) ? "late_packed(in[" : "in[") << i
            << (is_late_input(f.inputs[i]) ? "]), " : "], ");
    }
    out << "sines";
    for (size_t i = 0; i < f.outputs.size(); i++) {
        out << ", out[" << i << "]";
    }
    out << ");\n}\n";
}

/* Writes the loads of the inputs of a block. */
static void emit_inputs(std::ostream &out, const dyn_model *model, const compiled_function &f) {
    for (size_t i = 0; i < f.inputs.size(); i++) {
        const char *name = input_name(f.inputs[i]);
        int size = input_size(model, f.inputs[i]);
        if (is_late_input(f.inputs[i])) {
            out << "    const late_input late_" << name << " = late_rows(in[" << i << "], s, " << size << ");\n";
            continue;
        }
        out << "    real room_" << name << "[" << size << "];\n    const real *" << name << " = load_rows(in[" << i
            << "], s, " << size << ", room_" << name << ");\n";
    }
}

/* Writes the checks of the norms of the quaternions of a block. */
static void emit_quaternions(std::ostream &out, const dyn_model *model) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        int quaternion = dyn_joint_type_traits(joint->type)->quaternion;
        if (quaternion >= 0) {
            out << "    note_quaternion(q + " << joint->q_index + quaternion << ", &spoilt);\n";
        }
    }
}

/* Writes the declarations of the outputs of a block. */
static void emit_rooms(std::ostream &out, const dyn_model *model, const compiled_function &f) {
    size_t offset = 0;
    for (size_t i = 0; i < f.outputs.size(); i++) {
        const output_array &o = f.outputs[i];
        size_t size = o.values.size();
        if (is_pivots(o)) {
            out << "    real *pivots = (real *)out[" << i << "];\n";
        } else if (is_matrix(model, o)) {
            out << "    real *" << o.name << " = room_of(out[" << i << "], s, " << size << ", scratch, " << offset
                << ");\n";
            offset += size;
        } else {
            out << "    real " << o.name << "[" << size << "];\n";
        }
    }
}

/* Writes the check that the pivots of a block are positive. */
static void emit_checks(std::ostream &out, const compiled_function &f) {
    for (const output_array &o : f.outputs) {
        if (!is_pivots(o)) {
            continue;
        }
        out << "    real least = pivots[0];\n";
        for (size_t k = 1; k < o.values.size(); k++) {
            out << "    least = lesser(least, pivots[" << k << "]);\n";
        }
        out << "    if (!is_positive(least)) {\n        return 0;\n    }\n";
    }
}

/* Writes the function that computes a block of samples from rows to rows. It returns 0 if a check fails. */
static void emit_block(std::ostream &out, const dyn_model *model, const compiled_function &f) {
    out << "\nBLOCK int block_" << f.name
        << "(size_t s, const double *const *in, sines_function *sines, double *const *out,\n"
           "    double *scratch) {\n    (void)scratch;\n";
    emit_inputs(out, model, f);
    emit_rooms(out, model, f);
    out << "    real spoilt = compute_" << f.name << "(";
    for (input_array array : f.inputs) {
        out << (is_late_input(array) ? "late_" : "") << input_name(array) << ", ";
    }
    out << "sines";
    for (const output_array &o : f.outputs) {
        out << ", " << o.name;
    }
    out << ");\n";
    emit_quaternions(out, model);
    out << "    if (!is_zero(spoilt)) {\n        return 0;\n    }\n";
    emit_checks(out, f);
    for (size_t i = 0; i < f.outputs.size(); i++) {
        const output_array &o = f.outputs[i];
        if (!is_pivots(o)) {
            out << (is_matrix(model, o) ? "    store_matrices(" : "    store_rows(") << o.name << ", s, "
                << o.values.size() << ", out[" << i << "]);\n";
        }
    }
    out << "    return 1;\n}\n";
}

/* Writes the function that computes all blocks, up to the first that fails a check. It returns the number of samples
 * computed. */
static void emit_rows(std::ostream &out, const compiled_function &f) {
    out << "\nstatic size_t rows_" << f.name
        << "(size_t n, const double *const *in, sines_function *sines, double *const *out, double *scratch) {\n"
           "    size_t s = 0;\n    while (s + DYN_LANES <= n && block_"
        << f.name << "(s, in, sines, out, scratch)) {\n        s += DYN_LANES;\n    }\n    return s;\n}\n";
}

static void emit_table(std::ostream &out, const dyn_model *model, const std::vector<compiled_function> &functions) {
    out << "\ntypedef struct compiled_function {\n    const char *name;\n"
           "    void (*packed)(const void *const *in, sines_function *sines, void *const *out);\n"
           "    size_t (*rows)(size_t n, const double *const *in, sines_function *sines, double *const *out,\n"
           "                   double *scratch);\n    size_t scratch;\n} compiled_function;\n\n"
           "#if DYN_LANES == 1\n#define FUNCTIONS functions_single\n#else\n#define FUNCTIONS functions_wide\n#endif\n\n"
           "const compiled_function FUNCTIONS[] = {\n";
    for (const compiled_function &f : functions) {
        out << "    {\"" << f.name << "\", " << (is_called_packed(f) ? "packed_" + f.name : "0") << ", "
            << (f.is_packed ? "0" : "rows_" + f.name) << ", DYN_LANES == 1 ? 0 : DYN_LANES * "
            << scratch_width(model, f) << "},\n";
    }
    out << "    {0, 0, 0, 0},\n};\n";
}

/* Writes the text as string literals, one for each line. */
static void emit_text(std::ostream &out, const std::string &text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        out << "    \"" << escaped(line) << "\\n\"\n";
    }
    out << "    \"\"";
}

static void emit_descriptor(std::ostream &out, const std::string &canonical) {
    out << "\n#if defined DESCRIPTOR\n\n#if WIDE_LANES == 1\n#define functions_wide functions_single\n#else\n"
           "extern const compiled_function functions_wide[];\n#endif\n\n"
           "static const char model[] =\n";
    emit_text(out, canonical);
    out << ";\n\n__attribute__((visibility(\"default\"))) const struct {\n    unsigned version;\n    int lanes;\n"
           "    const char *instruction_set, *model;\n    const compiled_function *wide, *single;\n} "
        << COMPILED_OBJECT_SYMBOL << " = {" << COMPILED_OBJECT_VERSION
        << ", WIDE_LANES, INSTRUCTION_SET, model, functions_wide, functions_single};\n\n#endif\n";
}

void emit_object(std::ostream &out, const dyn_model *model, const std::vector<compiled_function> &functions,
                 const std::string &canonical) {
    out << "#define QUATERNION_TOLERANCE " << QUATERNION_TOLERANCE << "\n\n";
    emit_prelude(out, style, "");
    for (const compiled_function &f : functions) {
        out << "\n";
        emit_function(out, model, f, style);
        if (is_called_packed(f)) {
            emit_packed(out, f);
        }
        if (!f.is_packed) {
            emit_block(out, model, f);
            emit_rows(out, f);
        }
    }
    emit_table(out, model, functions);
    emit_descriptor(out, canonical);
}
