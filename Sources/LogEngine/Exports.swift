// What the engine's own calls speak of: rows and layouts, commits and errors, the file system.
@_exported public import LogFormat
@_exported public import RowFormat
