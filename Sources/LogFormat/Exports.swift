// Rows, layouts and references are the vocabulary of the format's own declarations.
@_exported public import RowFormat
