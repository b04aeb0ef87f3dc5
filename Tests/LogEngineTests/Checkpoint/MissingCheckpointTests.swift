import LogEngineTestSupport
import LogTools
import Testing

@testable import LogEngine
@testable import LogFormat

@Suite struct `A checkpoint that a compaction made useless` {
  private let recorder = EventRecorder()

  private var failures: Int { recorder.take().count { $0.isFailedCheckpoint } }

  private func rest(_ store: SimulatedStore) {
    for _ in 0..<30 { store.engine.performBackgroundWork() }
  }

  @Test func `is tried once where it cannot be written, and again when the log has grown`() throws {
    // In the first store it is counted how often files are renamed.
    let model = try SimulatedStore(onEvent: nil)
    try model.insert(200)
    let before = model.fileSystem.callCount(of: .rename)
    try model.engine.compact()
    let renames = model.fileSystem.callCount(of: .rename) - before

    let store = try SimulatedStore(onEvent: recorder.handler)
    try store.insert(200)
    let first = store.fileSystem.callCount(of: .rename) + renames
    store.fileSystem.setFaults(FaultPlan((first..<first + 200).map { Fault(.rename, number: $0) }))
    _ = try? store.engine.compact()
    #expect(store.engine.writer?.checkpointDistance?.isMissing == true)
    _ = recorder.take()
    rest(store)
    #expect(failures == 1)
    rest(store)
    #expect(failures == 0)
    try store.insert(1)
    rest(store)
    #expect(failures == 1)
    store.fileSystem.setFaults(FaultPlan([]))
    try store.insert(1)
    rest(store)
    #expect(store.engine.writer?.checkpointDistance?.isMissing == false)
    #expect(try store.engine.verify().isSound)
  }
}

extension EngineEvent {
  fileprivate var isFailedCheckpoint: Bool {
    if case .checkpointFailed = self { true } else { false }
  }
}
