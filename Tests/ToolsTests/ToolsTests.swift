// ToolsTests
