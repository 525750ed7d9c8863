// ---gemmviz
// version = 6
// title = "Each matrix is a structure in the GPU's memory, and the kernel gets pointers to the three structures"
// entry = "product"
// args = [["*", "K", "M", "A"], ["*", "N", "K", "B"], ["*", "N", "M", "C"]]
// block = [8, 4]
// grid = ["ceil(N / 8)", "ceil(M / 4)"]
// ---
typedef struct
{
    int width, height;
    float *elements;
} Matrix;

__global__ void product(const Matrix *A, const Matrix *B, Matrix *C)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= C->height || col >= C->width)
        return;
    float sum = 0;
    for (int k = 0; k < A->width; k++)
        sum += A->elements[row * A->width + k] * B->elements[k * B->width + col];
    C->elements[row * C->width + col] = sum;
}
