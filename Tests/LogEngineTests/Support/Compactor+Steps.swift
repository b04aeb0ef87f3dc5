@testable import LogEngine

extension Compactor {
  /// Whether the next step is not the last one.
  var isFolding: Bool {
    unverified != nil || output != nil || tableIndex < plan.base.catalogue.tables.count
  }
}
