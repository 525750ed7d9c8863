// What kernels use of PyTorch's headers: its 16-bit numbers, which are CUDA's, and its accessors of tensors.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace c10 {
using Half = __half;
using BFloat16 = __nv_bfloat16;
}
namespace at {
using c10::BFloat16;
using c10::Half;

template <class T> struct DefaultPtrTraits {
    typedef T *PtrType;
};
template <class T> struct RestrictPtrTraits {
    typedef T *__restrict__ PtrType;
};

// A part of a tensor: the first indices are chosen.
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = long long>
struct TensorAccessor {
    typename Traits<T>::PtrType data_;
    const Index *sizes_, *strides_;
    __device__ TensorAccessor<T, N - 1, Traits, Index> operator[](Index i) const
    {
        return {data_ + strides_[0] * i, sizes_ + 1, strides_ + 1};
    }
    __device__ Index size(Index i) const { return sizes_[i]; }
    __device__ Index stride(Index i) const { return strides_[i]; }
    __device__ T *data() const { return data_; }
};
template <class T, template <class> class Traits, class Index> struct TensorAccessor<T, 1, Traits, Index> {
    typename Traits<T>::PtrType data_;
    const Index *sizes_, *strides_;
    __device__ T &operator[](Index i) const { return data_[strides_[0] * i]; }
    __device__ Index size(Index i) const { return sizes_[i]; }
    __device__ Index stride(Index i) const { return strides_[i]; }
    __device__ T *data() const { return data_; }
};

// A whole tensor, as a kernel gets it by value.
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = long long>
struct GenericPackedTensorAccessor {
    typename Traits<T>::PtrType data_;
    Index sizes_[N], strides_[N];
    __device__ TensorAccessor<T, N - 1, Traits, Index> operator[](Index i) const
    {
        return {data_ + strides_[0] * i, sizes_ + 1, strides_ + 1};
    }
    __device__ Index size(Index i) const { return sizes_[i]; }
    __device__ Index stride(Index i) const { return strides_[i]; }
    __device__ T *data() const { return data_; }
};
template <class T, template <class> class Traits, class Index> struct GenericPackedTensorAccessor<T, 1, Traits, Index> {
    typename Traits<T>::PtrType data_;
    Index sizes_[1], strides_[1];
    __device__ T &operator[](Index i) const { return data_[strides_[0] * i]; }
    __device__ Index size(Index i) const { return sizes_[i]; }
    __device__ Index stride(Index i) const { return strides_[i]; }
    __device__ T *data() const { return data_; }
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = long long>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, Traits, Index>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, long long>;
}
namespace torch {
using at::DefaultPtrTraits;
using at::GenericPackedTensorAccessor;
using at::PackedTensorAccessor;
using at::PackedTensorAccessor32;
using at::PackedTensorAccessor64;
using at::RestrictPtrTraits;
using at::TensorAccessor;
}
