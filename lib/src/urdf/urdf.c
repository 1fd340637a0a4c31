#include <dynamics/urdf.h>
