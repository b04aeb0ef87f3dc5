import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// Keeps saves under way from leaving references to rows that do not exist.
///
/// A save claims the rows it refers to and the rows it deletes before it looks whether anything would dangle, and
/// holds the claims until its commit is visible, or has failed. Any number of saves may refer to one row; one that
/// deletes it waits for them, and they for it. So of two such saves one sees what the other has committed,
/// and no lock is held while a commit is written.
///
/// A save that waits here holds no other claim: it claims unique keys later, and nobody who waits for those is waited
/// for here.
final class ReferenceClaims: @unchecked Sendable {
  /// What a save has claimed.
  struct Claim {
    fileprivate let targets: Set<RowReference>
    fileprivate let deleted: [RowReference]
  }

  private let condition = NSCondition()
  // By row, how many saves refer to it. Guarded by the condition, as is what follows.
  private var referring: [RowReference: Int] = [:]
  private var deleting: Set<RowReference> = []

  /// Claims what a save refers to and deletes; waits while another save stands against it.
  func claim(_ changes: ReferenceChanges) -> Claim {
    let claim = Claim(targets: changes.targets, deleted: changes.deleted)
    condition.lock()
    defer { condition.unlock() }
    while isContested(claim) { condition.wait() }
    for target in claim.targets { referring[target, default: 0] += 1 }
    deleting.formUnion(claim.deleted)
    return claim
  }

  /// Ends a claim: the commit is visible, and so is what it did to indexes; or it failed.
  func finish(_ claim: Claim) {
    condition.lock()
    defer { condition.unlock() }
    for target in claim.targets {
      if let count = referring[target], count > 1 {
        referring[target] = count - 1
      } else {
        referring[target] = nil
      }
    }
    deleting.subtract(claim.deleted)
    condition.broadcast()
  }

  private func isContested(_ claim: Claim) -> Bool {
    if !deleting.isEmpty {
      // Two saves that delete one row: the second finds that it is gone.
      if claim.targets.contains(where: deleting.contains) { return true }
      if claim.deleted.contains(where: deleting.contains) { return true }
    }
    return !referring.isEmpty && claim.deleted.contains { referring[$0] != nil }
  }
}

extension TableStore {
  /// For each table, the to-one columns with an inverse that can refer to its rows.
  static func referrers(of tables: [EntityTable]) -> [UInt16: [ReferenceColumn]] {
    var referrers: [UInt16: [ReferenceColumn]] = [:]
    for table in tables {
      for property in table.descriptor.relationships where property.isCheckedReference {
        guard let destination = property.destination else { continue }
        let base = ModelDescriptor.of(destination)
        for target in tables where target.descriptor.isKind(of: base) {
          referrers[target.number, default: []] += table.referenceColumns.filter {
            $0.column == property.ordinal
          }
        }
      }
    }
    return referrers
  }

  /// Sets references to nil, where they still are what they were found to be.
  ///
  /// - Parameters:
  ///   - references: The references.
  ///   - sink: The changes of a save.
  /// - Throws: What reading a row throws.
  func nullify(
    _ references: [DanglingReferences.Reference],
    in sink: any RowChangeSink
  ) throws {
    for (row, references) in Dictionary(grouping: references, by: \.row).sorted(by: {
      $0.key < $1.key
    }) {
      guard let table = table(numbered: row.table) else { continue }
      // Which ones exactly: of the columns from 63 on, a set of columns has all or none.
      var cleared: Set<Int> = []
      for reference in references {
        cleared.insert(reference.column)
        if let rank = table.descriptor.rankColumns[reference.column] { cleared.insert(rank) }
      }
      var changed = ColumnSet()
      for column in cleared { changed.insert(column) }
      var writer = RowWriter()
      let range: Range<Int>? = try withRow(at: row) { stored in
        writer.begin(table.layout)
        for column in 0..<table.layout.count where !cleared.contains(column) {
          writer.copy(column, from: stored, column: column, layout: table.layout)
        }
        return writer.finish()
      }
      guard let range else { continue }
      let new = writer.bytes.extracting(range)
      sink.update(row, changed: changed, row: new)
      let writtenUnset = table.layout.columnsWritten(with: cleared)
      if !writtenUnset.isEmpty, let sink = sink as? any ValueExpecting {
        sink.expectValues(
          of: row,
          writtenUnset,
          from: unsafe new.withUnsafeBytes { unsafe Array($0) }
        )
      }
      guard let sink = sink as? any ReferenceExpecting else { continue }
      for reference in references {
        sink.expectReference(of: row, reference.column, to: reference.target)
      }
    }
  }
}

extension ModelProperty {
  /// Whether the store sees to it that the property refers to no row that is gone.
  var isCheckedReference: Bool {
    if case .toOne = kind { inverse != nil } else { false }
  }
}
