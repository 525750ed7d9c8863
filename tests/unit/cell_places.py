"""Where a picture shows an element, computed apart from the program."""


def cell_of(info, element):
    """Return row and column of an element of an array, given by its place in memory."""
    rows, columns = info.grid
    if info.panels:
        _, depth, width = info.shape
        panel, place = divmod(element, depth * width)
        return place // width, panel * width + place % width
    return (element % rows, element // rows) if info.column_major else divmod(element, columns)
