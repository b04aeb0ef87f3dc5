// LogStoreTests
