# SPDX-License-Identifier: BSD-2-Clause
# The extension module that cffi makes from dynamics_client.h.
from typing import Any

ffi: Any
lib: Any
