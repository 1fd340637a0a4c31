/* SPDX-License-Identifier: BSD-2-Clause */
#include "compiled_function.h"

std::vector<bool> live_nodes(const compiled_function &f) {
    std::vector<bool> live(f.graph.size());
    for (const output_array &out : f.outputs) {
        for (expression x : out.values) {
            live[x.node()] = true;
        }
    }
    /* Operands have lower numbers than the nodes that use them. */
    for (size_t i = live.size(); i-- > 0;) {
        const graph_node &n = f.graph.node((uint32_t)i);
        if (live[i] && n.kind > operation::input) {
            live[n.a.node()] = true;
            live[n.b.node()] = live[n.b.node()] || n.kind >= operation::sum;
        }
    }
    return live;
}

operations count_operations(const compiled_function &f) {
    operations n = {0, 0, 0, 0};
    std::vector<bool> live = live_nodes(f), turned(f.graph.size());
    for (size_t i = 0; i < live.size(); i++) {
        const graph_node &node = f.graph.node((uint32_t)i);
        n.multiplications += live[i] && node.kind == operation::product;
        n.additions += live[i] && node.kind == operation::sum;
        n.divisions += live[i] && node.kind == operation::quotient;
        if (live[i] && (node.kind == operation::sine || node.kind == operation::cosine)) {
            n.sines += !turned[node.a.node()];
            turned[node.a.node()] = true;
        }
    }
    return n;
}
