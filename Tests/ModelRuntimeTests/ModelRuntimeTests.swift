// ModelRuntimeTests
