// Functions of <algorithm> that kernels use because they are constexpr. NVRTC has no such header.
#pragma once

namespace std {
template <class T> constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> constexpr const T &clamp(const T &value, const T &low, const T &high)
{
    return value < low ? low : high < value ? high : value;
}
} // namespace std
