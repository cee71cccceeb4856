"""The pages of the laboratory, one file each."""
