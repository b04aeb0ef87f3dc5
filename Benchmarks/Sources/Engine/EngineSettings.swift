import Harness
import LogEngine

/// The settings of the engine, in words.
enum EngineSettings {
  static let durable = "StorageEngine, defaults: durability .full"
  static let relaxed = "StorageEngine, defaults but durability .relaxed(1 s)"
}

extension EngineOptions.Durability {
  /// The durability that the benchmarks call relaxed.
  static var relaxed: EngineOptions.Durability { .relaxed(interval: .seconds(1)) }
}
