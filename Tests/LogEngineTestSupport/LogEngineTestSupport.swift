// LogEngineTestSupport
