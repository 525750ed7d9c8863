"""The page of claims: what documents state, re-measured."""
