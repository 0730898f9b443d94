"""Recordings as HTML files that open without a server."""
