import Dispatch

/// Runs the jobs of a model actor one after the other, on a queue of its own.
public class DefaultSerialModelExecutor: SerialModelExecutor, @unchecked Sendable {
  public final let modelContext: ModelContext
  private let queue = DispatchQueue(label: "ModelActor")

  public init(modelContext: ModelContext) { self.modelContext = modelContext }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }
}
