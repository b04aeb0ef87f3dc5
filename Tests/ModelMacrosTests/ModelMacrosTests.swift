// ModelMacrosTests
