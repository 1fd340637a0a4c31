#include "counts.h"

operation_counts counts;
