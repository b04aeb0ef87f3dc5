/// What of a store's work is measured and traced.
enum StoreOperation: String, Sendable { case save, fetch }
