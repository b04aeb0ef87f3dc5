// The types in the engine's API: rows and layouts, commits and errors, the file system.
@_exported public import LogFormat
@_exported public import RowFormat
