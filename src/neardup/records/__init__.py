"""Documents in and out: files and frames to batches, records and tables to files. Knows nothing of recipes or steps.

`formats`: names to formats, and byte streams. `lines`, `tables`: chunks of records, by lines or as Arrow tables.
`frames`: data in memory as tables. `read`: any data to documents. `write`: outputs that appear whole or not at all.
"""
