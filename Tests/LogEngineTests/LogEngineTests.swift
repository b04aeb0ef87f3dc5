// LogEngineTests
