import Foundation
import LogEngine
import ModelRuntime
import RowFormat

// The invariants of a store, checked in full by the simulator and by random tests.

extension TableStore {
  /// Says what does not hold of all that the store keeps true between saves; nothing, if all is well.
  ///
  /// Call it while no save is under way: it combines several scans.
  ///
  /// - Throws: What reading a row throws.
  /// - Complexity: O(rows).
  package func invariantViolations() throws -> [String] {
    var violations =
      try engine.invariantViolations() + indexViolations() + listViolations() + pairViolations()
    for table in tables {
      let references = table.descriptor.relationships.filter(\.isCheckedReference)
      if references.isEmpty { continue }
      try engine.scan(table.number) { key, layout, row in
        try table.withCurrentRow(row, layout: layout, key: key) { row in
          for property in references where !table.layout.isNull(property.ordinal, in: row) {
            let target = table.layout.reference(property.ordinal, in: row)
            if try engine.contains(target) { continue }
            violations.append(
              "\(table.descriptor.entityName)/\(key): \(property.name) names a row that does not exist"
            )
          }
        }
        return .proceed
      }
    }
    return violations
  }

  /// Traps if something does not hold that the store keeps true.
  ///
  /// - Throws: What reading a row throws.
  package func checkInvariants() throws {
    let violations = try invariantViolations()
    precondition(violations.isEmpty, violations.joined(separator: "; "))
  }
}

extension ModelContainer {
  /// Says what does not hold of all that the container's stores keep true; nothing, if all is well.
  ///
  /// - Throws: What reading a row throws.
  package func storeInvariantViolations() throws -> [String] {
    try stores(of: LogStore.self).flatMap { try $0.tables.invariantViolations() }
  }

  /// Says which stored lists of many to many do not agree with their other ends; nothing, if all is well.
  ///
  /// Saves may be under way.
  ///
  /// - Throws: What reading a row throws.
  package func storedListViolations() throws -> [String] {
    try stores(of: LogStore.self).flatMap { try $0.tables.listViolations() }
  }

  /// Gives back in the container's stores what was replaced and deleted.
  ///
  /// - Throws: ``LogStoreError``.
  package func compactStores() throws {
    for store in stores(of: LogStore.self) { try store.compact() }
  }
}

// MARK: Indexes

extension TableStore {
  /// Says which of the indexes that were made do not hold what a scan of their tables finds.
  ///
  /// Saves may continue: both are as of one view.
  ///
  /// - Throws: What reading a row throws.
  /// - Complexity: O(rows) for each index.
  func indexViolations() throws -> [String] {
    let view = engine.makeReadView()
    var violations: [String] = []
    for index in indexes.values + indexes.unique + indexes.references.values where index.isBuilt {
      guard let kept = try entries(of: index, as: view) else { continue }
      let scanned = try IndexContent(index.definition, of: view, in: self).entries
      if kept == scanned { continue }
      let missing = Set(scanned).subtracting(kept)
      let stale = Set(kept).subtracting(scanned)
      violations.append(
        "\(index.definition) as of \(view.sequence) lacks \(missing.count) entries, "
          + "\(missing.first.map { "\($0)" } ?? "none"), and has \(stale.count) too many, "
          + "\(stale.first.map { "\($0)" } ?? "none")"
      )
    }
    for index in indexes.words where index.index.isBuilt {
      guard case .words(let words)? = try index.index.content(as: view, in: self) else { continue }
      try scan(index.index.tables[0], of: view) { key, row, layout in
        if layout.isNull(index.column, in: row) { return }
        let text = row.extracting(layout.range(index.column, in: row))
        if try !words.has(key, withText: text) {
          violations.append(
            "\(index.index.definition) as of \(view.sequence) lacks words of \(key)"
          )
        }
      }
    }
    return violations
  }

  /// The entries of an index as of a view; `nil` if it is newer.
  private func entries(of index: LazyIndex, as view: ReadView) throws -> [IndexEntry]? {
    do {
      return try index.content(as: view, in: self)?.entries
    } catch is DamagedIndexFile {
      // The damage is known now: the index is made anew.
      return try index.content(as: view, in: self)?.entries
    }
  }

  /// Traps unless every index that was made holds what a scan of its tables finds.
  ///
  /// - Throws: What reading a row throws.
  func checkIndexes() throws {
    let violations = try indexViolations()
    precondition(violations.isEmpty, violations.joined(separator: "; "))
  }

  /// Whether indexes are checked after each save: in debug builds, if `LOGSTORE_CHECK_INDEXES` is set.
  static let checksIndexes: Bool = {
    #if DEBUG
    return ProcessInfo.processInfo.environment["LOGSTORE_CHECK_INDEXES"] != nil
    #else
    return false
    #endif
  }()
}
