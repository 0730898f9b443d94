"""The routes of the HTTP interface, one file for each group."""
