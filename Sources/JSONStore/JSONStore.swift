// JSONStore
