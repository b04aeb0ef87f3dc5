// RowFormatTests
