"""The server behind the page: recordings over HTTP, guarded from the first byte on.

In:   a Library, a Workbench or none, Settings.
Out:  an application (ASGI). One file here for each group of routes; docs/api.md describes them.
"""
