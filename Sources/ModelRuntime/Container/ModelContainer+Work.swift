import Foundation

extension ModelContainer {
  /// Reads models on a thread that may wait for the disk, without blocking the calling task's.
  ///
  ///     let total = try await container.read { context in
  ///       try context.fetchCount(FetchDescriptor<Order>(predicate: #Predicate { $0.isOpen }))
  ///     }
  ///
  /// Each call gets a new context, which sees every save that returned before. As many reads run at once as the machine has
  /// cores; more wait in the order of their calls. What the block changes in models is dropped: use ``write(author:_:)``.
  /// Models stay in the block; return values or identifiers.
  ///
  /// - Parameter body: Reads. A block that has begun is not interrupted by cancellation.
  /// - Returns: What the block returns.
  /// - Throws: `CancellationError` if the task is cancelled before the block begins; otherwise what the block throws,
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
  /// run in turn, so that none overwrites what another has computed from what it read, also those of another container that a
  /// context of the same stores has; only contexts that are used in other ways save between. When the block or the save
  /// throws, nothing is stored.
  ///
  /// - Parameters:
  ///   - author: Who makes the changes, as the history tells it.
  ///   - body: Changes models. A block that has begun is not interrupted by cancellation.
  /// - Returns: What the block returns, once its changes are as safe as the store's durability says.
  /// - Throws: `CancellationError` if the task is cancelled before the block begins; otherwise what the block or
  ///   ``ModelContext/save()`` throws.
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

/// Where the blocks of the containers' reads and writes of the same stores wait and run.
struct WorkLanes: Sendable {
  /// How many reads run at once; read once, since Foundation reads files of the control group for it.
  private static let readerCount = max(ProcessInfo.processInfo.activeProcessorCount, 2)

  let reading = WorkLane(width: WorkLanes.readerCount)
  let writing = WorkLane(width: 1)
}
