// JSONStoreTests
