// Rows, layouts and references are the vocabulary of the engine's own calls.
@_exported public import RowFormat
