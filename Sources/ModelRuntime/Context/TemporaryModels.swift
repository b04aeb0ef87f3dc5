/// The unsaved models whose temporary identifiers were requested, by key, and some that are no longer unsaved.
///
/// Keys are given out in ascending order, and models are mostly looked up in the order of their keys. So consecutive ones
/// are stored contiguously: allocated one by one, they would be far apart in memory.
struct TemporaryModels {
  private static let blockSize: UInt64 = 16

  /// The models of a block's keys, by the number of the block.
  private var blocks: [UInt64: [(any PersistentModel)?]] = [:]

  var isEmpty: Bool { blocks.isEmpty }

  subscript(key: UInt64) -> (any PersistentModel)? {
    get { blocks[key / Self.blockSize]?[Int(key % Self.blockSize)] }
    set {
      let block = key / Self.blockSize
      blocks[block, default: Array(repeating: nil, count: Int(Self.blockSize))][
        Int(key % Self.blockSize)
      ] = newValue
    }
  }

  /// Forgets models.
  mutating func removeAll(where isForgotten: (any PersistentModel) -> Bool) {
    for (number, models) in blocks {
      let kept = models.map { model in model.flatMap { isForgotten($0) ? nil : $0 } }
      blocks[number] = kept.contains { $0 != nil } ? kept : nil
    }
  }

  mutating func removeAll() { blocks = [:] }
}
