"""The texts that may run, and the file that keeps the user's consent."""
