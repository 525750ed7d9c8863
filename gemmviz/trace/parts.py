"""How many rows of a recording are processed by one call of NumPy while the window runs.

Indexing by an array, `numpy.repeat` and running sums hold Python's lock until they are done. The window's thread asks
for the lock at each call of Qt, some hundred times per frame, and waits each time for such a call to end.
"""

ROWS_AT_ONCE = 1 << 14
"""With 2**17 rows, 300 requests for the lock waited for 35 to 40 ms together; with 2**14 rows for 10 to 20 ms, and the
preparation of nine million rows took as long as before (median of three runs each, two cores)."""
