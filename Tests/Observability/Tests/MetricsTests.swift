import CoreMetrics
import Foundation
import LogEngine
import LogEngineObservability
import MetricsTestKit
import Testing

@Suite struct `Metrics of a store` {
  private let factory = TestMetrics()
  private let store = [("store", "trips")]

  private func gauge(_ name: MetricName, _ more: (String, String)...) throws -> Double? {
    try factory.expectRecorder(name.rawValue, store + more).lastValue
  }

  private func total(_ name: MetricName, _ more: (String, String)...) throws -> Int64 {
    try factory.expectCounter(name.rawValue, store + more).values.reduce(0, +)
  }

  private func makeStore() throws -> (NumberStore, EngineMetrics) {
    let metrics = EngineMetrics(store: "trips", factory: factory)
    let store = try NumberStore(onEvent: metrics.record)
    metrics.attach(store.engine)
    return (store, metrics)
  }

  @Test func `say how it stands when they are sampled`() throws {
    let (store, metrics) = try makeStore()
    try store.insert(100)
    let view = store.engine.makeReadView()
    let before = try #require(store.engine.statistics().pins.oldestAge)
    metrics.sample()
    let statistics = store.engine.statistics()
    #expect(try gauge(.fileBytes, ("kind", "log")) == Double(statistics.fileByteCount))
    #expect(try gauge(.fileBytes, ("kind", "packs")) == 0)
    #expect(try gauge(.liveBytes) == Double(statistics.liveByteCount))
    #expect(try gauge(.deadBytes) == Double(statistics.deadByteCount))
    #expect(try gauge(.spaceAmplification) == statistics.spaceAmplification)
    #expect(try gauge(.writeAmplification) == 1)
    #expect(try gauge(.rows, ("table", "numbers")) == 100)
    #expect(try gauge(.views) == 1)
    let age = Duration.seconds(try #require(try gauge(.oldestViewAge)))
    let after = try #require(statistics.pins.oldestAge)
    // To the microsecond, which a double does not keep.
    #expect(age >= before - .microseconds(1) && age <= after + .microseconds(1))
    #expect(try gauge(.poisoned) == 0)
    withExtendedLifetime(view) {}
  }

  @Test func `count everything once, however often they are sampled`() throws {
    let (store, metrics) = try makeStore()
    for _ in 0..<5 {
      try store.insert(20)
      metrics.sample()
      metrics.sample()
    }
    let writing = store.engine.statistics().writing
    #expect(try total(.commits) == Int64(writing.commitCount))
    #expect(try total(.logWrittenBytes) == Int64(writing.byteCount))
    #expect(try total(.synchronizations) == Int64(writing.synchronizationCount))
  }

  @Test func `follow events without being asked`() throws {
    let (store, _) = try makeStore()
    try store.insert(200)
    let report = try #require(try store.engine.compact().report)
    let timer = try factory.expectTimer(MetricName.compactionDuration.rawValue, self.store)
    let (seconds, attoseconds) = report.duration.components
    #expect(timer.values == [seconds * 1_000_000_000 + attoseconds / 1_000_000_000])
    #expect(try total(.compactionReadBytes) == Int64(report.readByteCount))
    #expect(try total(.packWrittenBytes) == Int64(report.writtenByteCount))
    #expect(try total(.commits) == Int64(store.engine.statistics().writing.commitCount))
    #expect(try gauge(.fileBytes, ("kind", "packs")) == Double(report.writtenByteCount))
    for name in [MetricName.openDuration, .checkpointDuration, .segmentWaitDuration] {
      #expect(try !factory.expectTimer(name.rawValue, self.store).values.isEmpty, "\(name)")
    }
  }

  @Test func `measure every kind of file when that is asked for`() throws {
    let (store, metrics) = try makeStore()
    try store.insert(20)
    try store.engine.checkpoint()
    try metrics.sampleSpace()
    let usage = try store.engine.spaceUsage()
    for kind in SpaceUsage.Kind.allCases {
      #expect(try gauge(.fileBytes, ("kind", kind.rawValue)) == Double(usage[kind].byteCount))
    }
    #expect(usage[.checkpoints].byteCount > 0)
  }

  @Test func `count what needs a person, by its kind`() throws {
    let metrics = EngineMetrics(store: "trips", factory: factory)
    let error = StorageError.missingFile(path: "a")
    let events: [(EngineEvent, String)] = [
      (.poisoned(error), "poisoned"), (.noSpace(path: "a", needed: 1), "no_space"),
      (.damageFound(error), "damage"), (.checkpointFailed(error), "checkpoint"),
      (.compactionFailed(error), "compaction"), (.leftBehind(error), "left_behind"),
    ]
    for (event, kind) in events {
      metrics.record(event)
      metrics.record(event)
      #expect(try total(.failures, ("kind", kind)) == 2)
    }
  }

  @Test func `do not keep the store`() throws {
    let metrics = EngineMetrics(store: "trips", factory: factory)
    weak var engine: StorageEngine?
    do {
      let store = try NumberStore(onEvent: metrics.record)
      metrics.attach(store.engine)
      engine = store.engine
      #expect(engine != nil)
    }
    #expect(engine == nil)
    metrics.sample()
  }

  @Test func `are all in the article that lists them`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let article = root.appending(path: "Sources/LogStore/LogStore.docc/ObservingAStore.md")
    let text = try String(contentsOf: article, encoding: .utf8)
    for name in MetricName.allCases { #expect(text.contains("`\(name.rawValue)`"), "\(name)") }
  }
}
