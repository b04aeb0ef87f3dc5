import Synchronization

/// A mend that can be taken out again, to see whether the simulator finds what it mended.
///
/// Nothing but `Tools/simulate --planted` and tests plants one. Where a fault could be, the code asks for it once a
/// save or fetch, never for each row.
package enum PlantedFault: String, Sendable, CaseIterable {
  /// A save leaves references to rows that it deletes, or that are gone.
  case danglingReferences
  /// A save does not look whether others have its unique keys.
  case unclaimedKeys
  /// A save whose rows were deleted elsewhere says nothing of changes that are lost.
  case lostEdit
  /// Reference indexes do not learn of saves.
  case unindexedSave
  /// A context that merges does not read what others saved.
  case unmergedSave
  /// A rollback does not give back what was deleted.
  case forgottenRollback

  private static let planted = Atomic<UInt32>(0)

  private var bit: UInt32 { 1 << UInt32(Self.allCases.firstIndex(of: self) ?? 0) }

  /// Whether the mend is taken out.
  package var isPlanted: Bool {
    let planted = Self.planted.load(ordering: .relaxed)
    return planted != 0 && planted & bit != 0
  }

  /// Takes the mend out, for the rest of the process.
  package func plant() { Self.planted.bitwiseOr(bit, ordering: .relaxed) }
}
