import Dispatch
import Synchronization

extension ModelContainer {
  /// Closes the stores: their files are complete, and other processes can open them.
  ///
  /// The main context saves first, if it autosaves and has changes: what was inserted before the call is in the store. An error
  /// of that save is for its ``ModelContext/autosaveErrorHandler``. Unsaved changes of other contexts are not saved, and it waits
  /// for a save that is under way. Afterwards every fetch and save of the container's contexts throws
  /// ``SwiftDataError/storeClosed``, and models keep the values they have read. A file that another container of
  /// the process also has open stays open for that container. Without this call the stores are closed when the container
  /// and its contexts are gone, without anything to wait for.
  ///
  ///     try await server.run()          // until it is asked to stop
  ///     try await container.close()     // then nothing is left to be recovered
  ///
  /// A second call waits for the first, and does nothing.
  ///
  /// - Throws: The error of a store that could not be closed properly, for instance because of a full device. It is closed
  ///   nevertheless, and saved changes are recovered when it is opened again.
  public func close() async throws {
    let coordinator = coordinator
    // Only then: a main actor that is busy, or blocked, would keep the stores open for nothing.
    if coordinator.dueAutosaveCount.load(ordering: .acquiring) > 0 {
      await MainActor.run { coordinator.mainContext?.autosaveIfDue() }
    }
    // On a thread that may block: the system's calls do.
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      DispatchQueue.global(qos: .userInitiated).async {
        done.resume(with: Result { try coordinator.close() })
      }
    }
  }
}
