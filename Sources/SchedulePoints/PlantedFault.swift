import Synchronization

/// A correction that can be taken out again, to test whether the simulator finds the fault.
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
  /// A context does not notice what others commit: lists stay as they were put together first.
  case unnoticedCommits
  /// Members that came to a list get no places: they are in the order in which rows are written.
  case unrankedMembers
  /// A list of many to many is written as it was read, without what others have added since.
  case overwrittenLists
  /// A save leaves the pairs that its own one-to-ones replace.
  case unsettledPairs
  /// An object that was saved here keeps its values, whatever others have saved since.
  case staleSavedValues
  /// A reference that a rule made nil stays nil, though another context has set it to something else.
  case lostReattachment
  /// A relationship set to what it was is no change for the list at its other end.
  case forgottenMember
  /// `enumerate` leaves out what is unsaved.
  case enumerationOfStored
  /// A delete leaves those alone that it cascades to.
  case missedCascade
  /// A fetch that follows an index sees newer entries than its view.
  case newerIndex
  /// Indexes of words do not learn of saves.
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
