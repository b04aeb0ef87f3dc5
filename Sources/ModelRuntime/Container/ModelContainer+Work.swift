import Foundation

extension ModelContainer {
  /// Reads models on a thread that may wait for the disk, without blocking the calling task's.
  ///
  ///     let total = try await container.read { context in
  ///       try context.fetchCount(FetchDescriptor<Order>(predicate: #Predicate { $0.isOpen }))
  ///     }
  ///
  /// Each call gets a new context, which sees every save that returned before. As many reads run at once as the machine has
  /// cores; more wait in the order of their calls. Changes that the block makes are dropped, unless it saves them itself:
  /// ``write(author:_:)`` is for changes.
  /// Models stay in the block; return values or identifiers.
  ///
  /// - Parameter body: The block. Once begun, it is not interrupted by cancellation.
  /// - Returns: What the block returns.
  /// - Throws: `CancellationError` if the task is cancelled before the block begins; otherwise the error of the block,
  ///   ``SwiftDataError/storeClosed`` once the container is closed.
  public func read<Result: Sendable>(
    _ body: @escaping @Sendable (ModelContext) throws -> Result
  ) async throws -> Result {
    try await coordinator.lanes.reading.run { [self] in
      try body(ModelContext(self))
    }
  }

  /// Changes models and saves them, on a thread that may wait for the disk, one call after the other.
  ///
  ///     try await container.write(author: "checkout") { context in
  ///       let stock = try context.fetch(FetchDescriptor<Stock>(predicate: #Predicate { $0.article == article }))
  ///       stock.first?.count -= 1
  ///     }
  ///
  /// Each call gets a new context, which sees every save that returned before, and is saved when the block returns. Calls
  /// run in turn, so that none overwrites values that another has computed from its reads, including those of another
  /// container that a context of the same stores has; only contexts used in other ways save between. When the block or the
  /// save throws, nothing is stored, except for what the block itself has saved before.
  ///
  /// - Parameters:
  ///   - author: The author of the changes, as recorded in the history.
  ///   - body: Changes models. A block that has begun is not interrupted by cancellation.
  /// - Returns: What the block returns, once its changes are as safe as the store's durability says.
  /// - Throws: `CancellationError` if the task is cancelled before the block begins; otherwise the error of the block or of
  ///   ``ModelContext/save()``.
  public func write<Result: Sendable>(
    author: String? = nil,
    _ body: @escaping @Sendable (ModelContext) throws -> Result
  ) async throws -> Result {
    try await coordinator.lanes.writing.run { [self] in
      let context = ModelContext(self)
      context.author = author
      let result = try body(context)
      try context.save()
      return result
    }
  }
}

/// The lanes that run the reads and writes of all containers of the same stores.
struct WorkLanes: Sendable {
  /// Maximum number of concurrent reads; computed once, since Foundation reads files of the control group for it.
  private static let readerCount = max(ProcessInfo.processInfo.activeProcessorCount, 2)

  let reading = WorkLane(width: WorkLanes.readerCount)
  let writing = WorkLane(width: 1)
}
