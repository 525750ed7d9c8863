"""Asynchronous copies, mbarriers, warpgroups and the copy engine at a step."""
