"""Kinds of files: what each is called, how it is read, and what is checked that Polars does not."""
