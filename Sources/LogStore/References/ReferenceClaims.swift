import Foundation
import LogEngine
import ModelRuntime
import RowFormat

/// Keeps saves under way from leaving references to rows that do not exist.
///
/// A save claims the rows it refers to and the rows it deletes before it looks whether anything would dangle, and
/// holds the claims until its commit is visible, or has failed. Any number of saves may refer to one row; a save that
/// deletes it waits for them, and they wait for it: later saves also wait for a save that waits. So one of two such saves
/// sees what the other has committed, and no lock is held while a commit is written.
///
/// A save that waits here holds no other claim: it claims unique keys later, and no save that waits for those is waited
/// for here. There is one exception: the commits of others in favour of a row are news to a save that deletes it, so that it
/// has to start over, perhaps without end. So a save that has failed for that may keep the rows it deletes until its next
/// attempt is over (``KeptClaim``). There is one such save at a time. It never waits for a waiting save, since that may wait
/// for it, but only for holders of claims; those are being committed, and need nothing of it. It is in the turn of its
/// process all the while, and has locked the ends: a save that waits here for a kept row may have done both before. Its thread
/// never waits for itself: to encode a model is to run code of the app, which may save.
final class ReferenceClaims: @unchecked Sendable {
  /// The rows that a save has claimed.
  struct Claim {
    fileprivate let targets: Set<RowReference>
    fileprivate let deleted: [RowReference]
  }

  private let condition = NSCondition()
  // Number of saves that refer to a row. Guarded by the condition, as is what follows.
  private var referring: [RowReference: Int] = [:]
  private var deleting: Set<RowReference> = []
  /// The rows that are kept between two attempts of a save.
  private var kept: Kept?
  /// The saves that wait, in the order in which they came.
  private var waiting: [Waiting] = []
  private var lastTicket: UInt64 = 0

  private struct Kept {
    let owner: KeptClaim
    let thread: Thread
    var rows: Set<RowReference>
  }

  private struct Waiting {
    let ticket: UInt64
    let deleted: Set<RowReference>
  }

  /// The reason for a save to wait.
  private enum Obstacle {
    case referred(RowReference)
    /// Also for a row that is kept.
    case deleted(RowReference)
    /// An earlier save waits to delete the row.
    case awaited(RowReference)
  }

  /// Whether a save keeps rows between two attempts.
  var isKept: Bool { condition.withLock { kept != nil } }
  /// Number of saves that wait.
  var waitingCount: Int { condition.withLock { waiting.count } }

  /// Claims what a save refers to and deletes; waits while another save's claim conflicts.
  ///
  /// - Parameters:
  ///   - changes: The rows it refers to and deletes.
  ///   - owner: The rows it has kept, if any.
  /// - Returns: The claim, for ``finish(_:keeping:)``.
  func claim(_ changes: ReferenceChanges, keptBy owner: KeptClaim? = nil) -> Claim {
    let claim = Claim(targets: changes.targets, deleted: changes.deleted)
    condition.lock()
    defer { condition.unlock() }
    if let obstacle = self.obstacle(to: claim, owner, nil) { wait(for: obstacle, claim, owner) }
    for target in claim.targets { referring[target, default: 0] += 1 }
    deleting.formUnion(claim.deleted)
    return claim
  }

  /// Ends a claim: the commit is visible, and so is what it did to indexes; or it failed.
  ///
  /// - Parameters:
  ///   - claim: The claim.
  ///   - keeper: Keeps the deleted rows from being referred to until the next attempt; ignored if another save keeps
  ///     some already.
  func finish(_ claim: Claim, keeping keeper: KeptClaim? = nil) {
    condition.lock()
    defer { condition.unlock() }
    if let keeper, kept == nil || kept?.owner === keeper {
      kept = Kept(
        owner: keeper,
        thread: .current,
        rows: (kept?.rows ?? []).union(claim.deleted)
      )
      keeper.keep { [weak self, weak keeper] in self?.release(keeper) }
    }
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

  private func release(_ keeper: KeptClaim?) {
    condition.lock()
    defer { condition.unlock() }
    guard kept?.owner === keeper else { return }
    kept = nil
    condition.broadcast()
  }

  private func wait(for obstacle: Obstacle, _ claim: Claim, _ owner: KeptClaim?) {
    lastTicket += 1
    let ticket = lastTicket
    waiting.append(Waiting(ticket: ticket, deleted: Set(claim.deleted)))
    var next: Obstacle? = obstacle
    while let obstacle = next {
      // Each save that ends wakes all: as long as the row in the way is, the others need not be looked at.
      repeat { condition.wait() } while stands(obstacle, isFree(owner), ticket)
      next = self.obstacle(to: claim, owner, ticket)
    }
    waiting.removeAll { $0.ticket == ticket }
    // A save that waited for its turn finds the rows deleted now, or may proceed.
    condition.broadcast()
  }

  /// The first obstacle that a claim has to wait for.
  ///
  /// - Parameters:
  ///   - claim: The claim.
  ///   - owner: The rows its save has kept.
  ///   - ticket: Its place in the order of waiting; `nil` if it does not wait yet.
  /// - Returns: `nil` if there is no obstacle.
  private func obstacle(to claim: Claim, _ owner: KeptClaim?, _ ticket: UInt64?) -> Obstacle? {
    let isFree = isFree(owner)
    if !deleting.isEmpty || !isFree && (kept != nil || !waiting.isEmpty) {
      for target in claim.targets {
        if stands(.deleted(target), isFree, ticket) { return .deleted(target) }
        if stands(.awaited(target), isFree, ticket) { return .awaited(target) }
      }
      // Two saves that delete one row: the second finds that it is gone.
      for row in claim.deleted where stands(.deleted(row), isFree, ticket) { return .deleted(row) }
    }
    if referring.isEmpty { return nil }
    return claim.deleted.first { referring[$0] != nil }.map { .referred($0) }
  }

  private func stands(_ obstacle: Obstacle, _ isFree: Bool, _ ticket: UInt64?) -> Bool {
    switch obstacle {
    case .referred(let row): referring[row] != nil
    case .deleted(let row): deleting.contains(row) || !isFree && kept?.rows.contains(row) == true
    case .awaited(let row):
      !isFree && waiting.contains { $0.ticket < ticket ?? .max && $0.deleted.contains(row) }
    }
  }

  /// Whether a save is the one that keeps rows, or runs in the middle of that.
  private func isFree(_ owner: KeptClaim?) -> Bool {
    guard let kept else { return false }
    return kept.owner === owner || kept.thread === Thread.current
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
    if references.isEmpty { return }
    let rest = try (sink as? CommitSink)?.clear(references) ?? references
    if !rest.isEmpty { try nullifyEach(of: rest, in: sink) }
  }

  /// Sets references to nil in rows that are written whole.
  private func nullifyEach(
    of references: [DanglingReferences.Reference],
    in sink: any RowChangeSink
  ) throws {
    for (row, references) in Dictionary(grouping: references, by: \.row).sorted(by: {
      $0.key < $1.key
    }) {
      guard let table = table(numbered: row.table) else { continue }
      // A set of names, for exactness: of the columns from 63 on, a set of columns has all or none.
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
