/* SPDX-License-Identifier: BSD-2-Clause */
#include "emit.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>

static const uint32_t none = UINT32_MAX;

/* ---- the prelude --------------------------------------------------------------------------------------------------*/

static const char alone_fma[] = R"(
static inline real real_fma(real a, real b, real c) {
#if defined FP_FAST_FMA%s
    return fma%s(a, b, c);
#else
    return a * b + c;
#endif
}
)";

static const char alone_sines[] = R"(
static void sines(const real *angle, int count, real *sine, real *cosine) {
    for (int i = 0; i < count; i++) {
        sine[i] = sin%s(angle[i]);
        cosine[i] = cos%s(angle[i]);
    }
}
)";

static std::string filled(const char *format, const char *first, const char *second) {
    char text[sizeof alone_fma + sizeof alone_sines];
    std::snprintf(text, sizeof text, format, first, second);
    return text;
}

void emit_prelude(std::ostream &out, const emit_options &options, const std::string &functions) {
    if (options.target == emit_target::object) {
        out << object_prelude;
        return;
    }
    const char *suffix = options.is_float ? "f" : "";
    bool has_sines = functions.find(" sines(") != std::string::npos;
    bool has_fma = functions.find("real_fma(") != std::string::npos;
    out << (has_sines || has_fma ? "#include <math.h>\n\n" : "") << "typedef "
        << (options.is_float ? "float" : "double") << " real;\n"
        << (has_fma ? filled(alone_fma, options.is_float ? "F" : "", suffix) : "")
        << (has_sines ? filled(alone_sines, suffix, suffix) : "");
}

bool is_pivots(const output_array &o) {
    return o.name == "pivots";
}

bool is_late_input(input_array array) {
    return array != INPUT_Q && array != INPUT_V;
}

/* ---- a function ---------------------------------------------------------------------------------------------------*/

/* Writer of the body of one function. */
class writer {
  public:
    writer(std::ostream &stream, const dyn_model *described, const compiled_function &written, const emit_options &how)
        : out(stream), model(*described), f(written), options(how), live(live_nodes(written)),
          uses(written.graph.size()), fused(written.graph.size(), none), is_dropped(written.graph.size()),
          is_flipped(written.graph.size()), stores(written.graph.size()) {
        count_uses();
        fuse_products();
        find_angles();
        flip_sums();
    }

    void write() {
        write_unused();
        if (options.target == emit_target::object) {
            out << "    real spoilt[SPOILT] = {real_set(0), real_set(0), real_set(0), real_set(0)};\n";
        }
        write_sines();
        if (options.target == emit_target::object) {
            write_late_inputs();
            note_inputs();
        }
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            if (live[i] && !is_dropped[i]) {
                write_node(i);
            }
            for (const std::string &target : stores[i]) {
                out << target;
            }
        }
        if (options.target == emit_target::object) {
            out << "    return (spoilt[0] + spoilt[1]) + (spoilt[2] + spoilt[3]);\n";
        }
    }

  private:
    /* Writes casts of unused inputs to void. */
    void write_unused() {
        std::vector<bool> is_used(INPUT_ARRAYS);
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            const graph_node &n = f.graph.node(i);
            if (live[i] && n.kind == operation::input) {
                is_used[n.a.bits] = true;
            }
        }
        for (input_array array : f.inputs) {
            if (!is_used[array] && !is_late(array)) {
                out << "    (void)" << input_name(array) << ";\n";
            }
        }
    }

    bool is_late(input_array array) const {
        return options.target == emit_target::object && is_late_input(array);
    }

    void write_late_inputs() {
        for (input_array array : f.inputs) {
            if (is_late(array)) {
                const char *name = input_name(array);
                int size = input_size(&model, array);
                out << "    real room_" << name << "[" << size << "];\n    const real *" << name << " = load_late(late_"
                    << name << ", " << size << ", room_" << name << ");\n";
            }
        }
    }

    struct use_count {
        uint32_t all, in_sums, negative, outputs;
    };

    void count_uses() {
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            const graph_node &n = f.graph.node(i);
            if (live[i] && n.kind >= operation::sum) {
                note_use(n.a, n.kind);
                note_use(n.b, n.kind);
            }
        }
        for (const output_array &o : f.outputs) {
            for (size_t k = 0; k < o.values.size(); k++) {
                uses[o.values[k].node()].all++;
                uses[o.values[k].node()].outputs++;
                uses[o.values[k].node()].negative += o.values[k].is_negative();
            }
        }
    }

    void note_use(expression x, operation in) {
        use_count &u = uses[x.node()];
        u.all++;
        u.in_sums += in == operation::sum;
        u.negative += x.is_negative();
    }

    /* Returns true if only sums use this product. */
    bool is_fusible(expression x) const {
        const use_count &u = uses[x.node()];
        return f.graph.node(x).kind == operation::product && u.all == u.in_sums;
    }

    /* Fuses each sum with one of its products, the one with fewer uses. Drops products that are fused with all their
     * sums. */
    void fuse_products() {
        std::vector<uint32_t> fused_uses(f.graph.size());
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            const graph_node &n = f.graph.node(i);
            if (!live[i] || n.kind != operation::sum) {
                continue;
            }
            bool first = is_fusible(n.a), second = is_fusible(n.b);
            if (first || second) {
                bool is_second = second && (!first || uses[n.b.node()].all <= uses[n.a.node()].all);
                fused[i] = is_second ? n.b.node() : n.a.node();
                fused_uses[fused[i]]++;
            }
        }
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            is_dropped[i] = fused_uses[i] > 0 && fused_uses[i] == uses[i].all;
        }
    }

    /* Marks sums that are used with a minus sign only, which are computed negated. Prepares the stores of results. */
    void flip_sums() {
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            is_flipped[i] =
                f.graph.node(i).kind == operation::sum && uses[i].negative == uses[i].all && uses[i].all > 0 && live[i];
        }
        for (const output_array &o : f.outputs) {
            for (size_t k = 0; k < o.values.size(); k++) {
                store(o, k);
            }
        }
        if (options.target == emit_target::object) {
            note_results();
        }
    }

    void store(const output_array &o, size_t k) {
        expression x = o.values[k];
        bool is_plain = options.target == emit_target::alone || f.graph.is_constant(x) || is_pivots(o);
        stores[x.node()].push_back("    " + o.name + "[" + std::to_string(k) +
                                   "] = " + (is_plain ? operand(x) : "plain(" + operand(x) + ")") + ";\n");
    }

    /* Adds checks of results for infinity and NaN to the stores. A number that is not finite makes sums, products, and
     * quotients with it as numerator not finite, so that a result that another one uses needs no check. Angles are
     * checked with their sines. Results that depend on sines and constants only are finite. */
    void note_results() {
        std::vector<double> bound = bounds();
        std::vector<bool> is_result(f.graph.size());
        for (const output_array &o : f.outputs) {
            for (expression x : o.values) {
                is_result[x.node()] = is_result[x.node()] || (!is_pivots(o) && !(bound[x.node()] < 1e300));
            }
        }
        shows.resize(f.graph.size());
        for (uint32_t i = (uint32_t)f.graph.size(); i-- > 0;) {
            if (is_result[i] && !shows[i]) {
                stores[i].push_back(noted(operand({i << 1})));
                shows[i] = true;
            }
            const graph_node &n = f.graph.node(i);
            if (live[i] && n.kind > operation::input) {
                bool is_angle = n.kind == operation::sine || n.kind == operation::cosine;
                shows[n.a.node()] = shows[n.a.node()] || shows[i] || is_angle;
                bool is_factor = n.kind == operation::sum || n.kind == operation::product;
                shows[n.b.node()] = shows[n.b.node()] || (shows[i] && is_factor);
            }
        }
    }

    /* Writes checks of inputs that no checked result reveals. */
    void note_inputs() {
        std::vector<bool> is_seen[INPUT_ARRAYS];
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            const graph_node &n = f.graph.node(i);
            if (n.kind == operation::input && shows[i]) {
                is_seen[n.a.bits].resize(std::max(is_seen[n.a.bits].size(), (size_t)n.b.bits + 1));
                is_seen[n.a.bits][n.b.bits] = true;
            }
        }
        for (input_array array : f.inputs) {
            is_seen[array].resize((size_t)input_size(&model, array));
            for (size_t k = 0; k < is_seen[array].size(); k++) {
                if (!is_seen[array][k]) {
                    out << noted(std::string(input_name(array)) + "[" + std::to_string(k) + "]");
                }
            }
        }
    }

    std::string noted(const std::string &number) {
        std::string sum = "spoilt[" + std::to_string(noted_count++ % 4) + "]";
        return "    " + sum + " = real_fma(" + number + ", real_set(0), " + sum + ");\n";
    }

    /* Returns an upper bound of the magnitude of each node. */
    std::vector<double> bounds() const {
        std::vector<double> bound(f.graph.size(), INFINITY);
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            const graph_node &n = f.graph.node(i);
            if (n.kind == operation::constant) {
                bound[i] = n.value;
            } else if (n.kind == operation::sine || n.kind == operation::cosine) {
                bound[i] = 1;
            } else if (n.kind == operation::sum) {
                bound[i] = bound[n.a.node()] + bound[n.b.node()];
            } else if (n.kind == operation::product) {
                bound[i] = bound[n.a.node()] * bound[n.b.node()];
            }
        }
        return bound;
    }

    /* Returns a constant as text with the fewest digits. A value beyond the range of single precision becomes the
     * largest number of that range, so that no compiler warns. */
    std::string constant(double value) const {
        char text[48];
        int most = options.is_float ? 9 : 17, few = most - 2;
        if (options.is_float) {
            value = std::fabs(value) > FLT_MAX ? std::copysign(FLT_MAX, value) : (double)(float)value;
        }
        do {
            std::snprintf(text, sizeof text, "%.*g", few, value);
        } while (few++ < most &&
                 (options.is_float ? (double)std::strtof(text, nullptr) : std::strtod(text, nullptr)) != value);
        std::string digits = text;
        if (digits.find_first_of(".e") == std::string::npos) {
            digits += ".0";
        }
        if (options.is_float) {
            digits += "f";
        }
        return options.target == emit_target::object ? "real_set(" + digits + ")" : digits;
    }

    std::string operand(expression x) const {
        uint32_t i = x.node();
        const graph_node &n = f.graph.node(i);
        bool is_negative = x.is_negative() != is_flipped[i];
        if (n.kind == operation::constant) {
            return constant(is_negative ? -n.value : n.value);
        }
        std::string text = is_negative ? "-" : "";
        switch (n.kind) {
        case operation::input:
            return text + input_name((input_array)n.a.bits) + "[" + std::to_string(n.b.bits) + "]";
        case operation::sine:
            return text + "sine[" + std::to_string(slot[n.a.node()]) + "]";
        case operation::cosine:
            return text + "cosine[" + std::to_string(slot[n.a.node()]) + "]";
        default:
            return text + "x" + std::to_string(i);
        }
    }

    /* Assigns an index to each angle whose sine is needed. If all are multiples of different coordinates that are close
     * to each other, with offsets, the indices are those of the coordinates. */
    void find_angles() {
        slot.assign(f.graph.size(), none);
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            const graph_node &n = f.graph.node(i);
            if (live[i] && (n.kind == operation::sine || n.kind == operation::cosine) && slot[n.a.node()] == none) {
                slot[n.a.node()] = (uint32_t)angles.size();
                angles.push_back(n.a.node());
            }
        }
        if (options.target == emit_target::object && find_row()) {
            std::vector<uint32_t> places(row.size(), none);
            for (uint32_t angle : angles) {
                slot[angle] = coordinate_of(angle).place - row_first;
                places[slot[angle]] = angle;
            }
            angles = places;
        }
    }

    /* Angle of the form factor q[place] + offset; is_one is false for an angle of another form. */
    struct coordinate {
        bool is_one;
        uint32_t place;
        double factor, offset;
    };

    coordinate coordinate_of(uint32_t angle) const {
        const graph_node *n = &f.graph.node(angle);
        coordinate c = {false, 0, 1, 0};
        if (n->kind == operation::sum && f.graph.is_constant(n->a)) {
            c.offset = f.graph.value(n->a);
            c.factor = n->b.is_negative() ? -1 : 1;
            n = &f.graph.node(n->b);
        }
        if (n->kind == operation::product && f.graph.is_constant(n->a) && (c.offset == 0 || fused[angle] != none)) {
            c.factor *= f.graph.value(n->a);
            n = &f.graph.node(n->b);
        }
        c.is_one = n->kind == operation::input && n->a.bits == INPUT_Q;
        c.place = n->b.bits;
        return c;
    }

    /* Returns true if the angles are those of different coordinates that are close to each other, and stores their
     * factors and offsets in `row`. */
    bool find_row() {
        uint32_t first = none, last = 0;
        for (uint32_t angle : angles) {
            coordinate c = coordinate_of(angle);
            if (!c.is_one) {
                return false;
            }
            first = std::min(first, c.place), last = std::max(last, c.place);
        }
        if (angles.empty() || last - first >= 2 * angles.size()) {
            return false;
        }
        std::vector<coordinate> found(last - first + 1, coordinate{false, 0, 0, 0});
        for (uint32_t angle : angles) {
            coordinate c = coordinate_of(angle);
            if (found[c.place - first].is_one) {
                return false;
            }
            found[c.place - first] = c;
        }
        row = found;
        row_first = first;
        return true;
    }

    /* Writes all angles and their operands, and then their sines and cosines in one call. */
    void write_sines() {
        if (angles.empty()) {
            return;
        }
        std::vector<bool> before(f.graph.size());
        for (uint32_t angle : angles) {
            if (angle != none) {
                before[angle] = true;
            }
        }
        for (uint32_t i = (uint32_t)f.graph.size(); i-- > 0;) {
            const graph_node &n = f.graph.node(i);
            if (before[i] && n.kind >= operation::sum) {
                before[n.a.node()] = before[n.b.node()] = true;
            }
        }
        for (uint32_t i = 0; i < f.graph.size(); i++) {
            if (before[i] && !is_dropped[i]) {
                write_node(i);
                is_dropped[i] = true;
            }
        }
        bool is_object = options.target == emit_target::object;
        if (is_object && !row.empty()) {
            out << "#if defined PACK && DYN_LANES == 1\n";
            write_row_sines();
            out << "#else\n";
        }
        write_packed_sines();
        if (is_object && !row.empty()) {
            out << "#endif\n";
        }
    }

    void write_packed_sines() {
        bool is_object = options.target == emit_target::object;
        std::string count = std::to_string(angles.size());
        out << "    real angle[" << count << "], sine[" << count << "], cosine[" << count << "];\n";
        for (size_t k = 0; k < angles.size(); k++) {
            out << "    angle[" << k << "] = " << (angles[k] == none ? constant(0) : operand({angles[k] << 1}))
                << ";\n";
        }
        out << (is_object ? "    lanes_sines(angle, " : "    sines(angle, ") << count << (is_object ? ", sines" : "")
            << ", sine, cosine" << (is_object ? ", &spoilt[0]);\n" : ");\n");
    }

    /* Writes the sines of one state, whose angles are loaded directly from q. */
    void write_row_sines() {
        bool has_factors = false, has_offsets = false;
        for (const coordinate &c : row) {
            has_factors = has_factors || (c.is_one && c.factor != 1);
            has_offsets = has_offsets || c.offset != 0;
        }
        std::string size = "[PADDED(" + std::to_string(row.size()) + ")]";
        out << "    double sine" << size << ", cosine" << size << ";\n";
        if (has_factors) {
            write_numbers("factor", size, &coordinate::factor);
        }
        if (has_factors || has_offsets) {
            write_numbers("offset", size, &coordinate::offset);
        }
        out << "    row_sines(q + " << row_first << ", " << row.size() << ", " << (has_factors ? "factor" : "0") << ", "
            << (has_factors || has_offsets ? "offset" : "0") << ", sines, sine, cosine, &spoilt[0]);\n";
    }

    void write_numbers(const char *name, const std::string &size, double coordinate::*number) {
        out << "    static const double " << name << size << " = {";
        for (size_t k = 0; k < row.size(); k++) {
            char text[32];
            std::snprintf(text, sizeof text, "%.17g", row[k].*number);
            out << (k ? ", " : "") << text;
        }
        out << "};\n";
    }

    void write_node(uint32_t i) {
        const graph_node &n = f.graph.node(i);
        if (n.kind < operation::sum) {
            return;
        }
        out << "    const real x" << i << " = ";
        if (n.kind == operation::product) {
            out << operand(n.a) << " * " << operand(n.b);
        } else if (n.kind == operation::quotient) {
            out << operand(n.a) << " / " << operand(n.b);
        } else {
            write_sum(i);
        }
        out << ";\n";
    }

    void write_sum(uint32_t i) {
        const graph_node &n = f.graph.node(i);
        expression a = is_flipped[i] ? -n.a : n.a, b = is_flipped[i] ? -n.b : n.b;
        if (fused[i] != none) {
            expression product = a.node() == fused[i] ? a : b, other = a.node() == fused[i] ? b : a;
            const graph_node &p = f.graph.node(product);
            out << "real_fma(" << operand(product.is_negative() ? -p.a : p.a) << ", " << operand(p.b) << ", "
                << operand(other) << ")";
            return;
        }
        bool a_negative = a.is_negative() != is_flipped[a.node()], b_negative = b.is_negative() != is_flipped[b.node()];
        if (a_negative && !b_negative) {
            std::swap(a, b);
            std::swap(a_negative, b_negative);
        }
        bool subtracts = b_negative && f.graph.node(b).kind != operation::constant;
        out << operand(a) << (subtracts ? " - " : " + ") << operand(subtracts ? -b : b);
    }

    std::ostream &out;
    const dyn_model &model;
    const compiled_function &f;
    const emit_options &options;
    std::vector<bool> live;
    std::vector<use_count> uses;
    std::vector<uint32_t> fused; /* for each sum: the product that is fused with it, or none */
    std::vector<bool> is_dropped, is_flipped;
    std::vector<uint32_t> angles, slot; /* angles: the angle of each index, or none; slot: the index of each angle */
    std::vector<coordinate> row; /* factors and offsets of the angles of coordinates row_first, ...; empty: no row */
    uint32_t row_first = 0;
    std::vector<std::vector<std::string>> stores;
    std::vector<bool> shows; /* for each node: a check detects that it is infinite or NaN */
    size_t noted_count = 0;
};

static void emit_heading(std::ostream &out, const dyn_model *model, const compiled_function &f) {
    operations n = count_operations(f);
    out << "/* " << f.meaning << " " << n.multiplications << " multiplications, " << n.additions << " additions, "
        << n.divisions << " divisions,\n * " << n.sines << " sines and cosines.\n";
    for (input_array array : f.inputs) {
        out << " *     " << input_name(array) << "  [" << input_size(model, array) << "]\n";
    }
    for (const output_array &o : f.outputs) {
        out << " *     " << o.name << "  [" << o.values.size() << "] " << o.meaning << "\n";
    }
    out << " */\n";
}

void emit_declaration(std::ostream &out, const dyn_model *model, const compiled_function &f,
                      const emit_options &options) {
    bool is_alone = options.target == emit_target::alone;
    if (is_alone) {
        emit_heading(out, model, f);
    }
    out << (is_alone ? "void " : "COMPUTATION real ") << options.prefix << f.name << "(";
    for (input_array array : f.inputs) {
        out << (!is_alone && is_late_input(array) ? "late_input late_" : "const real *") << input_name(array) << ", ";
    }
    if (!is_alone) {
        out << "sines_function *sines, ";
    }
    for (size_t i = 0; i < f.outputs.size(); i++) {
        out << (i ? ", " : "") << "real *restrict " << f.outputs[i].name;
    }
    out << ")";
}

void emit_prototype(std::ostream &out, const dyn_model *model, const compiled_function &f,
                    const emit_options &options) {
    const char *type = options.is_float ? "float" : "double";
    emit_heading(out, model, f);
    out << "void " << options.prefix << f.name << "(";
    for (input_array array : f.inputs) {
        out << "const " << type << " *" << input_name(array) << ", ";
    }
    for (size_t i = 0; i < f.outputs.size(); i++) {
        out << (i ? ", " : "") << type << " *" << f.outputs[i].name;
    }
    out << ");\n";
}

void emit_function(std::ostream &out, const dyn_model *model, const compiled_function &f, const emit_options &options) {
    emit_declaration(out, model, f, options);
    out << " {\n";
    writer(out, model, f, options).write();
    out << "}\n";
}
