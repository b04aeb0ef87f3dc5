// SwiftDataSourceCompatibilityTests
