/* SPDX-License-Identifier: BSD-2-Clause */
#include "graph.h"

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

static const expression nothing = {0};

size_t expression_graph::key_hash::operator()(const graph_node &n) const {
    uint64_t bits, hash = 0xcbf29ce484222325u;
    std::memcpy(&bits, &n.value, sizeof bits);
    for (uint64_t part : {(uint64_t)n.kind, (uint64_t)n.a.bits, (uint64_t)n.b.bits, bits}) {
        hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

bool expression_graph::key_equal::operator()(const graph_node &m, const graph_node &n) const {
    return m.kind == n.kind && m.a == n.a && m.b == n.b && m.value == n.value;
}

expression_graph::expression_graph(size_t most) : limit(most) {}

expression expression_graph::intern(operation kind, expression a, expression b, double value) {
    graph_node n = {kind, a, b, value};
    auto found = numbers.find(n);
    if (found != numbers.end()) {
        return {found->second << 1};
    }
    if (nodes.size() >= limit) {
        throw std::length_error("the expressions of this robot are too many");
    }
    uint32_t number = (uint32_t)nodes.size();
    nodes.push_back(n);
    numbers.emplace(n, number);
    return {number << 1};
}

expression expression_graph::constant(double value) {
    expression x = intern(operation::constant, nothing, nothing, std::fabs(value));
    return value < 0 ? -x : x;
}

expression expression_graph::input(unsigned array, unsigned place) {
    return intern(operation::input, {array}, {place}, 0);
}

/* Returns true if x is a constant factor times another expression, and stores both. */
bool expression_graph::split_product(expression x, expression *factor, expression *rest) const {
    const graph_node &n = node(x);
    if (n.kind != operation::product || !is_constant(n.a)) {
        return false;
    }
    *factor = x.is_negative() ? -n.a : n.a;
    *rest = n.b;
    return true;
}

/* Returns true if x is a constant term plus another expression, and stores both. */
bool expression_graph::split_sum(expression x, expression *term, expression *rest) const {
    const graph_node &n = node(x);
    if (n.kind != operation::sum || !is_constant(n.a)) {
        return false;
    }
    *term = x.is_negative() ? -n.a : n.a;
    *rest = x.is_negative() ? -n.b : n.b;
    return true;
}

expression expression_graph::add(expression x, expression y) {
    if (is_constant(y)) {
        std::swap(x, y);
    }
    if (is_constant(x)) {
        expression term, rest;
        if (is_constant(y)) {
            return constant(value(x) + value(y));
        }
        if (value(x) == 0) {
            return y;
        }
        if (split_sum(y, &term, &rest)) {
            return add(constant(value(x) + value(term)), rest);
        }
    } else if (x.node() == y.node()) {
        return x == y ? multiply(constant(2), x) : constant(0);
    }
    /* Combines constant factors: c u + d u = (c + d) u. */
    expression c, u, d, w;
    bool has_c = split_product(x, &c, &u), has_d = split_product(y, &d, &w);
    if (has_c && has_d && u.node() == w.node()) {
        return multiply(constant(value(c) + (u == w ? value(d) : -value(d))), u);
    }
    if (has_c && u.node() == y.node()) {
        return multiply(constant(value(c) + (u == y ? 1 : -1)), u);
    }
    if (has_d && w.node() == x.node()) {
        return multiply(constant(value(d) + (w == x ? 1 : -1)), w);
    }
    /* Operands are ordered by number, with a constant first, and the first operand is positive. */
    if (!is_constant(x) && x.node() > y.node()) {
        std::swap(x, y);
    }
    bool is_negative = x.is_negative();
    expression sum = intern(operation::sum, x.magnitude(), is_negative ? -y : y, 0);
    return is_negative ? -sum : sum;
}

expression expression_graph::multiply(expression x, expression y) {
    bool is_negative = x.is_negative() != y.is_negative();
    x = x.magnitude(), y = y.magnitude();
    if (is_constant(y)) {
        std::swap(x, y);
    }
    expression product;
    if (is_constant(x)) {
        double c = value(x);
        expression factor, rest;
        if (is_constant(y)) {
            product = constant(c * value(y));
        } else if (c == 0) {
            return x;
        } else if (c == 1) {
            product = y;
        } else if (split_product(y, &factor, &rest)) {
            product = multiply(constant(c * value(factor)), rest);
        } else {
            product = intern(operation::product, x, y, 0);
        }
    } else {
        if (x.node() > y.node()) {
            std::swap(x, y);
        }
        product = intern(operation::product, x, y, 0);
    }
    return is_negative ? -product : product;
}

expression expression_graph::divide(expression x, expression y) {
    if (is_constant(y)) {
        return multiply(x, constant(1 / value(y)));
    }
    if (is_constant(x) && value(x) == 0) {
        return x;
    }
    if (x.node() == y.node()) {
        return constant(x == y ? 1 : -1);
    }
    bool is_negative = x.is_negative() != y.is_negative();
    expression quotient = intern(operation::quotient, x.magnitude(), y.magnitude(), 0);
    return is_negative ? -quotient : quotient;
}

expression expression_graph::sine(expression x) {
    if (is_constant(x)) {
        return constant(std::sin(value(x)));
    }
    expression y = intern(operation::sine, x.magnitude(), nothing, 0);
    return x.is_negative() ? -y : y;
}

expression expression_graph::cosine(expression x) {
    return is_constant(x) ? constant(std::cos(value(x))) : intern(operation::cosine, x.magnitude(), nothing, 0);
}

static thread_local expression_graph *current = nullptr;

current_graph::current_graph(expression_graph &graph) : previous(current) {
    current = &graph;
}

current_graph::~current_graph() {
    current = previous;
}

expression_graph &current_graph::get() {
    if (!current) {
        throw std::logic_error("a symbolic number outside of a graph");
    }
    return *current;
}
