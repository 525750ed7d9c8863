// Additions of compute capability 9.0: clusters, mbarriers, the copy engine, products of a warpgroup.
#pragma once

namespace gv_ptx {

// mapa: an address in another block of the cluster. Here all blocks have their shared arrays at the same addresses, so
// the rank of the block is added to the upper bits of the 32, where no address of a shared array has bits.
enum { RANK_AT = 24 };
GV_DEVICE unsigned offset(word address) { return (unsigned)address - (unsigned)(word)gv_anchor_address(); }
GV_DEVICE unsigned mapped(word address, unsigned rank) { return (unsigned)address + ((rank + 1) << RANK_AT); }
// The rank of the block of an address, and the address within that block.
GV_DEVICE unsigned rank_of(word address)
{
    if (address >> 32) return gv_cluster_rank();
    int turns = (int)(offset(address) + (1u << (RANK_AT - 1))) >> RANK_AT;
    return turns ? (unsigned)(turns - 1) & 15 : gv_cluster_rank();
}
GV_DEVICE void *in_block(word address)
{
    if (address >> 32) return (void *)address;
    int turns = (int)(offset(address) + (1u << (RANK_AT - 1))) >> RANK_AT;
    return at((unsigned)address - ((unsigned)turns << RANK_AT));
}
// ld and st of shared::cluster: in the own block an access as any other.
template <class T> GV_DEVICE T load_anywhere(word address)
{
    unsigned rank = rank_of(address);
    if (rank == gv_cluster_rank()) return *(const volatile T *)in_block(address);
    T value;
    gv_remote_load(&value, in_block(address), sizeof value, rank);
    return value;
}
template <class T> GV_DEVICE void store_anywhere(word address, T value)
{
    unsigned rank = rank_of(address);
    if (rank == gv_cluster_rank()) *(volatile T *)in_block(address) = value;
    else gv_remote_store(in_block(address), &value, sizeof value, rank);
}
template <class T, int N> GV_DEVICE void load_anywhere(T (&r)[N], word address)
{
    unsigned rank = rank_of(address);
    if (rank == gv_cluster_rank()) load(r, in_block(address));
    else gv_remote_load(r, in_block(address), sizeof r, rank);
}
template <class T, int N> GV_DEVICE void store_anywhere(word address, const T (&r)[N])
{
    unsigned rank = rank_of(address);
    if (rank == gv_cluster_rank()) store(in_block(address), r);
    else gv_remote_store(in_block(address), r, sizeof r, rank);
}

GV_DEVICE void arrive(word barrier, unsigned times)
{
    unsigned rank = rank_of(barrier);
    for (unsigned i = 0; i < times; i++)
        if (rank == gv_cluster_rank()) gv_mbarrier_arrive(in_block(barrier), 0, 0);
        else gv_mbarrier_arrive_at(in_block(barrier), rank);
}
GV_DEVICE void expect(word barrier, unsigned bytes)
{
    if (rank_of(barrier) != gv_cluster_rank()) gv_unknown_ptx("mbarrier.expect_tx (in another block)");
    gv_mbarrier_expect(in_block(barrier), bytes);
}
GV_DEVICE void complete(word barrier, unsigned bytes)
{
    gv_mbarrier_complete(in_block(barrier), bytes, rank_of(barrier));
}
// st.async: the store is made at once, and its bytes are counted.
template <class T, int N> GV_DEVICE void send(word address, const T (&r)[N], word barrier)
{
    store_anywhere(address, r);
    complete(barrier, sizeof r);
}
GV_DEVICE void arrive_expect(word barrier, unsigned bytes)
{
    if (rank_of(barrier) != gv_cluster_rank()) gv_unknown_ptx("mbarrier.arrive.expect_tx (in another block)");
    gv_mbarrier_arrive(in_block(barrier), bytes, 1);
}

// A tensor with three dimensions is read as a matrix whose columns are divided into panels. A panel is as wide as the
// swizzle (128 bytes without one). A box has one or more panels, and the third coordinate is the number of a panel.
struct panels {
    gv_tensor_map map;
    int column, row, count, width;
    unsigned bytes;
    GV_METHOD panels(const void *p, int c0, int c1, int c2, bool three) : map(*(const gv_tensor_map *)p), row(c1)
    {
        int most = (map.swizzle ? (int)map.swizzle : 128) / (int)map.itemsize, whole = (int)map.box_columns;
        width = three && whole > most ? most : whole;
        column = c0 + c2 * width;
        count = whole / width;
        map.box_columns = (unsigned)width;
        bytes = map.box_rows * map.box_columns * map.itemsize;
    }
};
GV_DEVICE void box_load(void *to, const void *map, int c0, int c1, int c2, bool three, void *barrier, unsigned blocks)
{
    panels p(map, c0, c1, c2, three);
    for (int i = 0; i < p.count; i++)
        gv_box_load((char *)to + i * p.bytes, &p.map, p.column + i * p.width, p.row, barrier, blocks);
}
GV_DEVICE void box_store(const void *map, int c0, int c1, int c2, bool three, const void *from)
{
    panels p(map, c0, c1, c2, three);
    for (int i = 0; i < p.count; i++)
        gv_box_store(&p.map, p.column + i * p.width, p.row, (const char *)from + i * p.bytes);
}
GV_DEVICE void box_add(const void *map, int c0, int c1, int c2, bool three, const void *from)
{
    panels p(map, c0, c1, c2, three);
    for (int i = 0; i < p.count; i++)
        gv_box_add(&p.map, p.column + i * p.width, p.row, (const char *)from + i * p.bytes);
}
// Coordinates behind the third: a map describes one matrix.
GV_DEVICE void must_be_zero(int further)
{
    if (further) gv_unknown_ptx("cp.async.bulk.tensor (a fourth or fifth coordinate other than 0)");
}
// cp.async.bulk. Without a mask a copy goes to the block of the address.
GV_DEVICE void bulk_load(word to, const void *from, unsigned bytes, word barrier, unsigned blocks)
{
    gv_bulk_load(in_block(to), from, bytes, in_block(barrier), blocks ? blocks : 1u << rank_of(to));
}
GV_DEVICE void box_wait(unsigned left)
{
    if (left) gv_box_store_wait(left);
    else gv_box_store_wait_written();
}

// An operand, from its descriptor (PTX ISA, "Matrix Descriptor Format"). The descriptor has 18 bits of the address;
// the shared array that contains them gives the other bits.
GV_DEVICE gv_operand operand(word descriptor)
{
    const unsigned swizzles[] = {16, 128, 64, 32};
    unsigned low = (unsigned)(descriptor & 0x3fff) << 4;
    return {gv_shared_at(low, 18), (unsigned)(descriptor >> 16 & 0x3fff) << 4, swizzles[descriptor >> 62],
        (unsigned)(descriptor >> 32 & 0x3fff) << 4};
}
// The sums are variables of the kernel, because they change when it waits. Usually they are elements of one array.
template <int Registers, class First, class... Others>
GV_DEVICE void wgmma(const gv_wgmma_product &p, First &first, Others &...others)
{
    static_assert(sizeof...(Others) + 1 == Registers, "wgmma has N / 2 sums in a thread");
    void *all[] = {&first, &others...};
    bool together = true;
    for (int i = 0; i < Registers; i++) together &= all[i] == (const char *)&first + 4 * i;
    if (together) gv_wgmma(&first, &p);
    else gv_wgmma_apart(all, &p);
}

} // namespace gv_ptx
