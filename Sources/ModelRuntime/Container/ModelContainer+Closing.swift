import Dispatch
import Synchronization

extension ModelContainer {
  /// Closes the stores: their files are complete, and other processes can open them.
  ///
  /// The main context saves first, if it autosaves and has changes: what was inserted before the call is in the store. An error
  /// of that save is for its ``ModelContext/autosaveErrorHandler``; without one, it is thrown once the stores are closed, and so
  /// is that of an earlier autosave whose changes still cannot be saved. They are in no store then. Unsaved changes of other
  /// contexts are not saved, and it waits for a save that is under way. Afterwards every fetch and save of the container's
  /// contexts throws ``SwiftDataError/storeClosed``, and models keep the values they have read. A file that another container of
  /// the process also has open stays open for that container. Without this call the stores are closed when the container
  /// and its contexts are gone, without anything to wait for.
  ///
  ///     try await server.run()          // until it is asked to stop
  ///     try await container.close()     // then nothing is left to be recovered
  ///
  /// A second call waits for the first, and does nothing.
  ///
  /// - Throws: The error of a save of the main context that nothing else reports; else that of a store that could not be closed
  ///   properly, for instance because of a full device. All stores are closed nevertheless, and saved changes are recovered when
  ///   they are opened again.
  public func close() async throws {
    let coordinator = coordinator
    var unsaved: (any Error)?
    // Only then: a main actor that is busy, or blocked, would keep the stores open for nothing.
    if coordinator.owesAutosave {
      unsaved = await MainActor.run { coordinator.mainContext?.saveBeforeClosing() }
    }
    // On a thread that may block: the system's calls do.
    let closed = await withCheckedContinuation {
      (done: CheckedContinuation<Result<Void, any Error>, Never>) in
      DispatchQueue.global(qos: .userInitiated).async {
        done.resume(returning: Result { try coordinator.close() })
      }
    }
    if let unsaved { throw unsaved }
    try closed.get()
  }
}
