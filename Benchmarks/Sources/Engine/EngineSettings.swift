import Harness
import LogEngine

/// How the engine is set up, in words.
enum EngineSettings {
  static let durable = "StorageEngine, defaults: durability .full"
  static let relaxed = "StorageEngine, defaults but durability .relaxed(1 s)"
}

extension EngineOptions.Durability {
  /// What the benchmarks call relaxed.
  static var relaxed: EngineOptions.Durability { .relaxed(interval: .seconds(1)) }
}
