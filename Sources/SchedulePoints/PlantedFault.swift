import Synchronization

/// A correction that can be taken out again, to test whether the simulator finds the fault.
///
/// Only `Tools/simulate --planted` and tests plant one. Where a fault could be, the code checks for it once for each save or
/// fetch, never for each row.
package enum PlantedFault: String, Sendable, CaseIterable {
  /// A save leaves references to rows that it deletes, or that are gone.
  case danglingReferences
  /// A save does not check whether others have its unique keys.
  case unclaimedKeys
  /// A save whose rows were deleted elsewhere does not report lost changes.
  case lostEdit
  /// Reference indexes miss saves.
  case unindexedSave
  /// A merging context does not read the saves of others.
  case unmergedSave
  /// A rollback does not restore deleted objects.
  case forgottenRollback
  /// A context misses the commits of others: lists stay as first assembled.
  case unnoticedCommits
  /// Members added to a list get no ranks: they are in the order in which rows are written.
  case unrankedMembers
  /// A many-to-many list is written as it was read, without later additions by others.
  case overwrittenLists
  /// A save leaves the pairs that its own one-to-ones replace.
  case unsettledPairs
  /// An object saved here keeps its values, whatever others have saved since.
  case staleSavedValues
  /// A reference that a rule made nil stays nil, though another context has set it to something else.
  case lostReattachment
  /// A relationship set to its existing value is no change for the list at its other end.
  case forgottenMember
  /// `enumerate` leaves out unsaved objects.
  case enumerationOfStored
  /// A delete does not cascade to the objects it should.
  case missedCascade
  /// A fetch that follows an index sees newer entries than its view.
  case newerIndex
  /// Indexes of words miss saves.
  case unindexedWords

  private static let planted = Atomic<UInt32>(0)

  private var bit: UInt32 { 1 << UInt32(Self.allCases.firstIndex(of: self) ?? 0) }

  /// Whether the correction is taken out.
  package var isPlanted: Bool {
    let planted = Self.planted.load(ordering: .relaxed)
    return planted != 0 && planted & bit != 0
  }

  /// Takes the correction out, for the rest of the process.
  package func plant() { Self.planted.bitwiseOr(bit, ordering: .relaxed) }
}
