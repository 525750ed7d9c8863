// The names of the C++ library in cuda::std: those of the host's library, which kernels are recorded with.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace cuda {
namespace std {
using namespace ::std;
}
} // namespace cuda
