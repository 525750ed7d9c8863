// Functions of <algorithm> that kernels use because they are constexpr. The whole header of Clang's C++ library
// declares functions of the host whose names CUDA has, too.
#pragma once
#if __has_include(<__algorithm/max.h>)
#include <__algorithm/clamp.h>
#include <__algorithm/max.h>
#include <__algorithm/min.h>
#else
#include <algorithm>
#endif
