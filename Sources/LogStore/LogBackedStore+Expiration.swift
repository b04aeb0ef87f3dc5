import Dispatch
public import LogEngine
package import ModelRuntime
import Synchronization

extension LogStore {
  /// The author of the transactions that delete models which have expired.
  public static let expirationAuthor = "expiry"

  /// Deletes the models that have expired by now, without waiting for the background to do it.
  ///
  ///     try await store.expire()
  ///
  /// It commits up to a thousand models at a time; saves and fetches continue meanwhile. A second call may run beside the first
  /// or beside the background: each model is deleted once. Does nothing in a store that is only read, and in one without
  /// ``LogStoreConfiguration/expirations``.
  ///
  /// - Returns: The outcome for the models, for each rule.
  /// - Throws: `CancellationError` if the task is cancelled between two commits; otherwise ``LogStoreError``, or
  ///   ``/ModelRuntime/SwiftDataError/storeClosed``. What was committed by then stays deleted.
  /// - Complexity: That of a fetch by each date, and some microseconds for each model that is deleted; more where delete rules
  ///   lead to other models.
  @discardableResult
  nonisolated(nonsending) public func expire() async throws -> [ExpirationReport] {
    _ = try openTables()
    guard let expirer else { return [] }
    // As a context of the store's container or, where that is gone, of one for this call.
    let container =
      try expirer.container ?? ModelContainer(migrating: [(self, schema)], at: schema)
    let lease = lease
    let isCancelled = CancellationFlag()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // On a thread that may wait: commits block.
        DispatchQueue.global(qos: .utility).async {
          continuation.resume(
            with: Result {
              try expirer.expire(in: container) {
                _ = try lease.openTables()
                if isCancelled.isSet { throw CancellationError() }
              }
            }
          )
        }
      }
    } onCancel: {
      isCancelled.set()
    }
  }

  /// Closes the store: no expired model is deleted any more, and what was deleted is on the disk.
  ///
  /// - Throws: ``LogStoreError`` if the log could not be closed as it should.
  public func close() throws {
    expirer?.stop()
    try lease.end()
  }
}

extension LogStore: ContainedStore {
  package func didOpen(in container: @escaping @Sendable () -> ModelContainer?) {
    expirer?.start(in: container)
  }
}

/// Whether a task was cancelled, for a thread that runs no task.
private final class CancellationFlag: Sendable {
  private let value = Atomic<Bool>(false)

  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}
