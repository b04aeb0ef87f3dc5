import Dispatch

/// An executor that owns a context.
public protocol ModelExecutor: Executor {
  /// The context that belongs to the code run here.
  var modelContext: ModelContext { get }
}

/// An executor that owns a context and runs one job at a time.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// The executor of `@ModelActor`: a serial queue of its own.
///
/// The queue is never the main one, on whichever thread the actor is made: work for a model actor
/// leaves the main actor free.
///
/// Unchecked, because it keeps a context, which only jobs on its queue use.
public class DefaultSerialModelExecutor: @unchecked Sendable, SerialModelExecutor {
  public final let modelContext: ModelContext
  private let queue: DispatchQueue

  /// Makes the executor of a context, which takes ownership of it.
  ///
  /// Using the context off the executor's queue traps, with the names of both.
  public init(modelContext: ModelContext) {
    self.modelContext = modelContext
    queue = DispatchQueue(label: "ModelActor")
    modelContext.owner = .executor { [queue] in
      dispatchPrecondition(condition: .onQueue(queue))
    }
  }

  /// Runs a job on the executor's queue, after the jobs that were enqueued before.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
