/// An operation of a store that is measured and traced.
enum StoreOperation: String, Sendable { case save, fetch }
