"""Documents in and out: files and frames to batches, records and tables to files. Knows nothing of recipes or steps.

`formats`: names to formats, and byte streams. `encoding`: bytes to lines of UTF-8. `chunks`, `lines`, `tables`: some
records at a time. `frames`: data in memory as tables. `ids`: columns of single values. `read`: any data to documents.
`write`: outputs that appear whole or not at all.
"""
