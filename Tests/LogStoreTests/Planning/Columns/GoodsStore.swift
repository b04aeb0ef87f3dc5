import Foundation
import SwiftData

@testable import LogStore

/// A store whose rows were written by two versions of an app, in packs and in the log.
struct GoodsStore {
  let folder: TemporaryFolder
  let configuration: LogStoreConfiguration

  /// How much of it stands in packs.
  enum Packing: CaseIterable { case nothing, earlierRows, mixed, everything }

  init(seed: UInt64, _ packing: Packing) throws {
    folder = try TemporaryFolder()
    var configuration = LogStoreConfiguration(url: folder.url.appending(path: "goods.store"))
    configuration.compaction = LogStoreConfiguration.Compaction(.onDemand, historyByteCount: 0)
    configuration.schema = goodsSchema
    self.configuration = configuration
    var random = SeededRandom(seed: seed)
    try saveEarlier(&random)
    if packing == .earlierRows || packing == .mixed { try compact() }
    try change(&random, inserting: 300)
    if packing == .mixed { try compact() }
    try change(&random, inserting: 60)
    if packing == .everything { try compact() }
  }

  func open() throws -> ModelContext {
    ModelContext(try ModelContainer(for: goodsSchema, configurations: [configuration]))
  }

  private func saveEarlier(_ random: inout SeededRandom) throws {
    var earlier = configuration
    earlier.schema = Schema([EarlierGoods.Item.self])
    let context = ModelContext(
      try ModelContainer(for: Schema([EarlierGoods.Item.self]), configurations: [earlier])
    )
    for _ in 0..<400 {
      let item = EarlierGoods.Item(0)
      item.fill(&random)
      item.heading = random.pick(GoodsValues.names)
      context.insert(item)
    }
    try context.save()
    for item in try context.fetch(FetchDescriptor<EarlierGoods.Item>())
    where random.next(below: 6) == 0 {
      item.fill(&random)
    }
    try context.save()
  }

  /// Adds, changes and deletes some in the second version.
  private func change(_ random: inout SeededRandom, inserting count: Int) throws {
    let context = try open()
    try Self.change(context, &random, inserting: count)
    try context.save()
  }

  /// The same, without saving it.
  static func change(
    _ context: ModelContext,
    _ random: inout SeededRandom,
    inserting count: Int
  ) throws {
    let all = try context.fetch(FetchDescriptor<Goods.Item>())
    for item in all {
      switch random.next(below: 12) {
      case 0: item.fill(&random)
      case 1: item.fillNew(&random)
      case 2: item.parent = random.pick(all)
      case 3: context.delete(item)
      default: break
      }
    }
    for number in 0..<count {
      let item = number % 2 == 0 ? Goods.Item(0) : Goods.Box(0)
      item.fill(&random)
      if random.next(below: 3) != 0 { item.fillNew(&random) }
      if let box = item as? Goods.Box { box.extra = random.next(below: 12) }
      context.insert(item)
    }
  }

  private func compact() throws {
    let store = try LogStore(configuration, migrationPlan: nil)
    _ = try store.compact()
  }
}
