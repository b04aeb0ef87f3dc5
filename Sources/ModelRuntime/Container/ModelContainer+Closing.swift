import Dispatch

extension ModelContainer {
  /// Closes the stores: their files are complete, and other processes can open them.
  ///
  /// A save that is under way is waited for. Afterwards every fetch and save of the container's contexts throws
  /// ``SwiftDataError/storeClosed``, and models keep the values they have read. A file that another container of
  /// the process has open, too, stays open for that one. Without this call the stores are closed when the container
  /// and its contexts are gone, without anything to wait for.
  ///
  ///     try await server.run()          // until it is asked to stop
  ///     try await container.close()     // then nothing is left to be recovered
  ///
  /// A second call waits for the first, and does nothing.
  ///
  /// - Throws: What a store threw that could not be closed as it should, a full device, say. It is closed all the
  ///   same, and what was saved is recovered when it is opened again.
  public func close() async throws {
    let coordinator = coordinator
    // On a thread that may wait: the system's calls block.
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      DispatchQueue.global(qos: .userInitiated).async {
        done.resume(with: Result { try coordinator.close() })
      }
    }
  }
}
