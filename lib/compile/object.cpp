#include "object.h"

#include <sstream>

#include "kernels/compiled_object.h"
#include "emit.h"

static const emit_options style = {emit_target::object, false, "compute_"};

/* The function behind the uniform signature of all of them. */
static void emit_wrapper(std::ostream &out, const compiled_function &f) {
    out << "\nstatic void call_" << f.name
        << "(const void *const *in, sines_function *sines, void *const *out) {\n    compute_" << f.name << "(";
    for (size_t i = 0; i < f.inputs.size(); i++) {
        out << "in[" << i << "], ";
    }
    out << "sines";
    for (size_t i = 0; i < f.outputs.size(); i++) {
        out << ", out[" << i << "]";
    }
    out << ");\n}\n";
}

static void emit_table(std::ostream &out, const std::vector<compiled_function> &functions) {
    out << "\ntypedef struct compiled_function {\n    const char *name;\n"
           "    void (*call)(const void *const *in, sines_function *sines, void *const *out);\n} compiled_function;\n\n"
           "#if LANES == 1\n#define FUNCTIONS functions_single\n#else\n#define FUNCTIONS functions_wide\n#endif\n\n"
           "const compiled_function FUNCTIONS[] = {\n";
    for (const compiled_function &f : functions) {
        out << "    {\"" << f.name << "\", call_" << f.name << "},\n";
    }
    out << "    {0, 0},\n};\n";
}

/* The text as string literals, a line each. */
static void emit_text(std::ostream &out, const std::string &text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        out << "    \"";
        for (char c : line) {
            if (c == '"' || c == '\\' || c == '?') {
                out << '\\';
            }
            out << c;
        }
        out << "\\n\"\n";
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
    emit_prelude(out, style);
    for (const compiled_function &f : functions) {
        out << "\n";
        emit_function(out, model, f, style);
        emit_wrapper(out, f);
    }
    emit_table(out, functions);
    emit_descriptor(out, canonical);
}
