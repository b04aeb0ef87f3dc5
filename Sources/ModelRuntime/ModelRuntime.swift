// ModelRuntime
