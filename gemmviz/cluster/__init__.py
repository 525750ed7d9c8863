"""Runs requests of the engine on other machines: the workers of a Dask cluster. Dask is imported only on request."""
