"""Hands the program's jobs over to a Dask cluster, which is the queue: python -m driftscope.cluster ADDRESS.

Client: the program, by its option --cluster; it and this process talk in lines of JSON (lines.py). Here:
controller, connection, sent_files and results. On a worker: job, execution, file_cache and, as a process, keeper.
docs/cluster.md has more.
"""
