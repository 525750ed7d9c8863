"""The page of claims: statements of the documents, measured again."""
