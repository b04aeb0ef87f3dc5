@testable import LogEngine

extension Compactor {
  /// Whether the next step is not the last one.
  var isFolding: Bool {
    unverified != nil || output != nil || tableIndex < plan.base.catalogue.tables.count
  }
}

extension StorageEngine {
  /// A compaction of all that can be taken, of which only the last step is left.
  func makeFoldedCompactor() throws -> Compactor {
    let writer = try requireWriter()
    let selection = try Compactor.select(
      writer,
      .now,
      .nothing,
      fileLimit: .max,
      lastEnd: { 0 }
    )
    guard case .plan(let plan) = selection else {
      throw NothingToCompact(selection: "\(selection)")
    }
    let compactor = Compactor(writer, plan)
    while compactor.isFolding { _ = try compactor.step(1 << 20) }
    return compactor
  }
}

/// There is nothing that a compaction could take.
struct NothingToCompact: Error {
  let selection: String
}
